/** Checks a provider's statement that somebody has signed out there (OpenID Connect Back-Channel Logout 1.0). */
import { isObject } from "platform";
import type { JWTPayload, JWTVerifyGetKey } from "jose";
import { isPlain } from "./rules.ts";

export interface Logout {
  readonly issuer: string;
  readonly subject: string | undefined;
  readonly sid: string | undefined;
  readonly jti: string;
}

interface Expected {
  readonly issuer: string;
  readonly clientId: string;
  readonly keys: JWTVerifyGetKey;
}

/** A token is not taken when it is older, so this long its `jti` must be known. */
export const logoutSeconds = 300;
const skewSeconds = 30;
const event = "http://schemas.openid.net/event/backchannel-logout";
const maxChars = 255;
/** By the provider's own keys: neither `none` nor the client's secret. */
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/** Throws what is wrong with it. */
export async function logoutOf(token: string, { issuer, clientId, keys }: Expected): Promise<Logout> {
  const { jwtVerify } = await import("jose");
  const checks = {
    issuer,
    audience: clientId,
    algorithms,
    clockTolerance: skewSeconds,
    maxTokenAge: logoutSeconds,
    requiredClaims: ["iat", "jti", "events"],
  };
  const { payload, protectedHeader } = await jwtVerify(token, keys, checks);
  // A token of another kind, by the same provider for the same client, is no logout.
  if (!["logout+jwt", "jwt", undefined].includes(protectedHeader.typ?.toLowerCase()))
    throw new Error("its typ is that of another kind of token");
  const mistake = mistakeIn(payload);
  if (mistake !== undefined) throw new Error(mistake);
  return { issuer, subject: payload.sub, sid: textOf(payload["sid"]), jti: payload.jti ?? "" };
}

function mistakeIn(payload: JWTPayload): string | undefined {
  const { events, nonce, sid, sub, jti = "" } = payload;
  if (!isObject(events) || !isObject(events[event])) return `events has no ${event}`;
  if (nonce !== undefined) return "it has a nonce, as an ID token has";
  if (sub === undefined && sid === undefined) return "it names neither sub nor sid";
  for (const [name, value] of Object.entries({ sub, sid, jti }))
    if (value !== undefined && textOf(value) === undefined) return `${name} is no text of 1 to ${maxChars} characters`;
  return undefined;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value.length <= maxChars && isPlain(value) ? value : undefined;
}
