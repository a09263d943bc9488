/** Records become what they were after an entry of their history, and old entries are forgotten. No SQL. */
import { forbidden, notFound, preconditionFailed, type Tx } from "platform";
import { mayAll, type Viewer } from "../access/reach.ts";
import type { JsondbContext } from "../context.ts";
import { upToDate } from "../databases/cache.ts";
import type { Database } from "../databases/database.ts";
import { noTable, type Table } from "../databases/schema.ts";
import { renameOne } from "../databases/store.ts";
import { mayRelink } from "../links/links.ts";
import { actorOf, tellWanted } from "../records/events.ts";
import { claimChanged } from "../records/keys.ts";
import { mustBeNamed } from "../records/named.ts";
import { asStored, checkRecord, jsonOf, missingRecord, refuse, type Data } from "../records/record.ts";
import { mustBeOpen, mustStayOpen } from "../records/rights.ts";
import * as recordStore from "../records/store.ts";
import { committed, link } from "../records/writes.ts";
import { bringBack, type Restored } from "../trash/routes.ts";
import * as historyStore from "./store.ts";
import type { Crowded, State, WholeState } from "./store.ts";

export interface Restoring {
  readonly id: string;
  readonly n: number;
  readonly viewer: Viewer;
  /** The version that the caller has seen; undefined = any. */
  readonly expected: number | undefined;
}

/**
 * What is hidden of the record stays as it is, and so do fields that the schema no longer has. 404 for an entry that the
 * caller may not see, 403 where they may not change the record, 422 where today's schema refuses what it was.
 */
export function restoreEntry(ctx: JsondbContext, db: Database, asked: Restoring): Promise<Restored> {
  return upToDate(ctx, db, (current) => ctx.transaction((tx) => within(ctx, tx, current, asked)));
}

async function within(ctx: JsondbContext, tx: Tx, db: Database, asked: Restoring): Promise<Restored | undefined> {
  const { id, n } = asked;
  if (db.renames.length > 0) await renameOne(tx, db, id);
  let there = await historyStore.current(tx, db, id);
  if (!there) {
    await historyStore.hold(tx, db, id);
    there = await historyStore.current(tx, db, id);
  }
  const gone = there ? undefined : await historyStore.deleted(tx, db, id);
  const now = there ?? gone;
  const then = now && (await historyStore.stateAt(tx, db, id, n));
  if (!then) throw notFound(`${missingRecord}, or its history has no entry ${n}`);
  if (!now.mayEdit) throw forbidden("the `access` of the database does not let you change this record");
  const target = targetOf(db, now, then);
  const hints = await (there ? change(ctx, tx, db, asked, there, target) : giveBack(ctx, tx, db, asked, now, target));
  if (!hints) return undefined;
  if (!mayAll(db, "edit")) await mustStayOpen(tx, db, id, "edit", target.names);
  const written = await recordStore.get(tx, db, id, { form: "nested" });
  return written && { ...written, hints };
}

interface Target {
  readonly table: Table;
  readonly data: Data;
  /** The fields that become others. */
  readonly names: readonly string[];
  readonly createdAt: Date;
}

function targetOf(db: Database, now: WholeState, { tableName, data, createdAt }: State): Target {
  const table = db.rules.tables.get(tableName) ?? { ...noTable, name: tableName };
  const isGone = (name: string) =>
    !table.fields.has(name) && db.former.some((one) => one.to === null && one.table === tableName && one.from === name);
  const stays = (name: string) => Object.hasOwn(now.whole, name) && (!Object.hasOwn(now.data, name) || isGone(name));
  const whole = asStored(
    table,
    Object.fromEntries([
      ...Object.entries(data).filter(([name]) => !stays(name)),
      ...Object.entries(now.whole).filter(([name]) => stays(name)),
    ]),
  );
  refuse(checkRecord(table, whole));
  const valueIn = (from: Readonly<Data>, name: string) => (Object.hasOwn(from, name) ? JSON.stringify(from[name]) : "");
  const all = new Set([...Object.keys(whole), ...Object.keys(now.whole)]);
  const names = [...all].filter((name) => valueIn(whole, name) !== valueIn(now.whole, name));
  return { table, data: whole, names, createdAt };
}

async function change(
  ctx: JsondbContext,
  tx: Tx,
  db: Database,
  asked: Restoring,
  now: WholeState,
  target: Target,
): Promise<readonly string[] | undefined> {
  const { id, expected } = asked;
  const { table, data, names } = target;
  if (!mayAll(db, "edit")) await mustBeOpen(tx, db, id, names, undefined);
  if (expected !== undefined && !(await recordStore.hasVersion(tx, db, id, expected))) throw preconditionFailed();
  await claimChanged(tx, db, { id, table: table.name, data, moved: true });
  const leftTable = now.tableName === table.name ? undefined : now.tableName;
  const patch = {
    id,
    table,
    json: jsonOf(data),
    guard: undefined,
    actor: await actorOf(ctx, db, tx),
    isRestored: true,
  };
  const done = await recordStore.rewrite(tx, db, patch, { form: "nested", whole: true }, leftTable);
  if (!done?.record) return undefined;
  await relink(ctx, tx, db, asked, target);
  await tellWanted(ctx, db, "update", done.record, tx);
  committed(ctx, db, tx);
  return [];
}

async function giveBack(
  ctx: JsondbContext,
  tx: Tx,
  db: Database,
  asked: Restoring,
  now: WholeState,
  target: Target,
): Promise<readonly string[] | undefined> {
  const { id, expected } = asked;
  const { table, data, createdAt } = target;
  if (expected !== undefined) throw preconditionFailed();
  const record = { id, tableName: table.name, data, json: jsonOf(data), createdAt, updatedAt: now.updatedAt };
  const hints = await bringBack(ctx, tx, db, record);
  if (hints) await relink(ctx, tx, db, asked, target);
  return hints;
}

/** Links and files that stay need not lead anywhere; those that it gets must, for whoever restores it. */
async function relink(
  ctx: JsondbContext,
  tx: Tx,
  db: Database,
  { id, viewer }: Restoring,
  { table, data, names }: Target,
): Promise<void> {
  await mustBeNamed(ctx, tx, db, { table, data: pick(data, names), who: undefined });
  if (mayRelink(db, names, false)) await link(ctx, tx, db, id, { data: pick(data, names), viewer });
}

function pick(data: Data, names: readonly string[]): Data {
  return Object.fromEntries(Object.entries(data).filter(([name]) => names.includes(name)));
}

// Forgets what is kept for longer, or more of, than the settings say.

const atOnce = 1000;
const nil = "00000000-0000-0000-0000-000000000000";

/** In short statements, every hour. */
export async function sweepHistory({ sql, config, stopping }: JsondbContext): Promise<void> {
  const { historyDays: days, historyEntries: entries, historyBytes: bytes } = config;
  while (!stopping.aborted && (await historyStore.prune(sql, { days }, atOnce)) > 0);
  for (let after: Crowded | undefined = { dbId: nil, id: nil }; after && !stopping.aborted;) {
    const page: readonly Crowded[] = await historyStore.crowded(sql, after, atOnce);
    for (const record of page) {
      while (!stopping.aborted && (await historyStore.thin(sql, record, { entries }, atOnce)) > 0);
      if (!stopping.aborted) await historyStore.shrink(sql, record, { bytes });
    }
    after = page.length < atOnce ? undefined : page.at(-1);
  }
}
