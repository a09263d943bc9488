/**
 * LiquidJS's filters, each with a price. Filters whose work is not bounded by their price are replaced: the date
 * filters, arithmetic, sort and sort_natural, sum, split, replace and remove, slice, sample, json and inspect, append and prepend.
 * `*_exp` are disabled, because they parse text at run time.
 */
import { filters as originals, toValue, toValueSync } from "liquidjs";
import type { FilterImplOptions } from "liquidjs";
import { dividedBy, minus, plus, sum, times } from "./liquid-arithmetic.ts";
import { ExactNumber, isNumber } from "../base/exact-number.ts";
import { defaultDateFormat, formatDate } from "../times/format-date.ts";
import { guarded, jsonOf, limits, LimitReached, textOf, sizeOf, weigh } from "./liquid-guard.ts";
import type { FilterFunction, GuardedContext } from "./liquid-guard.ts";

type Handler = (context: GuardedContext, value: unknown, ...args: unknown[]) => unknown;

/** All filters, ready to register. */
export function boundedFilters(): Map<string, FilterImplOptions> {
  const all = new Map<string, FilterImplOptions>();
  for (const [name, original] of Object.entries(originals)) {
    if (name.endsWith("_exp")) continue;
    if (typeof original === "function") all.set(name, priced(name, original));
    else all.set(name, original);
  }
  for (const [name, handler] of Object.entries(replacements)) {
    all.set(
      name,
      priced(name, function (value: unknown, ...args: unknown[]) {
        return handler(guarded(this.context), value, ...args);
      }),
    );
  }
  return all;
}

/** One of our own filters. A rendering may bring a function of the same name, which then replaces it. */
export function customFilter(name: string, fallback: FilterFunction): FilterImplOptions {
  return priced(name, function (value: unknown, ...args: unknown[]) {
    const { filters } = guarded(this.context).run;
    const filter = Object.hasOwn(filters, name) ? filters[name] : fallback;
    return filter?.(toValue(value), ...args);
  });
}

// Filters that look at the elements of a list but not into them.
const shallow = new Set(
  "append compact concat default find find_index first group_by has json jsonify inspect last map pop prepend push raw reject reverse sample shift size slice sort sort_natural sum unshift where".split(
    " ",
  ),
);
// Filters from text to text. Any input is first made text, by the same rules for all of them.
const textual = new Set(
  "append base64_decode base64_encode capitalize cgi_escape downcase escape escape_once hmac_sha256 lstrip newline_to_br normalize_whitespace number_of_words prepend remove remove_first remove_last replace replace_first replace_last rstrip sha256 slugify split squish strip strip_html strip_newlines truncate truncatewords upcase uri_escape url_decode url_encode xml_escape".split(
    " ",
  ),
);
// Filters that evaluate a path such as `client.name` for each element.
const byPath = new Set("find find_index group_by has map reject sort sort_natural sum where".split(" "));
// Filters that make a context of each element to evaluate a path in it.
const byContext = new Set("find find_index group_by has reject where".split(" "));
// The price in steps per call and in characters per character, if it is more than one.
const stepsOf: Record<string, number> = {
  date: 10,
  date_to_xmlschema: 10,
  date_to_rfc822: 10,
  date_to_string: 10,
  date_to_long_string: 10,
  sha256: 5,
  hmac_sha256: 10,
  base64_encode: 2,
  base64_decode: 2,
};
const charsOf: Record<string, number> = {
  truncatewords: 16,
  number_of_words: 16,
  array_to_sentence_string: 4,
  slugify: 4,
  url_encode: 3,
  cgi_escape: 3,
  uri_escape: 3,
  strip: 2,
  uniq: 2,
  sha256: 2,
  hmac_sha256: 2,
};
const searching = new Set("remove_first remove_last replace_first replace_last".split(" "));

