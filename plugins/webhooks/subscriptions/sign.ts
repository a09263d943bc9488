/**
 * Signatures of the Standard Webhooks specification (https://www.standardwebhooks.com): HMAC-SHA256 over
 * `id.timestamp.body` with the bytes after `whsec_`.
 */

const prefix = "whsec_";
const secretBytes = 32;

/** A new signing secret, `whsec_` and 32 random bytes in base64. */
export function newSecret(): string {
  return prefix + base64(crypto.getRandomValues(new Uint8Array(secretBytes)));
}

/** A secret ready to sign with. */
export function importSecret(secret: string): Promise<CryptoKey> {
  const bytes = Uint8Array.from(atob(secret.slice(prefix.length)), (char) => char.charCodeAt(0));
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}

export interface Message {
  readonly id: string;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly body: string;
}

/** The value of `webhook-signature`: one signature for each key, e.g. `v1,… v1,…` while a secret is rotated. */
export async function signatureOf({ id, timestamp, body }: Message, keys: readonly CryptoKey[]): Promise<string> {
  const content = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const signed = await Promise.all(keys.map((key) => crypto.subtle.sign("HMAC", key, content)));
  return signed.map((bytes) => `v1,${base64(new Uint8Array(bytes))}`).join(" ");
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

/** The context that a secret is sealed for. */
export function sealContext(webhookId: string | number, secret: "signing" | "api_token"): string {
  return `webhook:${webhookId}:${secret}`;
}

/** A credential as it is shown: a few of its characters, none of a short one. */
export function tokenInfo(token: string): string {
  return token.length < 20 ? "..." : `${token.slice(0, 4)}...${token.slice(-4)}`;
}
