/**
 * How many more requests a credential may send, in the headers of draft-ietf-httpapi-ratelimit-headers-10:
 *
 *     RateLimit-Policy: "token";q=600;w=60
 *     RateLimit: "token";r=42
 */
import type { Quota } from "../auth.ts";
import { HttpError, tooMany } from "../../base/errors.ts";
import type { Reply } from "../answers/reply.ts";

export type QuotaHeaders = Readonly<Record<string, string>>;

/** Takes one request; its headers. Throws the 429. */
export async function takeOf({ limit, take }: Quota): Promise<QuotaHeaders> {
  const { allowed, remaining, retryAfterSeconds } = await take();
  const policy = { "ratelimit-policy": `"token";q=${limit};w=60` };
  if (allowed) return { ...policy, ratelimit: `"token";r=${remaining}` };
  const refusal = tooMany(retryAfterSeconds);
  Object.assign(refusal.headers, policy, { ratelimit: `"token";r=0;t=${retryAfterSeconds}` });
  throw refusal;
}

export function withQuota(reply: Reply | Response, headers: QuotaHeaders): Reply | Response {
  if (!(reply instanceof Response)) return { ...reply, headers: { ...reply.headers, ...headers } };
  for (const [name, value] of Object.entries(headers)) reply.headers.set(name, value);
  return reply;
}

/** The same refusal, with the headers. */
export function refusedWithQuota(error: unknown, headers: QuotaHeaders): unknown {
  if (error instanceof HttpError) Object.assign(error.headers, headers);
  return error;
}
