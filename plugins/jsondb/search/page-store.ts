/**
 * The statement of a page: one row with the text of its records, the end of the page, and facts that show whether it
 * was planned well.
 */
import { readBounds } from "platform";
import { betweenRecords, isSmall, rawRecord, selectedData, withoutOwn } from "../records/parts-store.ts";
import { anyTable, openData, idLiteral, inScope, inTable, searchedData } from "../access/reach-store.ts";
import { decidingFields, type Cursor, type Linked, type Phrase, type Query } from "./query.ts";
import type { Database } from "../databases/database.ts";
import {
  columnOf,
  newArgs,
  filterConditions,
  hasSigma,
  phraseCondition,
  sourceOf,
  valueConditions,
} from "./filter-store.ts";
import type { Args, Source } from "./filter-store.ts";
import type { Arg } from "./filters.ts";
import { endSeparator, largeRecord, type Form } from "../records/print.ts";
import { afterCursor, decidingKey, orderBy, sortKey, type SortKey } from "./sort-store.ts";

/**
 * How a page is found: record by record, among the candidates of the fragment index, or by an index that this database
 * has learned for this shape of search. All give the same page.
 */
export type Way = "plain" | "candidates" | "learned";

export interface PageRequest {
  readonly db: Database;
  readonly query: Query;
  readonly form: Form;
  readonly after: Required<Cursor> | undefined;
  readonly way: Way;
  /** Some string is longer than its column: strings are ordered by their whole values. */
  readonly longStrings: boolean;
  /** Records are read one after the other until they reach the bound of an answer: some may be large. */
  readonly measured: boolean;
}

/** A statement: its text with $1, $2 … and their values. */
export interface Statement {
  readonly text: string;
  readonly values: readonly Arg[];
  /** The connection keeps its plan for the next time; otherwise it is planned for these values. */
  readonly named: boolean;
}

export interface PageRow {
  /** Null if the database is gone. */
  readonly planVersion: number | null;
  /** The page is ordered by a column that does not hold all of its strings. */
  readonly longStrings: boolean | null;
  readonly candidates: number | null;
  /** The records as `printPage` takes them, with `largeRecord` in place of one that has to be measured. */
  readonly raw: string | null;
  /** How many records the page has, if it ends early because they reach the bound of an answer. */
  readonly cutAfter: number | null;
  /** The last record's, if the page is full or ends early. */
  readonly lastId: string | null;
  readonly lastValue: string | null;
  readonly total: number | null;
}

/** With more candidates than this it is faster to read records in the order of the page until it is full. */
export const maxCandidates = 2000;

export function pageStatement(request: PageRequest): Statement {
  const { db, query, way, longStrings, measured } = request;
  const args = newArgs();
  const key = sortKey(args, sourceOf(db, query), query.sort, longStrings);
  const { found, shown } = (measured ? measuredPage : quickPage)(args, request, key);
  const text = `${found.tables === "" ? "" : `with recursive ${found.tables}`}
    select (select d.plan_version from dbs d where d.id = ${args.bind(db.id, "uuid")}) as plan_version,
      ${longStrings ? "null" : anyLongString(args, db, query, key)} as long_strings,
      ${way === "candidates" ? "(select count(*)::int from candidates)" : "null"} as candidates,
      ${query.count ? `(select count(*) from ${found.from} where ${found.where})` : "null"} as total,
      ${shown}`;
  return { text, values: args.values, named: hasOnePlan(query, db, way) && query.filters.length <= 2 };
}

/** The records that are found, and the end of the statement, which shows those of the page. */
interface PageParts {
  readonly found: Found;
  readonly shown: string;
}

/** The records of the page at once, for as long as none is large: to read them one by one takes up to twice as long. */
function quickPage(args: Args, request: PageRequest, key: SortKey | undefined): PageParts {
  const { db, query, form, after } = request;
  const limit = args.bind(query.limit, "int");
  const ends = (query.linked ?? []).map((link, _, { length }) => endOf(args, openData(args, db, query), link, length));
  const whole = [rawRecord(shownData(args, db, query, form)), ...ends].join(` || '${endSeparator}' || `);
  const raw = `case when ${isSmall()} then ${whole} else '${largeRecord}' end`;
  const found = finderOf(request, key)(args, db, query, raw, key);
  const shown = `string_agg(${found.record}, ${betweenRecords}) as raw, null as cut_after,
      (array_agg(p.id))[${limit}] as last_id, ${key ? `((array_agg(${found.key}))[${limit}])::text` : "null"} as last_value
    from (select * from (${orderedRows(args, query, key, after, found)}) r ${pageLimit(args, query)}) p`;
  return { found, shown };
}

