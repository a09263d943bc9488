import { change, create, invalid, isUuid, notFound, parseExactly, readBounds, uuidOf } from "platform";
import type { Caller, Tx } from "platform";
import { createAccountTurns } from "./turns.ts";
import { databasesAlong, expanded, flatIn, nestedIn, roomToExpand, withRollups } from "./links/expand.ts";
import { rollupSources } from "./links/rollups.ts";
import type {
  ApiRecord,
  JsonDatabases,
  NewDatabase,
  ReadableRecord,
  RecordRef,
  RecordSearch,
  RecordUpdate,
  RecordWrite,
} from "./api.ts";
import { hiddenSometimes, may, mayAll } from "./access/reach.ts";
import { linkFaults, mustBeOwn } from "./links/links.ts";
import { openRecords } from "./comments/store.ts";
import { keptRecords } from "./databases/store.ts";
import { fieldHintsIn, readSearch, withLinks, type Cursor } from "./search/query.ts";
import { isOpenTo, tableForWrite, tableNames, tryOpen, type Database } from "./databases/database.ts";
import * as databases from "./databases/cache.ts";
import { formOf } from "./databases/form.ts";
import { Db, findDb } from "./databases/db.ts";
import { asNew, asStored, checkPatch, checkRecord, refuse, type CreatedRecord } from "./records/record.ts";
import type { DbRow } from "./databases/fields.ts";
import { storeOf } from "./public/room.ts";
import { cookieHeader, visitorOf } from "./public/visitor.ts";
import { amended } from "./records/writes.ts";
import { withKeys } from "./databases/switch.ts";
import * as recordStore from "./records/store.ts";
import * as records from "./records/writes.ts";
import { findEverywhere } from "./search/everywhere.ts";
import { search as searchRecords } from "./search/store.ts";
import type { JsondbContext } from "./context.ts";

/**
 * Searches of other plugins at a time, of an account half of them. Flows make them, and visitors start flows: as many as
 * there are connections would leave none to requests.
 */
export const mostSearches = 4;
/** A search that finds more reads page after page. */
const mostAtOnce = 1000;
const never = new AbortController().signal;
const nested = { form: "nested" } as const;

