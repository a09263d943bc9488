/** Codes for people whose authenticator is lost: each works once. */
import { sha256 } from "platform";

const count = 10;
const chars = 16;
// Without letters and digits that look alike. 32 characters: 5 bits each.
const alphabet = "023456789abcdefghjkmnpqrstuvwxyz";

/** `k7pd-2mxa-…` */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: count }, () => {
    const picked = Array.from(crypto.getRandomValues(new Uint8Array(chars)), (byte) => alphabet.charAt(byte & 31));
    return [0, 4, 8, 12].map((at) => picked.slice(at, at + 4).join("")).join("-");
  });
}

/** However it was typed. */
export function recoveryHash(code: string): string {
  return sha256(code.toLowerCase().replaceAll(/[^a-z0-9]/g, ""));
}