/** First the ids of the page, then its records one by one: PostgreSQL prints none beyond the bound. */
function measuredPage(args: Args, request: PageRequest, key: SortKey | undefined): PageParts {
  const { db, query, form, after } = request;
  const found = finderOf(request, key)(args, db, query, "", key);
  const value = key ? `(${decidingKey(key)})::text` : "null::text";
  const tables = `${found.tables === "" ? "" : `${found.tables}, `}page as materialized (
      select array_agg(p.id) as ids
      from (select * from (${orderedRows(args, query, key, after, found)}) r ${pageLimit(args, query)}) p
    ), read (n, bytes, raw, value) as (
      select 0, 0, null::text collate "C", null::text collate "C"
      union all
      select t.n + 1, t.bytes + octet_length(x.raw), x.raw collate "C", x.value collate "C"
      from read t, lateral (
        select ${rawRecord(shownData(args, db, query, form))} as raw, ${value} as value from records r
        where r.db_id = ${args.bind(db.id, "uuid")} and r.account_id = ${args.bind(db.accountId, "bigint")}
          and r.id = (select ids from page)[t.n + 1] offset 0) x
      where t.bytes < ${readBounds.answerBytes}
    )`;
  const isCut = "last.n < cardinality(page.ids)";
  const shown = `(select string_agg(t.raw, ${betweenRecords} order by t.n) from read t where t.n > 0) as raw,
      case when ${isCut} then last.n end as cut_after,
      case when ${isCut} or last.n = ${args.bind(query.limit, "int")} then page.ids[last.n] end as last_id,
      last.value as last_value
    from page, (select t.n, t.value from read t order by t.n desc limit 1) last`;
  return { found: { ...found, tables }, shown };
}

/**
 * The record at the other end of a link, raw and flat, or '' if there is none; only its id if it may be large, and the start
 * of a list.
 */
function endOf(args: Args, data: string, { field, target, table }: Linked, links: number): string {
  const scope = table ? { table, allTables: false } : anyTable;
  const found = `select case when ${isSmall(Math.floor(2000 / links))}
      then ${rawRecord(withoutOwn(openData(args, target, scope)))} else r.id::text end
    from records r where ${inScope(args, target, scope, [])} and r.id = l.id`;
  return `(select coalesce(case when left(l.value, 1) = '[' then '[' else (${found}) end, '')
    from (select v.value, case when pg_input_is_valid(v.value, 'uuid') then v.value::uuid end as id
      from (select ${data} ->> ${args.bind(field, "text")} as value) v) l)`;
}

function finderOf({ db, query, way }: PageRequest, key: SortKey | undefined): Finder {
  if (way === "candidates") return amongCandidates;
  if (way === "learned") return byLearned;
  return isInIndexes(db, query, key) ? byIndexes : plainly;
}

/** Whether one plan is good for all values: the number of matches of a pattern or range depends on its values. */
function hasOnePlan({ filters, any, phrase, ends = [], linked = [] }: Query, db: Database, way: Way): boolean {
  if (way !== "candidates" && isRanged(db)) return false;
  if (linked.some(({ target }) => isRanged(target))) return false;
  if (any.length > 0 || ends.length > 0 || (phrase !== undefined && way === "plain")) return false;
  return filters.every((filter) => filter.op === "eq" && !filter.isPattern);
}

/** Whether the grants that open it have conditions other than equality. */
const isRanged = ({ reach }: Database) => reach.grants.some(({ where }) => where.some(({ op }) => op !== "eq"));

/**
 * Whether the fragment index can be used: it needs three letters in a row, and covers only fields that have a column.
 */
