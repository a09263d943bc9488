/** Prompts as a model is told them, without a token. */
import { isUuid, notFound, type User } from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { Prompts } from "./api.ts";
import type { Renderer } from "./render.ts";
import type { PromptStore } from "./store.ts";

interface Needed {
  readonly accounts: Pick<Accounts, "accountById">;
  readonly promptStore: Pick<PromptStore, "byId">;
  readonly render: Renderer;
}

/** In no team, and nobody's id: only the account's prompts and the built-in ones are for this reader. */
const nobody = { id: 0, teamIds: [], departmentIds: [] };

export function createForModels({ accounts, promptStore, render }: Needed): Prompts {
  const codeOf = async (accountId: number, user: User, id: string) => {
    const row = await promptStore.byId(accountId, user, id.toLowerCase());
    if (!row) throw notFound();
    return row.code;
  };
  return {
    async renderFor(caller, key, variables) {
      const code = isUuid(key) ? await codeOf(caller.account.id, caller.user, key) : key;
      return render({ caller, code, query: Object.entries(variables), token: "" });
    },
    async renderForAccount(accountId, code, variables) {
      const account = await accounts.accountById(accountId);
      if (!account) throw notFound();
      return render({ caller: { account, user: nobody }, code, query: Object.entries(variables), token: "" });
    },
  };
}
