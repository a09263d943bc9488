/** Signing in by password, slowed down where it fails again and again. behaviour B.1. */
import { createTurnsByKey, limitKey, sha256, tooMany, unauthorized } from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { IssuedToken, Tokens } from "../tokens/api.ts";
import type { FailureStore } from "./store.ts";

export const sessionSeconds = 14 * 24 * 3600;

export interface Attempt {
  readonly accountId: number;
  readonly login: string;
  readonly password: string;
  /** The client's address. */
  readonly ip: string;
}

export interface Session extends IssuedToken {
  readonly userId: number;
}

interface Needed {
  readonly accounts: Accounts;
  readonly tokens: Tokens;
  readonly store: FailureStore;
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

/** The way in: throws 401 for a wrong login or password, 429 after too many. */
export function createSignIn({ accounts, tokens, store }: Needed) {
  const turns = createTurnsByKey<string>();

  const attempt = async ({ accountId, login, password, ip }: Attempt): Promise<Session> => {
    const [hash, address] = [sha256(login.toLowerCase()), limitKey(ip)];
    const subjects = { pair: `pair:${hash} ${address}`, address: `address:${address}`, login: `login:${hash}` };
    const seconds = await store.secondsToWait(accountId, Object.values(subjects));
    if (seconds > 0) throw tooMany(seconds);
    const userId = await accounts.verifyPassword(accountId, login, password);
    if (userId === undefined) {
      await store.add(accountId, subjects.pair, patience.pair);
      await store.add(accountId, subjects.address, patience.address);
      await store.add(accountId, subjects.login, patience.login);
      throw unauthorized(wrong);
    }
    await store.clear(accountId, subjects.pair);
    const session = await tokens.startSession({ accountId, userId, seconds: sessionSeconds });
    if (!session) throw unauthorized(wrong); // deleted meanwhile
    return { ...session, userId };
  };

  // One after another for each login and address: else a thousand tries at once would all come before the first failure
  // counts. Not for each login alone: a crowd of guesses from elsewhere would keep its owner waiting.
  return (tried: Attempt): Promise<Session> =>
    turns.run(`${tried.accountId} ${limitKey(tried.ip)} ${tried.login.toLowerCase()}`, () => attempt(tried));
}

export type SignIn = ReturnType<typeof createSignIn>;
