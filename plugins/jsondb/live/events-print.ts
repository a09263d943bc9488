/** How a change is shown to those who follow it. Pure. */
import { parseExactly } from "platform";
import type { LogEntry } from "./change-store.ts";
import { printRaw } from "../records/print.ts";
import { scopeValue, type Method, type VariableValues } from "../databases/public-methods.ts";
import type { RecordEventKind } from "../records/record.ts";
import type { Data } from "../records/record.ts";

export interface Shown {
  readonly kind: RecordEventKind;
  /** The record as JSON. */
  readonly data: string;
}

/** Undefined if the follower does not see the change. */
export type Print = (entry: LogEntry) => Shown | undefined;

/** The records API; of one table, or of all. For followers of a table, a record that leaves it is deleted. */
export function printPrivate(tableName: string | undefined): Print {
  return ({ kind, raw, tableName: now, leftTable }) => {
    const isOf = tableName === undefined || now === tableName;
    if (!isOf && leftTable !== tableName) return undefined;
    return { kind: isOf ? kind : "destroy", data: printRaw(raw, "nested") };
  };
}

/** As the public method `list` shows it: records within its `scope_by`, with their visible fields. */
export function printPublic({ scope, allowedFields }: Method, variables: VariableValues): Print {
  const own = scope && scopeValue(scope, variables);
  if (scope && own === undefined) return () => undefined;
  return ({ kind, raw }) => {
    const text = printRaw(raw, "public");
    if (!scope && !allowedFields) return { kind, data: text };
    const record = parseExactly(text) as { data: Data }; // the public form of print.ts
    if (scope && textOf(record.data, scope.field) !== own) return undefined;
    const visible = Object.entries(record.data).filter(([name]) => allowedFields?.has(name) ?? true);
    return { kind, data: JSON.stringify({ ...record, data: Object.fromEntries(visible) }) };
  };
}

/** As PostgreSQL's `->>` gives it. */
function textOf(data: Data, field: string): string | undefined {
  const value = Object.hasOwn(data, field) ? data[field] : undefined;
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
