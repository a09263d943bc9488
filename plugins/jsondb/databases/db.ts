/** A database: what it is to others, and how it is made, changed and deleted. behaviour 4.4, B.7. */
import {
  announce,
  conflict,
  databaseFault,
  filter,
  find,
  forbidden,
  isObject,
  isUuid,
  job,
  notFound,
  parseCacheKey,
  resource,
  uuidv7,
} from "platform";
import type {
  AfterCommit,
  At,
  BaseContext,
  Cache,
  Caller,
  Change,
  Changed,
  DraftOf,
  Mistakes,
  Queryable,
  Sql,
  Tx,
} from "platform";
import { declareIndexes } from "../indexes/learning.ts";
import * as liveStore from "../live/store.ts";
import * as taskStore from "../tasks/store.ts";
import { dbAccess, forget, type DatabaseContext } from "./cache.ts";
import { databaseOf, sameIndexes, storedAccess, storedDatabaseOf, type StoredDatabase } from "./database.ts";
import { subjectsOf, type Level } from "../access/access.ts";
import { hiddenAlways, levelOf, may, model, reachIn } from "../access/reach.ts";
import { fields, type DbRow } from "./fields.ts";
import { holdLinked, ownMethods, relinkOthers, renameElsewhere, schemaIn, type ChangedDb } from "./naming.ts";
import { databaseHints, linkHints, nobodyHints } from "./hints.ts";
import { parsePublicMethods, unknownLinks, unknownTables } from "./public-methods.ts";
import { relinked } from "./relinks.ts";
import {
  accessAfter,
  checkAccess,
  checkParts,
  isPerson,
  isSameJson,
  mustHoldTargets,
  mustNameApp,
  mustOpenFiles,
  mustReadEnds,
  mustReadRollups,
  type DbAuthor,
} from "./saving.ts";
import { parseSchema, withoutFields } from "./schema.ts";
import { formerFields, formerOf, renamed, renamesOf, type GivenRenames, type Rename } from "./renames.ts";
import { addRenames, isKey, keepDeleted, markReplanned, restoreDeleted, setFormer, visibleTo } from "./store.ts";
import { keySetsOf, setsFor, type UniqueField } from "./unique.ts";
import { setKeySets } from "./keys-store.ts";

/** Fills the index columns of records that were written by an older plan. */
export const reindexRecords = job<{ accountId: number; dbId: string }>("jsondb.reindex");

/** Deletes the keys of fields that are unique no longer. */
export const dropKeys = job<{ accountId: number; dbId: string; sets: readonly string[] }>("jsondb.drop-keys");

/** Longer than any of our transactions lasts. */
export const afterOldWritersMs = 5 * 60_000;

/** A field as the records still call it, and as the schema will. */
interface MissingField extends UniqueField {
  readonly named: string;
}

/** Thrown by a change that makes fields unique: their keys must be written first (switch.ts). */
export class NeedsKeys extends Error {
  readonly db: { readonly id: string; readonly accountId: number; readonly code: string };
  readonly missing: readonly MissingField[];

  constructor({ id, accountId, code }: DbRow, missing: readonly MissingField[]) {
    super("the records have no keys yet");
    this.db = { id, accountId, code };
    this.missing = missing;
  }
}

/** Deletes the records of a deleted database. */
export const dropRecords = job<{ accountId: number; dbId: string; again?: boolean }>("jsondb.drop");

export interface DbAt extends At<DbAuthor>, DatabaseContext {
  readonly request?: Request | undefined;
  /** Nothing of a deleted one is kept. */
  readonly forGood?: boolean | undefined;
  /** The key sets that have been filled for this change. */
  readonly ready?: ReadonlySet<string> | undefined;
  /** The fields that a change renames. */
  readonly rename?: GivenRenames | undefined;
  readonly caller: DbAuthor;
}

type Its = Change<typeof fields, "uuid">;

export const ifMatch = 'With `If-Match: "<etag>"` of a version that is no longer the latest: 412.';

