/** Small parsers for parts of addresses, and ids. */
import { host } from "#host";
import { invalid, notFound } from "./errors.ts";
import { ExactNumber } from "./exact-number.ts";

/** A page of a list. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** `limit` and `offset`: a number out of range is clamped, and anything else is ignored (behaviour B.3). */
export function pageOf(query: URLSearchParams, standard = 100, most = 1000): Page {
  const number = (name: string, otherwise: number) => {
    const given = query.get(name)?.trim() ?? "";
    return /^[+-]?\d+$/.test(given) ? Number(given) : otherwise;
  };
  const clamp = (value: number, least: number, largest: number) => Math.min(Math.max(value, least), largest);
  return { limit: clamp(number("limit", standard), 1, most), offset: clamp(number("offset", 0), 0, 2 ** 40) };
}

const flags = new Map(Object.entries({ true: true, yes: true, 1: true, false: false, no: false, 0: false }));

/** A boolean parameter: undefined if it is missing or empty, 422 if it is anything but true or false. */
export function flagOf(query: URLSearchParams, parameter: string): boolean | undefined {
  const given = query.get(parameter);
  if (!given) return undefined;
  const flag = flags.get(given);
  if (flag === undefined) throw invalid({ [parameter]: ["must be true or false"] });
  return flag;
}

/** An id from the path that must be a whole number; 404 if it is malformed, in the words of `missing`. */
export function integerId(value: string, missing?: string): number {
  if (!/^[1-9]\d{0,14}$/.test(value)) throw notFound(missing);
  return Number(value);
}

export function isUuid(value: string): boolean {
  return /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(value);
}

/** An id from the path that must be a UUID; 404 if it is malformed, in the words of `missing`. */
export function uuidOf(value: string, missing?: string): string {
  if (!isUuid(value)) throw notFound(missing);
  return value.toLowerCase();
}

/** A JSON object: neither null nor an array nor a number. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** The code of an error of the system, of PostgreSQL or of a library: `ENOENT`, `23505`; "" without one. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** Makes the entry the newest of a map, whose order is that of insertion, and forgets the oldest beyond `most`. */
export function putNewest<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) for (const oldest of map.keys().take(1)) map.delete(oldest);
}

/** The promise's outcome, or `late` after so many milliseconds. */
export function orLate<T, L>(promise: Promise<T>, ms: number, late: L): Promise<T | L> {
  const { promise: over, resolve } = Promise.withResolvers<L>();
  const timer = setTimeout(() => resolve(late), ms);
  return Promise.race([promise, over]).finally(() => clearTimeout(timer));
}

/** A new id that sorts by age (RFC 9562, version 7). */
export function uuidv7(): string {
  return host.uuidv7();
}

/** When a UUID of version 7 was made. They go on from where they were when the clock was set back: then, now. */
export function timeOfUuidv7(id: string): Date {
  return new Date(Math.min(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16), Date.now()));
}

/** Removes the given characters from the end. The pattern /x+$/ is quadratic in a run that is not at the end. */
export function trimmedEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/**
 * A phrase as a LIKE pattern. `*` and `%` are wildcards; a phrase without them matches as a fragment. `_` and `\` are
 * ordinary characters (behaviour 4.4, B.7).
 */
export function wildcardPattern(phrase: string): string {
  const escaped = phrase.replaceAll(/[\\_]/g, String.raw`\$&`).replaceAll("*", "%");
  return escaped.includes("%") ? escaped : `%${escaped}%`;
}
