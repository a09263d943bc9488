/** Time-based codes as authenticator apps show them: RFC 6238 with SHA-1, 6 digits and 30 seconds, which all of them know. */

export const stepSeconds = 30;
const digits = 6;
/** Clocks may be off by one step either way. */
const skews = [0, -1, 1];

export async function codeAt(secret: Uint8Array<ArrayBuffer>, step: number): Promise<string> {
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-1" }, false, ["sign"]);
  const counter = new DataView(new ArrayBuffer(8));
  counter.setBigUint64(0, BigInt(step));
  const mac = new DataView(await crypto.subtle.sign("HMAC", key, counter));
  const number = mac.getUint32(mac.getUint8(mac.byteLength - 1) & 15) & 0x7fffffff;
  return `${number % 10 ** digits}`.padStart(digits, "0");
}

/** The step after `last` that has this code; undefined if it is wrong, too old, or was used. */
export async function stepOf(
  secret: Uint8Array<ArrayBuffer>,
  code: string,
  last: number,
  now = Date.now(),
): Promise<number | undefined> {
  const current = Math.floor(now / 1000 / stepSeconds);
  for (const step of skews.map((skew) => current + skew)) {
    if (step > last && (await codeAt(secret, step)) === code) return step;
  }
  return undefined;
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** RFC 4648 without padding. */
export function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet.charAt((held >> (bits - 5)) & 31);
    held &= 255;
  }
  return bits > 0 ? text + alphabet.charAt((held << (5 - bits)) & 31) : text;
}

/** The content of a QR code for an authenticator app. */
export function keyUri(secret: Uint8Array, account: string, login: string): string {
  // The colon separates the two parts.
  const [issuer, name] = [account, login].map((part) => encodeURIComponent(part.replaceAll(":", " ")));
  return `otpauth://totp/${issuer}:${name}?secret=${base32(secret)}&issuer=${issuer}&algorithm=SHA1&digits=${digits}&period=${stepSeconds}`;
}
