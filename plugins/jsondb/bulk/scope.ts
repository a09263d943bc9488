/** Which records an export or a change of many is about, by the parameters of a list. Pure. */
import { tableForSearch, type Database } from "../databases/database.ts";
import { noTable, type Table } from "../databases/schema.ts";
import { isFilter } from "../search/filters.ts";
import { readList, type Query } from "../search/query.ts";

/** Those of one table, or of all, that a search with these filters would find. */
export type Scope = Pick<Query, "table" | "allTables" | "filters" | "any" | "phrase">;

/** 400 if a filter is wrong, or names a table that does not exist. */
export function scopeOf(db: Database, query: URLSearchParams): Scope {
  const tableName = db.schema.multiTable ? query.get("table_name") : null;
  const { filters, any, phrase, ...found } = readList(db, new URLSearchParams(narrowing(query)));
  return { ...(isNarrowed({ filters, any, phrase }) ? found : whole(db, tableName)), filters, any, phrase };
}

export function isNarrowed({ filters, any, phrase }: Pick<Scope, "filters" | "any" | "phrase">): boolean {
  return filters.length > 0 || any.length > 0 || phrase !== undefined;
}

/** The parameters that say which records. */
export function narrowing(query: URLSearchParams): [string, string][] {
  return [...query].filter(([name]) => narrows(name));
}

export function narrows(parameter: string): boolean {
  return isFilter(parameter) || ["table_name", "q", "search_in", "search_in[]"].includes(parameter);
}

/** All records of the table, or of the database; its columns begin with the fields of the schema. */
function whole(db: Database, tableName: string | null): Pick<Scope, "table" | "allTables"> {
  if (tableName === null && db.schema.multiTable) return { table: noTable, allTables: true };
  return { table: tableForSearch(db, tableName), allTables: !db.schema.multiTable };
}

/** The table whose rules all records of the scope follow; undefined if they may be in several. */
export function oneTable(db: Database, { table, allTables }: Scope): Table | undefined {
  if (!allTables) return table;
  return db.schema.multiTable ? undefined : tableForSearch(db, null);
}
