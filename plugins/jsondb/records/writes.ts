/** Operations on records, in a transaction of the caller's if there is one, for HTTP and other plugins alike. No HTTP, no SQL. */
import * as events from "./events.ts";
import * as recordStore from "./store.ts";
import * as together from "./together.ts";
import {
  afterCommit,
  conflict,
  unavailable,
  notFound,
  preconditionFailed,
  exactly,
  HttpError,
  invalid,
  isNumber,
} from "platform";
import type { Queryable, Tx, ExactNumber } from "platform";
import type { JsondbContext } from "../context.ts";
import { upToDate } from "../databases/cache.ts";
import type { Database } from "../databases/database.ts";
import { noTable, type Table } from "../databases/schema.ts";
import { renameOne } from "../databases/store.ts";
import { hiddenSometimes, mayAll, type Viewer } from "../access/reach.ts";
import {
  linkFields,
  linkingTo,
  linksOf,
  mayRelink,
  mustBeOwn,
  mustBeThere,
  newLinks,
  release,
} from "../links/links.ts";
import * as linkStore from "../links/store.ts";
import { mustBeNamed, storedIn, type Namer } from "./named.ts";
import { mayName, mustBeOpen, mustStayOpen } from "./rights.ts";
import { composed } from "../databases/columns.ts";
import { actorOf } from "./events.ts";
import { claimChanged, claiming, claimNew, newClaims, refuseTaken, touchesKeys } from "./keys.ts";
import {
  jsonOf,
  missingRecord,
  nestedText,
  newRecord,
  refuse,
  asNew,
  asStored,
  checkPatch,
  checkRecord,
  checkRequired,
} from "./record.ts";
import type { CreatedRecord, Data, Faults } from "./record.ts";
import { readHeld, lock, type Guard, type Shape, type Written, type Addition } from "./store.ts";
import type { RecordUpdate } from "../api.ts";
import { readFilters } from "../search/filters.ts";

export interface Write {
  readonly table: Table;
  readonly data: Data;
  /** Who may link to what they may read; undefined is a program, which reads everything. */
  readonly viewer: Viewer | undefined;
  /** Somebody unknown writes through a public method. */
  readonly visitor?: true;
  /** The record is in this table already: if it has left it, ask for the write again. */
  readonly keepsTable?: boolean;
  /** The version that the caller has seen (412 if it is another one by now); undefined = any. */
  readonly expected?: number | undefined;
  /** Narrows it to one visitor's record. */
  readonly guard?: Guard | undefined;
  /** Files and people among its data that are known to be there; undefined: looked up. */
  readonly named?: ReadonlySet<string> | undefined;
}

/** Narrows a write to one visitor's record and one version. */
interface Which {
  /** Who is told which records hold it; undefined is a program. */
  readonly viewer?: Viewer | undefined;
  readonly guard?: Guard | undefined;
  readonly expected?: number | undefined;
}

/** `make` is called again if the schema has changed meanwhile. */
export function create(ctx: JsondbContext, db: Database, make: (db: Database) => Write): Promise<CreatedRecord> {
  return upToDate(ctx, db, async (current) => insert(ctx, current, make(current)));
}

/** The same. 404 if there is no such record. */
export function update(
  ctx: JsondbContext,
  db: Database,
  id: string,
  make: (db: Database) => Write | Promise<Write>,
  shape: Shape,
): Promise<Written> {
  return upToDate(ctx, db, async (current) => merge(ctx, current, id, await make(current), shape));
}

/** A patch that leaves the record in its table, even one that the schema no longer has. 404 as `update`. */
export async function inItsTable(
  on: Queryable,
  db: Database,
  id: string,
  { data, viewer, guard }: Pick<Write, "data" | "viewer" | "guard">,
): Promise<Write> {
  const name = await recordStore.tableNameOf(on, db, id, guard);
  if (name === undefined) throw notFound(missingRecord);
  return { table: db.rules.tables.get(name) ?? { ...noTable, name }, data, viewer, guard, keepsTable: true };
}

