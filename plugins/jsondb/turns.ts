/** Turns between accounts: slow work of one, such as its searches, leaves places to those of others. */
import { createTurns, limitKey, tooMany } from "platform";

/** As `createTurns`, for work of accounts: `ofOne` is how many of the places one may take, else half of them. */
export function createAccountTurns(
  most: number,
  patience?: Parameters<typeof createTurns>[1],
  ofOne = Math.ceil(most / 2),
) {
  const all = createTurns(most, patience);
  const accounts = new Map<number, { readonly turns: ReturnType<typeof createTurns>; calls: number }>();

  return async <T>(accountId: number, run: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    const own = accounts.get(accountId) ?? { turns: createTurns(ofOne, patience), calls: 0 };
    accounts.set(accountId, own);
    own.calls += 1;
    try {
      return await own.turns(() => all(run, signal), signal);
    } finally {
      own.calls -= 1;
      if (own.calls === 0) accounts.delete(accountId);
    }
  };
}

// Lets visitors read few lists at a time. A list that no index serves holds a connection for as long as it reads all
// records: without this a visitor who asks for many at once takes every connection of databases.

/** In this process, four of one account. As many of an address may wait as it may ask for in ten seconds (`RATE_LIMIT_REQUESTS`). */
export const visitorTurns = { atOnce: 7, ofAddress: 3, waitingOfAddress: 300 } as const;
/** As long as a statement waits for a connection, and far less than a silent connection lasts. */
const longestWaitMs = 10_000;
const retrySeconds = 5;

export function createVisitorTurns(waitMs = longestWaitMs) {
  const { atOnce, ofAddress, waitingOfAddress } = visitorTurns;
  const all = createAccountTurns(atOnce);
  const addresses = new Map<string, { readonly turns: ReturnType<typeof createTurns>; calls: number }>();

  /** 429 if too many calls of the address wait already, or this one too long; rejects as the signal once it aborts. */
  return async <T>(accountId: number, ip: string, run: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    const key = limitKey(ip);
    const own = addresses.get(key) ?? { turns: createTurns(ofAddress), calls: 0 };
    if (own.calls >= ofAddress + waitingOfAddress) throw tooMany(1);
    addresses.set(key, own);
    own.calls += 1;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(tooMany(retrySeconds)), waitMs);
    // It ends the waiting alone: what runs already runs on.
    const waiting = AbortSignal.any([signal, late.signal]);
    try {
      return await own.turns(() => all(accountId, run, waiting), waiting);
    } finally {
      clearTimeout(timer);
      own.calls -= 1;
      if (own.calls === 0) addresses.delete(key);
    }
  };
}
