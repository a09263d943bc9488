/**
 * All records of a database as text, page by page, with at most two pages in memory (CSV: those that are read before
 * its columns are known). Not a snapshot.
 */
import * as bulkStore from "../store.ts";
import { HttpError, type BaseContext } from "platform";
import { maxColumns, noId } from "../store.ts";
import type { Scope, Sort } from "../../search/query.ts";
import { csvLine, withoutFormula } from "../csv.ts";
import { columnsOf, fieldsOfColumns, type Column, type ColumnOptions } from "./columns.ts";
import { csvRows } from "./csv.ts";
import { titlesOf } from "./titles.ts";
import { workbook } from "./workbook.ts";
import type { Viewer } from "../../access/reach.ts";
import { tableNames, type Database } from "../../databases/database.ts";
import { lastId, byteWriter, forEachRow, type ExportPage, type IdList } from "./bytes.ts";
import { printRecord } from "../../records/print.ts";

export const exportFormats = ["csv", "json", "ndjson", "xlsx"] as const;
export type ExportFormat = (typeof exportFormats)[number];

export interface ExportOptions {
  readonly format: ExportFormat;
  readonly scope: Scope;
  readonly sort: Sort;
  /** Of CSV and XLSX. */
  readonly columns: ColumnOptions;
  /** CSV: no spreadsheet reads a cell as a formula. */
  readonly safe: boolean;
  /** Told how many more records are out. */
  readonly passed: (records: number) => void;
  /** Who asked, as they are by now: may read the titles. */
  readonly viewer: () => Promise<Viewer>;
  /** The database as whoever asked may use it by now: an export ends with their rights. */
  readonly opened: () => Promise<Database>;
}

const maxSorted = 1_000_000;
const firstLimit = 10;
const maxLimit = 2000;
const pageBytes = 400_000;
/** Before the columns of a CSV file are known. */
const pagesAhead = 16;
/** Beyond these, a key that is known is looked for like a new one: each is compared with all. */
const maxKnownKeys = 100;

type Reading = Pick<BaseContext, "read">;
type Exporting = Parameters<typeof titlesOf>[0];

/** 422 if the data has too many different keys for columns, before any output. */
export async function exportTexts(
  ctx: Exporting,
  db: Database,
  options: ExportOptions,
): Promise<AsyncGenerator<string | Uint8Array<ArrayBuffer>>> {
  const { sort, scope } = options;
  const isById = sort.field === "id" && !sort.descending;
  const pages = isById
    ? exportPages(ctx, options)
    : sortedPages(ctx, { ...options, ids: await idsInOrder(ctx, db, scope, sort) });
  if (options.format === "ndjson") return ndjson(pages);
  if (options.format === "json") return json(pages);
  const first = readAhead(pages);
  first.catch(() => {}); // who waits for it gets the error
  try {
    const { names } = options.columns;
    const fields = names ? fieldsOfColumns(names) : await fieldsOf(ctx, db, options.scope);
    const titles = options.columns.titles ? titlesOf(ctx, db, fields, options.viewer) : undefined;
    const columns = columnsOf(db, fields, options.columns, titles?.of);
    const shown = titles ? titles.pages(await first) : await first;
    if (options.format === "xlsx") return workbook(shown, { columns, timeZone: db.timezone });
    return csv(shown, columns, options.safe);
  } catch (error) {
    await pages.return(undefined);
    throw error;
  }
}

/**
 * The records in the order of ids. Pages grow until they reach a fixed size. While one is written, PostgreSQL already
 * reads the next.
 */
async function* exportPages(
  ctx: Reading,
  { scope, passed, opened }: Pick<ExportOptions, "scope" | "passed" | "opened">,
): AsyncGenerator<ExportPage> {
  let limit = firstLimit;
  const read = async (after: string) => bulkStore.exportPage(ctx, await opened(), scope, { after }, limit);
  let next = read(noId);
  for (let after = noId; ;) {
    const page = await next;
    if (page === null) return;
    if (page.records > 0) after = lastId(page);
    limit = limitAfter(page, limit);
    next = read(after);
    // Nobody waits for it when the client goes away.
    next.catch(() => {});
    await turnsOfLoop();
    yield page;
    passed(page.records);
  }
}

/** Ids only, so that a record is read when its turn comes, and nothing is held open meanwhile. */
async function idsInOrder(ctx: Reading, db: Database, scope: Scope, sort: Sort): Promise<IdList> {
  const ids = await bulkStore.orderedIds(ctx, db, scope, sort, maxSorted + 1);
  if (ids.length <= maxSorted) return ids;
  throw new HttpError(422, {
    error: `at most ${maxSorted} records are exported in another order than that of their ids: narrow them by filters`,
  });
}

/** The records of these ids, without those that have been deleted meanwhile. */
async function* sortedPages(
  ctx: Reading,
  { scope, ids, passed, opened }: Pick<ExportOptions, "scope" | "passed" | "opened"> & { readonly ids: IdList },
): AsyncGenerator<ExportPage> {
  let limit = firstLimit;
  for (let at = 0; at < ids.length;) {
    const slice = ids.slice(at, at + limit);
    const page = await bulkStore.exportPage(ctx, await opened(), scope, { ids: slice }, limit);
    const isCut = page?.isCut ?? false;
    // A page that is cut off begins again with what it has left out.
    at += isCut && page ? slice.indexOf(lastId(page)) + 1 : slice.length;
    if (!page) continue;
    limit = limitAfter(page, limit);
    if (page.records > 0) yield page;
    passed(page.records);
  }
}