/**
 * Undefined if the database has another schema by now: roll back `given`, and start again by `upToDate`. 403 for a
 * record that is outside of what one may add.
 */
export function insert(ctx: JsondbContext, db: Database, write: Write, given?: Tx): Promise<CreatedRecord | undefined> {
  if (mayAll(db, "add")) return insertAny(ctx, db, write, given);
  return inTransaction(ctx, given, async (tx) => {
    const names = Object.keys(composed(write.data));
    mayName(db, "add", names);
    const made = await insertAny(ctx, db, write, tx);
    if (made) await mustStayOpen(tx, db, made.id, "add", names);
    return made;
  });
}

/** The answer to a new record, without what is hidden of it. */
export async function createdText(on: Queryable, db: Database, made: CreatedRecord): Promise<string> {
  if (mayAll(db, "read")) return nestedText(made);
  const found = await recordStore.get(on, db, made.id, { form: "nested" });
  if (!found) throw notFound(missingRecord); // somebody has changed or deleted it just now
  return found.answer;
}

async function insertAny(
  ctx: JsondbContext,
  db: Database,
  { table, viewer, ...write }: Write,
  given?: Tx,
): Promise<CreatedRecord | undefined> {
  const data = asNew(db, table, write.data);
  refuse(checkRecord(table, data));
  const who: Namer = write.visitor ? "visitor" : viewer;
  await mustBeNamed(ctx, given ?? ctx.sql, db, { table, data, who, named: write.named });
  const actor = await actorOf(ctx, db, given);
  const made = { ...newRecord(table, data), actor };
  const { id, createdAt } = made;
  const claims = newClaims(db, table.name, id, data);
  const links = linkFields(table).length > 0 ? await newLinks(ctx, given ?? ctx.sql, { db, table, viewer }, made) : [];
  const wanted = events.wanted(ctx, db, "create", { id, tableName: table.name, data });
  return withEvent(ctx, wanted, given, async (tx) => {
    if (tx) refuseTaken(await claimNew(tx, db, claims));
    const store = () => {
      if (tx) return recordStore.insert(tx, db, table, made, { claims: [], links });
      const beside = { claims, links };
      return db.live
        ? recordStore.insert(ctx.sql, db, table, made, beside)
        : together.insert(ctx, db, { ...made, beside });
    };
    if (!(await (tx ? store() : claiming(ctx.sql, db, claims, store)))) {
      if (links.length > 0) await mustBeThere(ctx, tx ?? ctx.sql, { db, table, viewer }, [data]);
      return undefined;
    }
    const record = { id, tableName: table.name, data, createdAt, updatedAt: createdAt };
    if (wanted) await events.tell(ctx, db, "create", record, tx);
    committed(ctx, db, tx);
    return made;
  });
}

/** The same for a change: the record must be open to it as it is, and as it becomes. */
export function merge(
  ctx: JsondbContext,
  db: Database,
  id: string,
  write: Write,
  asked: Shape,
  given?: Tx,
): Promise<Written | undefined> {
  const isFree = mayAll(db, "edit");
  const names = Object.keys(composed(write.data));
  const isLinked = mayRelink(db, names, write.keepsTable === true);
  const isRenamed = db.renames.length > 0;
  if (isFree && !isLinked && !isRenamed) return mergeAny(ctx, db, id, write, asked, given);
  return inTransaction(ctx, given, async (tx) => {
    if (isRenamed) await renameOne(tx, db, id);
    if (!isFree) await mustBeOpen(tx, db, id, names, write.guard);
    const done = await mergeAny(ctx, db, id, write, asked, tx);
    if (!done) return undefined;
    if (isLinked) await link(ctx, tx, db, id, write);
    if (isFree) return done;
    await mustStayOpen(tx, db, id, "edit", names);
    const shown = await recordStore.get(tx, db, id, asked);
    return shown && { ...done, answer: shown.answer };
  });
}

