/** Prompts as a model is told them, without a token. */
import { isUuid, notFound, type Sql } from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { Prompts } from "./api.ts";
import type { Renderer } from "./render.ts";
import { codeOf } from "./store.ts";

/** In no team, and nobody's id: only the account's prompts and the built-in ones are for this reader. */
const nobody = { id: 0, teamIds: [], departmentIds: [] };

interface Rendering {
  readonly sql: Sql;
  readonly accounts: Pick<Accounts, "accountById">;
  readonly render: Renderer;
}

export function forModels({ sql, accounts, render }: Rendering): Prompts {
  return {
    async renderFor(caller, key, variables) {
      const code = isUuid(key) ? await codeOf(sql, caller.account.id, caller.user, key.toLowerCase()) : key;
      if (code === undefined) throw notFound();
      return render({ caller, code, query: Object.entries(variables), token: "" });
    },
    async renderForAccount(accountId, code, variables) {
      const account = await accounts.accountById(accountId);
      if (!account) throw notFound();
      return render({ caller: { account, user: nobody }, code, query: Object.entries(variables), token: "" });
    },
  };
}
