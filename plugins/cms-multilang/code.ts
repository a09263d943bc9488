/** Codes: what a record is called in addresses, files and templates. */
import { slugOf, Type } from "platform";

/** An address takes an id or a code: so a code is no number, and does not end as an address may. */
export const codePattern = String.raw`^(?!\d+$)(?!.*\.(?:json|md)$)[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_-]))*$`;

export const maxCode = 100;

export const codeField = () =>
  Type.String({
    pattern: codePattern,
    maxLength: maxCode,
    description: "letters, digits, -, _ and . inside, and not a number alone",
  });

/** How a record is addressed. */
export type Ref = { readonly id: number } | { readonly code: string };

/** The id or code of an address; undefined where it can be neither. */
export function refOf(text: string): Ref | undefined {
  if (/^[1-9]\d{0,14}$/.test(text)) return { id: Number(text) };
  return text.length <= maxCode && new RegExp(codePattern).test(text) ? { code: text } : undefined;
}

/** "Zażółć Gęślą" -> "zazolc-gesla"; what makes no code is called by its kind. */
export function codeFrom(name: string, kind: string): string {
  const slug = slugOf(name);
  if (slug === "") return kind;
  return /^\d+$/.test(slug) ? `${kind}-${slug}` : slug;
}

/** `base`, or with the first number that makes it free. */
export function freeOf(base: string, taken: ReadonlySet<string>): string {
  if (!taken.has(base)) return base;
  let number = 2;
  while (taken.has(`${base}-${number}`)) number++;
  return `${base}-${number}`;
}
