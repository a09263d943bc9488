/** Values as people read them, by the kind of their field, in a language. Pure. */
import { cellText, plainNumber, plainText, typedText } from "../cells.ts";
import { choiceAt, itemsOf, type Look } from "./kinds.ts";

/** Formats are made once: a grid needs dozens while it is scrolled, and making one is slow. */
const numbers = new Map<string, Intl.NumberFormat>();
const dates = new Map<string, Intl.DateTimeFormat>();

function numberIn(language: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${language} ${JSON.stringify(options)}`;
  const known = numbers.get(key) ?? new Intl.NumberFormat(language, options);
  numbers.set(key, known);
  return known;
}

function dateIn(language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${language} ${JSON.stringify(options)}`;
  const known = dates.get(key) ?? new Intl.DateTimeFormat(language, options);
  dates.set(key, known);
  return known;
}

/** Only what JavaScript holds exactly is formatted; other numbers stay as they were sent. */
function isPlain(value: unknown): value is number {
  return typeof value === "number" && (Number.isSafeInteger(value) || !Number.isInteger(value));
}

/** `symbol`: with the sign of the currency, as panels and sums have it. */
export function moneyText(value: unknown, currency: string, language: string, symbol = false): string {
  if (!isPlain(value)) return cellText(value);
  if (!currency) return numberIn(language, { minimumFractionDigits: 2, maximumFractionDigits: 20 }).format(value);
  const digits = numberIn("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits ?? 2;
  const places = { minimumFractionDigits: digits, maximumFractionDigits: Math.max(digits, 6) };
  return numberIn(language, symbol ? { style: "currency", currency, ...places } : places).format(value);
}

export function percentText(value: unknown, language: string): string {
  return isPlain(value)
    ? numberIn(language, { style: "percent", maximumFractionDigits: 4 }).format(value)
    : cellText(value);
}

/** Four digits may be a year: only longer numbers have groups of thousands. */
export function numberText(value: unknown, language: string): string {
  return isPlain(value)
    ? numberIn(language, { useGrouping: "min2", maximumFractionDigits: 20 }).format(value)
    : cellText(value);
}

const dayMs = 86_400_000;
const isDay = (value: string) => /^\d{4}-\d{2}-\d{2}$/.test(value);

/** How many days `day` is after `today`; both as `2026-01-31`. */
function daysAfter(day: string, today: string): number {
  return Math.round((Date.parse(day) - Date.parse(today)) / dayMs);
}

/** All days look alike: in a column of them one looks for one. */
export function dayText(value: unknown, language: string): string {
  if (typeof value !== "string" || !isDay(value)) return cellText(value);
  return dateIn(language, { dateStyle: "medium", timeZone: "UTC" }).format(new Date(`${value}T00:00:00Z`));
}

/** With its weekday, and how far it is from today. */
export function fullDay(value: unknown, today: string, language: string): string {
  if (typeof value !== "string" || !isDay(value)) return "";
  const full = dateIn(language, { dateStyle: "full", timeZone: "UTC" }).format(new Date(`${value}T00:00:00Z`));
  const days = daysAfter(value, today);
  const distance = new Intl.RelativeTimeFormat(language, { numeric: "auto" }).format(days, "day");
  return Math.abs(days) <= 7 ? `${full} (${distance})` : full;
}

/** People type 25 for a quarter. */
export function percentTyped(stored: string, language: string): string {
  return scaled(stored, 100, language);
}

export function percentStored(typed: string, language: string): string {
  return scaled(typed.replace("%", "").trim(), 0.01, language);
}

/** Without the digits that binary fractions add; what is no number stays for the form to refuse. */
function scaled(text: string, by: number, language: string): string {
  const number = Number(plainNumber(text, language));
  const isNumber = text !== "" && Number.isFinite(number);
  return isNumber ? typedText(Number((number * by).toPrecision(14)), language) : text;
}

const safeAddress = /^(?:https?:\/\/|mailto:|tel:)/i;

/** Where a text leads, if it is an address of its kind. */
export function addressIn({ shown }: Look, value: string): string | undefined {
  if (shown === "email") return `mailto:${encodeURIComponent(value).replace("%40", "@")}`;
  if (shown === "phone") return `tel:${value.replaceAll(/[^\d+]/g, "")}`;
  return shown === "url" && safeAddress.test(value) ? value : undefined;
}

/** What cannot be drawn as it is shown: for cards, messages and copies. */
export interface Reading {
  readonly language: string;
  /** Of the account's time zone. */
  readonly today: string;
  readonly yes: string;
  readonly no: string;
  time(value: string): string;
  files(count: number): string;
  title(look: Look, id: string): string;
}

export function shownText(look: Look, value: unknown, reading: Reading): string {
  const items = itemsOf(value);
  if (items.length === 0) return "";
  switch (look.shown) {
    case "choice":
    case "choices":
      return items.map((item) => choiceAt(look.choices, item).label).join(", ");
    case "link":
    case "person":
      return items.map((item) => reading.title(look, String(item))).join(", ");
    case "money":
      return moneyText(value, look.currency, reading.language, true);
    case "percent":
      return percentText(value, reading.language);
    case "number":
      return numberText(value, reading.language);
    case "date":
      return dayText(value, reading.language);
    case "datetime":
      return typeof value === "string" ? reading.time(value) : cellText(value);
    case "yesno":
      return value === true ? reading.yes : value === false ? reading.no : cellText(value);
    case "file":
      return reading.files(items.length);
    case "list":
      return items.map(cellText).join(", ");
    default:
      return cellText(value);
  }
}

/** What the server has worked out of numbers: without the digits that binary fractions add; what JavaScript would round stays as it was sent. */
export function workedOut(look: Look, value: unknown, reading: Reading): string {
  const number = Number(plainText(value));
  const isExact = Number.isSafeInteger(number) || !Number.isInteger(number);
  return shownText(look, isExact ? Number(number.toPrecision(15)) : plainText(value), reading);
}
