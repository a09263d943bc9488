/** The sessions of a person: seen by themselves alone, and ended by them or by whoever may change them. */
import { announce, find, type Caller, type Page, type ReadPage, type Tx } from "platform";
import type { Session } from "./api.ts";
import { deleteTokens } from "./end-store.ts";
import * as sessionStore from "./session-store.ts";
import { Token, type TokensContext } from "./token.ts";

export async function list(ctx: TokensContext, caller: Caller, page: Page): Promise<ReadPage<Session>> {
  await ctx.usage.flush();
  return sessionStore.list(ctx.sql, caller, page);
}

/** The session of this request; false if its token is none. */
export async function endOwn(ctx: TokensContext, { account, tokenId }: Caller): Promise<boolean> {
  const own = async (tx: Tx) => {
    const row = await find(Token, tx, account.id, { id: tokenId });
    return row?.purpose === "session" ? [row.id] : [];
  };
  return (await endAll(ctx, account.id, own)) > 0;
}

export async function end(ctx: TokensContext, caller: Caller, id: number): Promise<boolean> {
  const own = async (tx: Tx) => ((await sessionStore.has(tx, caller, id)) ? [id] : []);
  return (await endAll(ctx, caller.account.id, own)) > 0;
}

export async function endOthers(ctx: TokensContext, caller: Caller): Promise<void> {
  const others = async (tx: Tx) => (await sessionStore.ids(tx, caller)).filter((id) => id !== caller.tokenId);
  await endAll(ctx, caller.account.id, others);
}

export async function endOf(ctx: TokensContext, accountId: number, userId: number): Promise<void> {
  await endAll(ctx, accountId, (tx) => sessionStore.idsOf(tx, accountId, userId));
}

/** Ends those that `idsIn` names, in its transaction; how many. */
export async function endAll(
  ctx: TokensContext,
  accountId: number,
  idsIn: (tx: Tx) => Promise<readonly number[]>,
): Promise<number> {
  const ended = await ctx.transaction(async (tx) => {
    const ids = await idsIn(tx);
    for (const id of ids) {
      const row = await find(Token, tx, accountId, { id });
      if (row) await announce(Token, ctx, "destroy", row, tx);
    }
    return { count: ids.length, hashes: await deleteTokens(tx, accountId, ids) };
  });
  await ctx.forget(ended.hashes);
  return ended.count;
}
