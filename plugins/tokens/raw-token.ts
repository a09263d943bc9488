/**
 * The text of a token: `core_`, 36 random letters and digits, and 6 of a checksum (CRC-32, as in GitHub's tokens).
 * Secret scanners can recognise it, and a mistyped token is refused without asking the database. behaviour B.6.
 */
import type { Secrets } from "platform";

const prefix = "core_";
const randomChars = 36;
const checksumChars = 6;
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const form = /^core_[0-9A-Za-z]{42}$/;

export function newRawToken(): string {
  const picked: string[] = [];
  while (picked.length < randomChars) {
    for (const byte of crypto.getRandomValues(new Uint8Array(64))) {
      // 248 = 4 × 62: higher bytes would make some characters more likely.
      if (byte < 248 && picked.length < randomChars) picked.push(alphabet.charAt(byte % 62));
    }
  }
  return withChecksum(picked.join(""));
}

/** Always the same token for the same `value`. Only the holder of the server's secret key can derive it. */
export function derivedRawToken(secrets: Pick<Secrets, "derive">, value: string): string {
  const bytes = Uint8Array.fromBase64(secrets.derive("tokens.temporary", value), { alphabet: "base64url" });
  let number = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let text = "";
  // 256 bits are 43 characters: 36 of them hold 214 bits.
  for (let at = 0; at < randomChars; at++) {
    text += alphabet.charAt(Number(number % 62n));
    number /= 62n;
  }
  return withChecksum(text);
}

/** Whether it has our form and a correct checksum. */
export function isWellFormed(token: string): boolean {
  return form.test(token) && token === withChecksum(token.slice(prefix.length, -checksumChars));
}

/** The part of a token that may be shown: the first 8 and last 4 characters; of a short token only the first 2. */
export function tokenInfo(token: string): string {
  return token.length >= 24 ? `${token.slice(0, 8)}...${token.slice(-4)}` : `${token.slice(0, 2)}...`;
}

/** A shorter token (`CORE_ADMIN_TOKEN=test`) may be an ordinary word. */
const shortestSecret = 16;

/** Whether a text contains a token of our form, or the token of this request, which may have another form. */
export function holdsToken(text: string, carried = ""): boolean {
  if (carried.length >= shortestSecret && text.includes(carried)) return true;
  return [...text.matchAll(/core_[0-9A-Za-z]{42}/g)].some(([token]) => isWellFormed(token));
}

function withChecksum(random: string): string {
  let number = crc32(random);
  let checksum = "";
  for (let at = 0; at < checksumChars; at++) {
    checksum = alphabet.charAt(number % 62) + checksum;
    number = Math.floor(number / 62);
  }
  return `${prefix}${random}${checksum}`;
}

/** The CRC-32 of ASCII text. */
export function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let at = 0; at < text.length; at++) {
    crc ^= text.charCodeAt(at);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