function priced(name: string, handler: Extract<FilterImplOptions, (...args: never[]) => unknown>): FilterImplOptions {
  const [steps, perChar] = [stepsOf[name] ?? 1, charsOf[name] ?? 1];
  const [isTextual, isShallow, takesPath, searches] = [textual, shallow, byPath, searching].map((set) => set.has(name));
  const perItem = byContext.has(name) ? 3 : 1;
  return function (given: unknown, ...args: unknown[]) {
    const context = guarded(this.context);
    const value = isTextual ? textOf(context, given) : given;
    context.tick(steps);
    const weight = (item: unknown) => (isShallow ? lengthOf(item) : weightOf(context, item));
    let chars = weight(value);
    for (const arg of args) chars += weight(arg);
    context.charge(perChar * chars);
    if (takesPath) checkPath(context, value, args, perItem);
    if (searches) chargeSearch(context, value, args[0]);
    const result: unknown = handler.call(this, value, ...args);
    return isGenerator(result) ? settle(context, result, name) : checked(context, value, result);
  };
}

function* settle(
  context: GuardedContext,
  steps: Generator<unknown, unknown, unknown>,
  name: string,
): Generator<unknown, unknown, unknown> {
  return checked(context, undefined, name === "group_by" ? joined(yield steps) : yield steps);
}

/** LiquidJS groups by identity, and equal numbers of many digits may be several objects. */
function joined(groups: unknown): unknown {
  const equal = Map.groupBy(groups as { name: unknown; items: unknown[] }[], ({ name }) => identity(name)); // LiquidJS's
  return [...equal.values()].map((same) => ({ ...same[0], items: same.flatMap(({ items }) => items) }));
}

const identity = (value: unknown) => (value instanceof ExactNumber ? `\0${String(value)}` : value);

function checked(context: GuardedContext, value: unknown, result: unknown): unknown {
  if (Array.isArray(result)) {
    weigh(context, result);
    context.charge(result.length);
  } else if (typeof result === "string") context.charge(result.length - (typeof value === "string" ? value.length : 0));
  return result;
}

function isGenerator(value: unknown): value is Generator<unknown, unknown, unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    "next" in value &&
    "throw" in value &&
    typeof value.next === "function"
  );
}

/** The elements of a list; or the properties of an object, which some filters take for a list. */
function lengthOf(item: unknown): number {
  return typeof item === "string" ? 0 : (sizeOf(toValue(item)) ?? 0);
}

function weightOf(context: GuardedContext, item: unknown): number {
  if (Array.isArray(item)) return weigh(context, item).chars;
  return typeof item === "string" ? item.length : 1;
}

/** A path costs its length for each element. The value that it is compared with costs its own length. */
function checkPath(context: GuardedContext, value: unknown, [path, expected]: unknown[], perItem: number): void {
  const text = textOf(context, path);
  if (text.length > limits.propertyChars) throw new LimitReached("a property path is too long");
  const items = Math.max(1, lengthOf(value));
  context.tick(perItem * items);
  context.charge(Math.ceil(items * (weightOf(context, expected) / 64)));
}

/** Finding a long text in a long text can take time in the product of their lengths. */
export function chargeSearch(context: GuardedContext, text: unknown, pattern: unknown): void {
  const [length, patternLength] = [weightOf(context, text), weightOf(context, pattern)];
  if (patternLength <= length) context.charge(Math.floor(length * (patternLength / 64)));
}

