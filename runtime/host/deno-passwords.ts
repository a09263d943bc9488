/** Argon2id by WebCrypto, in the form that Bun writes: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`. */
import { timingSafeEqual } from "node:crypto";
import type { PasswordCost } from "./host.ts";

interface Cost {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
  readonly bytes: number;
}

export async function hashPassword(password: string, { memoryCost, timeCost }: PasswordCost): Promise<string> {
  const salt = crypto.getRandomValues(new Uint8Array(32));
  const bits = await argon2id(password, salt, { memory: memoryCost, passes: timeCost, parallelism: 1, bytes: 32 });
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=1$${base64(salt)}$${base64(bits)}`;
}

export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const found = /^\$argon2id\$v=19\$m=(\d{1,9}),t=(\d{1,4}),p=(\d{1,3})\$([\w+/]{1,200})\$([\w+/]{1,200})$/.exec(hash);
  if (!found) throw new Error("not a hash of argon2id");
  const [, memory, passes, parallelism, salt = "", expected = ""] = found;
  const wanted = Buffer.from(expected, "base64");
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const bits = await argon2id(password, bytesOf(salt), { ...cost, bytes: wanted.length });
  return timingSafeEqual(bits, wanted);
}

/** TypeScript's libraries do not know Argon2 yet. */
interface Argon2 {
  importKey(
    format: "raw-secret",
    key: Uint8Array,
    name: string,
    extractable: false,
    uses: string[],
  ): Promise<CryptoKey>;
  deriveBits(
    how: { name: "Argon2id"; nonce: Uint8Array; memory: number; passes: number; parallelism: number },
    key: CryptoKey,
    bits: number,
  ): Promise<ArrayBuffer>;
}

async function argon2id(password: string, nonce: Uint8Array<ArrayBuffer>, { bytes, ...cost }: Cost) {
  const subtle: Argon2 = Reflect.get<object, string>(crypto, "subtle");
  const secret = new TextEncoder().encode(password);
  const key = await subtle.importKey("raw-secret", secret, "Argon2id", false, ["deriveBits"]);
  return new Uint8Array(await subtle.deriveBits({ name: "Argon2id", nonce, ...cost }, key, bytes * 8));
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, "base64"));
}

/** Without padding, as in that form. */
function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replaceAll("=", "");
}
