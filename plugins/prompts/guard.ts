/** Checks before a prompt is written: who may, and whether the place exists. Throws 403 and 422. */
import { forbidden, invalid, type Caller, type Tx } from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { BuiltIn } from "./built-in.ts";
import type { Place } from "./cascade.ts";
import { extendedCode, mayWrite, suffix, type Owned } from "./permission.ts";
import type { PromptStore } from "./store.ts";

interface Needed {
  readonly promptStore: Pick<PromptStore, "shared">;
  readonly accounts: Pick<Accounts, "person" | "unitExists">;
  readonly builtIn: ReadonlyMap<string, BuiltIn>;
}

export type Guard = ReturnType<typeof createGuard>;

export function createGuard({ promptStore, accounts, builtIn }: Needed) {
  return {
    async mustBeWritable({ account, user }: Caller, prompt: Owned, tx?: Tx): Promise<void> {
      const extended = extendedCode(prompt.code);
      const bases = extended === undefined ? [] : await promptStore.shared(account.id, extended, tx);
      if (mayWrite(prompt, user, (code) => builtIn.has(code), bases)) return;
      const why =
        extended === undefined ? "" : `: adding to \`${extended}\` takes a manager, or the creator of that prompt`;
      throw forbidden(`you may not write this prompt of the scope \`${prompt.scope}\`${why}`);
    },

    /** One's own `_extra` must not stay without its prompt, because it would add to the next prompt with that code. */
    async mustLeaveNoExtra({ account, user }: Caller, { scope, code }: Owned, tx: Tx): Promise<void> {
      if (scope === "user" || user.role === "admin" || user.role === "manager") return;
      const left = await promptStore.shared(account.id, `${code}${suffix}`, tx);
      if (left.some(({ createdById }) => createdById === user.id))
        throw invalid({ code: [`your prompt ${code}${suffix} adds to it: delete or rename that first`] });
    },

    async mustExist(accountId: number, { scope, scopeId }: Place): Promise<void> {
      if (scope === "account" || scopeId === null) return;
      const exists =
        scope === "user"
          ? (await accounts.person(accountId, scopeId)) !== undefined
          : await accounts.unitExists(accountId, scope, scopeId);
      if (!exists) throw invalid({ scope_id: [`names no ${scope} of this account`] });
    },
  };
}
