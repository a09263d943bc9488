/** Removes a connector's secret from an outcome: a remote may echo it in a body or an error. Pure. */
import { ExactNumber } from "platform";

const shortest = 4;
/** From this length on a secret is hidden inside of words too. */
const anywhere = 8;
const maxDepth = 128;
export const hidden = "[secret]";

/** The value cannot be kept: it nests too deeply, or has a number that is too long. */
export class Unkept extends Error {}

/**
 * The value as JSON has it (a kind of connector may return dates), with the secret replaced wherever it appears, also
 * URL-encoded or in base64. Throws Unkept.
 */
export function redact(value: unknown, secret: string | null): unknown {
  return walk(value, formsOf(secret), 0);
}

export function redactText(text: string, secret: string | null): string {
  return clear(text, formsOf(secret));
}

/**
 * Passes a text on as it comes, in parts, without the secret: the end of a part that may be the secret's beginning waits
 * for the next part.
 */
export function withoutSecret(onText: (text: string) => void, secret: string | null) {
  const forms = formsOf(secret);
  let held = "";
  const pass = (text: string) => {
    if (text !== "") onText(text);
  };
  return {
    add(part: string): void {
      const text = clear(held + part, forms);
      const at = text.length - Math.max(0, ...forms.map((form) => overlap(text, form)));
      held = text.slice(at);
      pass(text.slice(0, at));
    },
    end(): void {
      pass(held);
      held = "";
    },
  };
}

/** How many characters at the end of the text are the form's beginning. */
function overlap(text: string, form: string): number {
  for (let length = Math.min(form.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(form.slice(0, length))) return length;
  }
  return 0;
}

function walk(value: unknown, forms: readonly string[], depth: number): unknown {
  if (typeof value === "string") return clear(value, forms);
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`;
  if (typeof value === "number" && !Number.isFinite(value))
    throw new Unkept("the answer has a number that is too large or too long to be kept");
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof ExactNumber) return clear(String(value), forms) === String(value) ? value : hidden;
  if ("toJSON" in value && typeof value.toJSON === "function") return walk(value.toJSON(), forms, depth + 1);
  if (depth > maxDepth) throw new Unkept(`the answer nests deeper than ${maxDepth} levels`);
  if (Array.isArray(value)) return value.map((one) => walk(one, forms, depth + 1));
  const entries = Object.entries(value).map(([key, one]) => [clear(key, forms), walk(one, forms, depth + 1)]);
  return Object.fromEntries(entries); // `__proto__` is an ordinary key here
}

function clear(text: string, forms: readonly string[]): string {
  let cleared = text;
  for (const form of forms)
    if (cleared.includes(form))
      cleared = form.length < anywhere ? clearWords(cleared, form) : cleared.replaceAll(form, hidden);
  return cleared;
}

/** So short a secret (a year, a name) stands in many words and dates, which are none. */
function clearWords(text: string, form: string): string {
  const parts = text.split(form);
  return parts.reduce((before, after) => {
    const isPart = /[\p{L}\p{N}_-]$/u.test(before.slice(-2)) || /^[\p{L}\p{N}_-]/u.test(after.slice(0, 2));
    return `${before}${isPart ? form : hidden}${after}`;
  });
}

/** Replacing a secret of fewer than 4 characters would destroy the answer and hide nothing. */
function formsOf(secret: string | null): readonly string[] {
  if (secret === null || secret.length < shortest) return [];
  const base64 = btoa(String.fromCharCode(...new TextEncoder().encode(secret))).replace(/={1,2}$/, "");
  return [...new Set([secret, encodeURIComponent(secret.toWellFormed()), base64])].toSorted(
    (a, b) => b.length - a.length,
  );
}
