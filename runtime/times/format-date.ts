/**
 * The `date` filter: strftime formats as Liquid knows them, in a given time zone and by a given clock. Names of months
 * and days come from Intl, because LiquidJS inflects Slavic months wrongly.
 */
import { isDay, parseWords } from "./dates.ts";

export interface DateSettings {
  /** IANA name or "+02:00". */
  timezone: string;
  /** BCP 47, such as "pl" or "en-GB". */
  locale: string;
  now: () => Date;
}

/** A moment as a wall clock of its zone shows it. Read `wall` with the getUTC… methods. */
interface LocalTime {
  instant: number;
  wall: Date;
  offsetSeconds: number;
}

export const defaultDateFormat = "%A, %B %-e, %Y at %-l:%M %P %z";
const maxFormatChars = 1000;
const maxInputChars = 100;
const maxWidth = 100;

/** The text of a date (a Date, epoch seconds, "now", "today" or a date as text), or undefined if it is not a date. */
export function formatDate(value: unknown, format: string, settings: DateSettings): string | undefined {
  const moment = parseMoment(value, settings);
  if (!moment) return undefined;
  if (format.length > maxFormatChars) throw new Error(`a date format has at most ${maxFormatChars} characters`);
  return strftime(moment, format, settings);
}

// A wall clock without a zone is read in the zone in which the date is shown.
const isoWall = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?$/;
const namesZone = /(?:\b(?:Z|UT|UTC|GMT|[ECMP][SD]T)|\d:\d\d(?::\d\d)?(?:[.,]\d+)? ?[+-]\d\d(?::?\d\d)?)(?: \(.*\))?$/i;

function parseMoment(value: unknown, { timezone, now }: DateSettings): LocalTime | undefined {
  if (value instanceof Date) return at(value.getTime(), timezone);
  if (typeof value === "number") return at(value * 1000, timezone);
  if (typeof value !== "string" || value.length > maxInputChars) return undefined;
  const text = value.trim();
  if (text === "now" || text === "today") return at(now().getTime(), timezone);
  if (/^\d+$/.test(text)) return at(Number(text) * 1000, timezone);
  if (/^\d{4}-\d\d-\d\d[T ].*(?:Z|[+-]\d\d(?::?\d\d)?)$/i.test(text))
    return isDay(text.slice(0, 10)) ? at(Date.parse(isoText(text)), timezone) : undefined;
  const iso = isoWall.exec(text);
  if (iso) return atWall(wallOf(iso), timezone);
  if (namesZone.test(text)) return at(parseWords(text), timezone);
  // "January 5, 2026": Date would read it in the server's own zone.
  return atWall(parseWords(text, " UTC"), timezone);
}

/** PostgreSQL writes `2026-01-31 10:00:00.5+00`, which Date cannot read everywhere. */
function isoText(text: string): string {
  return text
    .replace(" ", "T")
    .replace(/ +/, "")
    .replace(/([+-]\d\d)$/, "$1:00")
    .replace(/([+-]\d\d)(\d\d)$/, "$1:$2");
}

function wallOf([, year, month, day, hour = "0", minute = "0", second = "0", fraction = "0"]: string[]): number {
  const wall = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  const isReal = new Date(wall).getUTCDate() === Number(day) && Number(hour) < 25 && Number(minute) < 60;
  return isReal ? wall + Math.floor(Number(`0.${fraction}`) * 1000) : Number.NaN;
}

function at(instant: number, timezone: string): LocalTime | undefined {
  if (Number.isNaN(new Date(instant).getTime())) return undefined;
  const offsetSeconds = zoneOffset(timezone, instant);
  return { instant, wall: new Date(instant + offsetSeconds * 1000), offsetSeconds };
}

function atWall(wall: number, timezone: string): LocalTime | undefined {
  if (Number.isNaN(wall)) return undefined;
  // The offset depends on the moment that is being computed. The second guess is right except in a skipped hour.
  const guess = wall - zoneOffset(timezone, wall) * 1000;
  const offsetSeconds = zoneOffset(timezone, guess);
  return { instant: wall - offsetSeconds * 1000, wall: new Date(wall), offsetSeconds };
}

/** In seconds east of UTC. */
export function zoneOffset(timezone: string, instant: number): number {
  if (timezone === "UTC" || timezone === "Z") return 0;
  const fixed = /^([+-])(\d\d):?(\d\d)$/.exec(timezone);
  if (fixed) return (fixed[1] === "-" ? -60 : 60) * (Number(fixed[2]) * 60 + Number(fixed[3]));
  const parts: Record<string, number> = {};
  for (const { type, value } of clockOf(timezone).formatToParts(instant)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  const offset = (Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instant / 1000) * 1000) / 1000;
  // Years before our era count backwards. No zone had an offset then.
  return Math.abs(offset) < 86_400 * 2 ? offset : 0;
}

