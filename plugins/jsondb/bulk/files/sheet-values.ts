/** A number of a sheet as its style shows it: a day, a time, a percentage, an amount. Pure. */
import type { Cell } from "./cells.ts";
import { currencyOf } from "./currencies.ts";

export interface Style {
  readonly is: "number" | "percent" | "money" | "date" | "time" | "datetime" | "duration";
  readonly currency?: string;
}

const plain: Style = { is: "number" };
/** The formats that need no code, by their number. */
const builtIn = (id: number): Style["is"] => {
  if (id === 9 || id === 10) return "percent";
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || (id >= 34 && id <= 36) || (id >= 50 && id <= 58))
    return "date";
  if ((id >= 18 && id <= 21) || id === 32 || id === 33 || id === 45) return "time";
  if (id === 22) return "datetime";
  return id === 46 || id === 47 ? "duration" : "number";
};

const longestCode = 255;

/** `[$€-407]` names a currency, `[Red]` a colour, `[h]` hours beyond a day; text stands in quotes or behind a `\`. */
export function styleOf(id: number, code: string | undefined): Style {
  if (code === undefined) return { is: builtIn(id) };
  const [first = ""] = code.slice(0, longestCode).split(";");
  const currency = currencyIn(first);
  const bare = first
    .replaceAll(/"[^"]*"/g, "")
    .replaceAll(/\\./g, "")
    .replaceAll(/_./g, "")
    .toLowerCase();
  if (/\[[hms]+\]/.test(bare)) return { is: "duration" };
  const marks = bare.replaceAll(/\[[^\]]{0,60}\]/g, "").replace("general", "");
  const hasTime = /[hs]/.test(marks);
  const hasDay = /[dy]/.test(marks) || (marks.includes("m") && !hasTime);
  if (hasDay) return { is: hasTime ? "datetime" : "date" };
  if (hasTime) return { is: "time" };
  if (marks.includes("%")) return { is: "percent" };
  return currency === undefined ? plain : { is: "money", currency };
}

function currencyIn(code: string): string | undefined {
  const named = /\[\$([^\]-]{1,10})/.exec(code)?.[1] ?? /"([^"]{1,10})"/.exec(code)?.[1];
  const sign = named ?? /[€$£¥]/.exec(code.replaceAll(/\[[^\]]{0,60}\]/g, ""))?.[0];
  return sign === undefined ? undefined : currencyOf(sign.trim());
}

const dayMs = 86_400_000;
/** The day 0 of sheets is 1899-12-30, because they take 1900 for a leap year; that of the other system 1904-01-01. */
const firstDay = Date.UTC(1899, 11, 30);
const first1904 = Date.UTC(1904, 0, 1);
const leapError = 60;
/** Days to the end of the year 9999. */
const lastDay = 2_958_466;

/** The value as a text that has one meaning, marked as such unless it is a day or a time. */
export function writtenAs(value: string, style: Style = plain, is1904 = false): Cell {
  const number = Number(value);
  if (!Number.isFinite(number)) return value;
  switch (style.is) {
    case "number":
      return [`${number}`];
    case "percent":
      return [`${Number((number * 100).toPrecision(15))}%`];
    case "money":
      return [`${number} ${style.currency ?? ""}`];
    case "duration":
      return durationOf(number);
    default:
      return momentOf(number, style.is, is1904);
  }
}

function momentOf(number: number, is: "date" | "time" | "datetime", is1904: boolean): Cell {
  if (number < 0 || number > lastDay) return [`${number}`];
  if (is === "time" && number < 1) return new Date(Math.round(number * dayMs)).toISOString().slice(11, 19);
  const days = !is1904 && number < leapError ? number + 1 : number;
  const iso = new Date((is1904 ? first1904 : firstDay) + Math.round(days * dayMs)).toISOString();
  if (is === "date") return iso.slice(0, 10);
  return iso.slice(0, iso.endsWith(".000Z") ? 19 : 23);
}

/** 1.5 days are 36:00:00. */
function durationOf(number: number): string {
  const seconds = Math.round(Math.abs(number) * 86_400);
  const two = (part: number) => `${part}`.padStart(2, "0");
  const text = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return number < 0 ? `-${text}` : text;
}