export function canUseFragments(source: Source, { pattern, fields, values, choices = [] }: Phrase): boolean {
  if (!fields || fields.length === 0 || fields.length > 3 || values.some(({ isPattern }) => isPattern)) return false;
  if (hasSigma(pattern) || !/[\p{L}\p{N}]{3}/u.test(pattern)) return false;
  if (choices.some(({ field }) => columnOf(source, field) === undefined)) return false;
  return fields.every((field) => columnOf(source, field)?.startsWith("idx_str") === true);
}

/** The records that are found, and the columns taken of each. */
interface Found {
  /** The text after `with`. */
  readonly tables: string;
  readonly from: string;
  readonly where: string;
  readonly columns: string;
  /** For a row `p` of the page: the record's text, and its deciding sort key. */
  readonly record: string;
  readonly key: string;
}

type Finder = (args: Args, db: Database, query: Query, raw: string, key: SortKey | undefined) => Found;

/** Rows are sorted by place and key alone; only the page's records are fetched whole. */
function plainly(args: Args, db: Database, query: Query, raw: string, key: SortKey | undefined): Found {
  const source = sourceOf(db, query);
  const phrase = query.phrase ? [phraseCondition(args, source, query.phrase, searchedData(args, db, query))] : [];
  return {
    tables: "",
    from: "records r",
    where: [...conditions(args, db, query), ...phrase].join(" and "),
    columns: `r.id, r.ctid as place${key ? `, ${decidingKey(key)} as sort_key` : ""}`,
    // A place is one of the partition that has the database, if the table has any.
    record: `(select ${raw} from records r where r.db_id = ${args.bind(db.id, "uuid")} and r.ctid = p.place)`,
    key: "p.sort_key",
  };
}

/**
 * The same from an index alone, which also holds the values of the other columns. Two hundred records scattered over
 * a large table take longer to read than everything else. A database belongs to one account, so the account is not
 * checked until the page's records are read.
 */
function byIndexes(args: Args, db: Database, query: Query, raw: string, key: SortKey | undefined): Found {
  const [ownDb, ownAccount] = [args.bind(db.id, "uuid"), args.bind(db.accountId, "bigint")];
  return {
    tables: "",
    from: "records r",
    where: [
      inTable(args, db, query, decidingFields(query)),
      ...filterConditions(args, sourceOf(db, query), query),
    ].join(" and "),
    columns: `r.id, ${decidingKey(key)} as sort_key`,
    record: `(select ${raw} from records r where r.db_id = ${ownDb} and r.id = p.id and r.account_id = ${ownAccount})`,
    key: "p.sort_key",
  };
}

/** The index leads to the records of the page and to no others, so they are read on the way. */
function byLearned(args: Args, db: Database, query: Query, raw: string, key: SortKey | undefined): Found {
  const scope = inScope(args, db, query, decidingFields(query), { id: idLiteral(db.id) });
  const where = [scope, ...filterConditions(args, sourceOf(db, query), query)];
  return {
    tables: "",
    from: "records r",
    where: where.join(" and "),
    columns: "r.*",
    record: `(select ${raw} from (select p.*) r)`,
    key: `(select ${decidingKey(key)} from (select p.*) r)`,
  };
}

/**
 * Whether index columns alone decide which records are found and in which order. A number is exact only in its record.
 */
function isInIndexes(db: Database, query: Query, key: SortKey | undefined): boolean {
  const source = sourceOf(db, query);
  if (key?.column === undefined || key.keys.length > 1 || query.phrase || query.filters.length === 0) return false;
  if (query.any.length > 0 || (query.ends ?? []).length > 0) return false;
  return query.filters.every((filter) => {
    if (filter.op === "in" || filter.op === "null" || filter.op === "ne") return false;
    const column = columnOf(source, filter.field) ?? "";
    if (filter.op === "eq") return /^idx_(str|time)/.test(column) && !filter.isPattern && isWhole(filter.value);
    // The index holds strings of other columns as hashes, which have no order.
    return (
      column.startsWith("idx_time") ||
      (key.column === `r.${column}` && /^idx_str/.test(column) && isWhole(filter.value))
    );
  });
}

/** A string that its column would hold whole. */
function isWhole(value: string): boolean {
  return value !== "" && value.length < 255;
}

