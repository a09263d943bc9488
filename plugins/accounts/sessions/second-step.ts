/** The second step, after the right password of somebody with a second factor. behaviour B.1. */
import { HttpError, invalid, limitKey, randomToken, sha256, tooMany, unauthorized } from "platform";
import type { FactorKind, Owner, TotpSetup } from "../factors/api.ts";
import type { SessionsContext } from "./context.ts";
import { noteRefused } from "./notices.ts";
import type { CameBy } from "./sign-in.ts";
import * as store from "./store.ts";

const stepMs = 300_000;
/** Per person and address, so that guesses from one address lock out nobody at another. */
const patience = { free: 10, maxSeconds: 60 };

interface Step {
  /** Goes with the second factor; good for nothing else. */
  readonly pending: string;
  readonly factors: readonly FactorKind[];
  readonly expiresAt: Date;
}

/** The client's proof for the second step. */
export interface Proof {
  readonly pending: string;
  readonly code: string;
  readonly setup?: string;
}

interface Proved {
  readonly userId: number;
  readonly cameBy?: CameBy;
  /** Codes of the app that was set up in this step. */
  readonly recoveryCodes?: readonly string[];
}

/** Undefined if the password, or what came in its place, is all that this person needs. */
export async function beginStep(ctx: SessionsContext, owner: Owner, cameBy: CameBy = {}): Promise<Step | undefined> {
  const kinds = await ctx.factors.kindsOf(owner);
  if (kinds.length === 0 && !(await ctx.factors.isRequired(owner))) return undefined;
  const pending = randomToken();
  const expiresAt = new Date(Date.now() + stepMs);
  await store.addStep(ctx.sql, { hash: sha256(pending), ...owner, expiresAt, ...cameBy });
  return { pending, factors: kinds, expiresAt };
}

/** The factors that this sign-in waits for; [] = one must be set up. Throws 401 if it has expired or ended. */
export async function kindsOf(ctx: SessionsContext, accountId: number, pending: string) {
  return ctx.factors.kindsOf(await ownerOf(ctx, accountId, pending));
}

/** Somebody without a factor, who must have one, sets it up here. `setup`: the one that they have seen already. */
export async function setupOf(
  ctx: SessionsContext,
  accountId: number,
  pending: string,
  setup?: string,
): Promise<TotpSetup> {
  const { factors } = ctx;
  const owner = await ownerOf(ctx, accountId, pending);
  if ((await factors.kindsOf(owner)).length > 0) throw expired();
  const shown = setup === undefined ? undefined : await factors.shownTotp(owner, setup);
  return shown ?? factors.beginTotp(owner);
}

/** Throws 401 for a wrong proof, 429 after too many. A right one ends the step. */
export async function finishStep(ctx: SessionsContext, accountId: number, ip: string, proof: Proof): Promise<Proved> {
  const { sql } = ctx;
  const hash = sha256(proof.pending);
  const owner = await ownerOf(ctx, accountId, proof.pending);
  const subject = `code:${owner.userId} ${limitKey(ip)}`;
  const seconds = await store.secondsToWait(sql, accountId, [subject]);
  if (seconds > 0) throw tooMany(seconds);
  const proved = await checked(ctx, owner, proof);
  if (!proved) {
    await store.addFailure(sql, accountId, subject, patience);
    await store.failedStep(sql, accountId, hash);
    noteRefused(ctx, accountId, owner.userId);
    throw unauthorized("wrong code");
  }
  await store.clearFailures(sql, accountId, subject);
  const taken = await store.takeStep(sql, accountId, hash);
  if (!taken) throw expired();
  const cameBy = { openedBy: taken.openedById ?? undefined, origin: taken.origin ?? undefined };
  return { ...proved, cameBy };
}

async function ownerOf({ accounts, sql }: SessionsContext, accountId: number, pending: string): Promise<Owner> {
  const userId = await store.userIdOfStep(sql, accountId, sha256(pending));
  if (userId === undefined || !(await accounts.access(userId))?.active) throw expired();
  return { accountId, userId };
}

/** Undefined if it is wrong. */
async function checked(
  { factors }: SessionsContext,
  owner: Owner,
  { code, setup }: Proof,
): Promise<Proved | undefined> {
  const { userId } = owner;
  const kinds = await factors.kindsOf(owner);
  if (kinds.length > 0) return (await factors.checkCode(owner, code)) ? { userId } : undefined;
  if (!setup) throw invalid({ setup: ["is required"] });
  const recoveryCodes = await factors.confirmTotp(owner, setup, code);
  return recoveryCodes && { userId, recoveryCodes };
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
