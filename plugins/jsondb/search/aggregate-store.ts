/** Counts and sums the records that a search finds, in one statement that gives the text of the whole list. */
import { bytesBefore, readBounds, type Reader, type Tx } from "platform";
import type { Aggregate, Group, Measure } from "./aggregate.ts";
import { collate } from "../databases/columns-store.ts";
import { columnKindOf } from "../databases/columns.ts";
import type { Database } from "../databases/database.ts";
import { newArgs, filterConditions, phraseCondition, sourceOf, type Args } from "./filter-store.ts";
import { inScope, searchedData } from "../access/reach-store.ts";
import { decidingFields } from "./query.ts";
import { isoTime } from "./time-store.ts";

export interface AggregateRow {
  /** The plan that the database had when it was read; null if the database is gone. */
  readonly planVersion: number | null;
  /** The JSON array. */
  readonly body: string;
  /** It ends early, at `readBounds.answerBytes`. */
  readonly isCut: boolean;
}

/** After `maxMs` PostgreSQL cancels it with error 57014. */
export async function aggregateRecords(
  sql: Reader,
  db: Database,
  asked: Aggregate,
  maxMs: number,
): Promise<AggregateRow> {
  const { text, values } = aggregateStatement(db, asked);
  const run = async (tx: Tx) => {
    await tx`select set_config('statement_timeout', ${`${maxMs}`}, true)`;
    return tx.unsafe<AggregateRow[]>(text, values);
  };
  const [row] = await ("begin" in sql ? sql.begin(run) : run(sql));
  return row as AggregateRow; // the statement is one aggregate, so one row
}

function aggregateStatement(db: Database, asked: Aggregate): { text: string; values: Args["values"] } {
  const args = newArgs();
  const { query, groups, measures } = asked;
  const source = sourceOf(db, query);
  const filters = filterConditions(args, source, query);
  const phrase = query.phrase ? [phraseCondition(args, source, query.phrase, searchedData(args, db, query))] : [];
  const names = [...decidingFields(query), ...[...groups, ...measures].map(({ field }) => field)];
  const where = [inScope(args, db, query, names), ...filters, ...phrase].join(" and ");
  const keys = groups.map((group, at) => `${keyOf(args, group, db.timezone)} as g${at}`);
  const values = measures.map((measure, at) => `${valueOf(args, measure, db.collation)} as m${at}`);
  const groupBy = groups.length > 0 ? `group by ${groups.map((_, at) => `g${at}`).join(", ")}` : "";
  const most = asked.most === undefined ? undefined : args.bind(asked.most, "int");
  const isFew = `(select count(*) from found) <= ${most}`;
  const from = most === undefined ? `records r where ${where}` : `found r where ${isFew}`;
  const list = `select ${[...keys, "count(*) as n", ...values].join(", ")} from ${from} ${groupBy}
    order by ${orderBy(args, db, asked)} limit ${args.bind(asked.limit, "int")}`;
  const lines = `select ${answer(args, asked)} as line from (${list}) a offset 0`;
  const bounded = `select l.line, ${bytesBefore("octet_length(l.line)")} as bytes_before from (${lines}) l`;
  const body = `coalesce('[' || string_agg(b.line, ',') filter (where b.bytes_before < ${readBounds.answerBytes}) || ']', '[]')`;
  const select = (whole: string) => `select ${whole} as body,
    (select d.plan_version from dbs d where d.id = ${args.bind(db.id, "uuid")}) as plan_version,
    coalesce(bool_or(b.bytes_before >= ${readBounds.answerBytes}), false) as is_cut from (${bounded}) b`;
  if (most === undefined) return { text: select(body), values: args.values };
  // One record more than `most` is read: so it is known whether there are too many, and then they are only counted.
  const found = `select r.id, r.data, r.created_at, r.updated_at from records r where ${where} limit ${most} + 1`;
  const counted = `'[{"group":{},"count":' || (select count(*) from records r where ${where}) || '}]'`;
  const either = `case when ${isFew} then ${body} else ${counted} end`;
  return { text: `with found as materialized (${found}) ${select(either)}`, values: args.values };
}

