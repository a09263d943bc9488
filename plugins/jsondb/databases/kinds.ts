/** Kinds of fields, and the values that each may hold: by type, choices, format and bounds. behaviour B.7. Pure. */
import { ExactNumber, exactly, isDay, isNumber, isUuid } from "platform";
import type { FieldType } from "./columns.ts";

/** Words for people: one text, or one for each locale. */
export type Words = string | Readonly<Record<string, string>>;

export interface Choice {
  readonly value: string | number;
  readonly label: Words | undefined;
  readonly color: string | undefined;
}

export type OnDelete = "clear" | "restrict" | "cascade";

/** The field holds the id of a record, in a list of several. */
export interface Link {
  /** The code or id of a database of the account. */
  readonly db: string;
  /** Undefined is the database's only table. */
  readonly table: string | undefined;
  readonly onDelete: OnDelete;
}

export const rollupOps = ["count", "sum", "min", "max", "avg"] as const;

/** Worked out when read, from the records that link here. */
export interface Rollup {
  /** The code or id of the database whose records link here. */
  readonly db: string;
  /** The linking field, in a database with tables as `table.field`. */
  readonly link: string;
  readonly op: (typeof rollupOps)[number];
  /** The field of those records that is reckoned with; undefined only for `count`. */
  readonly field: string | undefined;
}

export const textFormats = ["email", "url", "phone", "markdown", "color", "file", "time_zone"] as const;
export const numberFormats = ["money", "percent", "rating"] as const;
export type Format = (typeof textFormats)[number] | (typeof numberFormats)[number] | "user";

/** A field of a table. Options that it does not have are undefined. */
export interface Field {
  readonly type: FieldType;
  readonly required: boolean;
  readonly label?: Words | undefined;
  readonly help?: Words | undefined;
  readonly choices?: readonly Choice[] | undefined;
  readonly format?: Format | undefined;
  /** The code of the currency of a `money`. */
  readonly currency?: string | undefined;
  /** A number or time; of texts and lists the length. */
  readonly min?: Bound | undefined;
  readonly max?: Bound | undefined;
  /** The value, or a text with variables such as `{now}`. */
  readonly default?: unknown;
  readonly unique?: boolean | undefined;
  readonly link?: Link | undefined;
  readonly rollup?: Rollup | undefined;
}

export type Bound = number | ExactNumber | string;

export const listLimit = 100;

/** Whether a field of this type may have this value; null is checked elsewhere. */
export function fits(type: FieldType, value: unknown): boolean {
  return forms[type](value);
}

/** What is wrong with a value that is not null; undefined = nothing. */
export function faultOf(field: Field, value: unknown): string | undefined {
  if (!fits(field.type, value)) return misfitRule(field.type, value);
  return linkFault(field, value) ?? choiceFault(field, value) ?? formatFault(field, value) ?? boundsFault(field, value);
}

/** Whether any text is one of its values, "" too; in other fields "" is what forms send for no value. */
export function isFreeText({ type, choices, link, format }: Field): boolean {
  return (type === "string" || type === "text") && !choices && !link && (format === undefined || format === "markdown");
}

/** Less than, equal to or greater than 0, as `a` is to `b`; both fit the type, of which only numbers and times have an order. */
export function compareValues(type: FieldType, a: Bound, b: Bound): number {
  if (type === "integer" || type === "number") return compareNumbers(numberOf(a), numberOf(b));
  const [one, other] = [String(a), String(b)].map(type === "datetime" ? instantKey : secondsGiven);
  return one === other ? 0 : (one ?? "") < (other ?? "") ? -1 : 1;
}

/** The instant of a datetime as a text whose order is that of time, to the nanosecond; without an offset it is UTC. */
export function instantKey(value: string): string {
  const [, minute = "", second = ":00", fraction = "", zone = ""] = instantParts.exec(value) ?? [];
  const offset = zone === "" || zone === "Z" ? "Z" : `${zone.slice(0, 3)}:${zone.slice(3).replace(":", "") || "00"}`;
  // Counted from before the first year: all have twelve digits.
  const seconds = Date.parse(`${minute}${second}${offset}`) / 1000 + 2 * 10 ** 11;
  return `${seconds}.${fraction.slice(1).padEnd(9, "0")}`;
}

const instantParts = /^(.{16})(:\d\d)?(\.\d{1,9})?(.{0,6})$/;

const secondsGiven = (time: string) => (time.length === 5 ? `${time}:00` : time);