async function mergeAny(
  ctx: JsondbContext,
  db: Database,
  id: string,
  write: Write,
  asked: Shape,
  given?: Tx,
): Promise<Written | undefined> {
  const { table, expected, guard } = write;
  const data = asStored(table, write.data);
  refuse(checkPatch(table, data));
  const on = given ?? ctx.sql;
  if (hasOnlyComputed(db, write, data)) return unchanged(on, db, id, write, asked);
  const who: Namer = write.visitor ? "visitor" : write.viewer;
  const moves = db.schema.multiTable && write.keepsTable !== true;
  await mustBeNamed(ctx, on, db, { table, data, who, moves, named: write.named }, async () => {
    const stored = await recordStore.get(on, db, id, { form: "nested" }, guard);
    return stored && storedIn(db.rules, stored.answer);
  });
  const patch = { id, table, data, json: jsonOf(data), guard, expected, actor: await actorOf(ctx, db, given) };
  const wanted = events.wanted(ctx, db, "update", { id, tableName: table.name, data });
  const shape = { ...asked, whole: wanted };
  const told = async (done: Written | undefined, tx: Tx | undefined) => {
    if (done?.record) await events.tell(ctx, db, "update", done.record, tx);
    if (done) committed(ctx, db, tx);
    return done;
  };
  const isPlain = !db.live && !guard && expected === undefined && shape.form === "nested" && !shape.fields;
  const quick = async (tx: Tx | undefined) =>
    told(
      await (tx || !isPlain ? recordStore.update(tx ?? ctx.sql, db, patch, shape) : together.update(ctx, db, patch)),
      tx,
    );
  const locked = async (tx: Tx) => told(await mergeLocked(tx, db, { ...write, data }, patch, shape), tx);
  // Their keys are written with the record held.
  if (touchesKeys(db, table.name, data)) return inTransaction(ctx, given, locked);
  return (await withEvent(ctx, wanted, given, quick)) ?? (given ? locked(given) : ctx.transaction(locked));
}

/** Whether all that is given is worked out when read. */
function hasOnlyComputed({ schema }: Database, { table, data: given, keepsTable }: Write, data: Data): boolean {
  const isNothing = table.computed.length > 0 && Object.keys(data).length === 0 && Object.keys(given).length > 0;
  return isNothing && (keepsTable === true || !schema.multiTable);
}

/** The record as it is: 404 and 412 as of a change. */
async function unchanged(
  on: Queryable,
  db: Database,
  id: string,
  { guard, expected }: Write,
  asked: Shape,
): Promise<Written> {
  const found = await recordStore.get(on, db, id, asked, guard);
  if (!found) throw notFound(missingRecord);
  if (expected !== undefined && found.version !== expected) throw preconditionFailed();
  return found;
}

export async function remove(
  ctx: JsondbContext,
  db: Database,
  id: string,
  which: Which = {},
  given?: Tx,
): Promise<void> {
  const isFree = mayAll(db, "edit");
  const isLinked =
    [...db.rules.tables.values()].some((table) => linkFields(table).length > 0) ||
    (await linkingTo(ctx, db.accountId, db)).length > 0;
  if (isFree && !isLinked) return removeAny(ctx, db, id, which, given);
  return inTransaction(ctx, given, async (tx) => {
    if (!isFree) await mustBeOpen(tx, db, id, [], which.guard);
    if (isLinked && (await recordStore.lock(tx, db, id, which.guard, "update")))
      await release(ctx, tx, { db, viewer: which.viewer }, id, unlinking(ctx));
    await removeAny(ctx, db, id, which, tx);
    if (isLinked) await linkStore.forget(tx, db.accountId, [id]);
  });
}