/** The private API for other plugins. */
export function jsondbService(ctx: JsondbContext): JsonDatabases {
  const searches = createAccountTurns(mostSearches);
  const at = async (accountId: number, key: string): Promise<Database> => {
    const db = await databases.find(ctx, accountId, key);
    if (!db) throw notFound(`there is no database ${key.slice(0, 100)}`);
    return db.whole;
  };
  const write = ({ tableName, data }: RecordWrite) => {
    return (db: Database) => ({ table: tableForWrite(db, tableName), data: { ...data }, viewer: undefined });
  };
  const patchOf = (id: string, record: RecordWrite, tx?: Tx) => async (db: Database) =>
    record.tableName === undefined
      ? records.inItsTable(tx ?? ctx.sql, db, id, { data: { ...record.data }, viewer: undefined })
      : write(record)(db);
  const updateWithin = async (tx: Tx, db: Database, id: string, record: RecordUpdate): Promise<ApiRecord> => {
    const make = patchOf(id, record, tx);
    const depends = record.conditions !== undefined || record.increment !== undefined;
    const written = await databases.upToDate(ctx, db, async (current) => {
      const patch = await make(current);
      return records.merge(
        ctx,
        current,
        id,
        depends ? await amended(tx, current, id, patch, record) : patch,
        nested,
        tx,
      );
    });
    return parsed(written.answer);
  };
  return {
    formOf,
    addToInbox: (source) => void ctx.inboxSources.push(source),
    visitor(input) {
      const visitor = visitorOf(ctx.secrets, input);
      return { cookieKey: visitor.variables.cookie_key, headers: cookieHeader(visitor, input.secure) };
    },
    visitorStores: (ip, bytes, store) => storeOf(ctx, ip, bytes, store),
    async find(accountId, key) {
      const db = (await databases.find(ctx, accountId, key))?.whole;
      return (
        db && {
          id: db.id,
          code: db.code,
          tables: db.schema.multiTable ? tableNames(db) : null,
          open: [...db.publicMethods.methods.keys()],
        }
      );
    },
    async reaches(accountId, key, level, people) {
      const stored = await databases.find(ctx, accountId, key);
      if (!stored) return true;
      for (const one of await people()) {
        if (typeof one === "object" && one !== null) {
          if (!isOpenTo(stored, one, level)) return false;
        } else if (stored.access !== null) {
          const person = one === null ? undefined : await ctx.accounts.access(one);
          if (!person?.active || !isOpenTo(stored, person, level)) return false;
        }
      }
      return true;
    },
    readable: (caller, refs) => readable(ctx, caller, refs),
    findEverywhere: (caller, words) => findEverywhere(ctx, caller, words),
    async fieldHints(accountId, key, table, fields) {
      const db = await databases.find(ctx, accountId, key);
      return db ? fieldHintsIn(db.whole, table, fields) : [];
    },
    async linkFaults(accountId, key, table, fields) {
      const db = (await databases.find(ctx, accountId, key))?.whole;
      const named = db?.schema.tables.get(table ?? "");
      return db ? linkFaults(named ? [named] : [...db.schema.tables.values()], fields) : [];
    },
    async put({ accountId, userId }, { code, ...given }) {
      const by = { ...ctx, caller: { account: { id: accountId }, user: { id: userId }, privileges: null } };
      const found = await findDb(ctx.sql, accountId, code);
      if (!found) return { id: (await create(Db, by, { ...given, code })).id, done: "made" };
      if (isSame(found, given)) return { id: found.id, done: "unchanged" };
      await withKeys(ctx, (ready) => change(Db, { ...by, ready }, { id: found.id }, { ...given, code }));
      return { id: found.id, done: "changed" };
    },
    async asWritten(accountId, key, { tableName, data: given, isNew }) {
      const db = (await databases.find(ctx, accountId, key))?.whole;
      if (!db) return undefined;
      const table = tableForWrite(db, tableName);
      const data = isNew ? asNew(db, table, { ...given }) : asStored(table, { ...given });
      refuse(isNew ? checkRecord(table, data) : checkPatch(table, data));
      return data;
    },
    async create(accountId, key, record) {
      return made(await records.create(ctx, await at(accountId, key), write(record)));
    },
    async get(accountId, key, id, { expand = [], reads } = {}) {
      const db = await at(accountId, key);
      const found = await recordStore.get(ctx.sql, db, uuidOf(id), nested);
      if (!found) throw notFound();
      const record = parsed(found.answer);
      if (reads) await withRollups(ctx, { db, viewer: undefined, reads }, [{ ...record }], nestedIn(db));
      if (expand.length === 0) return record;
      const [whole] = await expanded(ctx, { db, viewer: undefined }, [{ ...record }], expand, nestedIn(db));
      return whole ?? record;
    },
    async databasesAlong(accountId, key, paths, andRollups = false) {
      const db = paths.length > 0 || andRollups ? await databases.find(ctx, accountId, key) : undefined;
      if (!db) return [];
      return [
        ...(await databasesAlong(ctx, db.whole, paths)),
        ...(andRollups ? await rollupSources(ctx, db.whole) : []),
      ];
    },
    async update(accountId, key, id, record) {
      const db = await at(accountId, key);
      if (record.conditions !== undefined || record.increment !== undefined)
        return ctx.transaction((tx) => updateWithin(tx, db, uuidOf(id), record));
      return parsed((await records.update(ctx, db, uuidOf(id), patchOf(uuidOf(id), record), nested)).answer);
    },
    async delete(accountId, key, id) {
      await records.remove(ctx, await at(accountId, key), uuidOf(id));
    },
    async search(accountId, key, { params = {}, conditions, limit = 100, expand = [], reads }) {
      const asked = paramsOf(params);
      let db = await at(accountId, key);
      const found: Record<string, unknown>[] = [];
      let characters = 0;
      const room = roomToExpand();
      for (let cursor: Cursor | undefined; ;) {
        const left = Math.min(limit - found.length, mostAtOnce);
        const make = (current: Database) => {
          const read = readSearch(current, asked, conditions);
          mustBeOwn(read.table, conditions ?? []);
          const query = withLinks(read, expand);
          return { query: { ...query, limit: left, offset: cursor ? 0 : query.offset, after: undefined }, cursor };
        };
        const page = await searches(accountId, () => searchRecords(ctx, db, make, { form: "flat" }), never);
        const rows = page.records.map((text) => parseExactly(text) as Record<string, unknown>); // answers of ours
        const { table, fields } = readSearch(page.db, asked, conditions);
        const reading = { db: page.db, viewer: undefined, reads };
        if (reads) await withRollups(ctx, reading, rows, flatIn(table), fields);
        found.push(...(expand.length === 0 ? rows : await expanded(ctx, reading, rows, expand, flatIn(table), room)));
        ({ db, next: cursor } = page);
        if (!cursor || found.length >= limit) return found;
        for (const text of page.records) characters += text.length;
        if (characters >= readBounds.answerBytes) throw invalid({ limit: [tooLong] });
      }
    },
    within: (tx) => ({
      async create(accountId, key, record) {
        const db = await at(accountId, key);
        const insert = (current: Database) => records.insert(ctx, current, write(record)(current), tx);
        return made(await databases.upToDate(ctx, db, insert));
      },
      async update(accountId, key, id, record) {
        return updateWithin(tx, await at(accountId, key), uuidOf(id), record);
      },
      async delete(accountId, key, id) {
        await records.remove(ctx, await at(accountId, key), uuidOf(id), undefined, tx);
      },
    }),
  };
}

