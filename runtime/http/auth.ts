/** The caller: the types that a plugin's `identify` passes to every route. behaviour B.1 and B.4. */

import { HttpError } from "../base/errors.ts";
import type { LimitResult } from "./limits/rate-limit.ts";

/** A tenant. Every table carries `account_id`, and no query crosses accounts. */
export interface Account {
  readonly id: number;
  readonly name: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** Nobody has named that address: it is where this machine reaches the server. */
  readonly isGuess?: boolean;
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

/** A signed-in request: the person, their token, and what both together may do. */
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
  /** The token may change nothing. */
  readonly readOnly?: boolean;
  /** Of these models the token opens only these records, by id, each up to a level. */
  readonly within?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;
}

/** Identity of a request, resolved before its route runs. `caller` is null without a valid credential. */
export interface Identity {
  readonly account: Account;
  readonly caller: Caller | null;
  /** Set if the credential is the token of an app's page. */
  readonly app?: AppGrant;
  /** Set if the credential may send only so many requests. */
  readonly quota?: Quota;
}

/** 403 of a credential that is right and may not be used so: the log of activity says whose it is. */
export class RefusedCredential extends HttpError {
  readonly identity: Identity;

  constructor(identity: Identity, text: string) {
    super(403, { error: text });
    this.identity = identity;
  }
}

/** Requests of one credential a minute. */
export interface Quota {
  readonly limit: number;
  /** Takes one. */
  readonly take: () => Promise<LimitResult>;
}

/** What an app's page may access for its visitor (behaviour B.10): only the app's own databases and actions. */
export interface AppGrant {
  readonly appId: string;
  /** The databases whose private records it may reach: the app's present `db_code` and `fields.dbs`. */
  readonly dbCodes: readonly string[];
  /** The visitor's value of `{cookie_key}`, because a sandboxed page sends no cookies. */
  readonly visitor: string;
  readonly isDraft?: boolean; // its author's preview, which works while the app is off
}

export interface Credential {
  readonly token: string;
  readonly viaCookie: boolean;
}

/**
 * A plugin's way to identify the caller. `host` is the lower-case Host header. On a site's host, `at` is the site's
 * account and decides instead.
 */
export type Identify = (
  host: string,
  credential: Credential | null,
  at?: Account,
  client?: ClientAddress,
) => Promise<Identity>;

/** The origin of a request, looked up on first use. */
export interface ClientAddress {
  readonly ip: string;
}

/** A privilege's name and the roles that have it; `admin` has all. */
export interface Privilege {
  readonly name: string;
  readonly doc: string;
  readonly roles: readonly Role[];
}

const sessionCookie = "core_session";

/**
 * Browsers accept a cookie with this prefix only from this very host over https, so no neighbouring host can plant one.
 */
export function sessionCookieName(secure: boolean): string {
  return secure ? `__Host-${sessionCookie}` : sessionCookie;
}

/** The credential of a request: the bearer token, else the session cookie. */
export function credentialOf(headers: Headers): Credential | null {
  const authorization = headers.get("authorization");
  if (authorization !== null) {
    const match = /^Bearer +(\S+) *$/i.exec(authorization);
    // Another scheme is a credential too, an invalid one: the cookie must not replace it.
    return { token: match?.[1] ?? "", viaCookie: false };
  }
  const cookies = headers.get("cookie");
  // The plain name is used over http, and by sessions older than the prefix.
  const token = readCookie(cookies, sessionCookieName(true)) ?? onlyCookie(cookies, sessionCookie);
  return token ? { token, viaCookie: true } : null;
}

/** One cookie's value out of a Cookie header, the first of several; or undefined. */
export function readCookie(header: string | null, name: string): string | undefined {
  return cookieValues(header, name)[0];
}

/** Undefined if several cookies differ: one of them was planted by another host or path. */
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
 * `same-origin`, and `Origin` the request's own host or the account's address (with https if that has it), if that is a
 * configured one: a proxy may hide which host was asked. At least one of the two headers must be present.
 */
export function fromSameOrigin(headers: Headers, host: string, account: Account): boolean {
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  if (site === null && origin === null) return false;
  if (site !== null && site !== "same-origin") return false;
  if (origin === null) return true;
  if (origin === account.baseUrl && !account.isGuess) return true;
  const from = URL.parse(origin);
  if (!from || plainHost(from.host) !== host) return false;
  // Behind a TLS proxy we may not know that the request came over https. If we do know, a page loaded over http may
  // have
  // been forged on the wire.
  const own = new URL(account.baseUrl);
  return from.protocol === "https:" || own.protocol !== "https:" || plainHost(own.host) !== host;
}

/** A host in comparable form: lower case, without the final dot of a fully qualified name (`acme.pl.:3000`). */
export function plainHost(host: string): string {
  const lower = host.toLowerCase();
  return lower.endsWith(".") || lower.includes(".:") ? lower.replace(/\.(?=:|$)/, "") : lower;
}
