/** Opens a database for somebody: gives what statements about records take. behaviour B.7. Pure. */
import { forbidden, notFound } from "platform";
import type { Database, StoredDatabase } from "../databases/database.ts";
import type { Level } from "./access.ts";
import { may, mayAll, model, reachIn, whole, type Viewer } from "./reach.ts";

export const needsDbs = "this needs the privilege `dbs`";

/** The database as the viewer may use it. 403 without the privilege; 404 if it does not open for them, or not so far. */
export function opened(stored: StoredDatabase, viewer: Viewer, needs: Level = "read"): Database {
  if (stored.access === null && !viewer.privileges.has("dbs")) throw forbidden(needsDbs);
  const db = tryOpen(stored, viewer);
  if (!db || !may(db, "read")) throw notFound("there is no such database");
  if (!may(db, needs)) throw forbidden(`this needs the level \`${needs}\` in the \`access\` of the database`);
  return db;
}

/** Undefined if it does not open for them at all. */
export function tryOpen(stored: StoredDatabase, viewer: Viewer): Database | undefined {
  const { id, code } = stored;
  const { app } = viewer;
  if (app && !app.dbCodes.includes(code) && !app.dbCodes.includes(id)) return undefined;
  const reach = reachIn(stored, viewer);
  return reach === whole ? stored.whole : reach && stored.narrowed(reach);
}

/** Whether all records are open to a person with all their fields; to anybody, where there is no `access`. */
export function isOpenTo(stored: StoredDatabase, person: Viewer | undefined, level: Level): boolean {
  if (stored.access === null && !person?.within?.[model]) return true; // the privilege is asked for elsewhere
  const db = person && tryOpen(stored, person);
  return db !== undefined && mayAll(db, level);
}
