/** Who a public method is called by: an address, a browser and perhaps a person. behaviour 2.4, B.7. */
import { readCookie, type BaseContext, type RequestInput } from "platform";
import type { VariableValues } from "../databases/public-methods.ts";

export interface Visitor {
  /** What the cookie is to hold; it is shown to nobody else. Null where none is sent back. */
  readonly secret: string | null;
  readonly variables: VariableValues;
}

const cookieName = "core_key";
const oneMonthSeconds = 30 * 24 * 60 * 60;

type Request = Pick<RequestInput, "request" | "account" | "caller" | "app" | "ip">;

/**
 * A browser without the cookie is given a new secret: send it back with `cookieHeader`. `key` is the Idempotency-Key
 * that the request is performed once for, else null.
 */
export function visitorOf(secrets: BaseContext["secrets"], from: Request, key: string | null = null): Visitor {
  const { request, account, caller, app, ip } = from;
  const given = readCookie(request.headers.get("cookie"), cookieName);
  const known = given !== undefined && /^[\w-]{43}$/.test(given);
  // An app's page has no cookies.
  const secret = app ? null : known ? given : newSecret(secrets, from, key);
  // Another site's form comes without the cookie (SameSite): a new one would take the place of the visitor's.
  const isForeign = request.method === "POST" && request.headers.get("sec-fetch-site") === "cross-site";
  return {
    secret: known || !isForeign ? secret : null,
    variables: {
      ip,
      // Derived, so that a key which is stored or listed opens nothing. An app's token brings what its page was given.
      cookie_key: secret === null ? (app?.visitor ?? "") : secrets.derive(`jsondb.cookie_key/${account.id}`, secret),
      user_id: caller ? `${caller.user.id}` : "",
      user_name: caller?.user.name ?? "",
    },
  };
}

/** The header that gives a browser its cookie, and renews it; nothing for an app's page. */
export function cookieHeader({ secret }: Visitor, secure: boolean): { readonly "set-cookie"?: string } {
  if (secret === null) return {};
  const attributes = `Path=/; Max-Age=${oneMonthSeconds}; HttpOnly; SameSite=Lax`;
  return { "set-cookie": `${cookieName}=${secret}; ${attributes}${secure ? "; Secure" : ""}` };
}

// Whoever knows the key at that address and day is taken for that visitor. Shorter ones are often counters or names that
// others come to as well; a UUID has 36 characters, 16 hold 64 bits of randomness in hexadecimal.
const leastKeyLength = 16;
const oneDayMs = 24 * 60 * 60 * 1000;

/**
 * Drawn; but where a first request may be sent again before its answer, and with it the cookie, has come, the retry must
 * be the same visitor. Of one day: as long as the key is kept (24 h, behaviour B.3) any other request with it is 409, and
 * after it the key leads to another secret. So nothing but the very same request ever gets the cookie again.
 */
function newSecret(secrets: BaseContext["secrets"], { account, caller, ip }: Request, key: string | null): string {
  if (key !== null && key.length >= leastKeyLength) {
    const day = Math.floor(Date.now() / oneDayMs);
    return secrets.derive(`jsondb.visitor/${account.id}`, JSON.stringify([ip, caller?.tokenId ?? null, day, key]));
  }
  return crypto.getRandomValues(new Uint8Array(32)).toBase64({ alphabet: "base64url", omitPadding: true });
}
