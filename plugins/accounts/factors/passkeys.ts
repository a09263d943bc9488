/**
 * Passkeys: registered, and checked at a sign-in. Each is discoverable and verifies its person (by a fingerprint, a face
 * or a PIN), so it stands for both factors. No HTTP, no SQL.
 */
import {
  invalid,
  isObject,
  notFound,
  randomToken,
  unauthorized,
  type Account,
  type BaseContext,
  type Tx,
} from "platform";
import type { Accounts } from "../api.ts";
import type { Assertion, Owner } from "./api.ts";
import type { Authenticator } from "./authenticator.ts";
import type { PasskeyRow, PasskeyStore } from "./passkey-store.ts";
import type { FactorStore } from "./store.ts";

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

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "log">;
  readonly accounts: Pick<Accounts, "access" | "hasPassword">;
  readonly factorStore: FactorStore;
  readonly passkeyStore: PasskeyStore;
  readonly authenticator: Pick<Authenticator, "ensureCodes">;
}

export type Passkeys = ReturnType<typeof createPasskeys>;

export function createPasskeys({ ctx, accounts, factorStore, passkeyStore, authenticator }: Needed) {
  const challengeFor = async (accountId: number, userId: number | null) => {
    const challenge = randomToken();
    await passkeyStore.addChallenge(accountId, userId, challenge, new Date(Date.now() + challengeMs));
    return challenge;
  };

  /** Whatever it refuses is the client's fault; the reason is for the log. */
  const attempt = async <T>(check: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await check();
    } catch (error) {
      ctx.log.info("a passkey was refused", { error });
      return undefined;
    }
  };

  const endAll = async (owner: Owner, tx: Tx): Promise<void> => {
    await passkeyStore.delete(tx, owner, await passkeyStore.lockAll(tx, owner));
    await factorStore.dropIdleCodes(tx, owner);
  };

  return {
    /** What `navigator.credentials.create` takes. */
    async registrationOptions(account: Account, owner: Owner) {
      const { rpID } = relyingParty(account);
      const known = await passkeyStore.list(owner);
      if (known.length >= mostPerPerson)
        throw invalid({ base: [`you have ${mostPerPerson} passkeys: remove one first`] });
      const person = (await accounts.access(owner.userId))?.user;
      if (!person) throw notFound();
      return {
        challenge: await challengeFor(owner.accountId, owner.userId),
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
    },

    /** Also recovery codes, if there are none yet: a passkey can be lost. */
    async register(account: Account, owner: Owner, name: string, given: Registration) {
      const { origin, rpID } = relyingParty(account);
      const challenge = challengeIn(given.response.clientDataJSON);
      if (!challenge || !(await passkeyStore.takeChallenge(owner.accountId, owner.userId, challenge)))
        throw invalid({ response: ["has expired: begin again"] });
      const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
      const { clientDataJSON, attestationObject, transports = [] } = given.response;
      const verified = await attempt(() =>
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
        const row = await passkeyStore.add(tx, owner, made);
        if (!row) throw invalid({ response: ["is of a passkey that is registered already"] });
        return { row, recoveryCodes: await authenticator.ensureCodes(tx, owner) };
      });
    },

    /** What `navigator.credentials.get` takes; whose passkey it will be, the browser asks its person. */
    async signInOptions(account: Account) {
      const { rpID } = relyingParty(account);
      const challenge = await challengeFor(account.id, null);
      return { challenge, rpId: rpID, timeout: challengeMs, userVerification: "required", allowCredentials: [] };
    },

    /** Whose passkey it is. Throws the 401. */
    async personOf(account: Account, given: Assertion): Promise<Owner> {
      const { origin, rpID } = relyingParty(account);
      const challenge = challengeIn(given.response.clientDataJSON);
      if (!challenge || !(await passkeyStore.takeChallenge(account.id, null, challenge))) throw unauthorized(expired);
      const row = await passkeyStore.byCredential(account.id, given.id);
      if (!row) throw unauthorized(unknown);
      const owner = { accountId: account.id, userId: row.userId };
      const { userHandle } = given.response;
      if (userHandle && userHandle !== handleOf(owner)) throw unauthorized(unknown);
      const newCounter = await attempt(() => checkedCounter(row, given, { challenge, origin, rpID }));
      if (newCounter === undefined || !(await passkeyStore.used(account.id, row, newCounter)))
        throw unauthorized(unknown);
      if (!(await accounts.access(row.userId))?.active) throw unauthorized(unknown);
      return owner;
    },

    /** Not the last way in: without a password one passkey stays. */
    async remove(owner: Owner, id: number): Promise<void> {
      const hasPassword = await accounts.hasPassword(owner.accountId, owner.userId);
      await ctx.transaction(async (tx) => {
        const ids = await passkeyStore.lockAll(tx, owner);
        if (!ids.includes(id)) throw notFound();
        if (ids.length === 1 && !hasPassword)
          throw invalid({ base: ["this is your last way in: set a password first"] });
        await passkeyStore.delete(tx, owner, [id]);
        if (ids.length === 1) await factorStore.dropIdleCodes(tx, owner);
      });
    },

    removeAll: (owner: Owner): Promise<void> => ctx.transaction((tx) => endAll(owner, tx)),
    endAll,
  };
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