export const Db = resource("db", {
  table: "dbs",
  path: "/core/dbs",
  id: "uuid",
  byCode: true,
  privilege: "dbs",
  or: dbAccess.or,
  model: "Core::Db",
  events: true,
  missing: "there is no such database",
  others: ["plan_xid"],
  fields,
  filters: {
    q: filter.searching(["name", "code"], "searches name and code"),
    code: filter.exact("exactly this code"),
  },
  check,
  changed,
  mayErase: ({ caller }, row) => mustManage(caller, row),
  visible: ({ caller }, sql) => visibleTo(sql, caller),
  show: ({ caller }, row, value) => shownTo(caller, row, value),
  hints: async (at: DbAt, row, given) => [
    ...(await at.names.unknown(
      at.caller.account.id,
      given.app_id ? [{ place: "app_id", model: "Core::App", key: given.app_id }] : [],
    )),
    ...(await savedHints(at, row, given)),
  ],
  named: { noun: "a database", keys: ({ code, id }) => [code, id], param: "db_id" },
  example: { id: "019a9c1e-0000-7000-8000-000000000001" },
  request: ["name", "schema"],
  change: { name: "Clients" },
  docs: {
    list: { summary: "List databases" },
    get: { summary: "Show a database" },
    create: {
      summary: "Create a database",
      refusals: { 422: { schema: ["fields.age: must be one of string, text, …"] } },
    },
    change: {
      summary: "Change a database",
      description:
        "A new `schema` re-indexes existing records in the background; answers stay correct meanwhile. " + ifMatch,
    },
    delete: {
      summary: "Delete a database with its records",
      description: "`/core/db_trash` keeps it for 30 days. " + ifMatch,
    },
  },
});

/** What is said of a database that has just been saved; `given` are the parts that the request had. */
export async function savedHints(
  at: DbAt,
  row: DbRow,
  given: Parameters<typeof databaseHints>[1],
): Promise<readonly string[]> {
  const { user, privileges, within } = at.caller;
  const viewer = isPerson(user) && privileges !== null ? { user, privileges, within } : undefined;
  return [
    ...databaseHints(row, given),
    ...(given.schema ? await linkHints(at, databaseOf(row), viewer) : []),
    ...(given.access ? await nobodyHints(at.accounts, row) : []),
  ];
}

/** By id or code. */
export async function findDb(on: Queryable, accountId: number, key: string): Promise<DbRow | undefined> {
  if (!isKey(key)) return undefined;
  return find(Db, on, accountId, isUuid(key) ? { id: key.toLowerCase() } : { code: key });
}

export function databaseCache(cache: BaseContext["cache"], sql: Sql): Cache<StoredDatabase> {
  return cache({
    name: "jsondb.databases",
    max: 1000,
    load: async (key) => {
      const { accountId, name } = parseCacheKey(key);
      const row = await findDb(sql, accountId, name);
      return row && storedDatabaseOf(row);
    },
  });
}

async function check(at: DbAt, change: Its, wrong: Mistakes): Promise<DraftOf<typeof fields>> {
  const { tx, given, before } = change;
  const after = withRenamed(at, change);
  const { caller } = at;
  if (before) mustManage(caller, before);
  else if (caller.within?.[model]) throw forbidden("this token opens only some databases, and makes no others");
  mustNameApp(caller, given.app_id, before?.appId);
  if (given.code && isUuid(given.code)) wrong.add("code", "must not have the form of an id");
  checkParts(given, wrong);
  wrong.check();
  const [schema, methods] = [parseSchema(after.schema), parsePublicMethods(after.publicMethods)];
  const found = async (key: string) => {
    const row = await findDb(tx, caller.account.id, key);
    return row && storedDatabaseOf(row);
  };
  if ("schema" in schema) await holdLinked(tx, caller.account.id, schema.schema, schemaIn(before?.schema));
  if ("schema" in schema && "publicMethods" in methods)
    for (const mistake of unknownTables(methods.publicMethods, schema.schema.tables))
      wrong.add("public_methods", mistake);
  if ("schema" in schema && "publicMethods" in methods) {
    for (const mistake of unknownLinks(methods.publicMethods, schema.schema.tables))
      wrong.add("public_methods", mistake);
    wrong.check();
    const expanding = { code: after.code, schema: schema.schema, methods: methods.publicMethods };
    await mustReadEnds(found, caller, expanding, before, wrong);
    await mustReadRollups(found, caller, expanding, before);
  }
  const renames = renamesIn(at, before, after, wrong);
  const access = given.access === undefined ? accessAfter(after.access, renames, schema, wrong) : after.access;
  if ("schema" in schema) {
    checkAccess(access, schema.schema, wrong);
    mustOpenFiles(caller, schema.schema, before);
    await mustHoldTargets(found, caller, after.code, schema.schema, before);
  }
  if ("schema" in schema && before && given.schema !== undefined) {
    wrong.check();
    const { missing } = setsFor(renamed(keySetsOf(before.keySets), renames), schema.schema, at.ready);
    if (missing.length > 0) {
      const former = renames.map(({ table, from, to }): Rename => ({ table, from: to, to: from }));
      throw new NeedsKeys(
        before,
        renamed(missing, former).map((one, n) => ({ ...one, named: missing[n]?.field ?? one.field })),
      );
    }
  }
  if (!before) return { ...after, schemaVersion: 1, rulesVersion: 1, planVersion: 1 };
  const { schemaVersion, rulesVersion, planVersion } = before;
  const isSame = isSameJson(before.schema, after.schema);
  const isReplanned =
    renames.length > 0 ||
    (!isSame && !sameIndexes(databaseOf(before).schema, databaseOf({ ...before, schema: after.schema }).schema));
  const [rules, plan] = [isSame ? 0 : 1, isReplanned ? 1 : 0];
  return {
    ...after,
    access,
    schemaVersion: schemaVersion + rules,
    rulesVersion: rulesVersion + rules,
    planVersion: planVersion + plan,
  };
}

