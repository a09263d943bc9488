/** Who asks: the shapes that a plugin's `identify` hands to every route. behaviour B.1 and B.4. */

/** A tenant. Every table carries `account_id`, and no query crosses accounts. */
export interface Account {
  readonly id: number;
  readonly name: string;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly timezone: string;
  readonly locale: string;
}

export const roles = ["admin", "manager", "user", "guest"] as const;
export type Role = (typeof roles)[number];

export interface User {
  readonly id: number;
  readonly login: string;
  readonly email: string | null;
  readonly name: string;
  readonly role: Role;
  readonly teamIds: readonly number[];
  readonly groupIds: readonly number[];
  readonly departmentIds: readonly number[];
}

/** A signed-in request: its person, the token it carries and what both together may do. */
export interface Caller {
  readonly account: Account;
  readonly user: User;
  readonly tokenId: number;
  /** The token's own list; empty = not narrowed. */
  readonly narrowedTo: readonly string[];
  /** Owner's set ∩ token's list. */
  readonly privileges: ReadonlySet<string>;
  /** True for a session cookie: changes must then come from the same origin. */
  readonly viaCookie: boolean;
}

/** What is known of a request before its route runs. `caller` is null without a working credential. */
export interface Identity {
  readonly account: Account;
  readonly caller: Caller | null;
  /** Set where the credential is the token of an app's page. */
  readonly app?: AppGrant;
}

/** What an app's page may reach for its visitor (behaviour B.10): the app's own database and actions, and nothing else. */
export interface AppGrant {
  readonly appId: string;
  /** The app's `db_code` as it is now; null where it has none. */
  readonly dbCode: string | null;
  /** The visitor's value of `{cookie_key}`: a sandboxed page sends no cookies. */
  readonly visitor: string;
}

export interface Credential {
  readonly token: string;
  readonly viaCookie: boolean;
}

/**
 * A plugin's way to find out who asks. `host` is the lower-case Host header; `at` is the account of a site's host, and
 * then stands in for it.
 */
export type Identify = (host: string, credential: Credential | null, at?: Account) => Promise<Identity>;

/** The name of a privilege and which roles have it; `admin` has all. */
export interface Privilege {
  readonly name: string;
  readonly doc: string;
  readonly roles: readonly Role[];
}

const sessionCookie = "core_session";

/** A browser takes a cookie of this prefix from this very host and by https alone, so no neighbouring host can plant one. */
export function sessionCookieName(secure: boolean): string {
  return secure ? `__Host-${sessionCookie}` : sessionCookie;
}

/** The credential of a request: the bearer token, else the session cookie. */
export function credentialOf(headers: Headers): Credential | null {
  const authorization = headers.get("authorization");
  if (authorization !== null) {
    const match = /^Bearer +(\S+) *$/i.exec(authorization);
    // Another scheme is still a credential, and one that does not work: the cookie must not stand in for it.
    return { token: match?.[1] ?? "", viaCookie: false };
  }
  const cookies = headers.get("cookie");
  // The plain name is that of http, and of sessions that began before the prefix.
  const token = readCookie(cookies, sessionCookieName(true)) ?? onlyCookie(cookies, sessionCookie);
  return token ? { token, viaCookie: true } : null;
}

/** One cookie's value out of a Cookie header, the first of several; or undefined. */
export function readCookie(header: string | null, name: string): string | undefined {
  return cookieValues(header, name)[0];
}

/** Undefined where several say different things: one of them was planted by another host or path. */
function onlyCookie(header: string | null, name: string): string | undefined {
  const values = new Set(cookieValues(header, name));
  return values.size === 1 ? [...values][0] : undefined;
}

function cookieValues(header: string | null, name: string): string[] {
  if (!header) return [];
  return header.split(";").flatMap((part) => {
    const equals = part.indexOf("=");
    return equals > 0 && part.slice(0, equals).trim() === name ? [part.slice(equals + 1).trim()] : [];
  });
}

/**
 * Whether a change sent with the session cookie comes from our own pages (behaviour B.1): `Sec-Fetch-Site` must be
 * `same-origin`, and `Origin` the request's own host or the account's address, https where that is; at least one of both
 * must be there.
 */
export function fromSameOrigin(headers: Headers, host: string, account: Account): boolean {
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  if (site === null && origin === null) return false;
  if (site !== null && site !== "same-origin") return false;
  if (origin === null) return true;
  if (origin === account.baseUrl) return true;
  const from = URL.parse(origin);
  if (!from || plainHost(from.host) !== host) return false;
  // Behind a proxy that does TLS we may not know that we are https; where we do, a page by http is another's on the wire.
  const own = new URL(account.baseUrl);
  return from.protocol === "https:" || own.protocol !== "https:" || plainHost(own.host) !== host;
}

/** A host as it is compared: in lower case, without the dot that a whole name may end in (`acme.pl.:3000`). */
export function plainHost(host: string): string {
  return host.toLowerCase().replace(/\.(?=:|$)/, "");
}
