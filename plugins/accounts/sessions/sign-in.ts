/** Signing in by password, slowed down by repeated failures. behaviour B.1. */
import { createTurnsByKey, limitKey, sha256, tooMany, unauthorized, type RequestInput, type Tx } from "platform";
import type { Accounts } from "../api.ts";
import type { IssuedToken, Tokens } from "../../tokens/api.ts";
import type { Alert } from "./alerts.ts";
import type { Started } from "./api.ts";
import { sessionSettings } from "./settings.ts";
import { signedInFrom } from "./signed-in-from.ts";
import type { FailureStore } from "./store.ts";

export interface Attempt {
  readonly accountId: number;
  readonly login: string;
  readonly password: string;
  /** The client's address. */
  readonly ip: string;
}

interface Needed {
  readonly accounts: Pick<Accounts, "verifyPassword" | "signedInAt" | "settingsOf">;
  readonly tokens: Pick<Tokens, "startSession" | "endSession">;
  readonly failureStore: FailureStore;
  readonly alert: Alert;
  /** Told of a wrong password, or a wrong code of whom. */
  readonly refused: (accountId: number, who: string | number) => void;
  readonly started: (started: Started, tx: Tx) => Promise<void>;
}

/** What a sign-in came by, in place of a password: an invitation, or what another plugin has found out. */
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

export function createSignIn({ accounts, tokens, failureStore, alert, refused, started }: Needed) {
  const turns = createTurnsByKey<string>();

  const attempt = async ({ accountId, login, password, ip }: Attempt): Promise<number> => {
    const [hash, address] = [sha256(login.toLowerCase()), limitKey(ip)];
    const subjects = { pair: `pair:${hash} ${address}`, address: `address:${address}`, login: `login:${hash}` };
    const seconds = await failureStore.secondsToWait(accountId, Object.values(subjects));
    if (seconds > 0) throw tooMany(seconds);
    const userId = await accounts.verifyPassword(accountId, login, password);
    if (userId === undefined) {
      await failureStore.add(accountId, subjects.pair, patience.pair);
      await failureStore.add(accountId, subjects.address, patience.address);
      await failureStore.add(accountId, subjects.login, patience.login);
      refused(accountId, login);
      throw unauthorized(wrong);
    }
    await failureStore.clear(accountId, subjects.pair);
    return userId;
  };

  /** As the account wants it at the beginning of a session. */
  const lengthOf = async (accountId: number) => {
    const { hours, idleMinutes } = await accounts.settingsOf(accountId, sessionSettings);
    return { seconds: hours * 3600, idleSeconds: idleMinutes === 0 ? null : idleMinutes * 60 };
  };

  return {
    lengthOf,

    /**
     * The id of the person; throws 401 for a wrong login or password, 429 after too many. Tries with one login from one
     * address take turns: otherwise a thousand at once would all come before the first failure counts. They do not take
     * turns by login alone, because guesses from elsewhere would then keep its owner waiting.
     */
    personOf: (tried: Attempt): Promise<number> =>
      turns.run(`${tried.accountId} ${limitKey(tried.ip)} ${tried.login.toLowerCase()}`, () => attempt(tried)),

    /** Starts their session in place of the one that the request carries. */
    async start(asked: Asked, userId: number, { openedBy, origin }: CameBy = {}): Promise<IssuedToken> {
      const { account, host, caller } = asked;
      // First, because afterwards the request may hold a connection.
      const told = await alert(asked, userId);
      await accounts.signedInAt(account.id, host);
      const from = signedInFrom(asked);
      const length = await lengthOf(account.id);
      const accountId = account.id;
      const session = await tokens.startSession({
        accountId,
        userId,
        ...length,
        from,
        ...(openedBy && { openedBy }),
        ...(origin && { also: (sessionId, tx) => started({ accountId, sessionId, origin }, tx) }),
      });
      if (!session) throw unauthorized(wrong); // the person was deleted meanwhile
      if (caller?.viaCookie) await tokens.endSession(caller);
      await told();
      return session;
    },
  };
}

type Asked = Pick<RequestInput, "account" | "host" | "caller" | "request" | "ip">;

export type SignIn = ReturnType<typeof createSignIn>;
