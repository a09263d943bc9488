/** Says of a text that is not of its field's type what it is not, and what is expected, in words. Pure. */
import type { FieldType } from "../../databases/columns.ts";
import type { Format } from "./values.ts";

/** `is no date: day.month.year is expected`; `format`: how the column is written. */
export function whyUnread(type: FieldType, text: string, format: Format): string {
  if (type === "integer" && /^[-+]?\d+$/.test(text.trim())) return "is beyond ±2^63";
  const isDated = (type === "date" || type === "datetime") && isDayLike(text.trim(), format);
  const { not, expected } = { ...words[type](format), ...(isDated && { not: "a day that does not exist" }) };
  const isTwofold = twofold[type]?.(text.trim(), format) === true;
  return `${isTwofold ? "can be read in two ways" : `is ${not}`}: ${expected} is expected`;
}

interface Words {
  readonly not: string;
  readonly expected: string;
}

const text = (): Words => ({ not: "no text", expected: "a text" });
const words: Record<FieldType, (format: Format) => Words> = {
  string: text,
  text,
  integer: (format) => ({ not: "no whole number", expected: `a whole number like ${numberIn(format, "")}` }),
  number: (format) => ({ not: "no number", expected: `a number like ${numberIn(format, "50")}` }),
  boolean: ({ true: yes = "true", false: no = "false" }) => ({
    not: "neither yes nor no",
    expected: no === "" ? yes : `${yes} or ${no}`,
  }),
  date: (format) => ({ not: "no date", expected: dayIn(format) }),
  datetime: (format) => ({ not: "no date with a time", expected: `${dayIn(format)} with hour:minute` }),
  time: () => ({ not: "no time of day", expected: "hour:minute" }),
  list: () => ({ not: "no list", expected: 'a, b or ["a","b"]' }),
};

const isDayLike = (given: string, { date_order: order = "dmy" }: Format) =>
  (order === "ymd" ? /^\d{4}-\d{1,2}-\d{1,2}(?!\d)/ : /^\d{1,2}[./]\d{1,2}[./]\d{4}(?!\d)/).test(given) &&
  given.includes({ dmy: ".", mdy: "/", ymd: "-" }[order]);

const days = { dmy: "day.month.year", mdy: "month/day/year", ymd: "year-month-day" } as const;

function dayIn({ date_order: order }: Format): string {
  return order === undefined ? `${days.ymd} or ${days.dmy}` : days[order];
}

function numberIn({ decimal, thousands = "", kind, currency }: Format, decimals: string): string {
  const number = `1${thousands}234${decimals && `${decimal ?? (thousands === "." ? "," : ".")}${decimals}`}`;
  if (kind === "percent") return `${number}%`;
  return currency === undefined ? number : `${number} ${currency}`;
}

const isGrouped = (given: string, { decimal, thousands }: Format) =>
  decimal === undefined && thousands === undefined && /^[-+]?[1-9]\d{0,2},\d{3}$/.test(given);
const isDay = (given: string, { date_order: order }: Format) =>
  order === undefined && /^(?:0?[1-9]|1[0-2])[-/](?:0?[1-9]|1[0-2])[-/]\d{4}(?!\d)/.test(given);

const twofold: Partial<Record<FieldType, (text: string, format: Format) => boolean>> = {
  integer: isGrouped,
  number: isGrouped,
  date: isDay,
  datetime: isDay,
};
