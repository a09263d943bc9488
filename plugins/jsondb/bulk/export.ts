/** All records of a database as text, page by page, with at most two pages in memory. Not a snapshot. */
import { HttpError } from "platform";
import { noId, type BulkStore } from "./bulk-store.ts";
import type { Scope } from "./scope.ts";
import { csvLine, withoutFormula } from "./csv.ts";
import { tableNames, type Database } from "../databases/database.ts";
import { headerOfField } from "./export-columns.ts";
import { printRaw, readRaw, recordSeparator } from "../records/print.ts";
import type { Data } from "../records/record.ts";

export const exportFormats = ["csv", "json", "ndjson"] as const;
export type ExportFormat = (typeof exportFormats)[number];

export interface ExportOptions {
  readonly format: ExportFormat;
  readonly scope: Scope;
  /** CSV: no spreadsheet reads a cell as a formula. */
  readonly safe: boolean;
  /** Told how many more records are out. */
  readonly passed: (records: number) => void;
}

const maxColumns = 1000;
const firstLimit = 10;
const maxLimit = 2000;
const pageCharacters = 1_000_000;

/** 422 if the data has too many different keys for columns, before any output. */
export async function exportTexts(
  bulkStore: BulkStore,
  db: Database,
  options: ExportOptions,
): Promise<AsyncGenerator<string>> {
  const pages = exportPages(bulkStore, db, options);
  if (options.format === "ndjson") return ndjson(pages);
  if (options.format === "json") return json(pages);
  return csv(pages, db.schema.multiTable, await fieldsOf(bulkStore, db, options.scope), options.safe);
}

/**
 * The records in the order of ids, for `readRaw`. Pages grow until they reach a fixed size in characters. While one is
 * written, PostgreSQL already reads the next.
 */
async function* exportPages(
  bulkStore: BulkStore,
  db: Database,
  { scope, passed }: Pick<ExportOptions, "scope" | "passed">,
): AsyncGenerator<readonly string[]> {
  let limit = firstLimit;
  let next = bulkStore.exportPage(db, scope, noId, limit);
  for (;;) {
    const text = await next;
    if (text === null) return;
    const raws = text.split(recordSeparator);
    const fitting = Math.floor((pageCharacters / text.length) * raws.length);
    limit = Math.max(1, Math.min(fitting, limit * 4, maxLimit));
    next = bulkStore.exportPage(db, scope, readRaw(raws.at(-1) ?? "").id, limit);
    // Nobody waits for it when the client goes away.
    next.catch(() => {});
    yield raws;
    passed(raws.length);
  }
}

async function* ndjson(pages: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  for await (const raws of pages) yield raws.map((raw) => `${printRaw(raw, "nested")}\n`).join("");
}

async function* json(pages: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  let before = "[";
  for await (const raws of pages) {
    yield before + raws.map((raw) => printRaw(raw, "nested")).join(",\n");
    before = ",\n";
  }
  yield before === "[" ? "[]" : "]";
}

async function* csv(
  pages: AsyncIterable<readonly string[]>,
  multiTable: boolean,
  fields: readonly string[],
  safe: boolean,
): AsyncGenerator<string> {
  const shown = (text: string) => (safe ? withoutFormula(text) : text);
  const headers = fields.map((field) => shown(headerOfField(field)));
  yield csvLine(["id", ...(multiTable ? ["table_name"] : []), ...headers, "created_at", "updated_at"]);
  for await (const raws of pages) {
    const lines = raws.map((raw) => {
      const { id, tableName, data: text, createdAt, updatedAt } = readRaw(raw);
      const data: Data = JSON.parse(text);
      const table = multiTable ? [tableName === "" ? null : tableName] : [];
      const cells = fields.map((field) => cellOf(data, field, shown));
      return csvLine([id, ...table, ...cells, createdAt, updatedAt]);
    });
    yield lines.join("");
  }
}

/** Null and absent are an empty cell, objects and arrays JSON. */
function cellOf(data: Data, field: string, shown: (text: string) => string): string | null {
  const value = Object.hasOwn(data, field) ? data[field] : null;
  if (value === null) return null;
  if (typeof value === "string") return shown(value);
  return JSON.stringify(value);
}

/** The data columns: the fields of the schema in order, then all other keys in the records. */
async function fieldsOf(bulkStore: BulkStore, db: Database, scope: Scope): Promise<readonly string[]> {
  const tables = scope.allTables ? ["", ...tableNames(db)].map((name) => db.schema.tables.get(name)) : [scope.table];
  const fields = new Set(tables.flatMap((table) => [...(table?.fields.keys() ?? [])]));
  const others = new Set<string>();
  for (let after: string | null = noId; after !== null;) {
    const { keys, last } = await bulkStore.keysPage(db, scope, after, [...fields]);
    for (const key of keys) if (!fields.has(key)) others.add(key);
    if (fields.size + others.size > maxColumns) throw tooManyColumns();
    after = last;
  }
  return [...fields, ...[...others].toSorted()];
}

function tooManyColumns(): HttpError {
  return new HttpError(422, {
    error: `the records have more than ${maxColumns} different fields: export json or ndjson`,
  });
}
