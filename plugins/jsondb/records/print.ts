/** Prints records as JSON: what PostgreSQL has printed of a record's data is put into its answer as it is. Pure. */

/** `nested`: the records API, `public`: the public methods, `flat`: searches (behaviour 2.4, B.7). */
export type Form = "nested" | "public" | "flat";

export interface Printed {
  readonly id: string;
  /** As `Date.toJSON` writes it. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** "" is the null table. */
  readonly tableName: string;
  /** `data` as JSON; `flat` takes it without `id`, `created_at` and `updated_at`. */
  readonly data: string;
}

/** Between the parts of a raw record, and between records. JSON text holds no such characters. */
export const partSeparator = "\u0001";
const recordSeparator = "\u0002";
/** Before each end of a record's links. */
export const endSeparator = "\u0004";
/** In place of a record that may be large. */
export const largeRecord = "\u0003";

export function printRecord({ id, createdAt, updatedAt, tableName, data }: Printed, form: Form): string {
  const times = `"created_at":"${createdAt}","updated_at":"${updatedAt}"`;
  if (form === "public") return `{"id":"${id}","data":${data},${times}}`;
  if (form === "flat") return `{"id":"${id}",${times}${data === "{}" ? "}" : `,${data.slice(1)}`}`;
  return `{"id":"${id}","data":${data},"table_name":${tableName === "" ? "null" : JSON.stringify(tableName)},${times}}`;
}

/** Reads a record as `rawRecord` of parts-store.ts gives it, and prints it. */
export function printRaw(raw: string, form: Form): string {
  return printRecord(readRaw(raw), form);
}

export function readRaw(raw: string): Printed {
  const [id = "", made = "", changed = "", tableName = "", data = ""] = raw.split(partSeparator);
  const createdAt = isoTime(made);
  return { id, createdAt, updatedAt: changed === made ? createdAt : isoTime(changed), tableName, data };
}

/** A raw record as if it had no fields. */
export function withoutData(raw: string): string {
  return `${raw.slice(0, raw.lastIndexOf(partSeparator) + 1)}{}`;
}

export interface Page {
  /** Each as JSON. */
  readonly records: readonly string[];
  /** The raw ends of each record's links, as `Query.linked` asks for them; undefined where none were read. */
  readonly ends: readonly (readonly string[])[] | undefined;
}

/** Null is a page without records. */
export function printPage(raw: string | null, form: Form): Page {
  const raws = raw === null ? [] : rawsOf(raw);
  if (!raw?.includes(endSeparator)) return { records: raws.map((record) => printRaw(record, form)), ends: undefined };
  const parts = raws.map((record) => record.split(endSeparator));
  return { records: parts.map(([own = ""]) => printRaw(own, form)), ends: parts.map(([, ...ends]) => ends) };
}

/** Records with `betweenRecords` of parts-store.ts between them. */
export const rawsOf = (raws: string) => raws.split(recordSeparator);

export const listOf = (texts: readonly string[]) => `[${texts.join(",")}]`;

/** A version of a record is the microsecond of its last change: each change has a later one than the one before. */
export const versionDigits = 16;

/** The version of a record as `rawRecord` gives it. */
export function versionOf(raw: string): number {
  const start = raw.indexOf(partSeparator, raw.indexOf(partSeparator) + 1) + 1;
  // For every record that is read: Date.parse takes four times as long.
  const digit = (at: number) => raw.charCodeAt(start + at) - 48;
  const two = (at: number) => digit(at) * 10 + digit(at + 1);
  const whole = Date.UTC(two(0) * 100 + two(2), two(5) - 1, two(8), two(11), two(14), two(17));
  // PostgreSQL leaves out the zeros at the end of a fraction; what follows it is "+00".
  let microseconds = 0;
  for (let at = 20, worth = 100_000; digit(19) === -2 && digit(at) >= 0; at++, worth /= 10)
    microseconds += digit(at) * worth;
  return whole * 1000 + microseconds;
}

/** The version of a record that was just made. */
export function firstVersion(createdAt: Date): number {
  return createdAt.getTime() * 1000;
}

/** Its time with all microseconds, which a Date does not have. */
export function versionTime(version: number): string {
  const milliseconds = new Date(Math.floor(version / 1000)).toJSON();
  return `${milliseconds.slice(0, -1)}${`${version % 1000}`.padStart(3, "0")}Z`;
}

/** "2026-01-31 10:00:00.5+00", PostgreSQL's text of a time in UTC, -> "2026-01-31T10:00:00.500Z" */
function isoTime(text: string): string {
  // At least three digits of a fraction, before "+00".
  if (text.length >= 26) return `${text.slice(0, 10)}T${text.slice(11, 23)}Z`;
  const milliseconds = text.charAt(19) === "." ? text.slice(20, -3).slice(0, 3).padEnd(3, "0") : "000";
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${milliseconds}Z`;
}
