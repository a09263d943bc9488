/** SQL about several records of one table at once, each with the values of its index columns. */
import { readBounds, type Fragment, type Queryable, type Sql } from "platform";
import { rawRecord, endCreates, once } from "./parts-store.ts";
import type { IndexValues } from "./index-values.ts";
import { refuseSize, type ManyRecord, type Patch } from "./store.ts";
import { indexColumns, kindOf, type ColumnKind, type IndexColumn } from "../databases/columns.ts";
import type { Database } from "../databases/database.ts";
import { flagColumns, indexColumnList, bitsOf, casts, givenColumns, later } from "../databases/columns-store.ts";
import type { Table } from "../databases/schema.ts";
import { countEntry, entryColumns } from "../history/kept-store.ts";
import { beside, nothingBeside, type Beside } from "./keys-store.ts";
import { inboxFacts, inboxGiven, inboxManyColumns, inboxOld } from "../../activity/api.ts";

/** Most records of one statement. */
export const mostTogether = 32;

/** A new record with the values of its index columns. */
export interface IndexedRecord extends ManyRecord {
  readonly index: IndexValues;
}

/** Times through texts: a parameter of the type timestamptz would lose its microseconds. */
const arrayTypes: Record<ColumnKind, string> = { str: "text[]", int: "bigint[]", time: "text[]::timestamptz[]" };

const parts = once((on) => ({
  nothing: on``,
  begin: on`with changed as (`,
  columns: on.unsafe(indexColumnList),
  recordColumns: on.unsafe(
    `db_id, id, account_id, table_name, data, ${indexColumnList}, plan_version, rules_version, created_at, updated_at`,
  ),
  indexed: on.unsafe([...indexColumns, ...flagColumns].map((name) => `n.${name}`).join(", ")),
  types: indexColumns.map((name) => on.unsafe(arrayTypes[kindOf(name)])),
}));

/** Those of these records that there are, in no order. */
export function get(on: Queryable, db: Database, ids: readonly string[]): Promise<Shown[]> {
  return on.unsafe<Shown[]>(getText, [`{${ids.join(",")}}`, db.id, db.accountId], { prepare: true });
}

/**
 * All or none: false if the database has another schema by now, or is gone, or a link leads nowhere. Arrays are given as `(select …)`, because
 * PostgreSQL would count the items of a bare one, and plan a statement anew for each count: half of what a batch costs.
 * So the plan stays, and must be one for any size of the table: `lateral` finds each record by its key.
 */
