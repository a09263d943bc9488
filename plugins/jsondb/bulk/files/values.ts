/** How people write values: a text is read by the format of its column, and never in another way. Pure. */
import { exactly, isDay, isNumber, parseExactly, zoneOffset } from "platform";
import type { FieldType } from "../../databases/columns.ts";
import type { ColumnKind } from "../../databases/choices.ts";
import { fits } from "../../databases/kinds.ts";
import { booleanOf, timeOf, valueFromText, wholeNumber } from "../imports/rows.ts";
import { withoutCurrency } from "./currencies.ts";

export const dateOrders = ["dmy", "mdy", "ymd"] as const;
export type DateOrder = (typeof dateOrders)[number];
export const decimals = [".", ","] as const;
/** A blank stands for every kind of space, an apostrophe for both of its forms; "" allows no groups. */
export const groupings = ["", " ", ".", ",", "'"] as const;

/** How the values of a column are written. What is left out is not said: then only forms that have one meaning are read. */
export interface Format {
  readonly decimal?: (typeof decimals)[number];
  readonly thousands?: (typeof groupings)[number];
  readonly date_order?: DateOrder;
  readonly true?: string;
  readonly false?: string;
  /** The zone of times that name none. */
  readonly time_zone?: string;
  readonly currency?: string;
  readonly kind?: ColumnKind;
  /** The type of the new field, in place of the guess. */
  readonly type?: FieldType;
  /** Of a new field: the table of the records that its values name. */
  readonly link?: string;
}

/** What a text is that is not written in the format. */
export const misfit = Symbol("misfit");
export type Reader = (text: string) => unknown;

/** Longer texts are texts only. */
export const maxTypedText = 1_000;

/** Undefined for a blank text, unless the type holds text. */
export function readerOf(type: FieldType, format: Format): Reader {
  const read = readers[type](format);
  if (type === "string" || type === "text") return read;
  return (given) => {
    if (given.length > maxTypedText) return misfit;
    const text = given.trim();
    return text === "" ? undefined : read(text);
  };
}

const same: Reader = (text) => text;
const readers: Record<FieldType, (format: Format) => Reader> = {
  string: () => same,
  text: () => same,
  integer: (format) => {
    const read = numberText(format);
    return (text) => {
      const plain = read(text);
      const [whole = "", fraction = ""] = plain?.split(".") ?? [];
      return plain === undefined || plain.includes("e") || !/^0*$/.test(fraction) || !isWhole(whole)
        ? misfit
        : wholeNumber(whole);
    };
  },
  number: (format) => {
    const read = numberText(format);
    return (text) => {
      const plain = read(text);
      const number = plain === undefined ? misfit : exactly(plain);
      return isNumber(number) ? number : misfit;
    };
  },
  boolean: ({ true: yes, false: no }) => {
    if (yes === undefined && no === undefined) return (text) => booleanOf(text) ?? misfit;
    const [isTrue, isFalse] = [yes?.toLowerCase(), no?.toLowerCase()];
    return (text) => {
      const word = text.toLowerCase();
      return word === isTrue ? true : word === isFalse ? false : misfit;
    };
  },
  date: ({ date_order: order }) => {
    return (text) => {
      const { day, rest } = dayAt(text, order) ?? { day: "", rest: "" };
      return day !== "" && (rest === "" || midnight.test(rest)) ? day : misfit;
    };
  },
  datetime: ({ date_order: order, time_zone: zone }) => {
    const offset = zone === undefined ? () => "" : createOffsets(zone);
    return (text) => {
      const { day, rest } = dayAt(text, order) ?? { day: "", rest: "" };
      if (day === "") return misfit;
      const time = rest === "" ? { time: "00:00", zone: undefined } : timeOf(rest);
      return time === undefined ? misfit : `${day}T${time.time}${time.zone ?? offset(day, time.time)}`;
    };
  },
  list: () => listIn,
  time: () => (text) => {
    const found = valueFromText("time", text);
    return fits("time", found) ? found : misfit;
  },
};

const mostBits = 64;
/** `["a","b"]`, or `a, b`: values between commas. */
function listIn(text: string): unknown {
  if (!text.startsWith("[")) {
    return text
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
  }
  try {
    const list = parseExactly(text);
    return Array.isArray(list) ? list : misfit;
  } catch {
    return misfit;
  }
}

function isWhole(digits: string): boolean {
  if (digits.length > 20) return false;
  const exact = BigInt(digits);
  return exact === BigInt.asIntN(mostBits, exact);
}

/** Databases and spreadsheets write a day as a time, too. */
const midnight = /^0?0:00(?::00(?:\.0{1,9})?)?(?: ?(?:Z|UTC|[+-]00:?00))?$/i;

// Numbers.

const minus = /^[-\u2212]/;

/** A number as JSON writes it, but that it may begin with zeros; undefined if the text is none. */
function numberText(format: Format): (text: string) => string | undefined {
  const { currency, kind } = format;
  const thousands = format.thousands;
  const decimal = format.decimal ?? (thousands === "." ? "," : ".");
  return (given) => {
    let text = given;
    const isNegative = minus.test(text) || (text.startsWith("(") && text.endsWith(")"));
    if (isNegative) text = (text.startsWith("(") ? text.slice(1, -1) : text.slice(1)).trim();
    if (kind === "percent") {
      if (!text.endsWith("%")) return undefined;
      text = text.slice(0, -1).trimEnd();
    } else if (currency !== undefined) text = withoutCurrency(text, currency);
    const isSigned = !isNegative && minus.test(text);
    if (isSigned) text = text.slice(1).trimStart();
    else if (!isNegative && text.startsWith("+")) text = text.slice(1);
    const plain = plainNumber(text, decimal, thousands);
    if (plain === undefined) return undefined;
    const number = kind === "percent" ? hundredth(plain) : plain;
    return isNegative || isSigned ? `-${number}` : number;
  };
}

