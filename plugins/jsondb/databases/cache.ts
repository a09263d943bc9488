/** Databases as requests use them: parsed and kept, and right in every process before a change of one is answered. */
import { cacheKey, credentialOf, forbidden, HttpError, isUuid, notFound, unavailable } from "platform";
import type { BaseContext, Cache, Caller, Identity, RequestInput } from "platform";
import { needsDbs, opened, tryOpen, type Database, type StoredDatabase } from "./database.ts";
import type { Level } from "../access/access.ts";
import { may, type Viewer } from "../access/reach.ts";
import { isKey, openIds } from "./store.ts";
import type { Accounts } from "../../accounts/api.ts";
import type { Tokens } from "../../tokens/api.ts";

export interface Databases {
  readonly databases: Pick<Cache<StoredDatabase>, "get" | "peek" | "invalidate">;
  /** Which databases of an account have links (links.ts), by its id. */
  readonly linking: Pick<Cache<readonly string[]>, "get" | "peek" | "invalidate">;
}

type Kept = Pick<Databases, "databases">;

/** The context without what has a life of its own. */
export interface DatabaseContext extends BaseContext, Databases {
  readonly accounts: Accounts;
}

/** Of routes that open a database by `openAt`. */
export const dbAccess = { privilege: "dbs", or: "a grant in the `access` of the database" } as const;

const maxTries = 10;

/** By id or code; undefined if the account has no such database. No promise where it is kept. */
export function find(
  { databases }: Kept,
  accountId: number,
  key: string,
): StoredDatabase | undefined | Promise<StoredDatabase | undefined> {
  if (!isKey(key)) return undefined;
  const at = keyOf(accountId, key);
  return databases.peek(at) ?? databases.get(at);
}

/** Reads it again after a statement found that it has changed; undefined too if it no longer opens for the same viewer. */
export async function refresh(
  { databases }: Kept,
  { accountId, id, code, reach }: Database,
): Promise<Database | undefined> {
  await Promise.all([databases.invalidate(keyOf(accountId, id)), databases.invalidate(keyOf(accountId, code))]);
  const stored = await databases.get(keyOf(accountId, id));
  return stored && (reach.viewer ? tryOpen(stored, reach.viewer) : stored.whole);
}

/** After the commit of a write, before it is answered: no process uses the database as it was. */
export async function forget(
  { databases, linking }: Databases,
  accountId: number,
  { id, code }: { readonly id: string; readonly code: string },
  oldCode = code,
): Promise<void> {
  const keys = [...new Set([id, code, oldCode])].map((key) => keyOf(accountId, key));
  await Promise.all([...keys.map((key) => databases.invalidate(key)), linking.invalidate(`${accountId}`)]);
}

function keyOf(accountId: number, key: string): string {
  return cacheKey(accountId, isUuid(key) ? key.toLowerCase() : key);
}

/** The account's database of this id or code; 404 if it has none. For programs: it is open to the whole. */
export async function databaseAt(ctx: Databases, accountId: number, key: string): Promise<Database> {
  const stored = await find(ctx, accountId, key);
  if (!stored) throw notFound("there is no such database");
  return stored.whole;
}

/** The database as the caller may use it (`opened`); 404 if there is none, or none for an app that does not name it. */
export async function openAt(
  ctx: Databases,
  { account, caller, app }: Viewing,
  key: string,
  needs: Level = "read",
): Promise<Database> {
  const found = find(ctx, account.id, key);
  const stored = found instanceof Promise ? await found : found;
  if (!stored) throw caller.privileges.has("dbs") ? notFound("there is no such database") : forbidden(needsDbs);
  return opened(stored, viewerOf({ account, caller, app }), needs);
}

export function viewerOf({ caller, app }: Viewing): Viewer {
  return { user: caller.user, privileges: caller.privileges, within: caller.within, app };
}

/** The same later on, by what the person and their token may do then. */
export async function openAgain(
  ctx: Databases & Pick<Identifying, "tokens">,
  input: Viewing & Asking,
  key: string,
  needs?: Level,
): Promise<Database> {
  return openAt(ctx, await viewingAgain(ctx, input), key, needs);
}

interface Identifying {
  readonly tokens: Pick<Tokens, "identify">;
}

/** Whose rights may have changed since they asked. */
export type Asking = Pick<RequestInput, "request" | "host" | "app">;

/** Who asks, with the rights that they have by now. 404 for who is no longer there. */
export async function viewingAgain<T extends Viewing & Asking>({ tokens }: Identifying, input: T): Promise<T> {
  const now = await identityNow(tokens, input);
  if (now?.caller?.account.id !== input.account.id || now.caller.tokenId !== input.caller.tokenId)
    throw notFound("there is no such database");
  return { ...input, caller: now.caller };
}

/** Undefined if an app's token has ended. Throws if that is not known now: a busy database takes nobody's rights away. */
export async function identityNow(
  tokens: Pick<Tokens, "identify">,
  { request, host, app }: Asking,
): Promise<Identity | undefined> {
  try {
    const now = await tokens.identify(host, credentialOf(request.headers));
    return now.app?.appId === app?.appId ? now : undefined;
  } catch (error) {
    if (error instanceof HttpError && (error.status === 401 || error.status === 403)) return undefined;
    throw error;
  }
}

const mostDatabases = 1000;

/** The databases that a caller may read, as far as they may; without one all of the account. By code. */
export async function allOpen(ctx: DatabaseContext, accountId: number, viewing?: Viewing): Promise<Database[]> {
  const all: Database[] = [];
  for (const id of await openIds(ctx.sql, accountId, viewing?.caller, mostDatabases)) {
    const stored = await find(ctx, accountId, id);
    const db = stored && (viewing ? tryOpen(stored, viewerOf(viewing)) : stored.whole);
    if (db && may(db, "read")) all.push(db);
  }
  return all;
}

/** Of a request: who asks, and for which app's page. */
export type Viewing = Pick<RequestInput, "account" | "app"> & { readonly caller: Caller };

/**
 * Tries a write again with the database as it is now if it finds another schema than the one it was checked against: it
 * then gives undefined. 404 if the database is gone.
 */
export async function upToDate<T>(
  ctx: Kept,
  first: Database,
  attempt: (db: Database) => Promise<T | undefined>,
): Promise<T> {
  let db: Database | undefined = first;
  for (let tries = 0; tries < maxTries && db; tries++) {
    const done = await attempt(db);
    if (done !== undefined) return done;
    db = await refresh(ctx, db);
  }
  if (!db) throw notFound();
  throw unavailable("the schema of the database is being changed, try again");
}
