/** How a person's own session ends: here, and wherever else its sign-in came from. No HTTP, no SQL. */
import type { BaseContext, Caller, Language } from "platform";
import type { Tokens } from "../../tokens/api.ts";
import type { Leaving } from "./api.ts";
import type { PageLink } from "./page.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "log">;
  readonly tokens: Pick<Tokens, "endSession">;
  /** Asked before the session ends. */
  readonly leavings: readonly Leaving[];
}

/** Ends the session of this request. Gives where its person may go to be signed out there too. */
export type Leave = (caller: Caller, language: Language) => Promise<PageLink | undefined>;

export function createLeave({ ctx, tokens, leavings }: Needed): Leave {
  return async (caller, language) => {
    const found = await Promise.all(leavings.map((leaving) => leaving(caller)));
    await tokens.endSession(caller);
    for (const next of found) {
      // The session has ended, whatever becomes of the rest.
      const link = await next?.(language).catch((error: unknown) => {
        ctx.log.warn("a sign-out goes no further than here", { accountId: caller.account.id, error });
        return undefined;
      });
      if (link) return link;
    }
    return undefined;
  };
}
