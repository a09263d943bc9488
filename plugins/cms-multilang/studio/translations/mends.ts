/**
 * What the check of a site has found, grouped for people, and what mends a finding for sure, by one ordinary call of
 * the API. Pure; what is not sure is not mended.
 */
import { isLocale } from "../../locales.ts";
import type { Finding, FindingCode } from "../../care/finding.ts";
import { htmlTag, liquidTags, withTags } from "../../liquid-tags.ts";
import type { Row } from "./rows.ts";
import { textOf } from "./units.ts";

interface Group {
  readonly code: FindingCode;
  readonly severity: Finding["severity"];
  readonly findings: readonly Finding[];
}

/** By kind: errors first, in the order in which they were found. */
export function groupsOf(findings: readonly Finding[]): Group[] {
  const groups = new Map<FindingCode, Finding[]>();
  for (const finding of findings) groups.set(finding.code, [...(groups.get(finding.code) ?? []), finding]);
  const all = [...groups].map(([code, of]) => ({ code, severity: of[0]?.severity ?? "warning", findings: of }));
  return all.toSorted((a, b) => Number(a.severity === "warning") - Number(b.severity === "warning"));
}

type Kind = "page" | "layout" | "paragraph" | "article";

interface Subject {
  readonly kind: Kind;
  readonly code: string;
}

/** The record that it is about; undefined = the site or its domains. */
export function subjectOf({ page, field = "" }: Pick<Finding, "page" | "field">): Subject | undefined {
  if (page !== null) return { kind: "page", code: page };
  const [kind = "", code = ""] = field.split(" ", 2);
  return kind === "layout" || kind === "paragraph" || kind === "article" ? { kind, code } : undefined;
}

/** The field within the record: `layout main content` -> `content`. */
export function fieldOf({ page, field }: Pick<Finding, "page" | "field">): string {
  if (field === undefined) return "";
  return page === null ? field.split(" ").slice(2).join(" ") : field;
}

const ofTranslations: ReadonlySet<string> = new Set(["missing_translation", "missing_keys", "stale_translation"]);

/** Where in the Studio it is seen to: the matrix, the site's domains, the site, or the record (`subjectOf`). */
export function placeOf({ code, page, locale }: Finding): "translations" | "domains" | "site" | "migration" | "record" {
  if (ofTranslations.has(code) && page !== null && isLocale(locale)) return "translations";
  if (code === "no_domain" || code.startsWith("domain") || code === "language_unreachable") return "domains";
  if (code === "suffixed_variable") return "migration";
  return code === "path_needs_multilang" ? "site" : "record";
}

export const severities = ["error", "warning"] as const;

type Entry = Readonly<Record<string, unknown>>;

/** What stands around: read once for all findings. */
export interface World {
  readonly site: { readonly code: string; readonly locale: string };
  readonly layouts: readonly Entry[];
  readonly categories: readonly string[];
  readonly paragraphs: readonly string[];
  readonly domains: readonly Entry[];
  readonly rows: readonly Row[];
}

export interface Mend {
  readonly method: "PATCH" | "POST";
  readonly kind: Subject["kind"] | "domain";
  /** The record that is changed; undefined for a new one. */
  readonly id?: number;
  readonly values: Entry;
  /** What is compared: a template before and after, else the values. */
  readonly before: string;
  readonly after: string;
}

/** Whether it could be mended, from what is known without reading the record: decides whether the button is there. */
export function isMendable(finding: Finding, world: World): boolean {
  const { code, locale } = finding;
  switch (code) {
    case "missing_translation": {
      const row = world.rows.find(({ page }) => page === finding.page);
      return row !== undefined && row.path !== "" && locale !== undefined && row.locales[locale]?.page === null;
    }
    case "unknown_paragraph":
      return nearest(nameIn(finding, "paragraph "), world.paragraphs) !== undefined;
    case "unknown_category":
      return nearest(nameIn(finding, "category "), world.categories) !== undefined;
    case "page_without_layout":
      return world.layouts.length === 1;
    case "article_without_category":
      return world.categories.length === 1;
    case "domains_without_locale":
      return world.domains.some(isPrimary);
    case "locale_as_html_lang":
    case "layout_without_html_lang":
    case "html_lang_of_shared_pages":
    case "layout_without_seo_head": {
      const layout = world.layouts.find((one) => one["code"] === subjectOf(finding)?.code);
      const content = textOf(layout?.["content"]);
      return layout !== undefined && headed(finding, content, world) !== content;
    }
    default:
      return false;
  }
}

/** The call, with the record as it is now; undefined if it is not sure any more. */
export function mendOf(finding: Finding, world: World, record: Entry | undefined): Mend | undefined {
  if (!isMendable(finding, world)) return undefined;
  if (finding.code === "missing_translation") return slaveOf(finding, world, record);
  if (finding.code === "domains_without_locale") {
    const primary = world.domains.find(isPrimary);
    return primary && patch("domain", primary, { locale: world.site.locale });
  }
  const kind = subjectOf(finding)?.kind;
  if (!record || !kind) return undefined;
  if (finding.code === "page_without_layout")
    return record["based_on_page_id"] === null
      ? patch(kind, record, { layout_code: world.layouts[0]?.["code"] })
      : undefined;
  if (finding.code === "article_without_category") return patch(kind, record, { category_code: world.categories[0] });
  const content = textOf(record["content"]);
  const mended = contentOf(finding, content, world);
  return mended === content ? undefined : patch(kind, record, { content: mended });
}