/** The index gives candidates from all databases and tables. The real matches are few, so they are carried whole. */
function amongCandidates(args: Args, db: Database, query: Query, raw: string, key: SortKey | undefined): Found {
  const source = sourceOf(db, query);
  // By the data of the few that are left. By columns, PostgreSQL would take a plan for these values to be cheaper than
  // one for all, and plan each search anew, which takes as long as the search.
  const matches = conditions(args, { ...db, indexed: false }, query).join(" and ");
  const byColumn = new Map((query.phrase?.fields ?? []).map((field) => [columnOf(source, field), field]));
  const fields = (["idx_str_1", "idx_str_2", "idx_str_3"] as const).map((column) => byColumn.get(column) ?? null);
  const patterns = fields.map((field) => (field === null ? null : (query.phrase?.pattern ?? null)));
  const asked = [
    args.bind(db.id, "uuid"),
    args.bind(query.table.name, "text"),
    args.bind(fields, "text[]"),
    args.bind(patterns, "text[]"),
    maxCandidates + 1,
  ];
  const values = query.phrase ? valueConditions(args, source, query.phrase) : [];
  const byValue = `
    union all (
      select r.* from records r where ${inScope(args, db, query, decidingFields(query))} and (${values.join(" or ")})
        and not exists (select from strings s where s.db_id = r.db_id and s.id = r.id) limit ${maxCandidates + 1})`;
  return {
    tables: `strings as materialized (select * from record_candidates(${asked.join(", ")})),
      candidates as materialized (select * from strings${values.length > 0 ? byValue : ""}),
      found as (select * from candidates r where ${matches})`,
    from: "found r",
    where: "true",
    columns: "r.*",
    record: `(select ${raw} from (select p.*) r)`,
    key: `(select ${decidingKey(key)} from (select p.*) r)`,
  };
}

function conditions(args: Args, db: Database, query: Query): string[] {
  return [inScope(args, db, query, decidingFields(query)), ...filterConditions(args, sourceOf(db, query), query)];
}

function orderedRows(
  args: Args,
  query: Query,
  key: SortKey | undefined,
  after: Required<Cursor> | undefined,
  { from, where, columns }: Found,
): string {
  const rows = (part: "all" | "values" | "nulls") => {
    const cursor = after ? ` and ${afterCursor(args, key, query.sort, after, part)}` : "";
    const present = part === "all" ? "" : ` and ${key?.column} is ${part === "nulls" ? "" : "not "}null`;
    const order = orderBy(part === "nulls" ? undefined : key, query.sort, part === "all");
    return `select ${columns} from ${from} where ${where}${cursor}${present} order by ${order}${guess(query)}`;
  };
  // The index of a column holds the records that have a value, in order; the others come after them.
  return key?.column && from === "records r" ? `(${rows("values")}) union all (${rows("nulls")})` : rows("all");
}

/**
 * The limit is part of the text: for an argument the planner assumes a tenth of the rows and walks the index of the
 * order.
 */
function pageLimit(args: Args, { limit, offset }: Query): string {
  return `limit ${limit}${offset === 0 ? "" : ` offset ${args.bind(offset, "bigint")}`}`;
}

/** Tells the planner roughly how many rows are wanted: a generic plan does not know the arguments. */
function guess({ limit, offset }: Query): string {
  const enough = [20, 100, 1000, 10_000].find((rows) => rows >= limit + offset);
  return enough === undefined ? "" : ` limit ${enough}`;
}

function anyLongString(args: Args, db: Database, { table }: Query, key: SortKey | undefined): string {
  const bit = { "r.idx_str_1": 1, "r.idx_str_2": 2, "r.idx_str_3": 4 }[key?.column ?? ""];
  if (!bit) return "null";
  return `exists (select from records r where r.db_id = ${args.bind(db.id, "uuid")}
    and r.table_name = ${args.bind(table.name, "text")} and r.long_strings <> 0 and r.long_strings & ${bit} <> 0)`;
}

function shownData(args: Args, db: Database, query: Query, form: Form): string {
  const open = openData(args, db, query);
  const data = query.fields ? selectedData(args.bind([...query.fields], "text[]"), open) : open;
  return form === "flat" ? withoutOwn(data) : data;
}
