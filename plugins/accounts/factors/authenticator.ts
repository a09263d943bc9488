/** Authenticator apps and recovery codes: how they are set up, checked and removed. No HTTP, no SQL. */
import { invalid, isObject, parseJson, SecretFault, sha256, tooMany, type Tx } from "platform";
import type { Owner, TotpSetup } from "./api.ts";
import type { FactorsContext } from "./context.ts";
import * as factorStore from "./store.ts";
import { base32, keyUri, stepOf } from "./totp.ts";

const setupMs = 600_000;
const secretBytes = 20;
const place = ({ userId }: Owner) => `factors.totp:${userId}`;
const setupPlace = ({ userId }: Owner) => `factors.setup:${userId}`;
const bytesOf = (text: string) => Uint8Array.fromBase64(text);

/** Uses up a code of the app or a recovery code; false = wrong. Throws 429 after too many wrong ones. */
export async function checkCode(ctx: FactorsContext, owner: Owner, typed: string): Promise<boolean> {
  const code = typed.replaceAll(" ", "");
  if (/^\d{6}$/.test(code)) return checkApp(ctx, owner, code);
  return ctx.transaction(async (tx) => {
    const right = await factorStore.takeRecoveryCode(tx, owner, recoveryHash(code));
    if (right) await factorStore.forgive(tx, owner);
    return right;
  });
}

/** The answer is worked out in the transaction, and refused after it: what it has written must stay. */
async function checkApp(ctx: FactorsContext, owner: Owner, code: string): Promise<boolean> {
  const outcome = await ctx.transaction(async (tx) => {
    const row = await factorStore.lockTotp(tx, owner);
    if (!row || row.secondsToWait > 0) return { right: false, wait: row?.secondsToWait ?? 0 };
    const step = await stepOf(bytesOf(ctx.secrets.open(row.secret, place(owner))), code, row.lastStep);
    if (step === undefined) await factorStore.failed(tx, owner);
    else await factorStore.usedStep(tx, owner, step);
    return { right: step !== undefined, wait: 0 };
  });
  if (outcome.wait > 0) throw tooMany(outcome.wait);
  return outcome.right;
}

export async function beginTotp(ctx: FactorsContext, owner: Owner): Promise<TotpSetup> {
  const secret = crypto.getRandomValues(new Uint8Array(secretBytes));
  const sealed = JSON.stringify({ secret: secret.toBase64(), until: Date.now() + setupMs });
  return shown(ctx, owner, secret, ctx.secrets.seal(sealed, setupPlace(owner)));
}

/** The same again; undefined if it has expired or is another person's. */
export async function shownTotp(ctx: FactorsContext, owner: Owner, setup: string): Promise<TotpSetup | undefined> {
  const secret = secretIn(ctx, owner, setup);
  return secret && shown(ctx, owner, secret, setup);
}

/** Makes the app count. Returns new recovery codes; undefined if the code is wrong. */
export async function confirmTotp(ctx: FactorsContext, owner: Owner, setup: string, code: string) {
  const secret = secretIn(ctx, owner, setup);
  if (!secret) throw invalid({ setup: ["has expired: begin again"] });
  const step = await stepOf(secret, code.replaceAll(" ", ""), -1);
  if (step === undefined) return undefined;
  const { codes, hashes } = newCodes();
  await ctx.transaction(async (tx) => {
    await factorStore.setTotp(tx, owner, ctx.secrets.seal(secret.toBase64(), place(owner)), step);
    await factorStore.setRecoveryCodes(tx, owner, hashes);
  });
  return codes;
}

export async function renewCodes(ctx: FactorsContext, owner: Owner): Promise<readonly string[]> {
  const { codes, hashes } = newCodes();
  await ctx.transaction((tx) => factorStore.setRecoveryCodes(tx, owner, hashes));
  return codes;
}

/** New ones, if there are none. */
export async function ensureCodes(tx: Tx, owner: Owner): Promise<readonly string[]> {
  if (await factorStore.hasRecoveryCodes(tx, owner)) return [];
  const { codes, hashes } = newCodes();
  await factorStore.setRecoveryCodes(tx, owner, hashes);
  return codes;
}

/** Unless there is a passkey, the recovery codes go with it. */
export function removeApp(ctx: FactorsContext, owner: Owner): Promise<void> {
  return ctx.transaction(async (tx) => {
    await factorStore.deleteTotp(tx, owner);
    await factorStore.dropIdleCodes(tx, owner);
  });
}

/** The secret inside a setup, which only the server can open. */
function secretIn({ secrets }: FactorsContext, owner: Owner, setup: string): Uint8Array<ArrayBuffer> | undefined {
  const opened = openedOr(() => parseJson(secrets.open(setup, setupPlace(owner))));
  if (!isObject(opened) || typeof opened["secret"] !== "string") return undefined;
  return Number(opened["until"]) > Date.now() ? bytesOf(opened["secret"]) : undefined;
}

async function shown({ accounts }: FactorsContext, owner: Owner, secret: Uint8Array, setup: string) {
  const access = await accounts.access(owner.userId);
  const uri = keyUri(secret, access?.account.name ?? "", access?.user.login ?? "");
  const { renderSVG } = await import("uqr");
  return { setup, uri, secret: base32(secret), qr: renderSVG(uri, { border: 4 }) };
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

const codeCount = 10;
const codeChars = 16;
// Without letters and digits that look alike. 32 characters: 5 bits each.
const alphabet = "023456789abcdefghjkmnpqrstuvwxyz";

/** For people whose authenticator is lost, `k7pd-2mxa-…`: each works once. */
function newCodes() {
  const codes = Array.from({ length: codeCount }, () => {
    const picked = Array.from(crypto.getRandomValues(new Uint8Array(codeChars)), (byte) => alphabet.charAt(byte & 31));
    return [0, 4, 8, 12].map((at) => picked.slice(at, at + 4).join("")).join("-");
  });
  return { codes, hashes: codes.map(recoveryHash) };
}

/** However it was typed. */
function recoveryHash(code: string): string {
  return sha256(code.toLowerCase().replaceAll(/[^a-z0-9]/g, ""));
}
