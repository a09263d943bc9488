/**
 * Secrets at rest, signatures and keyed hashes, all from the one SECRET_KEY.
 *
 *     const secrets = createSecrets(loadSecretKey(dataDir, process.env.SECRET_KEY));
 *     const stored = secrets.seal("sk_live_…", `connector:${id}`);
 *     secrets.open(stored, `connector:${id}`); // "sk_live_…"; throws for any other row
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import {
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { host } from "#host";
import { unavailable } from "./errors.ts";
import { codeOf } from "./values.ts";

export interface Secrets {
  /** Encrypts. `context` names the place (row and column); the result can be opened for that place only. */
  seal(plain: string, context: string): string;
  open(sealed: string, context: string): string;
  /** `payload.signature`: anyone can read it, and nobody can change it unnoticed. */
  sign(purpose: string, payload: string): string;
  /** The payload, if `sign` made the text for this purpose; otherwise undefined. */
  verify(purpose: string, signed: string): string | undefined;
  /** A keyed hash to look things up by: of no use to somebody who reads it in the database. */
  derive(purpose: string, value: string): string;
}

/** A sealed value cannot be opened: another key, another place, or damage. */
export class SecretFault extends Error {
  override name = "SecretFault";
}

const version = "v1.";
const nonceBytes = 12;
const tagBytes = 16;
const leastKeyChars = 16;

export function createSecrets(key: string): Secrets {
  requireStrong(key, "SECRET_KEY");
  const encryptionKey = subkey(key, "encryption");
  const signingKey = subkey(key, "signing");
  const lookupKey = subkey(key, "lookup");

  return {
    seal: (plain, context) => version + encrypt(encryptionKey, plain, context).toString("base64url"),
    open: (sealed, context) => decrypt(encryptionKey, sealed, context),
    sign: (purpose, payload) => `${payload}.${mac(signingKey, purpose, payload)}`,
    verify: (purpose, signed) => {
      const dot = signed.lastIndexOf(".");
      if (dot < 0) return undefined;
      const payload = signed.slice(0, dot);
      return sameText(signed.slice(dot + 1), mac(signingKey, purpose, payload)) ? payload : undefined;
    },
    derive: (purpose, value) => mac(lookupKey, purpose, value),
  };
}

/** Random, URL-safe text of `bytes` bytes of entropy (43 characters for 32). */
export function randomToken(bytes = 32): string {
  return randomBytes(bytes).toString("base64url");
}

/**
 * The SECRET_KEY of the environment, or the one in `dataDir/secret.key`, which is created if it is missing. Processes
 * that start at the same time agree on one key: the first to link its file wins, and the others read that file. A new
 * key is `draft`.
 */
export function loadSecretKey(dataDir: string, fromEnv: string | undefined, draft: string = randomToken(32)): string {
  const found = findSecretKey(dataDir, fromEnv);
  if (found !== undefined) return found;

  const path = join(dataDir, "secret.key");
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const unlinked = join(dataDir, `.secret.key.${process.pid}.${randomToken(6)}`);
  try {
    writeDurably(unlinked, `${draft}\n`);
    // Unlike a rename, a link never replaces a key that another process has just made.
    linkSync(unlinked, path);
    syncFolder(dataDir);
  } catch (cause) {
    if (codeOf(cause) !== "EEXIST") throw new Error(`cannot write the secret key to ${path}`, { cause });
  } finally {
    rmSync(unlinked, { force: true });
  }
  const made = readKey(path);
  if (!made) throw new Error(`the secret key ${path} vanished while it was being made`);
  return made;
}

/** The key that `loadSecretKey` is going to give, unless another process makes one first. */
export function draftOfSecretKey({ dataDir, secretKey }: { readonly dataDir: string; readonly secretKey: string }) {
  return findSecretKey(dataDir, secretKey) ?? randomToken(32);
}

/** The same, but never creates a key. */
export function findSecretKey(dataDir: string, fromEnv: string | undefined): string | undefined {
  return fromEnv ? requireStrong(fromEnv, "SECRET_KEY") : readKey(join(dataDir, "secret.key"));
}

/** Tells keys apart without revealing anything about them. */
export function fingerprintOf(key: string): string {
  return subkey(key, "fingerprint").toString("hex").slice(0, 16);
}

function readKey(path: string): string | undefined {
  try {
    return requireStrong(readFileSync(path, "utf8").trim(), path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    if (codeOf(error) === "EISDIR")
      throw new Error(`${path} is a folder, and must be a file: move it away`, { cause: error });
    throw error;
  }
}

function requireStrong(key: string, where: string): string {
  if (key.length < leastKeyChars) throw new Error(`${where} needs at least ${leastKeyChars} characters`);
  return key;
}

function subkey(key: string, use: string): Buffer {
  return Buffer.from(hkdfSync("sha256", key, "", `corestead ${use} v1`, 32));
}

function mac(key: Buffer, purpose: string, value: string): string {
  // The length keeps ("a", "bc") and ("ab", "c") apart.
  return createHmac("sha256", key).update(`${purpose.length}:${purpose}${value}`).digest("base64url");
}

function sameText(a: string, b: string): boolean {
  // Hashed, because timingSafeEqual wants equal lengths.
  return timingSafeEqual(sha256(a), sha256(b));
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function encrypt(key: Buffer, plain: string, context: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Buffer, sealed: string, context: string): string {
  const bytes = Buffer.from(sealed.slice(version.length), "base64url");
  if (!sealed.startsWith(version) || bytes.length < nonceBytes + tagBytes) {
    throw new SecretFault(`not a sealed secret of version ${version.slice(0, -1)}`);
  }
  const tagAt = bytes.length - tagBytes;
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(tagAt));
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, tagAt)), decipher.final()]).toString("utf8");
  } catch (cause) {
    throw new SecretFault("a stored secret cannot be opened: it was sealed with another SECRET_KEY, or is damaged", {
      cause,
    });
  }
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/**
 * Hashes passwords with argon2id at the cost that OWASP recommends. At most two are computed at a time: each takes 19
 * MB, and many sign-ins at once must leave processor time for other requests.
 */
const cost = { memoryCost: 19_456, timeCost: 2 };
const atOnce = 2;
const mostWaiting = 200;

let running = 0;
const waiting: (() => void)[] = [];
let nobodys: Promise<string> | undefined;

export function hashPassword(password: string): Promise<string> {
  return inTurn(() => host.hashPassword(password, cost));
}

/** Whether `hash` is that of `password`. Without a hash (unknown login) the answer is false and takes the same time. */
export async function verifyPassword(password: string, hash: string | null | undefined): Promise<boolean> {
  const against = hash ?? (await (nobodys ??= hashPassword(crypto.randomUUID())));
  const matches = await inTurn(() => host.verifyPassword(password, against));
  return matches && hash !== null && hash !== undefined;
}

/** Throws a 503 if too many are waiting already. */
async function inTurn<T>(run: () => Promise<T>): Promise<T> {
  if (running >= atOnce) {
    if (waiting.length >= mostWaiting) throw unavailable("too many people sign in at once, try again");
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else running++;
  try {
    return await run();
  } finally {
    // Hands the turn to the next caller, or returns it.
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}
