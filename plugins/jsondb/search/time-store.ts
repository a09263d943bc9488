/** Conditions on times as SQL. A bare day is the whole day of the account's time zone, which may have 23 or 25 hours. */
import { isDay } from "platform";
import type { FieldType } from "../databases/columns.ts";
import { spanOf, type ComparisonOp } from "./filters.ts";

/** Where a statement collects its arguments. */
interface Args {
  bind(value: string | number, type: string): string;
}

/** A comparison with a value; "eq" is equality. */
interface Compared {
  readonly op: ComparisonOp | "eq";
  readonly value: string;
}

export interface TimeBound {
  readonly op: Compared["op"];
  /** An expression of timestamptz. */
  readonly instant: string;
}

export const signs: Record<Compared["op"], string> = { eq: "=", gt: ">", gte: ">=", lt: "<", lte: "<=" };

/** Whether the value is a day that stands for all of its instants. A field of type `date` holds days themselves. */
export function isWholeDay(type: FieldType | undefined, value: string): boolean {
  return type === "datetime" && isDay(value);
}

/** The condition under which an expression compares with the value as requested. */
export function timeBounds(
  args: Args,
  { type, timezone }: { readonly type: FieldType | undefined; readonly timezone: string },
  { op, value }: Compared,
): TimeBound[] {
  const span = spanOf(value, timezone);
  if (!span && !isWholeDay(type, value)) return [{ op, instant: `record_instant(${args.bind(value, "text")})` }];
  const first = span?.first ?? Temporal.PlainDate.from(value);
  const next = span?.next ?? first.add({ days: 1 });
  const start = (of: Temporal.PlainDate) => {
    if (type === "date") return `record_instant(${args.bind(of.toString(), "text")})`;
    const { epochMilliseconds } = of.toZonedDateTime({ timeZone: timezone });
    return `to_timestamp(${args.bind(epochMilliseconds / 1000, "float8")})`;
  };
  if (op === "eq")
    return [
      { op: "gte", instant: start(first) },
      { op: "lt", instant: start(next) },
    ];
  const instant = start(op === "gt" || op === "lte" ? next : first);
  return [{ op: op === "gt" || op === "gte" ? "gte" : "lt", instant }];
}

/** A time of the record itself, of which answers show milliseconds. */
export function ownTimeCondition(args: Args, timezone: string, field: string, compared: Compared): string {
  return timeBounds(args, { type: "datetime", timezone }, compared)
    .map((bound) => ownBound(field, bound))
    .join(" and ");
}

function ownBound(field: string, { op, instant }: TimeBound): string {
  const exact = `date_trunc('milliseconds', r.${field}) ${signs[op]} ${instant}`;
  if (field !== "created_at") return exact;
  // An id begins with the milliseconds at which it was made, so the primary key bounds them.
  const milliseconds = `greatest(floor(extract(epoch from ${instant}) * 1000), 0)::bigint`;
  const idAt = (time: string) => `rpad(lpad(to_hex(${time}), 12, '0'), 32, '0')::uuid`;
  const after = `r.id >= ${idAt(milliseconds)}`;
  const before = `r.id < ${idAt(`${milliseconds} + 1`)}`;
  const range = op === "eq" ? `${after} and ${before}` : op === "gt" || op === "gte" ? after : before;
  return `${range} and ${exact}`;
}

/** As `Date.toJSON` writes it. */
export function isoTime(instant: string): string {
  return `to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
