/** The sessions of a person: seen by themselves alone, and ended by them or by whoever may change them. */
import type { BaseContext, Tx } from "platform";
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

  const endAll = async (idsIn: (tx: Tx) => Promise<readonly number[]>, accountId: number): Promise<number> => {
    const ended = await ctx.transaction(async (tx) => {
      const ids = await idsIn(tx);
      return { count: ids.length, hashes: await tokenEndStore.delete(tx, accountId, ids) };
    });
    await forget(ended.hashes);
    return ended.count;
  };

  const end: Tokens["endSessionById"] = async (caller, id) =>
    (await endAll(async (tx) => ((await sessionStore.has(tx, caller, id)) ? [id] : []), caller.account.id)) > 0;

  const endOthers: Tokens["endOtherSessions"] = async (caller) => {
    const others = async (tx: Tx) => (await sessionStore.ids(tx, caller)).filter((id) => id !== caller.tokenId);
    await endAll(others, caller.account.id);
  };

  const endOf: Tokens["endSessionsOf"] = async (accountId, userId) => {
    await endAll((tx) => sessionStore.idsOf(tx, accountId, userId), accountId);
  };

  const endThese: Tokens["endSessions"] = async (accountId, idsIn) => {
    await endAll(idsIn, accountId);
  };

  return { list, end, endOthers, endOf, endThese };
}
