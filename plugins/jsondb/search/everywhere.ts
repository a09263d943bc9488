/** Finds records in all databases that a caller may read, by words as in names. */
import { wildcardPattern, type Caller } from "platform";
import type { FoundRecord } from "../api.ts";
import type { JsondbContext } from "../context.ts";
import { find, viewerOf } from "../databases/cache.ts";
import { columnKindOf } from "../databases/columns.ts";
import { tryOpen, type Database } from "../databases/database.ts";
import { hiddenSometimes, may } from "../access/reach.ts";
import { createAccountTurns } from "../turns.ts";
import * as everywhereStore from "./everywhere-store.ts";
import type { Searched } from "./everywhere-store.ts";

const bounds = { databases: 20, tables: 40, ofDatabase: 3, newest: 10_000, ofTable: 3, maxMs: 2_000 } as const;
/** Each holds a connection until it ends. */
const turns = createAccountTurns(3);
const never = new AbortController().signal;
/** PostgreSQL ended the statement. */
const queryCanceled = "57014";

/** In the indexed strings and the titles of the newest records; none where that takes too long. */
export async function findEverywhere(ctx: JsondbContext, caller: Caller, words: string): Promise<FoundRecord[]> {
  if (caller.narrowedTo.length > 0 && !caller.narrowedTo.includes("dbs")) return [];
  const tables = await searchedTables(ctx, caller);
  if (tables.length === 0) return [];
  const pattern = wildcardPattern(words);
  const read = () => ctx.read((sql) => everywhereStore.find(sql, tables, pattern, bounds));
  const rows = await turns(caller.account.id, read, never).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === queryCanceled) return [];
    throw error;
  });
  const found = new Map<string, FoundRecord[]>();
  for (const { at, id, title } of rows) {
    const code = tables[at]?.db.code ?? "";
    const own = found.get(code) ?? [];
    if (own.length < bounds.ofDatabase) found.set(code, [...own, { db: code, id, title: title?.trim() || id }]);
  }
  return [...found.values()].flat();
}

async function searchedTables(ctx: JsondbContext, caller: Caller): Promise<Searched[]> {
  const all: Searched[] = [];
  const viewer = viewerOf({ account: caller.account, caller, app: null });
  for (const id of await ctx.read((sql) => everywhereStore.recentIds(sql, caller, bounds.databases))) {
    const stored = await find(ctx, caller.account.id, id);
    const db = stored && tryOpen(stored, viewer);
    if (db && may(db, "read")) all.push(...tablesOf(db));
  }
  return all.slice(0, bounds.tables);
}

/** Where a field is hidden in some records, its value would tell of them. */
function tablesOf(db: Database): Searched[] {
  const hidden = hiddenSometimes(db.reach);
  return [...db.schema.tables.values()].flatMap((table) => {
    if (db.schema.multiTable && table.name === "") return [];
    const { titleField, indexes } = table;
    const names = [...(titleField === undefined ? [] : [titleField]), ...indexes.keys()];
    const isSearched = (name: string) => columnKindOf(table.fields.get(name)?.type) === "str" && !hidden.has(name);
    const fields = [...new Set(names)].filter(isSearched);
    return fields.length > 0 ? [{ db, table, fields }] : [];
  });
}
