/**
 * Passkeys: registered, and checked at a sign-in. Each is discoverable and verifies its person (by a fingerprint, a face
 * or a PIN), so it stands for both factors. No HTTP, no SQL.
 */
import { invalid, isObject, notFound, randomToken, unauthorized, type Account, type Tx } from "platform";
import type { Assertion, Owner } from "./api.ts";
import { ensureCodes } from "./authenticator.ts";
import type { FactorsContext } from "./context.ts";
import * as factorStore from "./store.ts";
import type { PasskeyRow } from "./store.ts";

const challengeMs = 300_000;
const mostPerPerson = 20;
/** Ed25519, ES256 and RS256: one of them is known to every authenticator. */
const algorithms = [-8, -7, -257];

export interface Registration {
  readonly id: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly attestationObject: string;
    readonly transports?: readonly string[];
  };
}

/** The parameter of `navigator.credentials.create`. */
export async function registrationOptions(ctx: FactorsContext, account: Account, owner: Owner) {
  const { rpID } = relyingParty(account);
  const known = await factorStore.passkeysOf(ctx.sql, owner);
  if (known.length >= mostPerPerson) throw invalid({ base: [`you have ${mostPerPerson} passkeys: remove one first`] });
  const person = (await ctx.accounts.access(owner.userId))?.user;
  if (!person) throw notFound();
  return {
    challenge: await challengeFor(ctx, owner.accountId, owner.userId),
    rp: { name: account.name, id: rpID },
    user: { id: handleOf(owner), name: person.login, displayName: person.name || person.login },
    pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key", alg })),
    timeout: challengeMs,
    excludeCredentials: known.map(({ credentialId, transports }) => ({
      id: credentialId,
      type: "public-key",
      transports,
    })),
    authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
    attestation: "none",
  };
}

