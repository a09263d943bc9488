import { createHash, hash } from "node:crypto";
import { host } from "#host";

/** SHA-256 as hexadecimal text, without stretching: suitable for long random tokens, never for passwords. */
export function sha256(text: string): string {
  return hash("sha256", text);
}

/** The same for a text that arrives in pieces. */
export function createSha256(): { add: (piece: string) => void; end: () => string } {
  const hasher = createHash("sha256");
  return { add: (piece) => void hasher.update(piece), end: () => hasher.copy().digest("hex") };
}

/** A fast hash, the same in every process. For ETags only: collisions can be constructed. */
export function contentHash(text: string): string {
  return `${text.length.toString(36)}-${host.contentHash(text)}`;
}