/** Writes the links of a record as it is now; 422 for those that were given and lead to no record. */
export async function link(
  ctx: JsondbContext,
  tx: Tx,
  db: Database,
  id: string,
  { data, viewer }: Pick<Write, "data" | "viewer">,
): Promise<void> {
  const held = await recordStore.lock(tx, db, id);
  if (!held) return; // it is outside of what may be written, which is refused next
  const table = db.rules.tables.get(held.tableName) ?? noTable;
  await mustBeThere(ctx, tx, { db, table, viewer }, [data]);
  const of = { accountId: db.accountId, dbId: db.id, tableName: held.tableName, recordId: id };
  await linkStore.replace(tx, of, linksOf(table, held.data));
}

const nested = { form: "nested" } as const;

/** What becomes of the records that link to one that is deleted. */
const unlinking = (ctx: JsondbContext): Parameters<typeof release>[4] => ({
  async clear(tx, db, { recordId, tableName, field }, target) {
    const held = await recordStore.lock(tx, db, recordId);
    const table = db.rules.tables.get(tableName);
    if (!held || !table) return;
    const value = held.data[field];
    const left = Array.isArray(value) ? value.filter((one: unknown) => String(one).toLowerCase() !== target) : null;
    if (table.fields.get(field)?.required && (left === null || left.length === 0))
      throw conflict("another record needs this one: a field of it that is required links here");
    const done = await mergeAny(
      ctx,
      db,
      recordId,
      { table, data: { [field]: left }, viewer: undefined, keepsTable: true },
      nested,
      tx,
    );
    if (!done) throw unavailable("the schema of a database is being changed, try again");
    const of = { accountId: db.accountId, dbId: db.id, tableName, recordId };
    await linkStore.replace(tx, of, linksOf(table, { ...held.data, [field]: left }));
  },
  async remove(tx, db, id) {
    await removeAny(ctx, db, id, {}, tx);
    await linkStore.forget(tx, db.accountId, [id]);
  },
});

async function removeAny(ctx: JsondbContext, db: Database, id: string, which: Which = {}, given?: Tx): Promise<void> {
  const removal = { ...which, actor: await actorOf(ctx, db, given) };
  const wanted = events.wanted(ctx, db, "destroy", { id, tableName: undefined, data: {} });
  await withEvent(ctx, wanted, given, async (tx) => {
    const on = tx ?? ctx.sql;
    const done = await recordStore.remove(on, db, id, { form: "nested", whole: wanted }, removal);
    if (!done) {
      const isThere = (await recordStore.tableNameOf(on, db, id, which.guard)) !== undefined;
      throw isThere && which.expected !== undefined ? preconditionFailed() : notFound(missingRecord);
    }
    if (done.record) await events.tell(ctx, db, "destroy", done.record, tx);
    committed(ctx, db, tx);
  });
}

function inTransaction<T>(ctx: JsondbContext, given: Tx | undefined, run: (tx: Tx) => Promise<T>): Promise<T> {
  return given ? run(given) : ctx.transaction(run);
}

/** After the commit of a write: tells at once those who follow the database. */
export function written({ live, fragments }: JsondbContext, db: Database): void {
  if (db.live) live.wake(db.id);
  fragments.wrote();
}

/** One statement needs no transaction, unless an event or the answer to an Idempotency-Key commits with it. */
function withEvent<T>(
  ctx: JsondbContext,
  wanted: boolean,
  tx: Tx | undefined,
  write: (tx: Tx | undefined) => Promise<T>,
): Promise<T> {
  return tx || !(wanted || ctx.keyed()) ? write(tx) : ctx.transaction(write);
}

export function committed(ctx: JsondbContext, db: Database, tx: Tx | undefined): void {
  if (tx) afterCommit(tx, () => written(ctx, db));
  else written(ctx, db);
}

type FullPatch = Parameters<typeof recordStore.update>[2];

