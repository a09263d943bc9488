/**
 * Issues tokens that the server itself makes: sessions, temporary tokens for prompts, and those of the command line.
 */
import { invalid, sha256, type BaseContext, type Caller, type Sql, type Tx } from "platform";
import type { IssuedToken, NewToken, Tokens } from "./api.ts";
import type { Identifier } from "./identify.ts";
import { derivedRawToken, newRawToken, tokenInfo } from "./raw-token.ts";
import { blankToken, mustEndWithin } from "./rules.ts";
import type { TokenEndStore } from "./end-store.ts";
import type { NewTokenRow, TokenStore } from "./store.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "sql" | "secrets" | "transaction">;
  readonly tokenStore: TokenStore;
  readonly tokenEndStore: TokenEndStore;
  readonly identifier: Identifier;
}

type Special = Partial<Pick<NewTokenRow, "parentId" | "purpose" | "given" | "address" | "browser" | "idleSeconds">>;

const hourMs = 3_600_000;

export function createTokenIssuer({ ctx, tokenStore, tokenEndStore, identifier }: Needed) {
  const insert = async (db: Sql | Tx, token: NewToken, raw: string, special: Special = {}) => {
    const { accountId, userId, name = null, kind = null, privileges = [], expiresAt = null } = token;
    const text = { tokenHash: sha256(raw), tokenInfo: tokenInfo(raw) };
    const made = {
      parentId: null,
      purpose: null,
      given: false,
      madeBy: null,
      address: null,
      browser: null,
      idleSeconds: null,
      ...special,
    };
    const row = await tokenStore.insert(db, {
      ...blankToken,
      accountId,
      userId,
      name,
      kind,
      privileges,
      expiresAt,
      ...text,
      ...made,
    });
    return row && { id: row.id, token: raw, expiresAt: row.expiresAt };
  };

  const startSession: Tokens["startSession"] = async ({
    accountId,
    userId,
    openedBy,
    seconds,
    idleSeconds = null,
    from,
    also = nothing,
  }) => {
    const session = { accountId, userId, name: "session", kind: "web_token" } as const;
    const end = new Date(Date.now() + seconds * 1000);
    const made = async (tx: Tx) => {
      if (openedBy === undefined)
        return insert(tx, { ...session, expiresAt: end }, newRawToken(), { purpose: "session", idleSeconds, ...from });
      const opener = await tokenStore.byId(tx, accountId, openedBy);
      if (!opener || !(await tokenStore.open(tx, accountId, openedBy))) return undefined;
      const { privileges, expiresAt } = opener;
      const narrowed = { ...session, privileges, expiresAt: earlier(end, expiresAt) };
      return insert(tx, narrowed, newRawToken(), { purpose: "session", parentId: openedBy, idleSeconds, ...from });
    };
    return ctx.transaction(async (tx) => {
      const issued = await made(tx);
      if (issued) await also(issued.id, tx);
      return issued;
    });
  };

  const invite = async (caller: Caller, userId: number, expiresAt: Date) => {
    mustEndWithin(await tokenStore.endOf(ctx.sql, caller.account.id, caller.tokenId), { expiresAt });
    const made = await ctx.transaction(async (tx) => {
      const accountId = caller.account.id;
      const ended = await tokenEndStore.deleteUnopened(tx, accountId, userId);
      const token = { accountId, userId, name: "invitation", kind: "web_token", expiresAt } as const;
      const issued = await insert(tx, token, newRawToken(), { purpose: "invitation" });
      if (!issued) throw invalid({ base: ["this person was deleted meanwhile"] });
      return { issued, ended };
    });
    await identifier.forget(made.ended);
    return made.issued;
  };

  const endSession = async (caller: Caller): Promise<boolean> => {
    const ended = await ctx.transaction(async (tx) => {
      const row = await tokenStore.byId(tx, caller.account.id, caller.tokenId);
      return row?.purpose === "session" ? tokenEndStore.delete(tx, caller.account.id, [row.id]) : undefined;
    });
    if (ended) await identifier.forget(ended);
    return ended !== undefined;
  };

  /**
   * The same token in every process for half an hour and session, so that nothing has to keep it and few rows are made.
   */
  const temporaryToken = async (caller: Caller): Promise<string> => {
    const now = Date.now();
    const raw = derivedRawToken(ctx.secrets, `${caller.user.id}:${caller.tokenId}:${Math.floor(now / (hourMs / 2))}`);
    if (await identifier.knows(raw)) return raw;
    const session = await tokenStore.byId(ctx.sql, caller.account.id, caller.tokenId);
    const expiresAt = earlier(new Date(now + hourMs), session?.expiresAt);
    const owner = { accountId: caller.account.id, userId: caller.user.id, name: "prompt" };
    const special = { purpose: "temporary", parentId: caller.tokenId } as const;
    await insert(ctx.sql, { ...owner, privileges: caller.narrowedTo, expiresAt }, raw, special);
    return raw;
  };

  return {
    issue: (token: NewToken, db: Sql | Tx = ctx.sql): Promise<IssuedToken | undefined> =>
      insert(db, token, newRawToken()),
    /** Stores a token whose text was given from outside, in any form. */
    issueGiven: (token: NewToken, raw: string, db: Sql | Tx) => insert(db, token, raw, { given: true }),
    startSession,
    /** An invitation takes the place of those that the person has not used. */
    invite,
    endSession,
    temporaryToken,
  };
}

export type TokenIssuer = ReturnType<typeof createTokenIssuer>;

const nothing = async (): Promise<void> => {};

function earlier(one: Date, other: Date | null | undefined): Date {
  return other && other < one ? other : one;
}
