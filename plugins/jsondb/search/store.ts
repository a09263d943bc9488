/** Lists and searches: one statement each, which gives the text of the whole page. */
import { badRequest, notFound, unavailable, type Reader, type Sql } from "platform";
import { decidingFields, type Cursor, type Query } from "./query.ts";
import type { Database } from "../databases/database.ts";
import { newArgs, phraseCondition, sourceOf } from "./filter-store.ts";
import { inScope, searchedData } from "../access/reach-store.ts";
import { canUseFragments, maxCandidates, pageStatement } from "./page-store.ts";
import type { PageRequest, PageRow, Way } from "./page-store.ts";
import { largeRecord, printPage, type Form, type Page } from "../records/print.ts";
import type { Fragments } from "./fragments.ts";
import { decidingKey, sortKey } from "./sort-store.ts";
import { refresh, type DatabaseContext } from "../databases/cache.ts";
import type { Learning } from "../indexes/learning.ts";
import { shapeOf } from "../indexes/shape.ts";

export interface SearchShape {
  readonly form: Form;
}

export interface SearchPage extends Page {
  /** The end of the page; undefined if the page was not full and so is the last. */
  readonly next: Required<Cursor> | undefined;
  /** How many records it has, if it ends before its limit because they reach `readBounds.answerBytes`. */
  readonly cutAfter: number | undefined;
  /** The number of matches on all pages, if `count` was asked for. */
  readonly total: number | undefined;
  /** The database as it was searched: a newer version if it changed meanwhile. */
  readonly db: Database;
}

// A database of fewer records is scanned faster than the fragment index of all databases.
const fewRecords = 1000;
// With so many records it pays to find out first whether a fragment is frequent: then its list in the index is long.
const manyRecords = 200_000;
const probedRecords = 100;
const maxSizes = 10_000;
// Each connection keeps the plans of named statements; without a limit, unusual searches would fill its memory.
const maxNamedTexts = 300;
const maxTries = 10;

/** Empties the fragment index's list of what has lately been written. */
export async function tidyFragments(sql: Sql): Promise<void> {
  // Where `records` is partitioned, each partition has its own.
  await sql`
    select gin_clean_pending_list(c.oid)
    from (select 'records_fragments'::regclass as oid union select relid from pg_partition_tree('records_fragments')) i
    join pg_class c on c.oid = i.oid and c.relkind = 'i'`;
}

interface SearchCaches {
  /** The texts that connections keep plans of. */
  readonly namedTexts: Set<string>;
  readonly sizes: Map<string, { records: number; until: number }>;
  /** Databases of whose records some are large: their pages are measured from the start. */
  readonly large: WeakSet<Database>;
}

export interface SearchContext extends DatabaseContext {
  readonly searches: SearchCaches;
  readonly fragments: Fragments;
  readonly learning: Learning;
}

export const searchCaches = (): SearchCaches => ({ namedTexts: new Set(), sizes: new Map(), large: new WeakSet() });

interface Asked {
  readonly db: Database;
  readonly query: Query;
  readonly form: Form;
  readonly cursor: Cursor | undefined;
}

/** Calls `make` again if the database has changed meanwhile. 404 if it is gone. */
export async function search(
  ctx: SearchContext,
  first: Database,
  make: (db: Database) => { query: Query; cursor: Cursor | undefined },
  shape: SearchShape,
): Promise<SearchPage> {
  let db: Database | undefined = first;
  for (let tries = 0; tries < maxTries && db; tries++) {
    const { query, cursor } = make(db);
    const asked: Asked = { db, query, form: shape.form, cursor };
    // A replica may know of a change of the schema that the primary has not yet answered.
    const row = await (tries === 0 ? ctx.read((sql) => searchOnce(ctx, sql, asked)) : searchOnce(ctx, ctx.sql, asked));
    if (row.planVersion === db.planVersion) {
      const next = row.lastId === null ? undefined : { id: row.lastId, value: row.lastValue };
      const { total, cutAfter } = row;
      return {
        ...printPage(row.raw, shape.form),
        next,
        cutAfter: cutAfter ?? undefined,
        total: total ?? undefined,
        db,
      };
    }
    db = row.planVersion === null ? undefined : await refresh(ctx, db);
  }
  if (!db) throw notFound("there is no such database");
  throw unavailable("the schema of the database is being changed, try again");
}

