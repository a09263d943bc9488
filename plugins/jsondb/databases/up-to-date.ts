/** Writes that were checked against a schema which has changed meanwhile. */
import { notFound, unavailable } from "platform";
import type { Database } from "./database.ts";
import type { Databases } from "./database-store.ts";

const maxTries = 10;

/**
 * Tries again with the database as it is now if a write finds another schema than the one it was checked against: it
 * then gives undefined. 404 if the database is gone.
 */
export async function upToDate<T>(
  databases: Pick<Databases, "refresh">,
  first: Database,
  attempt: (db: Database) => Promise<T | undefined>,
): Promise<T> {
  let db: Database | undefined = first;
  for (let tries = 0; tries < maxTries && db; tries++) {
    const done = await attempt(db);
    if (done !== undefined) return done;
    db = await databases.refresh(db);
  }
  if (!db) throw notFound();
  throw unavailable("the schema of the database is being changed, try again");
}