/** 403 for whoever may see the database and not manage it. */
function mustManage(caller: DbAuthor, row: Pick<DbRow, "id" | "access">): void {
  if (levelTo(caller, row) !== "manage")
    throw forbidden("this needs the level `manage` in the `access` of the database");
}

/** Programs and commands may do everything. */
function levelTo(
  { user, privileges, within }: DbAuthor,
  { id, access }: Pick<DbRow, "id" | "access">,
): Level | undefined {
  if (!isPerson(user) || privileges === null) return "manage";
  const reach = reachIn({ id, access: storedAccess(access) }, { user, privileges, within });
  return reach && levelOf({ reach });
}

/** What a person who may not manage the database sees of it: of `access`, what it gives them. */
function shownTo({ user, privileges, within }: DbAuthor, row: DbRow, value: Record<string, unknown>) {
  const access = storedAccess(row.access);
  if (!isPerson(user) || privileges === null || access === null) return value;
  const reach = reachIn({ id: row.id, access }, { user, privileges, within });
  if (!reach || may({ reach }, "manage")) return value;
  const subjects = new Set(subjectsOf(user));
  const own = access.filter(({ to }) => subjects.has(to)).map(({ to, may: level }) => ({ to, may: level }));
  const hidden = hiddenAlways(reach);
  if (hidden.size === 0) return { ...value, access: own };
  return { ...value, access: own, schema: withoutFields(row.schema, hidden), public_methods: null, fields: {} };
}

async function changed(
  at: DbAt,
  { before, after }: Changed<typeof fields, "uuid">,
  tx: Tx,
): Promise<AfterCommit | undefined> {
  const row = after ?? before;
  if (!row) return undefined;
  const { id: dbId, accountId } = row;
  const asked = { accountId, dbId };
  if (!after && !at.forGood) await keepDeleted(tx, accountId, dbId, at.caller.user.id);
  // A deleted one is by now among those whose schemas are changed.
  const isNamed = before !== undefined && before.code !== after?.code;
  let others: readonly ChangedDb[] = isNamed ? await relinkOthers(tx, before, before.code, after?.code ?? dbId) : [];
  if (!after && at.forGood) await at.enqueue(dropRecords, asked, { key: dbId, tx, accountId });
  else if (before && after && before.planVersion !== after.planVersion) {
    await markReplanned(tx, accountId, dbId);
    const renames = renamesIn(at, before, after).map((rename) => ({ ...rename, plan: after.planVersion }));
    if (renames.length > 0) {
      await addRenames(tx, accountId, dbId, renames);
      await liveStore.startOver(tx, accountId, dbId, uuidv7());
      others = [...others, ...(await renameElsewhere(tx, after, renames))];
    }
    await taskStore.replaceReindex(tx, accountId, dbId);
    await taskStore.insert(tx, { id: uuidv7(), accountId, dbId, kind: "reindex", userId: at.caller.user.id });
    await at.enqueue(reindexRecords, asked, { key: dbId, tx, accountId });
  }
  if (before && after && before.schemaVersion !== after.schemaVersion) await keepNames(at, before, after, tx);
  if (after && (!before || at.ready || before.schemaVersion !== after.schemaVersion))
    await keepKeys(at, before, after, tx);
  if (after && (before ? before.schemaVersion !== after.schemaVersion : after.schema))
    await declareIndexes(at, databaseOf(after), tx);
  return async () => {
    await forget(at, accountId, row, before?.code);
    for (const other of others) await forget(at, accountId, other);
  };
}

