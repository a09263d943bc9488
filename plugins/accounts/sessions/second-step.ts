/** What follows the right password of somebody with a second factor. behaviour B.1. */
import { HttpError, invalid, limitKey, randomToken, sha256, tooMany, unauthorized } from "platform";
import type { Accounts } from "../api.ts";
import type { FactorKind, Factors, Owner, TotpSetup } from "../factors/api.ts";
import type { CameBy } from "./sign-in.ts";
import type { StepStore } from "./step-store.ts";
import type { FailureStore } from "./store.ts";

const stepMs = 300_000;
/** Per person and address, so that guesses from one address lock out nobody at another. */
const patience = { free: 10, maxSeconds: 60 };

export interface Step {
  /** Goes with the second factor; good for nothing else. */
  readonly pending: string;
  readonly factors: readonly FactorKind[];
  readonly expiresAt: Date;
}

/** What the client sends for the second step. */
export interface Proof {
  readonly pending: string;
  readonly code: string;
  readonly setup?: string;
}

export interface Proved {
  readonly userId: number;
  readonly cameBy?: CameBy;
  /** Of the app that was set up in this step. */
  readonly recoveryCodes?: readonly string[];
}

interface Needed {
  readonly accounts: Pick<Accounts, "access">;
  readonly factors: Factors;
  readonly stepStore: StepStore;
  readonly failureStore: FailureStore;
  readonly refused: (accountId: number, userId: number) => void;
}

export type SecondStep = ReturnType<typeof createSecondStep>;

export function createSecondStep({ accounts, factors, stepStore, failureStore, refused }: Needed) {
  const ownerOf = async (accountId: number, pending: string): Promise<Owner> => {
    const userId = await stepStore.userIdOf(accountId, sha256(pending));
    if (userId === undefined || !(await accounts.access(userId))?.active) throw expired();
    return { accountId, userId };
  };

  /** Undefined if it is wrong. */
  const checked = async (owner: Owner, { code, setup }: Proof): Promise<Proved | undefined> => {
    const { userId } = owner;
    const kinds = await factors.kindsOf(owner);
    if (kinds.length > 0) return (await factors.checkCode(owner, code)) ? { userId } : undefined;
    if (!setup) throw invalid({ setup: ["is required"] });
    const recoveryCodes = await factors.confirmTotp(owner, setup, code);
    return recoveryCodes && { userId, recoveryCodes };
  };

  return {
    /** Undefined if the password, or what came in its place, is all that this person needs. */
    async begin(owner: Owner, cameBy: CameBy = {}): Promise<Step | undefined> {
      const kinds = await factors.kindsOf(owner);
      if (kinds.length === 0 && !(await factors.isRequired(owner))) return undefined;
      const pending = randomToken();
      const expiresAt = new Date(Date.now() + stepMs);
      await stepStore.add({ hash: sha256(pending), ...owner, expiresAt, ...cameBy });
      return { pending, factors: kinds, expiresAt };
    },

    /** What this sign-in waits for; [] = a factor must be set up. Throws 401 if it has expired or ended. */
    kindsOf: async (accountId: number, pending: string) => factors.kindsOf(await ownerOf(accountId, pending)),

    /** Somebody without a factor, who must have one, sets it up here. `setup`: the one that they have seen already. */
    async totp(accountId: number, pending: string, setup?: string): Promise<TotpSetup> {
      const owner = await ownerOf(accountId, pending);
      if ((await factors.kindsOf(owner)).length > 0) throw expired();
      const shown = setup === undefined ? undefined : await factors.shownTotp(owner, setup);
      return shown ?? factors.beginTotp(owner);
    },

    /** Throws 401 for a wrong proof, 429 after too many. A right one ends the step. */
    async finish(accountId: number, ip: string, proof: Proof): Promise<Proved> {
      const hash = sha256(proof.pending);
      const owner = await ownerOf(accountId, proof.pending);
      const subject = `code:${owner.userId} ${limitKey(ip)}`;
      const seconds = await failureStore.secondsToWait(accountId, [subject]);
      if (seconds > 0) throw tooMany(seconds);
      const proved = await checked(owner, proof);
      if (!proved) {
        await failureStore.add(accountId, subject, patience);
        await stepStore.failed(accountId, hash);
        refused(accountId, owner.userId);
        throw unauthorized("wrong code");
      }
      await failureStore.clear(accountId, subject);
      const taken = await stepStore.take(accountId, hash);
      if (!taken) throw expired();
      const cameBy = { openedBy: taken.openedById ?? undefined, origin: taken.origin ?? undefined };
      return { ...proved, cameBy };
    },
  };
}

/** The 401 after the right password, with what the second call needs. */
export function secondFactorNeeded({ pending, factors, expiresAt }: Step): HttpError {
  const error =
    factors.length > 0
      ? "a second factor is needed: send a code to /account/session/second_factor, or use a passkey"
      : "this account requires a second factor: set one up by /account/session/second_factor/setup";
  return new HttpError(401, { error, factors, pending, expires_at: expiresAt }, { "www-authenticate": "Bearer" });
}

const expired = () => unauthorized("this sign-in has expired: begin again");
