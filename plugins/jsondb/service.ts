import { invalid, notFound, parseExactly, readBounds, uuidOf, type Tx } from "platform";
import { createAccountTurns } from "./account-turns.ts";
import type { ApiRecord, JsonDatabases, NewDatabase, RecordSearch, RecordUpdate, RecordWrite } from "./api.ts";
import type { Cursor } from "./search/cursor.ts";
import { tableForWrite, tableNames, type Database } from "./databases/database.ts";
import type { DbFields } from "./databases/dbs.ts";
import { fieldHintsIn, readSearch } from "./search/query.ts";
import type { CreatedRecord } from "./records/new-record.ts";
import type { DbRow } from "./databases/database-store.ts";
import { cookieHeader, visitorOf } from "./public/visitor.ts";
import type { JsondbContext } from "./context.ts";

/**
 * Searches of other plugins at a time, of an account half of them. Flows make them, and visitors start flows: as many as
 * there are connections would leave none to requests.
 */
export const mostSearches = 4;
/** Of a search that finds more, page after page is read. */
const mostAtOnce = 1000;
const never = new AbortController().signal;
const nested = { form: "nested" } as const;

/** The private API for other plugins. */
export function jsondbService(ctx: JsondbContext): JsonDatabases {
  const searches = createAccountTurns(mostSearches);
  const at = async (accountId: number, key: string): Promise<Database> => {
    const db = await ctx.databases.find(accountId, key);
    if (!db) throw notFound(`there is no database ${key.slice(0, 100)}`);
    return db;
  };
  const write = ({ tableName, data }: RecordWrite) => {
    return (db: Database) => ({ table: tableForWrite(db, tableName), data: { ...data } });
  };
  const patchOf = (id: string, record: RecordWrite, tx?: Tx) => async (db: Database) =>
    record.tableName === undefined
      ? ctx.records.inItsTable(db, id, { ...record.data }, undefined, tx)
      : write(record)(db);
  const updateWithin = async (tx: Tx, db: Database, id: string, record: RecordUpdate): Promise<ApiRecord> => {
    const writes = ctx.records.within(tx);
    const make = patchOf(id, record, tx);
    const depends = record.conditions !== undefined || record.increment !== undefined;
    const written = await ctx.records.upToDate(db, async (current) => {
      const patch = await make(current);
      return writes.update(current, id, depends ? await writes.amended(current, id, patch, record) : patch, nested);
    });
    return parsed(written.answer);
  };
  return {
    visitor(input) {
      const visitor = visitorOf(ctx.secrets, input);
      return { cookieKey: visitor.variables.cookie_key, headers: cookieHeader(visitor, input.secure) };
    },
    visitorStores: ctx.visitorRoom.ofAddress,
    async find(accountId, key) {
      const db = await ctx.databases.find(accountId, key);
      return (
        db && {
          id: db.id,
          code: db.code,
          tables: db.schema.multiTable ? tableNames(db) : null,
          open: [...db.publicMethods.methods.keys()],
        }
      );
    },
    async fieldHints(accountId, key, table, fields) {
      const db = await ctx.databases.find(accountId, key);
      return db ? fieldHintsIn(db, table, fields) : [];
    },
    async put({ accountId, userId }, { code, ...given }) {
      const input: DbFields = { ...given, code, publicMethods: given.public_methods };
      const found = await ctx.databaseStore.find(accountId, code);
      if (!found)
        return { id: (await ctx.dbs.create(accountId, userId, { ...input, name: given.name })).id, done: "made" };
      if (isSame(found, given)) return { id: found.id, done: "unchanged" };
      await ctx.dbs.update(
        accountId,
        found.id,
        userId,
        () => input,
        () => undefined,
      );
      return { id: found.id, done: "changed" };
    },
    async create(accountId, key, record) {
      return made(await ctx.records.create(await at(accountId, key), write(record)));
    },
    async get(accountId, key, id) {
      const found = await ctx.recordStore.get(await at(accountId, key), uuidOf(id), nested);
      if (!found) throw notFound();
      return parsed(found.answer);
    },
    async update(accountId, key, id, record) {
      const db = await at(accountId, key);
      if (record.conditions !== undefined || record.increment !== undefined)
        return ctx.transaction((tx) => updateWithin(tx, db, uuidOf(id), record));
      return parsed((await ctx.records.update(db, uuidOf(id), patchOf(uuidOf(id), record), nested)).answer);
    },
    async delete(accountId, key, id) {
      await ctx.records.delete(await at(accountId, key), uuidOf(id));
    },
    async search(accountId, key, { params = {}, conditions, limit = 100 }) {
      const asked = paramsOf(params);
      let db = await at(accountId, key);
      const found: Record<string, unknown>[] = [];
      let characters = 0;
      for (let cursor: Cursor | undefined; ;) {
        const left = Math.min(limit - found.length, mostAtOnce);
        const make = (current: Database) => {
          const query = readSearch(current, asked, conditions);
          return { query: { ...query, limit: left, offset: cursor ? 0 : query.offset, after: undefined }, cursor };
        };
        const page = await searches(accountId, () => ctx.searchStore.search(db, make, { form: "flat" }), never);
        found.push(...(parseExactly(page.body) as Record<string, unknown>[])); // a flat answer is an array of objects
        ({ db, next: cursor } = page);
        if (!cursor || found.length >= limit) return found;
        characters += page.body.length;
        if (characters >= readBounds.answerBytes) throw invalid({ limit: [tooLong] });
      }
    },
    within: (tx) => {
      const writes = ctx.records.within(tx);
      return {
        async create(accountId, key, record) {
          const db = await at(accountId, key);
          return made(
            await ctx.records.upToDate(db, async (current) => writes.create(current, write(record)(current))),
          );
        },
        async update(accountId, key, id, record) {
          return updateWithin(tx, await at(accountId, key), uuidOf(id), record);
        },
        async delete(accountId, key, id) {
          await writes.delete(await at(accountId, key), uuidOf(id));
        },
      };
    },
  };
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
