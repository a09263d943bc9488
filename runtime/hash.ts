/** SHA-256 as hexadecimal text, at once: fit for tokens, which are random and long, and never for passwords. */
export function sha256(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

/** The same of a text that comes in pieces. */
export function createSha256(): { add: (piece: string) => void; end: () => string } {
  const hasher = new Bun.CryptoHasher("sha256");
  return { add: (piece) => void hasher.update(piece), end: () => hasher.copy().digest("hex") };
}

/** Tells texts apart, at once and in every process alike: for an ETag, and never where somebody gains by two that are equal. */
export function contentHash(text: string): string {
  return `${text.length.toString(36)}-${Bun.hash.xxHash3(text).toString(36)}`;
}