/** Begins to read at once: while PostgreSQL looks for columns, another of its processes sends the first pages. */
async function readAhead(pages: AsyncGenerator<ExportPage>): Promise<AsyncGenerator<ExportPage>> {
  const first: ExportPage[] = [];
  while (first.length < pagesAhead) {
    const { value, done } = await pages.next();
    if (done) break;
    first.push(value);
  }
  return (async function* () {
    yield* first;
    yield* pages;
  })();
}

function limitAfter({ records, bytes, isCut }: ExportPage, limit: number): number {
  if (isCut) return 1;
  const fitting = Math.floor(pageBytes / (bytes / records));
  return Math.max(1, Math.min(fitting, limit * 4, maxLimit));
}

/** postgres.js sends a statement when the event loop turns: without this, PostgreSQL would wait for the printing. */
async function turnsOfLoop(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function* ndjson(pages: AsyncIterable<ExportPage>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const rows = jsonRows({ first: "", between: "", after: "\n" });
  for await (const page of pages) yield rows(page);
}

async function* json(pages: AsyncIterable<ExportPage>): AsyncGenerator<string | Uint8Array<ArrayBuffer>> {
  const rows = jsonRows({ first: "[", between: ",\n", after: "" });
  let end = "[]";
  for await (const page of pages) {
    yield rows(page);
    end = "]";
  }
  yield end;
}

async function* csv(
  pages: AsyncIterable<ExportPage>,
  columns: readonly Column[],
  safe: boolean,
): AsyncGenerator<string | Uint8Array<ArrayBuffer>> {
  // Excel takes a file without it for one of an old Windows encoding.
  if (safe) yield "\uFEFF";
  yield csvLine(columns.map(({ head }) => (safe ? withoutFormula(head) : head)));
  const rows = csvRows({ columns, safe });
  for await (const page of pages) yield rows(page);
}

/** The data columns: the fields of the schema in order, then all other keys in the records. */
async function fieldsOf(ctx: Reading, db: Database, scope: Scope): Promise<readonly string[]> {
  const tables = scope.allTables ? ["", ...tableNames(db)].map((name) => db.schema.tables.get(name)) : [scope.table];
  // What is worked out when read is in no record.
  const fields = new Set(
    tables.flatMap((table) => [...(table?.fields.keys() ?? [])].filter((name) => !table?.computed.includes(name))),
  );
  const others = new Set<string>();
  for (let after: string | null = noId; after !== null;) {
    const { keys, last } = await bulkStore.keysPage(ctx, db, scope, after, [
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

// Rows of an export to records as the API answers them (`printRecord`), made from bytes.

interface Ends {
  /** Before the first record, and between two. */
  readonly first: string;
  readonly between: string;
  /** After each. */
  readonly after: string;
}

/** The bytes around the parts of a record. */
interface Around {
  readonly id: Uint8Array;
  readonly data: Uint8Array;
  readonly createdAt: Uint8Array;
  readonly updatedAt: Uint8Array;
  readonly end: Uint8Array;
}

const mark = "\u0001";
const reserved = 200;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export function jsonRows({ first, between, after }: Ends): (page: ExportPage) => Uint8Array<ArrayBuffer> {
  const writer = byteWriter();
  const arounds = new Map<string, Around>();
  const separator = encoder.encode(between);
  const ending = encoder.encode(after);
  let before = encoder.encode(first);

  const aroundOf = (tableName: string): Around => {
    const known = arounds.get(tableName);
    if (known) return known;
    const made = around(tableName);
    arounds.set(tableName, made);
    return made;
  };
  const none = aroundOf("");
  return (page) => {
    forEachRow(page, (id, time, table, endOfTable, data, endOfData) => {
      const parts = endOfTable === table ? none : aroundOf(decoder.decode(page.tableNames.subarray(table, endOfTable)));
      writer.reserve(endOfData - data + parts.createdAt.length + reserved);
      writer.copy(before);
      before = separator;
      writer.copy(parts.id);
      writer.id(page.ids, id);
      writer.copy(parts.data);
      writer.copy(page.data, data, endOfData);
      writer.copy(parts.createdAt);
      writer.time(page.createdAt, time);
      writer.copy(parts.updatedAt);
      writer.time(page.updatedAt, time);
      writer.copy(parts.end);
      writer.copy(ending);
    });
    return writer.taken();
  };
}

function around(tableName: string): Around {
  const printed = printRecord({ id: mark, createdAt: mark, updatedAt: mark, tableName, data: mark }, "nested");
  const [id, data, createdAt, updatedAt, end] = printed.split(mark).map((part) => encoder.encode(part));
  if (!id || !data || !createdAt || !updatedAt || !end) throw new Error("a record is not printed with all its parts");
  return { id, data, createdAt, updatedAt, end };
}
