/** Databases as requests use them: parsed and kept, and right in every process before a change of one is answered. */
import { cacheKey, isUuid, notFound, unavailable, type AppGrant, type BaseContext, type Cache } from "platform";
import type { Database } from "./database.ts";
import { isKey } from "./store.ts";

export interface Databases {
  readonly databases: Pick<Cache<Database>, "get" | "peek" | "invalidate">;
}

/** The context without what has a life of its own. */
export interface DatabaseContext extends BaseContext, Databases {}

const maxTries = 10;

/** By id or code; undefined if the account has no such database. No promise where it is kept. */
export function find(
  { databases }: Databases,
  accountId: number,
  key: string,
): Database | undefined | Promise<Database | undefined> {
  if (!isKey(key)) return undefined;
  const at = keyOf(accountId, key);
  return databases.peek(at) ?? databases.get(at);
}

/** Reads it again after a statement found that it has changed. */
export async function refresh(
  { databases }: Databases,
  { accountId, id, code }: Database,
): Promise<Database | undefined> {
  await Promise.all([databases.invalidate(keyOf(accountId, id)), databases.invalidate(keyOf(accountId, code))]);
  return databases.get(keyOf(accountId, id));
}

/** After the commit of a write, before it is answered: no process uses the database as it was. */
export async function forget(
  { databases }: Databases,
  accountId: number,
  { id, code }: { readonly id: string; readonly code: string },
  oldCode = code,
): Promise<void> {
  const keys = [...new Set([id, code, oldCode])].map((key) => keyOf(accountId, key));
  await Promise.all(keys.map((key) => databases.invalidate(key)));
}

function keyOf(accountId: number, key: string): string {
  return cacheKey(accountId, isUuid(key) ? key.toLowerCase() : key);
}

/** The account's database of this id or code; 404 if the account has none, or if the app that asks does not name it. */
export async function databaseAt(
  ctx: Databases,
  accountId: number,
  key: string,
  app: AppGrant | null = null,
): Promise<Database> {
  const db = await find(ctx, accountId, key);
  if (!db || !isOpenTo(app, db)) throw notFound("there is no such database");
  return db;
}

/** An app's token opens only the databases that the app names now. behaviour B.10. */
export function isOpenTo(app: AppGrant | null | undefined, { id, code }: Database): boolean {
  return !app || app.dbCodes.includes(code) || app.dbCodes.includes(id);
}

/**
 * Tries a write again with the database as it is now if it finds another schema than the one it was checked against: it
 * then gives undefined. 404 if the database is gone.
 */
export async function upToDate<T>(
  ctx: Databases,
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