const isString = (value: unknown) => typeof value === "string";

const forms: Record<FieldType, (value: unknown) => boolean> = {
  string: isString,
  text: isString,
  integer: (value) => (typeof value === "number" ? Number.isSafeInteger(value) : isBigInteger(value)),
  number: isNumber,
  boolean: (value) => typeof value === "boolean",
  datetime: (value) => typeof value === "string" && isDatetime(value),
  date: (value) => typeof value === "string" && isDay(value),
  time: (value) => typeof value === "string" && timeForm.test(value),
  list: (value) =>
    Array.isArray(value) && value.length <= listLimit && value.every((item) => isString(item) || isNumber(item)),
};

const rules: Record<FieldType, string> = {
  string: "must be a string",
  text: "must be a string",
  integer: "must be a whole number",
  number: "must be a number",
  boolean: "must be true or false",
  datetime: "must be a datetime like 2026-01-31T10:00:00Z",
  date: "must be a date like 2026-01-31",
  time: "must be a time like 10:00 or 10:00:00",
  list: `must be a list of at most ${listLimit} strings or numbers`,
};

/** What is nearly a value of the type is told what is wrong with it. */
function misfitRule(type: FieldType, value: unknown): string {
  const day = typeof value === "string" ? /^(\d{4}-\d{2}-\d{2})(?:T|$)/.exec(value)?.[1] : undefined;
  if (day !== undefined && (type === "date" || type === "datetime") && !isDay(day)) return `there is no day ${day}`;
  const isLarge =
    (typeof value === "number" && Math.abs(value) >= 2 ** 53) ||
    value instanceof ExactNumber ||
    (typeof value === "string" && /^-?\d{16,}$/.test(value));
  return type === "integer" && isLarge ? `${rules.integer} within ±2^63, written as a string beyond 2^53` : rules[type];
}

/** Most clients round JSON numbers beyond 2^53, so larger integers are strings. */
function isBigInteger(value: unknown): boolean {
  if (typeof value !== "string" || !/^-?[1-9]\d{15,18}$/.test(value)) return false;
  const exact = BigInt(value);
  return exact === BigInt.asIntN(64, exact) && !Number.isSafeInteger(Number(value));
}

const timeForm = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/;
const datetimeForm =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-](0\d|1[0-5])(:?[0-5]\d)?)?$/;

function isDatetime(value: string): boolean {
  const day = datetimeForm.exec(value)?.[1];
  return day !== undefined && isDay(day);
}

const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

/** Whether there is such a record is known only where it is written. */
function linkFault({ link, type }: Field, value: unknown): string | undefined {
  if (!link || itemsOf(value).every((item) => isString(item) && isUuid(item))) return undefined;
  const target = link.table === undefined ? link.db : `${link.db}.${link.table}`;
  return `${type === "list" ? "must be a list of ids of records" : "must be the id of a record"} of ${target}`;
}

const mostShown = 10;

function choiceFault({ choices, type }: Field, value: unknown): string | undefined {
  if (!choices || itemsOf(value).every((item) => choices.some((choice) => isSame(choice.value, item))))
    return undefined;
  const shown = choices.slice(0, mostShown).map((choice) => String(choice.value).slice(0, 40));
  const others = choices.length > mostShown ? ` and ${choices.length - mostShown} more` : "";
  return `${type === "list" ? "may have only" : "must be one of"} ${shown.join(", ")}${others}`;
}

/** An integer beyond 2^53 is a string on both sides; an exact number is another object each time. */
const isSame = (choice: string | number, item: unknown) =>
  choice === item || (item instanceof ExactNumber && typeof choice === "number" && item.compare(choice) === 0);

function formatFault({ format }: Field, value: unknown): string | undefined {
  if (format === undefined || format === "money" || format === "percent" || format === "markdown") return undefined;
  const { is, rule } = formats[format];
  return itemsOf(value).every(is) ? undefined : rule;
}

type Checked = Exclude<Format, "money" | "percent" | "markdown">;

const ofText = (is: (text: string) => boolean) => (value: unknown) => typeof value === "string" && is(value);