/** Also recovery codes, if there are none yet: a passkey can be lost. */
export async function registerPasskey(
  ctx: FactorsContext,
  account: Account,
  owner: Owner,
  name: string,
  given: Registration,
) {
  const { origin, rpID } = relyingParty(account);
  const challenge = challengeIn(given.response.clientDataJSON);
  if (!challenge || !(await factorStore.takeChallenge(ctx.sql, owner.accountId, owner.userId, challenge)))
    throw invalid({ response: ["has expired: begin again"] });
  const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
  const { clientDataJSON, attestationObject, transports = [] } = given.response;
  const verified = await attempt(ctx, () =>
    verifyRegistrationResponse({
      response: {
        id: given.id,
        rawId: given.id,
        type: "public-key",
        clientExtensionResults: {},
        response: { clientDataJSON, attestationObject },
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpID,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    }),
  );
  if (!verified?.verified) throw invalid({ response: ["is not of a passkey made here"] });
  const { id: credentialId, publicKey, counter } = verified.registrationInfo.credential;
  const made = { name, credentialId, publicKey: toText(publicKey), counter, transports };
  return ctx.transaction(async (tx) => {
    const row = await factorStore.addPasskey(tx, owner, made);
    if (!row) throw invalid({ response: ["is of a passkey that is registered already"] });
    return { row, recoveryCodes: await ensureCodes(tx, owner) };
  });
}

/** The parameter of `navigator.credentials.get`. The browser lets its person choose a passkey. */
export async function signInOptions(ctx: FactorsContext, account: Account) {
  const { rpID } = relyingParty(account);
  const challenge = await challengeFor(ctx, account.id, null);
  return { challenge, rpId: rpID, timeout: challengeMs, userVerification: "required", allowCredentials: [] };
}

/** Whose passkey it is. Throws the 401. */
export async function passkeyOwner(ctx: FactorsContext, account: Account, given: Assertion): Promise<Owner> {
  const { origin, rpID } = relyingParty(account);
  const challenge = challengeIn(given.response.clientDataJSON);
  if (!challenge || !(await factorStore.takeChallenge(ctx.sql, account.id, null, challenge)))
    throw unauthorized(expired);
  const row = await factorStore.passkeyByCredential(ctx.sql, account.id, given.id);
  if (!row) throw unauthorized(unknown);
  const owner = { accountId: account.id, userId: row.userId };
  const { userHandle } = given.response;
  if (userHandle && userHandle !== handleOf(owner)) throw unauthorized(unknown);
  const newCounter = await attempt(ctx, () => checkedCounter(row, given, { challenge, origin, rpID }));
  if (newCounter === undefined || !(await factorStore.usedPasskey(ctx.sql, account.id, row, newCounter)))
    throw unauthorized(unknown);
  if (!(await ctx.accounts.access(row.userId))?.active) throw unauthorized(unknown);
  return owner;
}

/** Not the last way in: without a password one passkey stays. */
export async function removePasskey(ctx: FactorsContext, owner: Owner, id: number): Promise<void> {
  const hasPassword = await ctx.accounts.hasPassword(owner.accountId, owner.userId);
  await ctx.transaction(async (tx) => {
    const ids = await factorStore.lockPasskeys(tx, owner);
    if (!ids.includes(id)) throw notFound();
    if (ids.length === 1 && !hasPassword) throw invalid({ base: ["this is your last way in: set a password first"] });
    await factorStore.removePasskeys(tx, owner, [id]);
    if (ids.length === 1) await factorStore.dropIdleCodes(tx, owner);
  });
}

/** Ends all passkeys of a person. */
export async function removePasskeys(owner: Owner, tx: Tx): Promise<void> {
  await factorStore.removePasskeys(tx, owner, await factorStore.lockPasskeys(tx, owner));
  await factorStore.dropIdleCodes(tx, owner);
}

async function challengeFor({ sql }: FactorsContext, accountId: number, userId: number | null): Promise<string> {
  const challenge = randomToken();
  await factorStore.addChallenge(sql, accountId, userId, challenge, new Date(Date.now() + challengeMs));
  return challenge;
}

/** Whatever it refuses is the client's fault; the reason is for the log. */
async function attempt<T>({ log }: FactorsContext, check: () => Promise<T>): Promise<T | undefined> {
  try {
    return await check();
  } catch (error) {
    log.info("a passkey was refused", { error });
    return undefined;
  }
}

/** The counter after this use. Throws if the signature, the origin or the counter is wrong. */
async function checkedCounter(
  row: PasskeyRow,
  { id, response }: Assertion,
  expected: { readonly challenge: string; readonly origin: string; readonly rpID: string },
): Promise<number | undefined> {
  const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
  const { clientDataJSON, authenticatorData, signature } = response;
  const verified = await verifyAuthenticationResponse({
    response: {
      id,
      rawId: id,
      type: "public-key",
      clientExtensionResults: {},
      response: { clientDataJSON, authenticatorData, signature },
    },
    expectedChallenge: expected.challenge,
    expectedOrigin: expected.origin,
    expectedRPID: expected.rpID,
    credential: { id: row.credentialId, publicKey: fromText(row.publicKey), counter: row.counter },
    requireUserVerification: true,
  });
  return verified.verified ? verified.authenticationInfo.newCounter : undefined;
}

/** From the account's own address, never from what a request says. A passkey belongs to a host's name. */
function relyingParty({ baseUrl }: Account): { origin: string; rpID: string } {
  const { origin, hostname, protocol } = new URL(baseUrl);
  const isNamed = !/^[\d.]+$|^\[/.test(hostname);
  if (isNamed && (protocol === "https:" || hostname === "localhost")) return { origin, rpID: hostname };
  throw invalid({ base: [`passkeys need https and a host's name: this account is at ${origin} (set BASE_URL)`] });
}

/** The challenge that the browser says it answers; undefined if there is none. */
function challengeIn(clientDataJSON: string): string | undefined {
  try {
    const data: unknown = JSON.parse(new TextDecoder().decode(fromText(clientDataJSON)));
    return isObject(data) && typeof data["challenge"] === "string" ? data["challenge"] : undefined;
  } catch {
    return undefined;
  }
}

const encoding = { alphabet: "base64url", omitPadding: true } as const;
const toText = (bytes: Uint8Array) => bytes.toBase64(encoding);
const fromText = (text: string) => Uint8Array.fromBase64(text, { alphabet: "base64url" });
/** By which authenticators tell people apart. */
const handleOf = ({ accountId, userId }: Owner) => toText(new TextEncoder().encode(`${accountId}:${userId}`));

const expired = "this sign-in has expired: begin again";
const unknown = "this passkey does not open anything here";
