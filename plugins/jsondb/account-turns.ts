/** Turns between accounts: slow work of one, such as its searches, leaves places to those of others. */
import { createTurns } from "platform";

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