const unitForms = { day: "YYYY-MM-DD", month: "YYYY-MM", year: "YYYY" } as const;

/** Null and absent are one group. */
function keyOf(args: Args, { field, unit, type, isOwn }: Group, timezone: string): string {
  if (isOwn && field === "id") return "to_jsonb(r.id::text)";
  if (!unit) return `nullif(r.data -> ${args.bind(field, "text")}, 'null')`;
  // A day has no time zone.
  const zone = type === "date" ? "'UTC'" : args.bind(timezone, "text");
  const instant = isOwn ? `r.${field}` : `record_instant(r.data ->> ${args.bind(field, "text")})`;
  return `to_jsonb(to_char(${instant} at time zone ${zone}, '${unitForms[unit]}'))`;
}

/** The measure of a group as JSON text. Values of another type than the field's do not count. */
function valueOf(args: Args, { kind, field, type, isOwn }: Measure, collation: string): string {
  // Arguments are bound only when they are used: PostgreSQL refuses one that no expression mentions.
  const value = () => `r.data -> ${args.bind(field, "text")}`;
  const text = () => `r.data ->> ${args.bind(field, "text")}`;
  switch (type) {
    case "string":
    case "text":
      if (isOwn) return `to_json(${kind}(r.id::text collate "C"))::text`;
      return `to_json(${kind}((case when jsonb_typeof(${value()}) = 'string' then ${text()} end) ${collate(collation)}))::text`;
    case "date":
      return `to_json(to_char(${kind}(record_instant(${text()})) at time zone 'UTC', 'YYYY-MM-DD'))::text`;
    case "time":
      return `to_json(to_char(${kind}(record_instant(${text()})) at time zone 'UTC', 'HH24:MI:SS'))::text`;
    case "datetime":
      return `to_json(${isoTime(`${kind}(${isOwn ? `r.${field}` : `record_instant(${text()})`})`)})::text`;
    case "integer":
      return kind === "avg"
        ? number(`avg(record_number(${value()}))`)
        : wholeNumber(`${kind}(record_number(${value()}))`);
    case "number":
      return number(`${kind}(record_number(${value()}))`);
    default:
      return number(`${kind}(case when jsonb_typeof(${value()}) = 'number' then (${text()})::numeric end)`);
  }
}

function number(expression: string): string {
  return `trim_scale(${expression})::text`;
}

/** Beyond 2^53 a whole number is written as text (behaviour B.7). */
function wholeNumber(expression: string): string {
  return `case when abs(${expression}) > 9007199254740991 then '"' || trunc(${expression}) || '"' else ${number(expression)} end`;
}

function orderBy(args: Args, db: Database, { order, groups }: Aggregate): string {
  const direction = order.startsWith("-") ? " desc" : "";
  const keys = groups.map((group, at) => {
    const isText = columnKindOf(group.type) === "str" && !group.isOwn;
    return isText ? `(${keyOf(args, group, db.timezone)} #>> '{}') ${collate(db.collation)}` : `g${at}`;
  });
  if (order.endsWith("count")) return [`n${direction}`, ...keys].join(", ");
  return [...keys.map((key) => `${key}${direction} nulls last`), "n"].join(", ");
}

/** { group: {…}, count, sum: {…}, … } of a row `a`. */
function answer(args: Args, { groups, measures }: Aggregate): string {
  const member = (name: string, value: string) =>
    `${args.bind(`${JSON.stringify(name)}:`, "text")} || coalesce(${value}, 'null')`;
  const object = (members: readonly string[]) =>
    `'{' || ${members.length > 0 ? members.join(` || ',' || `) : "''"} || '}'`;
  const parts = [
    `'{"group":' || ${object(groups.map(({ name }, at) => member(name, `a.g${at}::text`)))}`,
    `',"count":' || a.n`,
  ];
  for (const kind of new Set(measures.map((measure) => measure.kind))) {
    const members = measures.flatMap((measure, at) =>
      measure.kind === kind ? [member(measure.field, `a.m${at}`)] : [],
    );
    parts.push(`',"${kind}":' || ${object(members)}`);
  }
  return [...parts, "'}'"].join(" || ");
}
