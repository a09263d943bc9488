/** SHA-256 as hexadecimal text, at once: fit for tokens, which are random and long, and never for passwords. */
export function sha256(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
