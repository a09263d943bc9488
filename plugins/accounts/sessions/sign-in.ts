/** Signing in by password, slowed down by repeated failures, and signing out. behaviour B.1. */
import { limitKey, sha256, tooMany, unauthorized, type Caller, type Language, type RequestInput } from "platform";
import type { IssuedToken } from "../../tokens/api.ts";
import { signedInFrom } from "./browser.ts";
import { sessionSettings, type SessionsContext } from "./context.ts";
import { alertOf, noteRefused } from "./notices.ts";
import type { PageLink } from "./page.ts";
import { addFailure, clearFailures, secondsToWait, startOrigin } from "./store.ts";

interface Attempt {
  readonly accountId: number;
  readonly login: string;
  readonly password: string;
  /** The client's address. */
  readonly ip: string;
}

/** The way of a sign-in in place of a password: an invitation, or another proof. */
export interface CameBy {
  readonly openedBy?: number | undefined;
  readonly origin?: string | undefined;
}

const wrong = "wrong login or password";
const patience = {
  /** Per login and address: guesses from one address lock out nobody at another. */
  pair: { free: 5, maxSeconds: 60 },
  // Many people may sit behind one address.
  address: { free: 50, maxSeconds: 60 },
  /** Per login, from all addresses: guessing from many addresses is slow, and the owner waits a moment at most. */
  login: { free: 100, maxSeconds: 5 },
};

/**
 * The id of the person; throws 401 for a wrong login or password, 429 after too many. Tries with one login from one
 * address take turns: otherwise a thousand at once would all come before the first failure counts. They do not take
 * turns by login alone, because guesses from elsewhere would then keep its owner waiting.
 */
export function personOf(ctx: SessionsContext, tried: Attempt): Promise<number> {
  const key = `${tried.accountId} ${limitKey(tried.ip)} ${tried.login.toLowerCase()}`;
  return ctx.turns.run(key, () => attempt(ctx, tried));
}

async function attempt(ctx: SessionsContext, { accountId, login, password, ip }: Attempt): Promise<number> {
  const { sql } = ctx;
  const [hash, address] = [sha256(login.toLowerCase()), limitKey(ip)];
  const subjects = { pair: `pair:${hash} ${address}`, address: `address:${address}`, login: `login:${hash}` };
  const seconds = await secondsToWait(sql, accountId, Object.values(subjects));
  if (seconds > 0) throw tooMany(seconds);
  const userId = await ctx.accounts.verifyPassword(accountId, login, password);
  if (userId === undefined) {
    await addFailure(sql, accountId, subjects.pair, patience.pair);
    await addFailure(sql, accountId, subjects.address, patience.address);
    await addFailure(sql, accountId, subjects.login, patience.login);
    noteRefused(ctx, accountId, login);
    throw unauthorized(wrong);
  }
  await clearFailures(sql, accountId, subjects.pair);
  return userId;
}

/** As the account wants it at the beginning of a session. */
export async function lengthOf({ accounts }: SessionsContext, accountId: number) {
  const { hours, idleMinutes } = await accounts.settingsOf(accountId, sessionSettings);
  return { seconds: hours * 3600, idleSeconds: idleMinutes === 0 ? null : idleMinutes * 60 };
}

type Signing = Pick<RequestInput, "account" | "host" | "caller" | "request" | "ip">;

/** Starts their session in place of the one that the request carries. */
export async function startSession(
  ctx: SessionsContext,
  input: Signing,
  userId: number,
  { openedBy, origin }: CameBy = {},
): Promise<IssuedToken> {
  const { account, host, caller } = input;
  // First, because afterwards the request may hold a connection.
  const tell = await alertOf(ctx, input, userId);
  await ctx.accounts.signedInAt(account.id, host);
  const session = await ctx.tokens.startSession({
    accountId: account.id,
    userId,
    ...(await lengthOf(ctx, account.id)),
    from: signedInFrom(input),
    ...(openedBy && { openedBy }),
    ...(origin && {
      also: async (sessionId, tx) => {
        if (!(await startOrigin(tx, account.id, origin, sessionId)))
          throw unauthorized("the provider has signed this person out");
      },
    }),
  });
  if (!session) throw unauthorized(wrong); // the person was deleted meanwhile
  if (caller?.viaCookie) await ctx.tokens.endSession(caller);
  await tell();
  return session;
}

/** Ends the session of this request. Returns where its person may go to be signed out there too. */
export async function leave(ctx: SessionsContext, caller: Caller, language: Language): Promise<PageLink | undefined> {
  const next = await ctx.later.providers.leaving(caller);
  await ctx.tokens.endSession(caller);
  // The session has ended, whatever becomes of the rest.
  return next?.(language).catch((error: unknown) => {
    ctx.log.warn("a sign-out goes no further than here", { accountId: caller.account.id, error });
    return undefined;
  });
}