/** What the request does not give of `public_methods`, and links to itself, go on meaning the same. */
function withRenamed(at: DbAt, { given, before, after: asked }: Its): Its["after"] {
  const isMoved = before && before.code !== asked.code;
  const moved = isMoved && relinked(asked.schema, before.code, asked.code);
  const after = isObject(moved) ? { ...asked, schema: moved } : asked;
  const renames = renamesIn(at, before, after);
  const schema = schemaIn(after.schema);
  if (!before || renames.length === 0 || !schema || given.public_methods !== undefined || !after.publicMethods)
    return after;
  const own = { id: before.id, code: after.code, schema: after.schema };
  return { ...after, publicMethods: ownMethods(own, schema, after.publicMethods, renames) };
}

/** The renames that a request asks for, by its schema and the one that was. */
function renamesIn(
  { rename }: DbAt,
  before: DbRow | undefined,
  after: { readonly schema?: unknown },
  wrong?: Mistakes,
): readonly Rename[] {
  const [was, is] = [parseSchema(before?.schema, true), parseSchema(after.schema, true)];
  if (!rename || !("schema" in was) || !("schema" in is)) return [];
  return renamesOf(rename, was.schema, is.schema, (message) => wrong?.add("rename", message));
}

/** For what is told of records as they were. */
async function keepNames(at: DbAt, before: DbRow, after: DbRow, tx: Tx): Promise<void> {
  const schemas = { before: databaseOf(before).schema, after: databaseOf(after).schema };
  const known = formerOf(before.former);
  const all = formerFields(
    known,
    { ...schemas, renames: renamesIn(at, before, after), stored: before.schema },
    { schema: after.schemaVersion, plan: after.planVersion },
  );
  if (all.length !== known.length || all.at(-1) !== known.at(-1)) await setFormer(tx, after.accountId, after.id, all);
}

/** The key sets of the schema that is written; those of other fields are dropped. */
async function keepKeys(at: DbAt, before: DbRow | undefined, after: DbRow, tx: Tx): Promise<void> {
  const parsed = parseSchema(after.schema, true);
  const stored = keySetsOf(before?.keySets);
  const renames = renamesIn(at, before, after);
  const sets = renamed(stored, renames);
  if (!("schema" in parsed)) return;
  const { kept, missing } = setsFor(sets, parsed.schema, at.ready);
  // A new database has no records, so nothing is missing but the sets themselves.
  const made = before ? [] : missing.map((field) => ({ ...field, id: uuidv7(), filled: true }));
  if (made.length === 0 && kept.length === sets.length && renames.length === 0 && !at.ready) return;
  await setKeySets(tx, after, [...kept, ...made]);
  const gone = sets.map(({ id }) => id).filter((id) => !kept.some((set) => set.id === id));
  if (gone.length === 0) return;
  const { id: dbId, accountId } = after;
  const runAt = new Date(Date.now() + afterOldWritersMs);
  await at.enqueue(dropKeys, { accountId, dbId, sets: gone }, { tx, accountId, runAt });
}

export const missingDeleted = "there is no such deleted database";

/** Gives a deleted database back, with its records. 404 if the caller may not. */
export async function restoreDb(at: DbAt & { readonly caller: Caller }, id: string): Promise<DbRow> {
  const { account, user } = at.caller;
  const restoring = at.transaction(async (tx) => {
    const code = await restoreDeleted(tx, at.caller, id);
    if (code === undefined) throw notFound(missingDeleted);
    const others = await relinkOthers(tx, { accountId: account.id }, id, code);
    const restored = await find(Db, tx, account.id, { id });
    if (!restored) throw new Error("a restored database is missing"); // it was written just now
    if (restored.planVersion !== restored.indexedVersion) {
      await taskStore.insert(tx, { id: uuidv7(), accountId: account.id, dbId: id, kind: "reindex", userId: user.id });
      await at.enqueue(reindexRecords, { accountId: account.id, dbId: id }, { key: id, tx, accountId: account.id });
    }
    await declareIndexes(at, databaseOf(restored), tx);
    await announce(Db, at, "create", restored, tx);
    return { restored, others };
  });
  const { restored: row, others } = await restoring.catch((error: unknown) => {
    throw databaseFault(error) === "unique" ? conflict("its code was taken just now, try again") : error;
  });
  for (const one of [row, ...others]) await forget(at, account.id, one);
  return row;
}
