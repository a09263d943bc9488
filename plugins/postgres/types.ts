/** How values travel: parameters as text that the server reads by its own types, results as JSON has them. Pure. */
import { parseExactly } from "platform";

const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
const same = (value: string): string => value;

/** A number if it has the same value, else the text. */
const numeric = (value: string): unknown =>
  /^-?\d{1,15}(?:\.\d+)?$/.test(value) && digits(value) <= 15 ? Number(value) : value;
const digits = (value: string): number => value.replaceAll(/^-?0*|\.|-/g, "").length;
const float = (value: string): unknown => (Number.isFinite(Number(value)) ? Number(value) : value);
const int8 = (value: string): unknown => (Number.isSafeInteger(Number(value)) ? Number(value) : value);

/** By PostgreSQL's type numbers, in the form that postgres.js takes. Other types are text in both directions. */
export const types = {
  string: { to: 25, from: [18, 19, 25, 1042, 1043], serialize: text, parse: same },
  number: { to: 0, from: [21, 23, 26], serialize: text, parse: Number },
  float: { to: 701, from: [700, 701], serialize: text, parse: float },
  int8: { to: 20, from: [20], serialize: text, parse: int8 },
  numeric: { to: 1700, from: [1700], serialize: text, parse: numeric },
  boolean: { to: 16, from: [16], serialize: text, parse: (value: string) => value === "t" },
  date: { to: 1184, from: [1184], serialize: text, parse: timestamptz },
  day: { to: 1082, from: [1082], serialize: text, parse: same },
  timestamp: { to: 1114, from: [1114], serialize: text, parse: (value: string) => value.replace(" ", "T") },
  bytea: { to: 17, from: [17], serialize: text, parse: same },
  // A parameter that is a text is JSON already, as in PostgreSQL.
  json: { to: 114, from: [114, 3802], serialize: text, parse: parseExactly },
};

/** `2026-01-31 10:00:00.5+02` as `2026-01-31T10:00:00.5+02:00`, to the microsecond. */
function timestamptz(value: string): string {
  return value.replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00");
}
