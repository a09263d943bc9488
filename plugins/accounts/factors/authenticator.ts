/** Authenticator apps and recovery codes: how they are set up, checked and removed. No HTTP, no SQL. */
import { invalid, isObject, parseJson, SecretFault, tooMany, type BaseContext, type Tx } from "platform";
import type { Accounts } from "../api.ts";
import type { Factors, Owner, TotpSetup } from "./api.ts";
import { newRecoveryCodes, recoveryHash } from "./recovery.ts";
import type { FactorStore } from "./store.ts";
import { base32, keyUri, stepOf } from "./totp.ts";

const setupMs = 600_000;
const secretBytes = 20;

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "secrets">;
  readonly accounts: Pick<Accounts, "access">;
  readonly factorStore: FactorStore;
}

export type Authenticator = ReturnType<typeof createAuthenticator>;

export function createAuthenticator({ ctx, accounts, factorStore }: Needed) {
  const { secrets } = ctx;
  const place = ({ userId }: Owner) => `factors.totp:${userId}`;
  const setupPlace = ({ userId }: Owner) => `factors.setup:${userId}`;
  const bytesOf = (text: string) => Uint8Array.fromBase64(text);

  /** The secret inside a setup, which only the server can open. */
  const secretIn = (owner: Owner, setup: string): Uint8Array<ArrayBuffer> | undefined => {
    const opened = openedOr(() => parseJson(secrets.open(setup, setupPlace(owner))));
    if (!isObject(opened) || typeof opened["secret"] !== "string") return undefined;
    return Number(opened["until"]) > Date.now() ? bytesOf(opened["secret"]) : undefined;
  };

  const shown = async (owner: Owner, secret: Uint8Array, setup: string): Promise<TotpSetup> => {
    const access = await accounts.access(owner.userId);
    const uri = keyUri(secret, access?.account.name ?? "", access?.user.login ?? "");
    const { renderSVG } = await import("uqr");
    return { setup, uri, secret: base32(secret), qr: renderSVG(uri, { border: 4 }) };
  };

  const newCodes = () => {
    const codes = newRecoveryCodes();
    return { codes, hashes: codes.map(recoveryHash) };
  };

  /** The answer is worked out in the transaction, and refused after it: what it has written must stay. */
  const checkApp = async (owner: Owner, code: string): Promise<boolean> => {
    const outcome = await ctx.transaction(async (tx) => {
      const row = await factorStore.lockTotp(tx, owner);
      if (!row || row.secondsToWait > 0) return { right: false, wait: row?.secondsToWait ?? 0 };
      const step = await stepOf(bytesOf(secrets.open(row.secret, place(owner))), code, row.lastStep);
      if (step === undefined) await factorStore.failed(tx, owner);
      else await factorStore.usedStep(tx, owner, step);
      return { right: step !== undefined, wait: 0 };
    });
    if (outcome.wait > 0) throw tooMany(outcome.wait);
    return outcome.right;
  };

  const checkCode: Factors["checkCode"] = async (owner, typed) => {
    const code = typed.replaceAll(" ", "");
    if (/^\d{6}$/.test(code)) return checkApp(owner, code);
    return ctx.transaction(async (tx) => {
      const right = await factorStore.takeRecoveryCode(tx, owner, recoveryHash(code));
      if (right) await factorStore.forgive(owner, tx);
      return right;
    });
  };

  return {
    checkCode,

    async begin(owner: Owner): Promise<TotpSetup> {
      const secret = crypto.getRandomValues(new Uint8Array(secretBytes));
      const sealed = JSON.stringify({ secret: secret.toBase64(), until: Date.now() + setupMs });
      return shown(owner, secret, secrets.seal(sealed, setupPlace(owner)));
    },

    async shown(owner: Owner, setup: string): Promise<TotpSetup | undefined> {
      const secret = secretIn(owner, setup);
      return secret && shown(owner, secret, setup);
    },

    async confirm(owner: Owner, setup: string, code: string): Promise<readonly string[] | undefined> {
      const secret = secretIn(owner, setup);
      if (!secret) throw invalid({ setup: ["has expired: begin again"] });
      const step = await stepOf(secret, code.replaceAll(" ", ""), -1);
      if (step === undefined) return undefined;
      const { codes, hashes } = newCodes();
      await ctx.transaction(async (tx) => {
        await factorStore.setTotp(tx, owner, secrets.seal(secret.toBase64(), place(owner)), step);
        await factorStore.setRecoveryCodes(tx, owner, hashes);
      });
      return codes;
    },

    async renewCodes(owner: Owner): Promise<readonly string[]> {
      const { codes, hashes } = newCodes();
      await ctx.transaction((tx) => factorStore.setRecoveryCodes(tx, owner, hashes));
      return codes;
    },

    /** New ones, if there are none. */
    async ensureCodes(tx: Tx, owner: Owner): Promise<readonly string[]> {
      if (await factorStore.hasRecoveryCodes(tx, owner)) return [];
      const { codes, hashes } = newCodes();
      await factorStore.setRecoveryCodes(tx, owner, hashes);
      return codes;
    },

    /** Unless there is a passkey, the recovery codes go with it. */
    remove: (owner: Owner): Promise<void> =>
      ctx.transaction(async (tx) => {
        await factorStore.deleteTotp(tx, owner);
        await factorStore.dropIdleCodes(tx, owner);
      }),
  };
}

/** Undefined if the client has sent something that we did not seal, or no longer can open. */
function openedOr<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch (error) {
    if (error instanceof SecretFault) return undefined;
    throw error;
  }
}