export async function insert(
  on: Queryable,
  db: Database,
  table: Table,
  all: readonly IndexedRecord[],
  more: Beside = nothingBeside,
): Promise<boolean> {
  const { begin, nothing, recordColumns, indexed, columns } = parts(on);
  const { first, only } = beside(on, db, table.name, more);
  const isKept = all.some(({ by }) => by);
  const isNoted = isKept || all.some(({ actor }) => actor !== undefined);
  const { count } = await on`
    ${isNoted ? (first ? on`${first}, changed as (` : begin) : (first ?? nothing)} insert into records as r
      (${recordColumns} ${isKept ? on`, entries` : nothing})
    select d.id, n.id, d.account_id, ${table.name}, n.json::jsonb, ${indexed}, d.plan_version, d.rules_version,
      n.created_at, n.created_at ${isKept ? on`, 1` : nothing}
    from dbs d, unnest((select ${all.map(({ id }) => id)}::uuid[]), (select ${all.map(({ json }) => json)}::text[]),
      (select ${all.map(({ createdAt }) => createdAt.toJSON())}::timestamptz[]) ${indexArrays(on, all)})
      as n (id, json, created_at, ${columns})
    where d.id = ${db.id} and d.account_id = ${db.accountId} and d.schema_version = ${db.schemaVersion} ${only}
    ${isNoted ? endCreates(on, db, all) : nothing}`;
  return count === all.length;
}

/** A record, or only its id if it is too large to be read together with others. */
export interface Shown {
  readonly raw: string;
}

export const isOnlyId = ({ raw }: Shown) => raw.length === 36;

/**
 * As many of this size as a statement has items fit into an answer. Each is measured by itself: a running sum of all
 * costs PostgreSQL a fifth of a read, and a second column an eighth.
 */
const rawOrId = `case when octet_length(raw) <= ${readBounds.answerBytes / mostTogether} then raw else id::text end as raw`;

/** One text, because it is sent for most reads: to put a template together takes a fifth of what a batch costs here. */
const getText = `
  select ${rawOrId} from unnest((select $1::text::uuid[])) as a (asked), lateral (
    select r.id, ${rawRecord()} as raw from records r
    where r.db_id = $2 and r.id = a.asked and r.account_id = $3 offset 0) f`;

/** The index columns of many records as parameters: an array for each column, in the order of `indexColumnList`. */
export function indexArrays(on: Queryable, all: readonly IndexedRecord[]): Fragment {
  return on`
    ${parts(on).types.map((type, at) => on`, (select ${valuesAt(all, at)}::${type})`)},
    (select ${all.map(({ index }) => `${index.strings.set}`)}::smallint[]),
    (select ${all.map(({ index }) => `${index.numbers.set}`)}::smallint[])`;
}

/** Empty where no row has a value: what is missing in an array is null for `unnest`. */
function valuesAt(all: readonly IndexedRecord[], at: number) {
  const values = all.map(({ index }) => index.values[at] ?? null);
  return values.some((value) => value !== null) ? values : [];
}

// The statements that change one record or several of one table, and note that for the log of activity. Their parts
// are chosen for what a start costs PostgreSQL, which a batch of four pays as a batch of thirty does: one parameter
// has all the patches, and where they all set the same column, or none, the statement sets no other.

/** The fields of a record to be changed, with the values of its index columns. */
export interface IndexedPatch extends Pick<Patch, "id" | "json" | "actor" | "by"> {
  readonly index: IndexValues;
}

/** Whether a server returns what an update has replaced, as PostgreSQL does from 18 on. */
const returnsOld = new WeakMap<Sql, Promise<boolean>>();

function doesReturnOld(sql: Sql): Promise<boolean> {
  const known = returnsOld.get(sql);
  if (known) return known;
  const asked = sql<{ is: boolean }[]>`select current_setting('server_version_num')::int >= 180000 as is`.then(
    ([row]) => row?.is ?? false,
  );
  returnsOld.set(sql, asked);
  asked.catch(() => returnsOld.delete(sql));
  return asked;
}

/**
 * Merges each patch into its record; gives back those that were changed. Others are as `update` of the record's store
 * says, or, if there are several, locked or just changed by somebody: then the statement waits for nobody, so that no
 * record delays those beside it. 422 if a single one would become too large.
 */
export async function update(sql: Sql, db: Database, table: Table, all: readonly IndexedPatch[]): Promise<Shown[]> {
  const { silent, noted: texts, written } = statementOf(all);
  const isKept = all.some(({ by }) => by);
  const isLogged = all.some(({ actor }) => actor !== undefined);
  const noted = isKept || isLogged ? texts(isLogged, isKept) : undefined;
  const of = [db.id, db.accountId, table.name, db.rulesVersion, db.schemaVersion];
  // Not read by the statement: what makes entries parses it.
  if (isLogged) of.push(inboxFacts("Core::Record", db.code), actorsOf(all));
  const [only, ...others] = all.map((patch) => `[${written(patch)}${isKept ? makerOf(patch) : ""}]`);
  if (only && others.length === 0) {
    const text = noted ? ((await doesReturnOld(sql)) ? noted.one : noted.oneHeld) : silent.one;
    return sql.unsafe<Shown[]>(text, [only, ...of], { prepare: true }).catch(refuseSize);
  }
  const text = noted ? noted.several : silent.several;
  return sql.unsafe<Shown[]>(text, [`[${[only, ...others].join(",")}]`, ...of], { prepare: true });
}

/** The last item: who makes the patch, for the record's history. */
const makerOf = ({ by }: IndexedPatch) => `,[${by?.userId ?? null},"${by?.source ?? "api"}"]`;

const actorsOf = (all: readonly IndexedPatch[]) =>
  `{${all.map(({ id, actor = "{}" }) => `"${id}":${actor}`).join(",")}}`;

/** The text for one patch, and the one for several. */
interface Texts {
  readonly one: string;
  readonly several: string;
}

interface Statement {
  readonly silent: Texts;
  /** `oneHeld` is for PostgreSQL before 18, which does not return what an update has replaced. */
  readonly noted: (isLogged: boolean, isKept: boolean) => Texts & { readonly oneHeld: string };
  /** The items of the JSON array that the texts read: id, patch, … */
  readonly written: (patch: IndexedPatch) => string;
}

// The planner reckons with a tenth of the rows where it does not know the limit: twice, so that 100 become one.
const countedAsFewer = "limit (select 1000000)";

/** Locked, because the statement's snapshot does not have a change that the update waits for. */
const held = `, lateral (
  select o.data from records o
  where o.db_id = $2 and o.id = (h.e ->> 0)::uuid and o.account_id = $3 for no key update) held`;

const replaced = (data: string, isKept: boolean) =>
  `r.id, ${data} as old_data, h.e -> 1 as patch ${isKept ? keptResult : ""}`;
const keptResult = ", r.entries, r.data, r.plan_version, r.created_at, r.updated_at, h.e -> -1 as maker";

/** An entry for each record that has become another one. */
const keptChanges = `, kept as (
    insert into record_history (${entryColumns})
    select $2, c.id, c.entries, $3, 'update', c.maker ->> 1, (c.maker ->> 0)::bigint, $4, null, c.old_data, c.patch,
      pg_column_size(c.old_data) + pg_column_size(c.patch), $6, c.plan_version, c.created_at, c.updated_at
    from changed c where c.data is distinct from c.old_data)`;

/** One row of the inbox for all that was changed; `$8` are those who made the patches. */
const loggedChanges = (isOne: boolean) => {
  const array = (of: string) => (isOne ? `array[${of}]` : `array_agg(${of})`);
  const given = isOne ? `'[' || $1 || ']'` : "$1";
  return `, noted as (
    insert into activity_inbox (${inboxManyColumns})
    select $3, 'update', $7, $8, ${array("c.id")}, ${array(inboxOld("c.old_data", "c.patch", "$1"))}, ${inboxGiven("$1", given)}
    from changed c ${isOne ? "" : "having count(*) > 0"})`;
};

const shownChanges = `select ${rawOrId} from changed`;

const start = ({ id, json }: IndexedPatch) => `"${id}",${json}`;

const general: Statement = {
  ...textsOf(
    [
      givenColumns((column, at) => valueAt(column, at + 7), "(h.e ->> 2)::int"),
      "long_strings = (r.long_strings & ~(h.e ->> 3)::int | (h.e ->> 4)::int)::smallint",
      "inexact_numbers = (r.inexact_numbers & ~(h.e ->> 5)::int | (h.e ->> 6)::int)::smallint",
    ].join(", "),
  ),
  written(patch) {
    const { given, strings, numbers, values } = patch.index;
    const bits = `${bitsOf(given)},${strings.given},${strings.set},${numbers.given},${numbers.set}`;
    return `${start(patch)},${bits},${values.map((value) => JSON.stringify(value)).join(",")}`;
  },
};

const ofNoColumn: Statement = { ...textsOf(""), written: start };

const ofColumn = indexColumns.map((column, at): Statement => {
  const flags = { str: "long_strings", int: "inexact_numbers", time: undefined }[kindOf(column)];
  const bit = 1 << (Number(column.at(-1)) - 1);
  const flag = flags && `${flags} = (r.${flags} & ~${bit} | (h.e ->> 3)::int)::smallint`;
  return {
    ...textsOf([`${column} = ${valueAt(column, 2)}`, ...(flag ? [flag] : [])].join(", ")),
    written(patch) {
      const { values, strings, numbers } = patch.index;
      return `${start(patch)},${JSON.stringify(values[at] ?? null)},${strings.set | numbers.set}`;
    },
  };
});

function statementOf([first, ...others]: readonly IndexedPatch[]): Statement {
  const columns = first?.index.given ?? [];
  const isAlike = others.every(({ index }) => index.given.every((isGiven, at) => isGiven === columns[at]));
  const count = columns.filter(Boolean).length;
  if (!isAlike || count > 1) return general;
  return ofColumn[columns.indexOf(true)] ?? ofNoColumn;
}

/** Times through texts: a JSON string is one. */
function valueAt(column: IndexColumn, at: number): string {
  return `(h.e ->> ${at})${casts[kindOf(column)]}`;
}

/**
 * Plans for any size of the table, made once for each connection: `lateral`, and what is counted as one row, find each
 * record by its key, and then by its place.
 */
function textsOf(columns: string): Pick<Statement, "silent" | "noted"> {
  const change = (isKept = false) => `
    update records r set data = r.data || (h.e -> 1), ${columns}${columns && ","} ${isKept ? `${countEntry},` : ""}
      updated_at = ${later}`;
  const whose = "r.account_id = $3 and r.table_name = $4 and r.rules_version = $5";
  const isCurrent = "exists (select from dbs d where d.id = $2 and d.account_id = $3 and d.schema_version = $6)";
  const oneOf = (before: string, isKept?: boolean) => `
    ${change(isKept)} from (select $1::text::jsonb as e offset 0) h ${before}
    where r.db_id = $2 and r.id = (h.e ->> 0)::uuid and ${whose} and ${isCurrent}`;
  const chosen = (shown: string) => `h as materialized (
      select f.*, a.e from (select e from jsonb_array_elements((select $1::text::jsonb)) e ${countedAsFewer}) a, lateral (
        select r.ctid as place ${shown} from records r
        where r.db_id = $2 and r.id = (a.e ->> 0)::uuid and ${whose} for no key update skip locked) f
      where ${isCurrent}
      ${countedAsFewer}
    )`;
  const several = (isKept?: boolean) =>
    `${change(isKept)} from h where r.ctid = h.place and r.db_id = $2 and r.account_id = $3`;
  const result = `returning ${rawRecord()} as raw`;
  const noted = (isLogged: boolean, isKept: boolean) => {
    const more = (isOne: boolean) => `${isLogged ? loggedChanges(isOne) : ""} ${isKept ? keptChanges : ""}`;
    const one = (before: string, old: string) =>
      `with changed as (${oneOf(before, isKept)} ${result}, ${replaced(old, isKept)}) ${more(true)} select raw from changed`;
    return {
      one: one("", "old.data"),
      oneHeld: one(held, "held.data"),
      several: `with ${chosen(", r.data")}, changed as (${several(isKept)} ${result}, ${replaced("h.data", isKept)})
        ${more(false)} ${shownChanges}`,
    };
  };
  return {
    silent: {
      one: `${oneOf("")} ${result}`,
      several: `with ${chosen("")}, changed as (${several()} ${result}, r.id) ${shownChanges}`,
    },
    noted: memoized(noted),
  };
}

/** The texts are put together once. */
function memoized(make: Statement["noted"]): Statement["noted"] {
  const made = new Map<string, ReturnType<Statement["noted"]>>();
  return (isLogged, isKept) => {
    const key = `${isLogged} ${isKept}`;
    const texts = made.get(key) ?? make(isLogged, isKept);
    made.set(key, texts);
    return texts;
  };
}
