/** Takes a connector's secret out of whatever came back: a remote may echo it in a body or an error. Pure. */

const shortest = 4;
const maxDepth = 128;
export const hidden = "[secret]";

/** Nests deeper than may be stored. */
export class TooDeep extends Error {}

/**
 * The same value as JSON has it (a kind of connector may answer with dates), with every appearance of the secret, also
 * URL-encoded or in base64, replaced. Throws TooDeep.
 */
export function redact(value: unknown, secret: string | null): unknown {
  return walk(value, formsOf(secret), 0);
}

export function redactText(text: string, secret: string | null): string {
  return clear(text, formsOf(secret));
}

function walk(value: unknown, forms: readonly string[], depth: number): unknown {
  if (typeof value === "string") return clear(value, forms);
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`;
  if (typeof value !== "object" || value === null) return value;
  if ("toJSON" in value && typeof value.toJSON === "function") return walk(value.toJSON(), forms, depth + 1);
  if (depth > maxDepth) throw new TooDeep(`the answer nests deeper than ${maxDepth} levels`);
  if (Array.isArray(value)) return value.map((one) => walk(one, forms, depth + 1));
  const entries = Object.entries(value).map(([key, one]) => [clear(key, forms), walk(one, forms, depth + 1)]);
  return Object.fromEntries(entries); // also `__proto__` is an ordinary key here
}

function clear(text: string, forms: readonly string[]): string {
  let cleared = text;
  for (const form of forms) if (cleared.includes(form)) cleared = cleared.replaceAll(form, hidden);
  return cleared;
}

/** A secret of fewer than 4 characters is none, and would take every such letter out of the answer. */
function formsOf(secret: string | null): readonly string[] {
  if (secret === null || secret.length < shortest) return [];
  const base64 = btoa(String.fromCharCode(...new TextEncoder().encode(secret))).replace(/={1,2}$/, "");
  return [...new Set([secret, encodeURIComponent(secret.toWellFormed()), base64])].toSorted(
    (a, b) => b.length - a.length,
  );
}
