/** Lists and searches: one statement each, which answers with the text of the whole page. */
import { badRequest, notFound, type Sql } from "platform";
import { betweenRecords, rawRecord, selectedData, withoutOwn } from "./answer-store.ts";
import type { Cursor } from "./cursor.ts";
import type { Database } from "./database.ts";
import {
  columnOf,
  createArgs,
  filterCondition,
  inScope,
  phraseCondition,
  sourceOf,
  type Arg,
  type Args,
  type Source,
} from "./filter-store.ts";
import { printPage, type Form } from "./print.ts";
import type { Phrase, Query } from "./query.ts";
import { afterCursor, decidingKey, orderBy, sortKey, type SortKey } from "./sort-store.ts";
import type { Databases } from "./store.ts";

export interface SearchShape {
  readonly form: Form;
}

export interface SearchPage {
  /** The JSON array. */
  readonly body: string;
  /** Where the page ended; undefined where it was not full, so the last one. */
  readonly next: Required<Cursor> | undefined;
  /** All that would be found without a page, where `count` was asked for. */
  readonly total: number | undefined;
  /** The database that was searched: a newer one where it changed meanwhile. */
  readonly db: Database;
}

/** A statement: its text with $1, $2 … and their values. */
export interface Statement {
  readonly text: string;
  readonly values: readonly Arg[];
  /** Kept by the connection for the next time; else planned for these very values. */
  readonly named: boolean;
}

interface PageRow {
  readonly planVersion: number | null;
  readonly longStrings: boolean | null;
  readonly candidates: number | null;
  /** The records as `printPage` takes them. */
  readonly raw: string | null;
  readonly lastId: string | null;
  readonly lastValue: string | null;
  readonly total: number | null;
}

/** How a page is looked for; each is right, and each the fastest for something. */
type Way = "plain" | "candidates";

// More candidates than these are read faster in the order of the page, stopping when it is full.
const maxCandidates = 2000;
// A database of fewer records is scanned in less time than the index of all databases' fragments may take.
const fewRecords = 1000;
// In one of so many it is worth while to find out first that a fragment is frequent: its list in the index is long.
const manyRecords = 200_000;
const probedRecords = 100;
const maxSizes = 10_000;

export type SearchStore = ReturnType<typeof createSearchStore>;

