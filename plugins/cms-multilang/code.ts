/** Codes and paths: the names of records in addresses, files and templates. behaviour B.11. */
import { slugOf, Type } from "platform";

/** An address takes an id or a code. So a code cannot be a number, nor end like an address. */
const codePattern = String.raw`^(?!\d+$)(?!.*\.(?:json|md)$)[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_-]))*$`;

const maxCode = 100;

export const codeField = () =>
  Type.String({
    pattern: codePattern,
    maxLength: maxCode,
    description: "letters, digits, -, _ and . inside, and not a number alone",
  });

/** The site in which a record is looked up; null = records that belong to no site (paragraphs of every site). */
export type SiteRef = { readonly id: number } | { readonly code: string } | null;

/** How a record is addressed. A code is unique in its site; without `site` it is enough if only one site has it. */
export type Ref = ({ readonly id: number } | { readonly code: string }) & { readonly site?: SiteRef };

/** The id or code in an address; undefined if the text can be neither. */
export function refOf(text: string, site?: SiteRef): Ref | undefined {
  const where = site === undefined ? {} : { site };
  if (/^[1-9]\d{0,14}$/.test(text)) return { id: Number(text), ...where };
  return isCode(text) ? { code: text, ...where } : undefined;
}

/** `?site_code=` of an address; "none" = belongs to no site. */
export function siteRefOf(siteCode: string | null | undefined): SiteRef | undefined {
  if (!siteCode) return undefined;
  if (siteCode === "none") return null;
  return isCode(siteCode) ? { code: siteCode } : { id: 0 }; // no site can have this code
}

function isCode(text: string): boolean {
  return text.length <= maxCode && new RegExp(codePattern).test(text);
}

/** "Zażółć Gęślą" -> "zazolc-gesla". A name without any letter or digit gives the name of the kind. */
export function codeFrom(name: string, kind: string): string {
  const slug = slugOf(name);
  if (slug === "") return kind;
  return /^\d+$/.test(slug) ? `${kind}-${slug}` : slug;
}

/** `base`, or `base` with the first number that is free. */
export function freeOf(base: string, taken: ReadonlySet<string>): string {
  if (!taken.has(base)) return base;
  let number = 2;
  while (taken.has(`${base}-${number}`)) number++;
  return `${base}-${number}`;
}

export const maxPathBytes = 2000;

/** A path without slashes at its ends and otherwise as sent, or the reason why it is refused. */
type CleanPath = { readonly path: string } | { readonly mistake: string };

export function cleanPath(given: string): CleanPath {
  const path = withoutSlashes(given.normalize("NFC"));
  const mistake = mistakeOf(path);
  return mistake === undefined ? { path } : { mistake };
}

function withoutSlashes(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && text[start] === "/") start++;
  while (end > start && text[end - 1] === "/") end--;
  return text.slice(start, end);
}

/** Refuses only paths that no address can lead to: browsers resolve dot segments and send no control characters. */
function mistakeOf(path: string): string | undefined {
  if (new TextEncoder().encode(path).length > maxPathBytes) return `may have at most ${maxPathBytes} bytes`;
  // oxlint-disable-next-line no-control-regex -- they are what is refused
  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) return "must not contain control characters";
  if (path === "") return undefined;
  const odd = path.split("/").find((segment) => segment === "" || segment === "." || segment === "..");
  if (odd !== undefined)
    return odd === "" ? "must not contain an empty segment (//)" : `must not contain the segment ${odd}`;
  return undefined;
}
