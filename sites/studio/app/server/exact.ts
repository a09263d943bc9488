/**
 * JSON whose numbers keep all their digits: one that JavaScript would round becomes a raw number of JSON, which
 * `JSON.stringify` prints as it was. A browser without those reads JSON as it always did. Pure.
 */
declare global {
  // TypeScript does not know them yet.
  interface JSON {
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
  }
}

const isKnown = "rawJSON" in JSON;
/** Most answers have no such number: with a reviver they take several times as long. */
const mayBeLong = /[\d.]{16}|[\s:,[]-?\d[\d.]*e/i;

export function parseJson(text: string): unknown {
  return isKnown && mayBeLong.test(text) ? JSON.parse(text, revived) : JSON.parse(text);
}

function revived(this: unknown, _key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === "number" && context?.source !== undefined ? numberOf(context.source) : value;
}

/** A number as JSON writes it, with its digits. */
export function numberOf(text: string): unknown {
  const number = Number(text);
  if (!isKnown || !form.test(text)) return number;
  return significantIn(text) === significantIn(String(number)) ? number : JSON.rawJSON(text);
}

export function isLongNumber(value: unknown): boolean {
  return isKnown && JSON.isRawJSON(value);
}

/** The value of a name that a person has chosen: `constructor` and `toString` are names too, and every object has those. */
export function ownOf<T>(map: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return map && Object.hasOwn(map, name) ? map[name] : undefined;
}

/** How far a table is open to somebody, the least first. */
export const levels = ["read", "add", "edit", "manage"] as const;
export type Level = (typeof levels)[number];

/** An object of JSON: neither a list nor a long number. */
export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isLongNumber(value);
}

const form = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** Its digits without the zeros around them: a double has the same ones if it holds the number. */
function significantIn(text: string): string {
  const [mantissa = ""] = text.split(/e/i);
  const digits = mantissa.replace(/^-/, "").replace(".", "").replace(/^0+/, "");
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === 0x30) end--;
  return digits.slice(0, end);
}
