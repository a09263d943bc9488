/** The visitor who calls a public method: an address, a browser and perhaps a person. behaviour 2.4, B.7. */
import { readCookie, type BaseContext, type RequestInput } from "platform";
import type { VariableValues } from "../databases/public-methods.ts";

export interface Visitor {
  /** The value of the cookie, which nobody else is shown. Null if no cookie is sent back. */
  readonly secret: string | null;
  readonly variables: VariableValues;
}

const cookieName = "core_key";
const oneMonthSeconds = 30 * 24 * 60 * 60;

type Request = Pick<RequestInput, "request" | "account" | "caller" | "app" | "ip">;

/**
 * A browser without the cookie is given a new secret: send it back with `cookieHeader`. `key` is the Idempotency-Key
 * of the request, else null.
 */
export function visitorOf(secrets: BaseContext["secrets"], from: Request, key: string | null = null): Visitor {
  const { request, account, caller, app, ip } = from;
  const given = readCookie(request.headers.get("cookie"), cookieName);
  const known = given !== undefined && /^[\w-]{43}$/.test(given);
  // An app's page has no cookies.
  const secret = app ? null : known ? given : newSecret(secrets, from, key);
  // Another site's form comes without the cookie (SameSite): a new one would replace the visitor's.
  const isForeign = request.method === "POST" && request.headers.get("sec-fetch-site") === "cross-site";
  return {
    secret: known || !isForeign ? secret : null,
    variables: {
      ip,
      // Derived, so that a key that is stored or listed opens nothing. An app's token carries the key that its page was
      // given.
      cookie_key: secret === null ? (app?.visitor ?? "") : secrets.derive(`jsondb.cookie_key/${account.id}`, secret),
      user_id: caller ? `${caller.user.id}` : "",
      user_name: caller?.user.name ?? "",
    },
  };
}

/** The header that sets or renews a browser's cookie; empty for an app's page. */
export function cookieHeader({ secret }: Visitor, secure: boolean): { readonly "set-cookie"?: string } {
  if (secret === null) return {};
  const attributes = `Path=/; Max-Age=${oneMonthSeconds}; HttpOnly; SameSite=Lax`;
  return { "set-cookie": `${cookieName}=${secret}; ${attributes}${secure ? "; Secure" : ""}` };
}

// A request with the same key from the same address on that day counts as the same visitor. Short keys are often
// counters or names that other clients use too; a UUID has 36 characters, and 16 hexadecimal ones hold 64 random bits.
const leastKeyLength = 16;
const oneDayMs = 24 * 60 * 60 * 1000;

/**
 * Random. But if a first request is retried before its answer has brought the cookie, the retry must
 * be the same visitor, so it is derived from the key and the day. While the key is kept (24 h, behaviour B.3), any
 * other request with it is 409; afterwards the key gives another secret. So only the very same request ever gets the
 * same cookie.
 */
function newSecret(secrets: BaseContext["secrets"], { account, caller, ip }: Request, key: string | null): string {
  if (key !== null && key.length >= leastKeyLength) {
    const day = Math.floor(Date.now() / oneDayMs);
    return secrets.derive(`jsondb.visitor/${account.id}`, JSON.stringify([ip, caller?.tokenId ?? null, day, key]));
  }
  return crypto.getRandomValues(new Uint8Array(32)).toBase64({ alphabet: "base64url", omitPadding: true });
}