const replacements: Record<string, Handler> = {
  // Only the added text is charged. Otherwise building a text in a loop would cost the square of its length.
  append: (context, value, arg) => textOf(context, value) + paid(context, arg),
  prepend: (context, value, arg) => paid(context, arg) + textOf(context, value),
  split: (context, value, separator) => splitText(context, textOf(context, value), textOf(context, separator)),
  replace: (context, value, pattern, replacement) => replaceText(context, value, pattern, replacement),
  remove: (context, value, pattern) => replaceText(context, value, pattern, ""),
  slice: sliceValue,
  sort: (context, value, path) => sorted(context, value, path, (key) => key),
  sort_natural: (context, value, path) =>
    sorted(context, value, path, (key) => (isNothing(key) ? key : textOf(context, key).toLowerCase())),
  plus: (_context, value, arg) => plus(value, arg),
  minus: (_context, value, arg) => minus(value, arg),
  times: (_context, value, arg) => times(value, arg),
  divided_by: (_context, value, arg, integers) => dividedBy(value, arg, integers),
  sum: (context, value, path) => sum(foundIn(context, listOf(value), path).map(comparable)),
  uniq: (_context, value) => [...new Map(listOf(value).map((one) => [identity(one), one])).values()],
  sample: sampleOf,
  json: (context, value, indent) => jsonOf(context, toValue(value), indentOf(indent)),
  jsonify: (context, value, indent) => jsonOf(context, toValue(value), indentOf(indent)),
  inspect: (context, value, indent) => jsonOf(context, toValue(value), indentOf(indent)),
  date: (context, value, format, timezone) => dateText(context, value, format, timezone),
  date_to_xmlschema: (context, value) => dateText(context, value, "%Y-%m-%dT%H:%M:%S%:z"),
  date_to_rfc822: (context, value) => dateText(context, value, "%a, %d %b %Y %H:%M:%S %z", undefined, "en"),
  date_to_string: (context, value, type, style) => dateText(context, value, dayFormat("%b", type, style)),
  date_to_long_string: (context, value, type, style) => dateText(context, value, dayFormat("%B", type, style)),
};

function paid(context: GuardedContext, value: unknown): string {
  const text = textOf(context, value);
  context.charge(text.length);
  return text;
}

function indentOf(value: unknown): number {
  return Math.min(4, Math.max(0, Math.trunc(numberOf(value, 0))));
}

function numberOf(value: unknown, fallback: number): number {
  const number = typeof value === "number" || (typeof value === "string" && value.length < 40) ? Number(value) : NaN;
  return Number.isNaN(number) ? fallback : number;
}

/** Pieces of a text cost more than their characters, so there are at most a million. */
const pieceChars = 16;

function splitText(context: GuardedContext, text: string, separator: string): string[] {
  chargeSearch(context, text, separator);
  const most = Math.floor(limits.memory / pieceChars);
  const pieces = text.split(separator, most + 1);
  context.charge(pieces.length * pieceChars);
  // As in Ruby, empty pieces at the end do not count.
  while (pieces.at(-1) === "") pieces.pop();
  return pieces;
}

function replaceText(context: GuardedContext, value: unknown, pattern: unknown, replacement: unknown): string {
  const [text, from, to] = [textOf(context, value), textOf(context, pattern), textOf(context, replacement)];
  chargeSearch(context, text, from);
  let count = from === "" ? text.length : 0;
  if (from !== "") for (let at = text.indexOf(from); at >= 0; at = text.indexOf(from, at + from.length)) count++;
  context.charge(count * (pieceChars + to.length));
  return text.replaceAll(from, () => to);
}

function sliceValue(context: GuardedContext, given: unknown, begin: unknown, count: unknown = 1): unknown {
  const value: unknown = toValue(given);
  if (isNothing(value)) return [];
  const list = Array.isArray(value) ? value : undefined;
  const text = list ? "" : paid(context, value);
  const from = Math.trunc(numberOf(begin, 0));
  const length = Math.trunc(numberOf(count, 1));
  const start = from < 0 ? (list?.length ?? codePoints(text)) + from : from;
  if (start < 0 || length < 0) return list ? [] : "";
  if (list) return list.slice(start, start + length);
  const unit = advance(text, 0, start);
  return text.slice(unit, advance(text, unit, length));
}

function codePoints(text: string): number {
  let count = 0;
  for (let unit = 0; unit < text.length; unit = advance(text, unit, 1)) count++;
  return count;
}