/** Roughly how many records a database has: exact while it is small, at most a minute old. */
async function sizeOf({ sizes }: SearchCaches, sql: Reader, db: Database): Promise<number> {
  const known = sizes.get(db.id);
  if (known && known.until > performance.now()) return known.records;
  const [row] = await sql<{ records: number }[]>`
    select count(*)::int as records from (select from records where db_id = ${db.id} limit ${manyRecords}) r`;
  const records = row?.records ?? 0;
  if (sizes.size >= maxSizes) sizes.clear();
  sizes.set(db.id, { records, until: performance.now() + (records < manyRecords ? 60_000 : 3_600_000) });
  return records;
}

/** Whether enough of the newest records match to fill a page quickly when records are read in order. */
async function isFrequent(sql: Reader, db: Database, query: Query): Promise<boolean> {
  if (!query.phrase) return false;
  const args = newArgs();
  const newest = `select r.* from records r where ${inScope(args, db, query, decidingFields(query))} order by r.id desc limit ${probedRecords}`;
  const matches = phraseCondition(args, sourceOf(db, query), query.phrase, searchedData(args, db, query));
  const text = `select count(*)::int as found from (${newest}) r where ${matches}`;
  const [row] = await sql.unsafe<{ found: number }[]>(text, args.values, { prepare: true });
  return (row?.found ?? 0) * 10 >= probedRecords;
}

/** The fastest way to find a page. */
async function wayOf({ fragments, searches }: SearchContext, sql: Reader, db: Database, query: Query): Promise<Way> {
  if (!fragments.exist() || !query.phrase || !canUseFragments(sourceOf(db, query), query.phrase)) return "plain";
  const records = await sizeOf(searches, sql, db);
  if (records < fewRecords) return "plain";
  if (records >= manyRecords && (await isFrequent(sql, db, query))) return "plain";
  fragments.searched();
  return "candidates";
}

async function run({ searches }: SearchContext, sql: Reader, asked: Omit<PageRequest, "measured">): Promise<PageRow> {
  const { db } = asked;
  const measured = searches.large.has(db);
  const row = await runAs(searches, sql, { ...asked, measured });
  if (measured || !row.raw?.includes(largeRecord)) return row;
  searches.large.add(db);
  return runAs(searches, sql, { ...asked, measured: true });
}

async function runAs({ namedTexts }: SearchCaches, sql: Reader, request: PageRequest): Promise<PageRow> {
  const { text, values, named: mayBeNamed } = pageStatement(request);
  const named = mayBeNamed && (namedTexts.has(text) || namedTexts.size < maxNamedTexts);
  if (named) namedTexts.add(text);
  const [row] = await sql.unsafe<PageRow[]>(text, [...values], { prepare: named });
  return row as PageRow; // the statement is one aggregate, so one row
}

/** Reads the sort value if it was too long for the cursor. */
async function complete(sql: Reader, db: Database, query: Query, cursor: Cursor): Promise<Required<Cursor>> {
  if (cursor.value !== undefined) return { id: cursor.id, value: cursor.value };
  const args = newArgs();
  const key = sortKey(args, sourceOf(db, query), query.sort, true);
  const where = `${inScope(args, db, query, [query.sort.field])} and r.id = ${args.bind(cursor.id, "uuid")}`;
  const text = `select (${decidingKey(key)})::text as value from records r where ${where}`;
  const [row] = await sql.unsafe<{ value: string | null }[]>(text, args.values);
  if (!row) throw badRequest("`after` names a record that is gone");
  return { id: cursor.id, value: row.value };
}

async function searchOnce(ctx: SearchContext, sql: Reader, { db, query, form, cursor }: Asked) {
  const after = cursor && (await complete(sql, db, query, cursor));
  const page = (way: Way, longStrings: boolean) => run(ctx, sql, { db, query, form, after, way, longStrings });
  const shape = shapeOf(db, query);
  const isLearned = shape !== undefined && db.learned.has(shape);
  const began = performance.now();
  const row = await page(isLearned ? "learned" : await wayOf(ctx, sql, db, query), false);
  if (shape !== undefined) ctx.learning.saw(db, shape, performance.now() - began);
  // Strings longer than their column are rare. Only if there are any, records are sorted by the whole values.
  if (row.longStrings) return page("plain", true);
  return (row.candidates ?? 0) > maxCandidates ? page("plain", false) : row;
}

/** Whether the migration could make the index of fragments: not every server has pg_trgm. */
export async function hasFragmentIndex(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`select to_regprocedure(
    'record_candidates(uuid, text, text[], text[], integer)') is not null as found`;
  return row?.found ?? false;
}
