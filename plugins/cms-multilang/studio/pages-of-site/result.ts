/** How a page stands in the results of a search engine, and what is amiss with it. Pure. */
import { isMap } from "studio/exact";

export interface Alternate {
  readonly locale: string;
  readonly url: string;
}

export interface Rendered {
  readonly url: string;
  readonly domain: string | null;
  readonly locale: string;
  readonly address: string | null;
  readonly redirectsTo: string | null;
  readonly fault: string | null;
  readonly title: string | null;
  readonly description: string | null;
  readonly robots: string | null;
  readonly lang: string | null;
  readonly seenCanonical: string | null;
  readonly seenAlternates: readonly Alternate[];
  readonly canonical: string | null;
  readonly alternates: readonly Alternate[];
}

export function renderedOf(json: unknown): Rendered | undefined {
  if (!isMap(json) || typeof json["url"] !== "string") return undefined;
  const seen = isMap(json["seen"]) ? json["seen"] : {};
  const line = (value: unknown) => (typeof value === "string" ? value : null);
  return {
    url: json["url"],
    domain: line(json["domain"]),
    locale: line(json["locale"]) ?? "",
    address: line(json["address"]),
    redirectsTo: line(json["redirects_to"]),
    fault: line(json["fault"]),
    title: line(seen["title"]) || null,
    description: line(seen["description"]) || null,
    robots: line(seen["robots"]),
    lang: line(seen["lang"]),
    seenCanonical: line(seen["canonical_url"]),
    seenAlternates: alternatesIn(seen["alternates"]),
    canonical: line(json["canonical_url"]),
    alternates: alternatesIn(json["alternates"]),
  };
}

function alternatesIn(value: unknown): Alternate[] {
  const rows = Array.isArray(value) ? value.filter(isMap) : [];
  return rows.map(({ locale, url }) => ({ locale: String(locale), url: String(url) }));
}

/** What a result shows at most: the rest is cut off. */
const titleChars = 60;
const descriptionChars = 160;

export type Hint =
  | "redirects"
  | "noindex"
  | "noTitle"
  | "longTitle"
  | "noDescription"
  | "longDescription"
  | "noLang"
  | "noCanonical"
  | "otherCanonical"
  | "noAlternates"
  | "otherAlternates";

/** What a search engine would make of it; nothing of a page that failed. */
export function hintsOf(page: Rendered): Hint[] {
  if (page.fault !== null) return [];
  const told = (list: readonly Alternate[]) =>
    list
      .map(({ locale, url }) => `${locale} ${url}`)
      .toSorted()
      .join("\n");
  const hints: [Hint, boolean][] = [
    ["redirects", page.redirectsTo !== null],
    ["noindex", page.robots?.toLowerCase().includes("noindex") ?? false],
    ["noTitle", page.title === null],
    ["longTitle", (page.title ?? "").length > titleChars],
    ["noDescription", page.description === null],
    ["longDescription", (page.description ?? "").length > descriptionChars],
    ["noLang", page.lang === null],
    ["noCanonical", page.canonical !== null && page.seenCanonical === null],
    ["otherCanonical", page.canonical !== null && ![null, page.canonical].includes(page.seenCanonical)],
    ["noAlternates", page.alternates.length > 1 && page.seenAlternates.length === 0],
    ["otherAlternates", page.seenAlternates.length > 0 && told(page.alternates) !== told(page.seenAlternates)],
  ];
  return hints.filter(([, isSo]) => isSo).map(([hint]) => hint);
}

export interface Result {
  /** `www.acme.example › offer › shoes` */
  readonly crumbs: string;
  readonly title: string;
  readonly description: string;
}

export function resultOf(page: Rendered): Result {
  return {
    crumbs: crumbsOf(page.seenCanonical ?? page.address ?? ""),
    title: cutAt(page.title ?? "", titleChars),
    description: cutAt(page.description ?? "", descriptionChars),
  };
}

function crumbsOf(address: string): string {
  if (!URL.canParse(address)) return address;
  const { host, pathname } = new URL(address);
  return [host, ...pathname.split("/").filter(Boolean).map(readable)].join(" › ");
}

function readable(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** At the end of a word, as results are cut. */
function cutAt(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const blank = text.lastIndexOf(" ", chars);
  return `${text.slice(0, blank > chars / 2 ? blank : chars).trimEnd()} …`;
}

/** The names of the page's form that a preview is asked for with. */
const drafted = new Set([
  "name",
  "path",
  "locale",
  "layout_code",
  "content",
  "fields",
  "html_title",
  "html_description",
  "html_keywords",
  "based_on_page_code",
]);

/** What of a save a preview takes. */
export function draftOf(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => drafted.has(name)));
}
