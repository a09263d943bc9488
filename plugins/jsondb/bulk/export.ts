/** All records of a database as text, page by page, with at most two pages in memory. Not a snapshot. */
import { HttpError } from "platform";
import { noId, type BulkStore } from "./bulk-store.ts";
import type { Scope } from "./scope.ts";
import { csvLine, withoutFormula } from "./csv.ts";
import { createCsvRows } from "./csv-rows.ts";
import { tableNames, type Database } from "../databases/database.ts";
import { headerOfField } from "./export-columns.ts";
import { printRaw, recordSeparator } from "../records/print.ts";

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
const maxLimit = 5000;
const pageBytes = 1_000_000;
/** Beyond these, a key that is known is looked for like a new one: each is compared with all. */
const maxKnownKeys = 100;
const idBytes = 36;
const separatorByte = recordSeparator.charCodeAt(0);
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** 422 if the data has too many different keys for columns, before any output. */
export async function exportTexts(
  bulkStore: BulkStore,
  db: Database,
  options: ExportOptions,
): Promise<AsyncGenerator<string | Uint8Array<ArrayBuffer>>> {
  const pages = exportPages(bulkStore, db, options);
  if (options.format === "ndjson") return ndjson(pages);
  if (options.format === "json") return json(pages);
  return csv(pages, db.schema.multiTable, await fieldsOf(bulkStore, db, options.scope), options.safe);
}

/**
 * The records in the order of ids. Pages grow until they reach a fixed size. While one is written, PostgreSQL already
 * reads the next.
 */
async function* exportPages(
  bulkStore: BulkStore,
  db: Database,
  { scope, passed }: Pick<ExportOptions, "scope" | "passed">,
): AsyncGenerator<Uint8Array> {
  let limit = firstLimit;
  let next = bulkStore.exportPage(db, scope, noId, limit);
  for (;;) {
    const page = await next;
    if (page === null) return;
    const { raws, records } = page;
    const fitting = Math.floor((pageBytes / raws.length) * records);
    limit = Math.max(1, Math.min(fitting, limit * 4, maxLimit));
    next = bulkStore.exportPage(db, scope, lastId(raws), limit);
    // Nobody waits for it when the client goes away.
    next.catch(() => {});
    yield raws;
    passed(records);
  }
}

function lastId(raws: Uint8Array): string {
  const at = raws.lastIndexOf(separatorByte) + 1;
  return decoder.decode(raws.subarray(at, at + idBytes));
}

async function* ndjson(pages: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  for await (const raws of pages) yield `${printed(raws).join("\n")}\n`;
}

async function* json(pages: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let before = "[";
  for await (const raws of pages) {
    yield before + printed(raws).join(",\n");
    before = ",\n";
  }
  yield before === "[" ? "[]" : "]";
}

function printed(raws: Uint8Array): string[] {
  return decoder
    .decode(raws)
    .split(recordSeparator)
    .map((raw) => printRaw(raw, "nested"));
}

async function* csv(
  pages: AsyncIterable<Uint8Array>,
  multiTable: boolean,
  fields: readonly string[],
  safe: boolean,
): AsyncGenerator<string | Uint8Array<ArrayBuffer>> {
  const headers = fields.map(headerOfField).map((header) => (safe ? withoutFormula(header) : header));
  yield csvLine(["id", ...(multiTable ? ["table_name"] : []), ...headers, "created_at", "updated_at"]);
  const rows = createCsvRows({ fields, multiTable, safe });
  for await (const raws of pages) yield rows(raws);
}

/** The data columns: the fields of the schema in order, then all other keys in the records. */
async function fieldsOf(bulkStore: BulkStore, db: Database, scope: Scope): Promise<readonly string[]> {
  const tables = scope.allTables ? ["", ...tableNames(db)].map((name) => db.schema.tables.get(name)) : [scope.table];
  const fields = new Set(tables.flatMap((table) => [...(table?.fields.keys() ?? [])]));
  const others = new Set<string>();
  for (let after: string | null = noId; after !== null;) {
    const { keys, last } = await bulkStore.keysPage(db, scope, after, [
      ...fields,
      ...[...others].slice(0, maxKnownKeys),
    ]);
    for (const key of keys) others.add(key);
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
