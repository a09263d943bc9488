/** What the `access` of a database lets be written: asked before and after a write, in its transaction. behaviour B.7. */
import { forbidden, invalid, notFound, type Tx } from "platform";
import type { Level } from "../access/access.ts";
import { grantsAt, mayAll } from "../access/reach.ts";
import type { Database } from "../databases/database.ts";
import * as recordStore from "./store.ts";
import type { Guard, HeldRecord } from "./store.ts";
import { missingRecord } from "./record.ts";

/** 422 for fields that are hidden wherever one may write, 403 where one may write nothing. */
export function mayName(db: Database, level: Level, names: readonly string[]): void {
  if (grantsAt(db.reach, level).length === 0)
    throw forbidden(`this needs the level \`${level}\` in the \`access\` of the database`);
  mayKnow(db, level, names);
}

/** 422 for fields that are hidden wherever one may write: before a mistake in a value tells of them. */
export function mayKnow(db: Database, level: Level, names: readonly string[]): void {
  if (mayAll(db, level) || grantsAt(db.reach, level).length === 0) return;
  const closed = names.filter((name) => grantsAt(db.reach, level, [name]).length === 0);
  if (closed.length > 0) throw invalid(Object.fromEntries(closed.map((name) => [name, ["may not be written"]])));
}

/** 404 for a record that one may not see, 403 for one that no grant lets be changed so. */
export async function mustBeOpen(
  tx: Tx,
  db: Database,
  id: string,
  names: readonly string[],
  guard: Guard | undefined,
): Promise<void> {
  const held = await recordStore.lock(tx, db, id, guard);
  if (!held) throw notFound(missingRecord);
  mayName(db, "edit", names);
  if (!isOpen(db, held, "edit", names))
    throw forbidden("the `access` of the database does not let you change this record");
}

/** 403 for a record that has become what no grant lets be written. */
export async function mustStayOpen(
  tx: Tx,
  db: Database,
  id: string,
  level: Level,
  names: readonly string[],
): Promise<void> {
  const held = await recordStore.lock(tx, db, id);
  if (!held || !isOpen(db, held, level, names))
    throw forbidden("the record would be outside of what the `access` of the database lets you write");
}

function isOpen({ reach }: Database, { holds }: HeldRecord, level: Level, names: readonly string[]): boolean {
  const usable = new Set(grantsAt(reach, level, names));
  return reach.grants.some((grant, at) => usable.has(grant) && holds[at] === true);
}