const formats: Record<Checked, { readonly is: (value: unknown) => boolean; readonly rule: string }> = {
  email: { is: ofText(isEmail), rule: "must be an e-mail address like ann@example.com" },
  url: { is: ofText(isUrl), rule: "must be an address that begins with http://, https://, mailto: or tel:" },
  phone: { is: ofText(isPhone), rule: "must be a telephone number like +48 123 456 789" },
  color: { is: ofText(isColor), rule: "must be a color like #2f6feb" },
  file: { is: ofText(isUuid), rule: "must be the id of a file" },
  time_zone: { is: ofText(isTimeZone), rule: "must be a time zone like Europe/Warsaw" },
  user: { is: (value) => Number.isSafeInteger(value) && Number(value) > 0, rule: "must be the id of a person" },
  rating: {
    is: (value) => isBound(value) && compareValues("number", value, 1) >= 0 && compareValues("number", value, 5) <= 0,
    rule: "must be from 1 to 5",
  },
};

const isBound = (value: unknown): value is Bound => isNumber(value) || typeof value === "string";

/** No space, control character, or what separates addresses in a list. */
const addressForm = /^[^\s\p{Cc}<>()[\]\\,;:"@]{1,64}@([^\s\p{Cc}<>()[\]\\,;:"@]{3,253})$/u;
const labelForm = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?$/u;

export function isEmail(text: string): boolean {
  const domain = text.length <= 320 ? addressForm.exec(text)?.[1] : undefined;
  const labels = domain?.split(".") ?? [];
  const isDotted = !text.startsWith(".") && !text.includes("..") && !text.includes(".@");
  return (
    isDotted && labels.length > 1 && labels.every((label) => labelForm.test(label)) && !/^\d/.test(labels.at(-1) ?? "")
  );
}

const longestUrl = 4000;

function isUrl(text: string): boolean {
  if (text.length > longestUrl || /[\s\p{Cc}\\]/u.test(text)) return false;
  if (/^https?:\/\/[^/?#]/i.test(text)) return URL.canParse(text);
  if (/^tel:/i.test(text)) return isPhone(text.slice("tel:".length));
  return /^mailto:/i.test(text) && isEmail(text.slice("mailto:".length).split("?", 1)[0] ?? "");
}

function isPhone(text: string): boolean {
  if (text.length > 40 || !/^\+?[\d ()./-]{2,40}$/.test(text)) return false;
  const digits = text.replaceAll(/\D/g, "").length;
  return digits >= 2 && digits <= 20;
}

function isColor(text: string): boolean {
  return /^#(?:[\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/i.test(text);
}

/** The names that were found; to ask for one takes as long as a hundred other checks. */
const zones = new Map<string, boolean>();
const mostZones = 1000;

function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][\w+/-]{1,59}$/.test(text)) return false;
  const known = zones.get(text);
  if (known !== undefined) return known;
  let isKnown = true;
  try {
    Intl.DateTimeFormat("en", { timeZone: text });
  } catch {
    isKnown = false;
  }
  if (zones.size >= mostZones) zones.clear();
  zones.set(text, isKnown);
  return isKnown;
}

function boundsFault({ type, min, max }: Field, value: unknown): string | undefined {
  if (min === undefined && max === undefined) return undefined;
  if (type === "string" || type === "text" || type === "list") return lengthFault(type, value, min, max);
  if (!isBound(value)) return undefined;
  const isNumeric = type === "integer" || type === "number";
  if (min !== undefined && compareValues(type, value, min) < 0)
    return isNumeric ? `must be at least ${shownBound(min)}` : `must not be before ${shownBound(min)}`;
  if (max !== undefined && compareValues(type, value, max) > 0)
    return isNumeric ? `must be at most ${shownBound(max)}` : `must not be after ${shownBound(max)}`;
  return undefined;
}

const shownBound = (bound: Bound) => String(bound);

function lengthFault(type: FieldType, value: unknown, min: unknown, max: unknown): string | undefined {
  const length = typeof value === "string" ? charactersOf(value) : itemsOf(value).length;
  const what = type === "list" ? "items" : "characters";
  if (typeof min === "number" && length < min) return `must have at least ${min} ${what}`;
  return typeof max === "number" && length > max ? `may have at most ${max} ${what}` : undefined;
}

/** As PostgreSQL counts them. */
function charactersOf(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length - 1; at++) {
    const isPair = (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
    if (isPair) pairs++;
  }
  return text.length - pairs;
}

function numberOf(value: Bound): number | ExactNumber {
  return typeof value === "string" ? exactly(value) : value;
}

function compareNumbers(a: number | ExactNumber, b: number | ExactNumber): number {
  if (a instanceof ExactNumber) return a.compare(b);
  return b instanceof ExactNumber ? -b.compare(a) : a - b;
}
