/**
 * Tokens of apps for which somebody signs in (plugins/oauth): ordinary ones whose own text nobody has. The app gets
 * further texts of the token, each for a short time, so that limits, log and end are those of one token. behaviour B.6.
 */
import { create, forbidden, sha256, type Caller, type Tx } from "platform";
import type { Connection } from "./api.ts";
import { newRawToken } from "./raw-token.ts";
import { insertText } from "./store.ts";
import { Token, type TokensContext } from "./token.ts";

/** Throws 403 for whoever may not make tokens, 422 for more than they may give. */
export async function connect(
  ctx: TokensContext,
  caller: Caller,
  { name, info, privileges, databases, readOnly, expiresAt }: Connection,
  also: (tokenId: number, tx: Tx) => Promise<void>,
): Promise<void> {
  if (!caller.privileges.has(Token.privilege)) throw forbidden(`this needs the privilege \`${Token.privilege}\``);
  const given = { name, privileges: [...privileges], databases, expires_at: expiresAt.toISOString() };
  await ctx.transaction(async (tx) => {
    const transaction = <T>(run: (tx: Tx) => Promise<T>) => run(tx);
    const at = { ...ctx, caller, raw: newRawToken(), info, limits: { networks: [], readOnly }, transaction };
    await also((await create(Token, at, given)).id, tx);
  });
}

/** See `Tokens.addText`. */
export async function addText(tx: Tx, accountId: number, id: number, seconds: number) {
  const token = newRawToken();
  const expiresAt = await insertText(tx, { accountId, id, tokenHash: sha256(token) }, seconds);
  return expiresAt && { id, token, expiresAt };
}
