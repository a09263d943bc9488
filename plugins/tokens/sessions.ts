/** The sessions of a person, for themselves alone. */
import type { BaseContext } from "platform";
import type { Tokens } from "./api.ts";
import type { TokenEndStore } from "./end-store.ts";
import type { Identifier } from "./identify.ts";
import type { SessionStore } from "./session-store.ts";
import type { Usage } from "./usage.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction">;
  readonly sessionStore: SessionStore;
  readonly tokenEndStore: Pick<TokenEndStore, "delete">;
  readonly usage: Pick<Usage, "flush">;
  readonly forget: Identifier["forget"];
}

export function createSessions({ ctx, sessionStore, tokenEndStore, usage, forget }: Needed) {
  const list: Tokens["sessions"] = async (caller, page) => {
    await usage.flush();
    return sessionStore.list(caller, page);
  };

  const end: Tokens["endSessionById"] = async (caller, id) => {
    const ended = await ctx.transaction(async (tx) =>
      (await sessionStore.has(tx, caller, id)) ? tokenEndStore.delete(tx, caller.account.id, id) : [],
    );
    await forget(ended);
    return ended.length > 0;
  };

  return { list, end };
}
