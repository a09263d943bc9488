/**
 * How a sender proves that it knows the hook's secret: a signature over the body's bytes, as each service makes it.
 * Signatures and tokens are compared in constant time. Pure but for Web Crypto.
 */

export const schemes = ["standard", "github", "stripe", "slack", "hmac", "token", "none"] as const;
export const algorithms = ["sha256", "sha1", "sha512"] as const;
export const encodings = ["hex", "base64"] as const;

export interface Proof {
  readonly scheme: (typeof schemes)[number];
  /** In plain text; null for `none`. */
  readonly secret: string | null;
  readonly algorithm: (typeof algorithms)[number];
  readonly encoding: (typeof encodings)[number];
  /** Where `hmac` and `token` look; null = `x-signature` and `authorization`. */
  readonly header: string | null;
  /** Where the sender's id of `hmac`, `token` and `none` is, if anywhere. */
  readonly idHeader: string | null;
  /** How far the sender's clock may be off. */
  readonly toleranceSeconds: number;
}

export interface Message {
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** A refusal, or the sender's id of the message (null = none: repeated ones cannot be known). */
export type Verdict = { readonly refused: string } | { readonly messageId: string | null };

type Check = (proof: Proof & { readonly secret: string }, message: Message, now: Date) => Promise<Verdict>;

const mismatch = { refused: "the signature does not match" } as const;
// One secret is rotated while two are valid; more are an attempt to guess.
const maxSignatures = 10;
const maxIdChars = 255;

/** Which headers carry the sender's secret itself: they are kept nowhere. */
export function secretHeader({ scheme, header }: Pick<Proof, "scheme" | "header">): string | undefined {
  return scheme === "token" ? (header ?? "authorization") : undefined;
}

export async function verify(proof: Proof, message: Message, now: Date): Promise<Verdict> {
  const { scheme, secret } = proof;
  const verdict =
    scheme === "none"
      ? { messageId: idIn(message, proof.idHeader) }
      : secret === null
        ? { refused: "the hook has no secret" }
        : await checks[scheme]({ ...proof, secret }, message, now);
  if ("messageId" in verdict && (verdict.messageId?.length ?? 0) > maxIdChars)
    return { refused: `the message's id has more than ${maxIdChars} characters` };
  return verdict;
}

const checks: Readonly<Record<Exclude<Proof["scheme"], "none">, Check>> = {
  /** https://www.standardwebhooks.com, "Signature scheme". */
  async standard({ secret, toleranceSeconds }, { headers, body }, now) {
    const id = headers.get("webhook-id");
    const sentAt = headers.get("webhook-timestamp");
    const given = listed(headers.get("webhook-signature"), " ", "v1,");
    if (!id || sentAt === null || given.length === 0)
      return missing("webhook-id, webhook-timestamp, webhook-signature");
    const late = clockFault(sentAt, toleranceSeconds, now);
    if (late) return late;
    const key = standardKey(secret);
    return (await signs("sha256", key, joined(`${id}.${sentAt}.`, body), given, "base64"))
      ? { messageId: id }
      : mismatch;
  },
  /** https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries */
  async github({ secret }, { headers, body }) {
    const given = listed(headers.get("x-hub-signature-256"), ",", "sha256=");
    if (given.length === 0) return missing("x-hub-signature-256");
    const id = headers.get("x-github-delivery");
    return (await signs("sha256", utf8(secret), body, given, "hex")) ? { messageId: id } : mismatch;
  },
  /** https://docs.stripe.com/webhooks#verify-manually */
  async stripe({ secret, toleranceSeconds }, { headers, body }, now) {
    const header = headers.get("stripe-signature");
    const sentAt = listed(header, ",", "t=")[0];
    const given = listed(header, ",", "v1=");
    if (sentAt === undefined || given.length === 0) return missing("stripe-signature");
    const late = clockFault(sentAt, toleranceSeconds, now);
    if (late) return late;
    return (await signs("sha256", utf8(secret), joined(`${sentAt}.`, body), given, "hex"))
      ? { messageId: textAt(body, "id") }
      : mismatch;
  },
  /** https://docs.slack.dev/authentication/verifying-requests-from-slack */
  async slack({ secret, toleranceSeconds }, { headers, body }, now) {
    const sentAt = headers.get("x-slack-request-timestamp");
    const given = listed(headers.get("x-slack-signature"), ",", "v0=");
    if (sentAt === null || given.length === 0) return missing("x-slack-request-timestamp, x-slack-signature");
    const late = clockFault(sentAt, toleranceSeconds, now);
    if (late) return late;
    return (await signs("sha256", utf8(secret), joined(`v0:${sentAt}:`, body), given, "hex"))
      ? { messageId: textAt(body, "event_id") }
      : mismatch;
  },
  async hmac({ secret, header, algorithm, encoding, idHeader }, message) {
    const name = header ?? "x-signature";
    const value = message.headers.get(name)?.trim();
    if (!value) return missing(name);
    const prefix = `${algorithm}=`;
    const given = value.toLowerCase().startsWith(prefix) ? value.slice(prefix.length) : value;
    return (await signs(algorithm, utf8(secret), message.body, [given], encoding))
      ? { messageId: idIn(message, idHeader) }
      : mismatch;
  },
  async token({ secret, header, idHeader }, message) {
    const name = header ?? "authorization";
    const value = message.headers.get(name);
    if (!value) return missing(name);
    const given = name === "authorization" && /^bearer /i.test(value) ? value.slice(7) : value;
    return (await isSame(given, secret))
      ? { messageId: idIn(message, idHeader) }
      : { refused: "the token is another one" };
  },
};

function missing(names: string): Verdict {
  return { refused: `without ${names}` };
}

function idIn({ headers }: Message, name: string | null): string | null {
  return name === null ? null : headers.get(name);
}

/** The parts of a header that begin with `prefix`, without it. */
function listed(header: string | null, separator: string, prefix: string): string[] {
  const parts = (header ?? "").split(separator, 2 * maxSignatures).map((part) => part.trim());
  return parts.flatMap((part) => (part.startsWith(prefix) ? part.slice(prefix.length) : [])).slice(0, maxSignatures);
}

/** `sentAt` in Unix seconds. */
function clockFault(sentAt: string, toleranceSeconds: number, now: Date): Verdict | undefined {
  if (!/^\d{1,12}$/.test(sentAt)) return { refused: "its time is not in seconds since 1970" };
  const off = Math.abs(now.getTime() / 1000 - Number(sentAt));
  if (off <= toleranceSeconds) return undefined;
  return { refused: `its time is ${Math.round(off)} s away, ${toleranceSeconds} s are allowed` };
}

/** The bytes behind `whsec_`; a secret of another form counts as its text. */
function standardKey(secret: string): Uint8Array<ArrayBuffer> {
  return (secret.startsWith("whsec_") ? bytesOf(secret.slice(6), "base64") : undefined) ?? utf8(secret);
}

/** Whether one of the signatures is right. */
async function signs(
  algorithm: Proof["algorithm"],
  key: Uint8Array<ArrayBuffer>,
  content: Uint8Array<ArrayBuffer>,
  given: readonly string[],
  encoding: Proof["encoding"],
): Promise<boolean> {
  const hash = `SHA-${algorithm.slice(3)}`;
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash }, false, ["verify"]);
  for (const text of given) {
    const signature = bytesOf(text, encoding);
    if (signature && (await crypto.subtle.verify("HMAC", imported, signature, content))) return true;
  }
  return false;
}

/** In a time that does not depend on how much of them is equal. */
export async function isSame(given: string, secret: string): Promise<boolean> {
  const key = await crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
  return crypto.subtle.verify("HMAC", key, await crypto.subtle.sign("HMAC", key, utf8(secret)), utf8(given));
}

/** Undefined if it is not written in this way. */
function bytesOf(text: string, encoding: Proof["encoding"]): Uint8Array<ArrayBuffer> | undefined {
  try {
    return encoding === "hex" ? Uint8Array.fromHex(text) : Uint8Array.fromBase64(text);
  } catch {
    return undefined;
  }
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function joined(before: string, body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const start = utf8(before);
  const whole = new Uint8Array(start.length + body.length);
  whole.set(start);
  whole.set(body, start.length);
  return whole;
}

/** A text of a body that is a JSON object; null if there is none. */
function textAt(body: Uint8Array, key: string): string | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
    return typeof found === "string" ? found : null;
  } catch {
    return null;
  }
}