/** A master has its own language and is not the home page. */
function slaveOf({ locale }: Finding, { site }: World, record: Entry | undefined): Mend | undefined {
  if (!record || record["locale"] === null || record["path"] === "" || locale === undefined) return undefined;
  const values = {
    site_code: site.code,
    based_on_page_code: record["code"],
    code: `${textOf(record["code"])}-${locale}`,
    name: `${textOf(record["name"])} (${locale})`,
    path: `${locale}/${textOf(record["path"])}`,
    locale,
  };
  return { method: "POST", kind: "page", values, before: "", after: lines(values) };
}

function patch(kind: Mend["kind"], record: Entry, values: Entry): Mend {
  const { content } = values;
  const before = Object.fromEntries(Object.keys(values).map((name) => [name, record[name] ?? null]));
  const isText = typeof content === "string";
  return {
    method: "PATCH",
    kind,
    id: Number(record["id"]),
    values,
    before: isText ? textOf(record["content"]) : lines(before),
    after: isText ? content : lines(values),
  };
}

function lines(values: Entry): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}: ${value === null ? "–" : textOf(value)}`)
    .join("\n");
}

function contentOf(finding: Finding, content: string, world: World): string {
  const { code } = finding;
  if (code === "unknown_paragraph")
    return renamed(content, "paragraph", nameIn(finding, "paragraph "), world.paragraphs);
  if (code === "unknown_category") return renamed(content, "articles", nameIn(finding, "category "), world.categories);
  return headed(finding, content, world);
}

/** Behaviour A.8.6: the language of the page, and its other languages, in the element <html> and the head. */
function headed({ code }: Finding, content: string, { site, domains }: World): string {
  if (code === "layout_without_seo_head") return withSeoHead(content);
  const tag = htmlTag(content);
  if (!tag) return content;
  const given = content.slice(tag.from, tag.to);
  const lang = /\slang\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>"']+)/i.exec(given)?.[0];
  // Otherwise the mend of one finding would be the next one: html_lang is wrong where pages are shared by languages.
  const isShared = domains.some(({ locale }) => typeof locale === "string" && locale !== site.locale);
  const name = isShared || code === "html_lang_of_shared_pages" ? "content_lang" : "html_lang";
  const isKnown = lang !== undefined && (code !== "html_lang_of_shared_pages" || lang.includes("html_lang"));
  const mended = isKnown
    ? given.replace(lang, () => ` lang="{{ ${name} }}"`)
    : lang === undefined
      ? `<html lang="{{ ${name} }}"${given.slice("<html".length)}`
      : given;
  return content.slice(0, tag.from) + mended + content.slice(tag.to);
}

/** Sure only where there is one head, and no links that would say the same twice. */
function withSeoHead(content: string): string {
  const parts = content.split(/<\/head\s?>/i);
  if (parts.length !== 2 || /hreflang|canonical/i.test(content)) return content;
  const [head = ""] = parts;
  return `${head}{{ seo_head }}\n${content.slice(head.length)}`;
}

/** The name in the tags of this word, by the only one that is nearly the same. */
function renamed(content: string, word: string, wrong: string, names: readonly string[]): string {
  const right = nearest(wrong, names);
  if (right === undefined || wrong === "") return content;
  return withTags(content, (tag) => {
    if (tagWord(tag) !== word) return tag;
    return tag
      .split(/("[^"]*"|'[^']*')/)
      .map((part) => (/^["']/.test(part) ? inQuotes(part, wrong, right) : part))
      .join("");
  });
}

/** `"news,blgo"` holds several. */
function inQuotes(quoted: string, wrong: string, right: string): string {
  const [quote = ""] = quoted;
  const names = quoted.slice(1, -1).split(",");
  return (
    quote + names.map((name) => (name.trim() === wrong ? name.replace(wrong, () => right) : name)).join(",") + quote
  );
}

function tagWord(tag: string): string {
  return liquidTags(tag).length === 1 && tag.startsWith("{%") ? (/\w+/.exec(tag)?.[0] ?? "") : "";
}

/** `prints the paragraph hous, which does not exist` -> `hous` */
function nameIn({ message }: Finding, before: string): string {
  const from = message.indexOf(before);
  const to = message.lastIndexOf(", which");
  return from < 0 || to < 0 ? "" : message.slice(from + before.length, to);
}

/** The only name that differs by one sign, or by nothing but case and dashes. */
export function nearest(wrong: string, names: readonly string[]): string | undefined {
  if (wrong === "") return undefined;
  const found = [...new Set(names)].filter((name) => plain(name) === plain(wrong) || isOneApart(name, wrong));
  return found.length === 1 ? found[0] : undefined;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]/g, "");
}

/** One sign more, less, another, or two next to each other the wrong way round. */
function isOneApart(a: string, b: string): boolean {
  if (a === b || Math.min(a.length, b.length) < 3) return false;
  let from = 0;
  while (from < Math.min(a.length, b.length) && a[from] === b[from]) from++;
  const [restA, restB] = [a.slice(from), b.slice(from)];
  const swapped =
    restA.length > 1 && restA.slice(2) === restB.slice(2) && restA[0] === restB[1] && restA[1] === restB[0];
  return swapped || restA.slice(1) === restB.slice(1) || restA.slice(1) === restB || restA === restB.slice(1);
}

function isPrimary({ primary }: Entry): boolean {
  return primary === true;
}