/** If the one statement does not find the record as it should be, looks at it under a lock. */
async function mergeLocked(
  tx: Tx,
  db: Database,
  { table, data, keepsTable }: Write,
  patch: FullPatch,
  shape: Shape,
): Promise<Written | undefined> {
  const found = await recordStore.lock(tx, db, patch.id, patch.guard);
  if (!found) throw notFound(missingRecord);
  const stays = found.tableName === table.name;
  if (keepsTable && !stays) return undefined;
  if (patch.expected !== undefined && !(await recordStore.hasVersion(tx, db, patch.id, patch.expected)))
    throw preconditionFailed();
  const whole: Data = Object.fromEntries([...Object.entries(found.data), ...Object.entries(data)]);
  // A record that stays in its table was checked when it was written; one that moves in is checked and written whole.
  const merged = stays ? whole : asStored(table, whole);
  refuse(withoutHidden(db, stays ? checkRequired(table, merged) : checkRecord(table, merged)));
  const json = jsonOf(merged);
  await claimChanged(tx, db, { id: patch.id, table: table.name, data: stays ? data : merged, moved: !stays });
  if (stays) return recordStore.rewrite(tx, db, patch, shape, undefined);
  return recordStore.rewrite(tx, db, { ...patch, json }, shape, found.tableName);
}

/** What is hidden of records is as if the schema did not have it: a fault in it would tell of it. */
function withoutHidden(db: Database, faults: Faults): Faults {
  const hidden = hiddenSometimes(db.reach);
  if (!faults || hidden.size === 0) return faults;
  const shown = Object.entries(faults).filter(([name]) => !hidden.has(name));
  return shown.length > 0 ? Object.fromEntries(shown) : undefined;
}

// Updates that depend on the record as it is: conditions, and numbers that are added to its own.

/**
 * The write with the sums among its data. The record is held until the transaction ends, so whatever was read of it is
 * still true when it is written. 404, 412 if a condition does not hold, 422 for a field that is no number.
 */
export async function amended(
  tx: Tx,
  db: Database,
  id: string,
  write: Write,
  { conditions = [], increment = {} }: Pick<RecordUpdate, "conditions" | "increment">,
): Promise<Write> {
  if (db.renames.length > 0) await renameOne(tx, db, id);
  const found = await lock(tx, db, id);
  if (!found) throw notFound(missingRecord);
  const table = db.rules.tables.get(found.tableName) ?? noTable;
  mustBeOwn(table, conditions);
  const added = Object.entries(increment).map(([name, amount]) => ({ name: name.normalize("NFC"), amount }));
  const additions = added.map(({ name, amount }): Addition => [
    numberIn(write.table, name, found.data),
    printed(amount),
  ]);
  const { holds, sums } = await readHeld(tx, db, { id, table }, readFilters(table, conditions), additions);
  if (!holds) throw new HttpError(412, { error: "the record does not match the conditions" });
  const amounts = added.map(({ name }, at) => [name, sumAs(write.table, name, sums[at] ?? "")] as const);
  // `fromEntries` makes a name like `__proto__` an own property.
  return { ...write, data: Object.fromEntries([...Object.entries(write.data), ...amounts]) };
}

/** As text. */
function numberIn({ fields }: Table, name: string, data: Readonly<Data>): string {
  const value = Object.hasOwn(data, name) ? data[name] : null;
  if (value === null) return "0";
  if (isNumber(value)) return printed(value);
  // Beyond 2^53 an integer is a string.
  if (fields.get(name)?.type === "integer" && typeof value === "string" && /^-?\d{1,19}$/.test(value)) return value;
  throw invalid({ [name]: ["is no number, so nothing can be added to it"] });
}

function sumAs({ fields }: Table, name: string, sum: string): unknown {
  const number = exactly(sum);
  if (!isNumber(number)) throw invalid({ [name]: ["would have too many digits"] });
  return fields.get(name)?.type === "integer" && !Number.isSafeInteger(number) ? String(number) : number;
}

function printed(number: number | ExactNumber): string {
  return String(number);
}
