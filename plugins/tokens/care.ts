/** Protects tokens: limits, networks, rotation, and a warning before the end. Each change is one transaction. */
import { announce, find, forbidden, found, invalid, locked, networkTest, sha256, update, type Tx } from "platform";
import { deleteChildren } from "./end-store.ts";
import { newRawToken, tokenInfo } from "./raw-token.ts";
import { lastAddress, replaceText, toWarn } from "./store.ts";
import { databasesFor, mustManage, mustStayWithin, Token } from "./token.ts";
import type { TokenAt, TokenRow, TokensContext } from "./token.ts";

const warnedAtOnce = 500;

export interface CarePatch {
  readonly rate_limit?: number | null;
  readonly networks?: readonly string[] | null;
  readonly read_only?: boolean;
  readonly mcp_delete?: boolean;
  readonly databases?: Readonly<Record<string, string>> | null;
}

interface Target {
  readonly id: number;
  readonly expected: number | undefined;
}

export async function findCare(at: TokenAt, id: number) {
  const row = await found(Token, at, { id });
  return { row, lastAddress: await lastAddress(at.sql, row.accountId, id) };
}

/** `ip` is the client's address. */
export async function changeCare(at: TokenAt, target: Target, patch: CarePatch, ip: string): Promise<TokenRow> {
  const { caller } = at;
  const networks = patch.networks === undefined ? undefined : checkedNetworks(patch.networks ?? []);
  const databases = patch.databases === undefined ? undefined : await databasesFor(at, patch.databases);
  const { row, ended } = await at.transaction(async (tx) => {
    const before = await held(at, tx, target);
    const own = await find(Token, tx, caller.account.id, { id: caller.tokenId });
    if (own && (own.networks.length > 0 || own.rateLimit !== null || own.databases !== null))
      throw forbidden("a token that is limited itself changes no limits");
    const after = {
      ...before,
      rateLimit: patch.rate_limit === undefined ? before.rateLimit : patch.rate_limit,
      networks: networks ?? before.networks,
      readOnly: patch.read_only ?? before.readOnly,
      mcpDelete: patch.mcp_delete ?? before.mcpDelete,
      databases: databases === undefined ? before.databases : databases,
    };
    if (before.id === caller.tokenId && after.networks.length > 0 && !networkTest(after.networks.join(","))(ip))
      throw invalid({ networks: [`must contain ${ip}, from where you use this token`] });
    const saved = await update(Token, tx, caller, before.id, after);
    // What was made from it could still do what it no longer may.
    const isLess = (after.readOnly && !before.readOnly) || databases !== undefined;
    const children = isLess ? await deleteChildren(tx, before.id) : [];
    await announce(Token, at, "update", saved, tx);
    return { row: saved, ended: children };
  });
  await at.forget([row.tokenHash, ...ended]);
  return row;
}

/** Gives the token another text; the one that it has works for so many minutes more. */
export async function rotate(at: TokenAt, target: Target, overlapMinutes: number) {
  const raw = newRawToken();
  const endsAt = new Date(Date.now() + overlapMinutes * 60_000);
  const { row, old } = await at.transaction(async (tx) => {
    const before = await held(at, tx, target);
    await replaceText(tx, before, endsAt);
    const texts = { tokenHash: sha256(raw), tokenInfo: tokenInfo(raw), given: false };
    const rotated = await update(Token, tx, at.caller, before.id, { ...before, ...texts });
    await announce(Token, at, "update", rotated, tx);
    return { row: rotated, old: before.tokenHash };
  });
  await at.forgetText(row.id, old);
  return { row, raw };
}

/** Tells those who follow tokens of those that end within so many days. */
export async function warn(ctx: TokensContext, days: number): Promise<void> {
  for (;;) {
    const rows = await ctx.transaction(async (tx) => {
      const ending = await toWarn(tx, days, warnedAtOnce);
      for (const row of ending) await announce(Token, ctx, "expiring", row, tx);
      return ending;
    });
    if (rows.length < warnedAtOnce) return;
  }
}

/** The token, held, if the caller may change it. */
async function held(at: TokenAt, tx: Tx, { id, expected }: Target): Promise<TokenRow> {
  const row = await locked(Token, at, tx, { id }, () => expected);
  if (row.purpose !== null) throw invalid({ base: ["a session can only be ended"] });
  mustManage(at.caller, row);
  mustStayWithin(at.caller, row.privileges);
  return row;
}

/** Throws the 422. */
export function checkedNetworks(networks: readonly string[]): readonly string[] {
  const wrong = networks.flatMap((network) => {
    try {
      networkTest(network);
      return network.includes(",") || network.trim() === "" ? `"${network}" is no network` : [];
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  });
  if (wrong.length > 0) throw invalid({ networks: wrong });
  return [...new Set(networks)];
}
