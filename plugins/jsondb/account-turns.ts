/** Turns between accounts: slow work of one, such as its searches, takes at most half of the places. */
import { createTurns } from "platform";

/** As `createTurns`, for work of an account. */
export function createAccountTurns(most: number, patience?: Parameters<typeof createTurns>[1]) {
  const all = createTurns(most, patience);
  const accounts = new Map<number, { readonly turns: ReturnType<typeof createTurns>; calls: number }>();

  return async <T>(accountId: number, run: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    const own = accounts.get(accountId) ?? { turns: createTurns(Math.ceil(most / 2), patience), calls: 0 };
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
