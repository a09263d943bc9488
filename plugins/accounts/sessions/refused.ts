/** Tells the log of activity of a refused sign-in. The name that was typed is not logged unless it is somebody's: it may be a password. */
import { currentActor, noticed, type BaseContext } from "platform";
import type { Accounts } from "../api.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "emit" | "log">;
  readonly accounts: Pick<Accounts, "userIdOf" | "access">;
}

/** `who`: a person's id, or what was typed as a login. The answer does not wait: it takes the same time for anybody. */
export function createRefused({ ctx, accounts }: Needed) {
  return (accountId: number, who: string | number): void => {
    const actor = currentActor();
    const note = async () => {
      const userId = typeof who === "number" ? who : await accounts.userIdOf(accountId, who);
      const access = userId === undefined ? undefined : await accounts.access(userId);
      const whom = access && { recordId: `${access.user.id}`, name: access.user.login };
      await ctx.emit(noticed, { accountId, action: "sign-in refused", model: "Account::User", ...whom, actor });
    };
    note().catch((error: unknown) => ctx.log.warn("a refused sign-in was not noted", { error }));
  };
}