export function createSearchStore(sql: Sql, databases: Databases, hasFragments: boolean) {
  const sizes = new Map<string, { records: number; until: number }>();

  /** About how many records a database has: exact while it is small, old by a minute at most. */
  const sizeOf = async (db: Database): Promise<number> => {
    const known = sizes.get(db.id);
    if (known && known.until > performance.now()) return known.records;
    const [row] = await sql<{ records: number }[]>`
      select count(*)::int as records from (select from records where db_id = ${db.id} limit ${manyRecords}) r`;
    const records = row?.records ?? 0;
    if (sizes.size >= maxSizes) sizes.clear();
    sizes.set(db.id, { records, until: performance.now() + (records < manyRecords ? 60_000 : 3_600_000) });
    return records;
  };

  /** Whether so many of the newest records match that the page is full soon when they are read in order. */
  const isFrequent = async (db: Database, query: Query): Promise<boolean> => {
    if (!query.phrase) return false;
    const args = createArgs();
    const newest = `select r.* from records r where ${inScope(args, db, query)} order by r.id desc limit ${probedRecords}`;
    const matches = phraseCondition(args, sourceOf(db, query), query.phrase);
    const text = `select count(*)::int as found from (${newest}) r where ${matches}`;
    const [row] = await sql.unsafe<{ found: number }[]>(text, args.values, { prepare: true });
    return (row?.found ?? 0) * 10 >= probedRecords;
  };

  /** Which way a page is found fastest. */
  const wayOf = async (db: Database, query: Query): Promise<Way> => {
    if (!hasFragments || !query.phrase || !canUseFragments(sourceOf(db, query), query.phrase)) return "plain";
    const records = await sizeOf(db);
    if (records < fewRecords) return "plain";
    return records >= manyRecords && (await isFrequent(db, query)) ? "plain" : "candidates";
  };

  const run = async (statement: Statement): Promise<PageRow> => {
    const { text, values, named } = statement;
    const [row] = await sql.unsafe<PageRow[]>(text, [...values], { prepare: named });
    return row as PageRow; // the statement is one aggregate, so one row
  };

  /** The value that a long one's cursor did not carry. */
  const complete = async (db: Database, query: Query, cursor: Cursor): Promise<Required<Cursor>> => {
    if (cursor.value !== undefined) return { id: cursor.id, value: cursor.value };
    const args = createArgs();
    const key = sortKey(args, sourceOf(db, query), query.sort, true);
    const where = `r.db_id = ${args.bind(db.id, "uuid")} and r.id = ${args.bind(cursor.id, "uuid")}`;
    const text = `select (${decidingKey(key)})::text as value from records r where ${where}`;
    const [row] = await sql.unsafe<{ value: string | null }[]>(text, args.values);
    if (!row) throw badRequest("`after` names a record that is gone");
    return { id: cursor.id, value: row.value };
  };

  const searchOnce = async (db: Database, query: Query, shape: SearchShape, cursor: Cursor | undefined) => {
    const after = cursor && (await complete(db, query, cursor));
    const page = (way: Way, longStrings: boolean) => run(searchStatement(db, query, shape, after, way, longStrings));
    let row = await page(await wayOf(db, query), false);
    if ((row.candidates ?? 0) > maxCandidates) row = await page("plain", false);
    // Strings longer than their column are rare: only where there are some, they are ordered by their whole values.
    if (row.longStrings) row = await page("plain", true);
    return row;
  };

  return {
    /** `make` is asked again where the database has changed meanwhile. 404 where it is gone. */
    async search(
      first: Database,
      make: (db: Database) => { query: Query; cursor: Cursor | undefined },
      shape: SearchShape,
    ): Promise<SearchPage> {
      let db: Database | undefined = first;
      for (let tries = 0; tries < 5 && db; tries++) {
        const { query, cursor } = make(db);
        const row = await searchOnce(db, query, shape, cursor);
        if (row.planVersion === db.planVersion) {
          const next = row.lastId === null ? undefined : { id: row.lastId, value: row.lastValue };
          return { body: printPage(row.raw, shape.form), next, total: row.total ?? undefined, db };
        }
        db = row.planVersion === null ? undefined : await databases.refresh(db);
      }
      if (!db) throw notFound("there is no such database");
      throw new Error("the schema changed faster than a page could be read");
    },
  };
}

/** Whether the migration could make the index of fragments: not every server has pg_trgm. */
export async function hasFragmentIndex(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`select to_regprocedure(
    'record_candidates(uuid, text, text[], text[], integer)') is not null as found`;
  return row?.found ?? false;
}