function clockOf(timezone: string): Intl.DateTimeFormat {
  return formatter("en-US", {
    timeZone: timezone,
    calendar: "gregory",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** Creating a formatter costs as much as a thousand uses of it. */
function formatter(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify([locale, options]);
  const known = formatters.get(key);
  if (known) return known;
  // The zone and the locale may come from a template.
  if (formatters.size >= 200) formatters.clear();
  const made = makeFormatter(locale, options);
  formatters.set(key, made);
  return made;
}

function makeFormatter(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const tag = locale.replaceAll("_", "-");
  try {
    return new Intl.DateTimeFormat(isLocale(tag) ? tag : "en", options);
  } catch (cause) {
    throw new Error(`unknown time zone "${options.timeZone?.slice(0, 40)}"`, { cause });
  }
}

function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}

type Directive = (moment: LocalTime, settings: DateSettings, flags: string) => string | number;

const directive = /%([-_0^#:]*)(\d*)[EO]?([a-zA-Z%+])/g;
const widths: Record<string, number> = {
  C: 2,
  d: 2,
  e: 2,
  g: 2,
  G: 4,
  H: 2,
  I: 2,
  j: 3,
  k: 2,
  l: 2,
  L: 3,
  m: 2,
  M: 2,
  S: 2,
  U: 2,
  V: 2,
  W: 2,
  y: 2,
  Y: 4,
};
const shorthands: Record<string, string> = {
  D: "%m/%d/%y",
  F: "%Y-%m-%d",
  r: "%I:%M:%S %p",
  R: "%H:%M",
  T: "%H:%M:%S",
  v: "%e-%^b-%Y",
  "+": "%a %b %e %H:%M:%S %Z %Y",
};

function strftime(moment: LocalTime, format: string, settings: DateSettings): string {
  const full = format.replaceAll(/%[%DFrRTv+]/g, (whole) => shorthands[whole.charAt(1)] ?? whole);
  // "5 stycznia" but "styczeń 2026": a month is inflected beside a day.
  const directives = besideDay(full)
    ? { ...shown, B: dayMonth("long"), b: dayMonth("short"), h: dayMonth("short") }
    : shown;
  return full.replaceAll(directive, (whole, flags: string, width: string, letter: string) => {
    const show = directives[letter];
    if (!show) return whole;
    return pad(changeCase(String(show(moment, settings, flags + width)), flags, settings.locale), letter, flags, width);
  });
}

function besideDay(format: string): boolean {
  return /%[-_0^#:]*\d*[EO]?[dev]/.test(format);
}

function changeCase(text: string, flags: string, locale: string): string {
  if (flags.includes("^")) return text.toLocaleUpperCase(isLocale(locale) ? locale : "en");
  if (flags.includes("#")) return /[a-z]/.test(text) ? text.toUpperCase() : text.toLowerCase();
  return text;
}

function pad(text: string, letter: string, flags: string, width: string): string {
  if (flags.includes("-") || letter === "N") return text;
  const byDefault = "aAbBceklpPhZ".includes(letter) ? " " : "0";
  const fill = flags.includes("_") ? " " : flags.includes("0") ? "0" : byDefault;
  const length = Math.min(maxWidth, Number(width) || (widths[letter] ?? 0));
  return text.startsWith("-") && fill === "0"
    ? `-${text.slice(1).padStart(length - 1, fill)}`
    : text.padStart(length, fill);
}

const shown: Record<string, Directive> = {
  a: ({ wall }, { locale }) => name(locale, { weekday: "short" }, wall),
  A: ({ wall }, { locale }) => name(locale, { weekday: "long" }, wall),
  b: ({ wall }, { locale }) => name(locale, { month: "short" }, wall),
  B: ({ wall }, { locale }) => name(locale, { month: "long" }, wall),
  h: ({ wall }, { locale }) => name(locale, { month: "short" }, wall),
  c: ({ wall }, { locale }) => name(locale, { dateStyle: "medium", timeStyle: "medium" }, wall),
  x: ({ wall }, { locale }) => name(locale, { dateStyle: "short" }, wall),
  X: ({ wall }, { locale }) => name(locale, { timeStyle: "medium" }, wall),
  C: ({ wall }) => Math.floor(wall.getUTCFullYear() / 100),
  d: ({ wall }) => wall.getUTCDate(),
  e: ({ wall }) => wall.getUTCDate(),
  g: ({ wall }) => isoWeek(wall).year % 100,
  G: ({ wall }) => isoWeek(wall).year,
  H: ({ wall }) => wall.getUTCHours(),
  I: ({ wall }) => wall.getUTCHours() % 12 || 12,
  j: ({ wall }) => dayOfYear(wall) + 1,
  k: ({ wall }) => wall.getUTCHours(),
  l: ({ wall }) => wall.getUTCHours() % 12 || 12,
  L: ({ wall }) => wall.getUTCMilliseconds(),
  m: ({ wall }) => wall.getUTCMonth() + 1,
  M: ({ wall }) => wall.getUTCMinutes(),
  n: () => "\n",
  N: ({ wall }, _, flags) => nanoseconds(wall, Number(/\d+$/.exec(flags)?.[0] ?? 9)),
  p: ({ wall }) => (wall.getUTCHours() < 12 ? "AM" : "PM"),
  P: ({ wall }) => (wall.getUTCHours() < 12 ? "am" : "pm"),
  q: ({ wall }) => ordinal(wall.getUTCDate()),
  s: ({ instant }) => Math.floor(instant / 1000),
  S: ({ wall }) => wall.getUTCSeconds(),
  t: () => "\t",
  u: ({ wall }) => wall.getUTCDay() || 7,
  U: ({ wall }) => weekOfYear(wall, 0),
  V: ({ wall }) => isoWeek(wall).week,
  w: ({ wall }) => wall.getUTCDay(),
  W: ({ wall }) => weekOfYear(wall, 1),
  y: ({ wall }) => ((wall.getUTCFullYear() % 100) + 100) % 100,
  Y: ({ wall }) => wall.getUTCFullYear(),
  z: ({ offsetSeconds }, _, flags) => offsetText(offsetSeconds, flags),
  Z: (moment, settings) => zoneName(moment, settings),
  "%": () => "%",
};

function dayMonth(style: "long" | "short"): Directive {
  return ({ wall }, { locale }) => {
    const parts = formatter(locale, { ...wallClock, day: "numeric", month: style }).formatToParts(wall);
    const month = parts.find(({ type }) => type === "month")?.value ?? "";
    // Some languages write the month as a number beside a day. The format asked for its name.
    return month === "" || /^\d/.test(month) ? name(locale, { month: style }, wall) : month;
  };
}

const wallClock = { timeZone: "UTC", calendar: "gregory", numberingSystem: "latn" } as const;

function name(locale: string, options: Intl.DateTimeFormatOptions, wall: Date): string {
  return formatter(locale, { ...wallClock, ...options }).format(wall);
}

function zoneName({ instant, offsetSeconds }: LocalTime, { timezone, locale }: DateSettings): string {
  if (/^[+-]\d/.test(timezone)) return offsetText(offsetSeconds, "");
  const parts = formatter(locale, { timeZone: timezone, timeZoneName: "short" }).formatToParts(instant);
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? timezone;
}

function offsetText(offsetSeconds: number, flags: string): string {
  const minutes = Math.floor(Math.abs(offsetSeconds) / 60);
  return `${offsetSeconds < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}${flags.includes(":") ? ":" : ""}${two(minutes % 60)}`;
}

function two(n: number): string {
  return String(n).padStart(2, "0");
}

function nanoseconds(wall: Date, digits: number): string {
  return String(wall.getUTCMilliseconds()).padStart(3, "0").padEnd(9, "0").slice(0, Math.min(digits, 9));
}

function ordinal(day: number): string {
  const suffix = ["th", "st", "nd", "rd"][day % 10] ?? "th";
  return day > 10 && day < 14 ? "th" : suffix;
}

function dayOfYear(wall: Date): number {
  return Math.floor((wall.getTime() - Date.UTC(wall.getUTCFullYear(), 0, 1)) / 86_400_000);
}

function weekOfYear(wall: Date, firstDay: number): number {
  return Math.floor((dayOfYear(wall) + 7 - ((wall.getUTCDay() - firstDay + 7) % 7)) / 7);
}

function isoWeek(wall: Date): { year: number; week: number } {
  // The Thursday of a week decides to which year the week belongs.
  const thursday = new Date(wall.getTime() + (4 - (wall.getUTCDay() || 7)) * 86_400_000);
  return { year: thursday.getUTCFullYear(), week: Math.floor(dayOfYear(thursday) / 7) + 1 };
}
