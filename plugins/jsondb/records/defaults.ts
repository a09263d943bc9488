/** The values that a new record has by default. behaviour B.7.28. */
import { currentActor } from "platform";
import type { Database } from "../databases/database.ts";
import type { FieldType } from "../databases/columns.ts";
import type { Table } from "../databases/schema.ts";

type Data = Record<string, unknown>;

/** The data with the defaults of the fields that it lacks. Null is a value: its field is not lacking. */
export function withDefaults({ timezone }: Pick<Database, "timezone">, table: Table, data: Data): Data {
  const lacking = table.defaults.filter(([name]) => !Object.hasOwn(data, name));
  if (lacking.length === 0) return data;
  const made = lacking.flatMap(([name, value]) => {
    const filled = filledIn(value, table.fields.get(name)?.type, timezone);
    return filled === undefined ? [] : [[name, filled] as const];
  });
  // `fromEntries` makes a name like `__proto__` an own property.
  return Object.fromEntries([...Object.entries(data), ...made]);
}

/** Undefined for a person's value where nobody in particular makes the record. */
function filledIn(value: unknown, type: FieldType | undefined, timezone: string): unknown {
  if (typeof value !== "string" || !value.includes("{")) return value;
  const isText = type === "string" || type === "text";
  const whole = wholeVariable.exec(value)?.[1];
  if (whole !== undefined) {
    const filled = valueOf(whole, type, timezone);
    return isText ? filled?.toString() : filled;
  }
  return isText ? value.replaceAll(variable, (_, name: string) => `${valueOf(name, type, timezone) ?? ""}`) : value;
}

const variable = /\{(now|today|user_id|user_login|user_name)\}/g;
const wholeVariable = /^\{(now|today|user_id|user_login|user_name)\}$/;

function valueOf(name: string, type: FieldType | undefined, timezone: string): string | number | undefined {
  if (name === "user_id") return currentActor()?.user;
  if (name === "user_login") return currentActor()?.login;
  if (name === "user_name") return currentActor()?.name;
  if (name === "now" && type !== "time") return new Date().toJSON();
  const local = Temporal.Instant.fromEpochMilliseconds(Date.now()).toZonedDateTimeISO(timezone);
  return name === "now" ? local.toPlainTime().toString().slice(0, 8) : local.toPlainDate().toString();
}