/** Exported for the tests of its plans. */
export function searchStatement(
  db: Database,
  query: Query,
  shape: SearchShape,
  after: Required<Cursor> | undefined,
  way: Way,
  longStrings: boolean,
): Statement {
  const args = createArgs();
  const source = sourceOf(db, query);
  const { sort } = query;
  const key = sortKey(args, source, sort, longStrings);
  const scope = inScope(args, db, query);
  const filters = query.filters.map((filter) => filterCondition(args, source, filter));
  const phrase = query.phrase && way === "plain" ? [phraseCondition(args, source, query.phrase, query.searchable)] : [];
  const where = [scope, ...filters, ...phrase].join(" and ");
  const from = way === "candidates" ? "found r" : "records r";
  const limit = args.bind(query.limit, "int");
  // Rows are ordered by their place and key alone, and only those of the page are fetched whole.
  const columns =
    way === "candidates" ? "r.*" : `r.id, r.ctid as place${key ? `, ${decidingKey(key)} as sort_key` : ""}`;
  const rows = (part: "all" | "values" | "nulls") => {
    const narrowed = after ? ` and ${afterCursor(args, key, sort, after, part)}` : "";
    const present = part === "all" || !key ? "" : ` and ${key.column} is ${part === "nulls" ? "" : "not "}null`;
    return `select ${columns} from ${from}
      where ${way === "candidates" ? "true" : where}${narrowed}${present}
      order by ${orderBy(part === "nulls" ? undefined : key, sort, part === "all")}${guess(query)}`;
  };
  // The index of a column holds the records that have a value, in order; those without one come after them.
  const ordered = key?.column && way === "plain" ? `(${rows("values")}) union all (${rows("nulls")})` : rows("all");
  const raw = rawRecord(shownData(args, query, shape));
  const [text, lastKey] =
    way === "candidates"
      ? [`(select ${raw} from (select p.*) r)`, key && `(select ${decidingKey(key)} from (select p.*) r)`]
      : [`(select ${raw} from records r where r.ctid = p.place)`, key && "p.sort_key"];
  const checksLength = !longStrings && key?.column?.includes("idx_str");
  const statement = `${way === "candidates" ? candidates(args, db, source, query.phrase, where) : ""}
    select (select d.plan_version from dbs d where d.id = ${args.bind(db.id, "uuid")}) as plan_version,
      ${checksLength ? anyLongString(args, db, query, key) : "null"} as long_strings,
      ${way === "candidates" ? "(select count(*)::int from candidates)" : "null"} as candidates,
      string_agg(${text}, ${betweenRecords}) as raw, (array_agg(p.id))[${limit}] as last_id,
      ${lastKey ? `((array_agg(${lastKey}))[${limit}])::text` : "null"} as last_value,
      ${query.count ? `(select count(*) from ${from}${way === "candidates" ? "" : ` where ${where}`})` : "null"} as total
    from (select * from (${ordered}) r limit ${limit} offset ${args.bind(query.offset, "bigint")}) p`;
  const patterns = query.filters.some(({ isPattern }) => isPattern) || (query.phrase !== undefined && way === "plain");
  return { text: statement, values: args.values, named: !patterns && query.filters.length <= 2 };
}

/** Candidates of the index of fragments, then those of them that are really found. */
function candidates(args: Args, db: Database, source: Source, phrase: Phrase | undefined, where: string): string {
  const columns = new Map((phrase?.fields ?? []).map((field) => [columnOf(source, field), field]));
  const slots = (["idx_str_1", "idx_str_2", "idx_str_3"] as const).map((column) => columns.get(column) ?? null);
  const fields = args.bind(slots, "text[]");
  const patterns = args.bind(
    slots.map((field) => (field === null ? null : (phrase?.pattern ?? null))),
    "text[]",
  );
  const table = args.bind(source.table.name, "text");
  return `with candidates as materialized (
      select * from record_candidates(${args.bind(db.id, "uuid")}, ${table}, ${fields}, ${patterns}, ${maxCandidates + 1})
    ), found as (select * from candidates r where ${where})
    `;
}

/** The index of fragments knows three letters in a row, and only fields that have a column. */
function canUseFragments(source: Source, { pattern, fields }: Phrase): boolean {
  if (!fields || fields.length > 3 || !/[\p{L}\p{N}]{3}/u.test(pattern)) return false;
  return fields.every((field) => columnOf(source, field)?.startsWith("idx_str") === true);
}

/** Tells the planner roughly how many rows are wanted: it knows no arguments when it plans for all times. */
function guess({ limit, offset }: Query): string {
  const enough = [20, 100, 1000, 10_000].find((rows) => rows >= limit + offset);
  return enough === undefined ? "" : ` limit ${enough}`;
}

function anyLongString(args: Args, db: Database, { table }: Query, key: SortKey | undefined): string {
  const bit = { "r.idx_str_1": 1, "r.idx_str_2": 2, "r.idx_str_3": 4 }[key?.column ?? ""] ?? 7;
  return `exists (select from records r where r.db_id = ${args.bind(db.id, "uuid")}
    and r.table_name = ${args.bind(table.name, "text")} and r.long_strings <> 0 and r.long_strings & ${bit} <> 0)`;
}

function shownData(args: Args, { fields }: Query, { form }: SearchShape): string {
  const data = fields ? selectedData(args.bind([...fields], "text[]")) : "r.data";
  return form === "flat" ? withoutOwn(data) : data;
}