const mostAtATime = 1000;

async function readable(ctx: JsondbContext, caller: Caller, refs: readonly RecordRef[]): Promise<ReadableRecord[]> {
  const found: ReadableRecord[] = [];
  const { narrowedTo } = caller;
  if (narrowedTo.length > 0 && !narrowedTo.includes("dbs")) return found;
  for (const [key, its] of Map.groupBy(refs.slice(0, mostAtATime), ({ db }) => db)) {
    const stored = await databases.find(ctx, caller.account.id, key);
    const db = stored && tryOpen(stored, caller);
    if (!db || !may(db, "read")) continue;
    const ids = its.flatMap(({ id }) => (isUuid(id) ? [id] : []));
    const isWhole = mayAll(db, "read");
    const open = isWhole ? await keptRecords(ctx.sql, db.id, ids) : await openRecords(ctx.sql, db, ids, "read");
    const hidden = isWhole ? new Set<string>() : hiddenEver(db);
    found.push(...its.filter(({ id }) => open.has(id.toLowerCase())).map((one) => ({ ...one, hidden })));
  }
  return found;
}

/** Also under the names that they had, and what was removed. */
function hiddenEver({ reach, former }: Database): ReadonlySet<string> {
  const hidden = new Set(hiddenSometimes(reach));
  for (const { from, to } of former.toReversed()) if (to === null || hidden.has(to)) hidden.add(from);
  return hidden;
}

function paramsOf(params: NonNullable<RecordSearch["params"]>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(params).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value]] : value.map((one) => [`${name}[]`, one]),
    ),
  );
}

const tooLong = `the records have more than ${readBounds.answerBytes} bytes: search fewer, or some \`fields\` of them`;

/** Whether the database is already what is given; their JSON keeps its order. */
function isSame(row: DbRow, given: Omit<NewDatabase, "code">): boolean {
  const pairs = [
    [given.name, row.name],
    [given.schema, row.schema],
    [given.public_methods, row.publicMethods],
    [given.fields, row.fields],
  ];
  return pairs.every(([wanted, is]) => wanted === undefined || JSON.stringify(wanted) === JSON.stringify(is));
}

function made({ id, table, data, createdAt }: CreatedRecord): ApiRecord {
  const time = createdAt.toJSON();
  return { id, data, table_name: table.name === "" ? null : table.name, created_at: time, updated_at: time };
}

function parsed(answer: string): ApiRecord {
  return parseExactly(answer) as ApiRecord; // the nested form of print.ts
}
