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

/** A site that a record is looked for in; null = among what is of no site (paragraphs of every site). */
export type SiteRef = { readonly id: number } | { readonly code: string } | null;

/** How a record is addressed. A code is unique in its site: without `site` it is taken where only one site has it. */
export type Ref = ({ readonly id: number } | { readonly code: string }) & { readonly site?: SiteRef };

/** The id or code of an address; undefined where it can be neither. */
export function refOf(text: string, site?: SiteRef): Ref | undefined {
  const where = site === undefined ? {} : { site };
  if (/^[1-9]\d{0,14}$/.test(text)) return { id: Number(text), ...where };
  return isCode(text) ? { code: text, ...where } : undefined;
}

/** `?site_code=` of an address; "none" = of no site. */
export function siteRefOf(siteCode: string | null | undefined): SiteRef | undefined {
  if (!siteCode) return undefined;
  if (siteCode === "none") return null;
  return isCode(siteCode) ? { code: siteCode } : { id: 0 }; // what can be no code is no site's
}

function isCode(text: string): boolean {
  return text.length <= maxCode && new RegExp(codePattern).test(text);
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