const groupMarks: ReadonlyMap<string, string> = new Map([
  [" ", " "],
  ["\u00a0", " "],
  ["\u2009", " "],
  ["\u202f", " "],
  ["'", "'"],
  ["’", "'"],
  [".", "."],
  [",", ","],
]);

/** Digits, in groups of three if there are marks between them. `thousands` undefined: any mark that is not the decimal one. */
function plainNumber(text: string, decimal: string, thousands: string | undefined): string | undefined {
  let whole = "";
  let mark = "";
  let group = 0;
  let at = 0;
  for (; at < text.length; at++) {
    const character = text[at] ?? "";
    if (character >= "0" && character <= "9") {
      whole += character;
      group += 1;
      continue;
    }
    if (character === decimal) break;
    const found = groupMarks.get(character);
    if (found === undefined) break;
    const isFirst = mark === "";
    if (isFirst ? group < 1 || group > 3 : group !== 3 || found !== mark) return undefined;
    if (thousands === undefined ? false : found !== thousands) return undefined;
    mark = found;
    group = 0;
  }
  if (mark !== "" && group !== 3) return undefined;
  const rest = /^(?:[.,](\d{0,1000}))?([eE][+-]?\d{1,4})?$/.exec(text.slice(at));
  const [, fraction = "", exponent = ""] = rest ?? [];
  const hasDecimal = text[at] === decimal;
  if (!rest || (!hasDecimal && /^[.,]/.test(rest[0])) || (whole === "" && fraction === "")) return undefined;
  const zeros = /^0*(?=\d)/.exec(whole)?.[0].length ?? 0;
  return `${whole.slice(zeros) || "0"}${fraction === "" ? "" : `.${fraction}`}${exponent.toLowerCase()}`;
}

/** 12.5 -> 0.125, by moving the point: a division would round. */
function hundredth(plain: string): string {
  const [mantissa = "", exponent = ""] = plain.split("e");
  if (exponent !== "") return `${mantissa}e${Number(exponent) - 2}`;
  const [whole = "", fraction = ""] = mantissa.split(".");
  const digits = whole.padStart(3, "0");
  return `${digits.slice(0, -2)}.${digits.slice(-2)}${fraction}`;
}

// Days and times.

interface Day {
  /** YYYY-MM-DD */
  readonly day: string;
  /** What follows, without the mark between. */
  readonly rest: string;
}

const numeric = /^(\d{1,4})([-/.]) ?(\d{1,2})\2 ?(\d{1,4})(?!\d)/;
const betweenDayAndTime = /^(?:T|,? |, ?)/;
/** Two digits of a year mean 1970 to 2069. */
const firstShortYear = 70;

/** Undefined if the text does not begin with a day in that order. What begins with a year has one meaning only. */
function dayAt(text: string, order: DateOrder | undefined): Day | undefined {
  const found = numeric.exec(text);
  if (!found) return undefined;
  const [all, first = "", mark = "", second = "", third = ""] = found;
  const parts = partsOf([first, second, third], mark, order);
  if (parts === undefined) return undefined;
  const [year, month, ofMonth] = parts;
  const day = `${year}-${month.padStart(2, "0")}-${ofMonth.padStart(2, "0")}`;
  const after = text.slice(all.length);
  const between = betweenDayAndTime.exec(after)?.[0];
  if (!isDay(day) || (after !== "" && between === undefined)) return undefined;
  return { day, rest: after.slice(between?.length ?? 0).trimStart() };
}

function partsOf(
  [first, second, third]: readonly [string, string, string],
  mark: string,
  order: DateOrder | undefined,
): readonly [string, string, string] | undefined {
  if (first.length === 4) return third.length <= 2 ? [first, second, third] : undefined;
  // With points the day comes first, as no country writes it otherwise.
  const known = order ?? (mark === "." ? "dmy" : undefined);
  if (known === undefined || known === "ymd" || first.length > 2) return undefined;
  if (known === "mdy" && mark === ".") return undefined;
  const year = third.length === 2 ? `${Number(third) < firstShortYear ? 20 : 19}${third}` : third;
  if (year.length !== 4) return undefined;
  return known === "dmy" ? [year, second, first] : [year, first, second];
}

/** The offset of a zone at a time of its clocks: one of each hour is looked up once. */
function createOffsets(zone: string): (day: string, time: string) => string {
  const known = new Map<string, string>();
  return (day, time) => {
    const key = `${day}T${time.slice(0, 2)}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const wall = Date.parse(`${key}:00Z`);
    const seconds = zoneOffset(zone, wall - zoneOffset(zone, wall) * 1000);
    const minutes = Math.abs(Math.trunc(seconds / 60));
    const two = (value: number) => `${value}`.padStart(2, "0");
    const made = `${seconds < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
    if (known.size > 10_000) known.clear();
    known.set(key, made);
    return made;
  };
}