/** The index `count` characters later; a character may take two code units. */
function advance(text: string, from: number, count: number): number {
  let unit = from;
  for (let left = count; left > 0 && unit < text.length; left--) unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  return unit;
}

function listOf(value: unknown): unknown[] {
  const list: unknown = toValue(value);
  if (Array.isArray(list)) return list;
  return isNothing(list) ? [] : [list];
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}

/** Sorts by keys that are read once: numbers and texts in order, anything else at the end. */
function sorted(context: GuardedContext, value: unknown, path: unknown, keyOf: (key: unknown) => unknown): unknown[] {
  const list = listOf(value);
  const rounds = Math.ceil(Math.log2(list.length + 1));
  context.tick(Math.ceil((list.length * rounds) / 8));
  const keyed = foundIn(context, list, path).map((found, index) => {
    const key = comparable(keyOf(found));
    context.charge(Math.ceil((weightOf(context, key) * rounds) / 4));
    return { item: list[index], key };
  });
  return keyed.toSorted((a, b) => compare(a.key, b.key)).map(({ item }) => item);
}

/** What each element has at a path, or the elements. */
function foundIn(context: GuardedContext, list: readonly unknown[], path: unknown): unknown[] {
  const steps = isNothing(path) ? [] : textOf(context, path).split(".");
  return list.map((item) => {
    // oxlint-disable-next-line eslint/no-underscore-dangle -- LiquidJS's name
    const found: unknown = steps.length > 0 ? toValueSync(context._getFromScope(item, steps, false)) : toValue(item);
    return found instanceof Date ? found.getTime() : found;
  });
}

type Key = ExactNumber | number | string | boolean | undefined;

function comparable(key: unknown): Key {
  return isNumber(key) || typeof key === "string" || typeof key === "boolean" ? key : undefined;
}

function compare(a: Key, b: Key): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  if (a instanceof ExactNumber) return Number(a.gt(b)) - Number(a.lt(b));
  if (b instanceof ExactNumber) return -compare(b, a);
  if (a < b) return -1;
  return a > b ? 1 : 0;
}

function sampleOf(context: GuardedContext, value: unknown, count: unknown = 1): unknown {
  const pool = typeof value === "string" ? splitText(context, value, "") : [...listOf(value)];
  const wanted = Math.min(pool.length, Math.max(0, Math.trunc(numberOf(count, 1))));
  for (let index = 0; index < wanted; index++) {
    const other = index + Math.floor(context.run.random() * (pool.length - index));
    [pool[index], pool[other]] = [pool[other], pool[index]];
  }
  return wanted === 1 && numberOf(count, 1) === 1 ? pool[0] : pool.slice(0, wanted);
}

function dateText(context: GuardedContext, given: unknown, format: unknown, zone?: unknown, locale?: string): unknown {
  const value: unknown = toValue(given);
  const { run } = context;
  const pattern = isNothing(toValue(format)) ? defaultDateFormat : textOf(context, format);
  context.tick(Math.ceil(pattern.length / 4));
  return (
    formatDate(value, pattern, { ...run, timezone: zoneOf(zone) ?? run.timezone, locale: locale ?? run.locale }) ??
    value
  );
}

/** A zone name, "+02:00", or LiquidJS's minutes west of Greenwich. */
function zoneOf(zone: unknown): string | undefined {
  if (typeof zone === "string" && zone !== "") return zone;
  if (typeof zone !== "number" || !(Math.abs(zone) < 24 * 60)) return undefined;
  const minutes = Math.trunc(Math.abs(zone));
  const text = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0")).join(":");
  return `${zone > 0 ? "-" : "+"}${text}`;
}

function dayFormat(month: string, type: unknown, style: unknown): string {
  if (type !== "ordinal") return `%d ${month} %Y`;
  return style === "US" ? `${month} %-d%q, %Y` : `%-d%q ${month} %Y`;
}
