/** The visitor who calls a public method: an address, a browser and perhaps a person. behaviour 2.4, B.7. */
import { readCookie, invalid, type BaseContext, type RequestInput } from "platform";
import type { VariableValues } from "../databases/public-methods.ts";
import type { Table } from "../databases/schema.ts";
import type { Data } from "../records/record.ts";

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

// What a browser's form sends to a public method: its fields are the record's, and all of them are texts.

export interface Form {
  readonly params: Readonly<Record<string, unknown>>;
  /** Where the browser is led afterwards. */
  readonly next: string | undefined;
  /** It filled the field that people do not see. */
  readonly isRobot: boolean;
}

/** 422 for a `_next` that is no path of this site. */
export function formOf({ _next: next, _gotcha: gotcha, ...fields }: Record<string, unknown>): Form {
  if (next !== undefined && next !== "" && !isOwnPath(next)) throw invalid({ _next: ["must be a path of this site"] });
  const { id, ...data } = fields;
  return {
    // A new record has no id of its own yet: a field of this name is one of the record.
    params: { ...(id !== undefined && { id }), data: id === undefined ? data : fields },
    next: typeof next === "string" && next !== "" ? next : undefined,
    isRobot: gotcha !== undefined && [gotcha].flat().some((text) => text !== ""),
  };
}

const base = "http://site.invalid";

/** Browsers read a backslash as a slash, and drop control characters. */
function isOwnPath(next: unknown): next is string {
  if (typeof next !== "string" || next.length > 2000 || !/^\/(?![/\\])[^\s\\]*$/.test(next)) return false;
  return (
    URL.canParse(next, base) && new URL(next, base).origin === base && !new URL(next, base).pathname.startsWith("//")
  );
}

/** The texts as the schema wants them; what does not fit stays a text, and is refused as one. */
export function typedFields({ fields }: Pick<Table, "fields">, given: Data): Data {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, typedValue(fields.get(name)?.type, value)]),
  );
}

const booleans = new Map<string, boolean>([
  ...["true", "on", "1", "yes"].map((text) => [text, true] as const),
  ...["false", "off", "0", "no"].map((text) => [text, false] as const),
]);

function typedValue(type: string | undefined, value: unknown): unknown {
  if (type === "list") return [value].flat().filter((one) => one !== "");
  if (typeof value !== "string") return value;
  const text = value.trim();
  if (type === "boolean") return booleans.get(text.toLowerCase()) ?? value;
  if (type === "integer" && /^-?\d{1,15}$/.test(text)) return Number(text);
  // More digits would be rounded.
  if (type === "number" && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) && text.replaceAll(/\D/g, "").length <= 15)
    return Number(text);
  return value;
}
