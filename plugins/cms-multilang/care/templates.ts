/**
 * Mistakes in templates and fields, whichever record they belong to: forms that lead nowhere, paragraphs and categories
 * that do not exist.
 */
import { suffixedIn, suffixedKey, htmlTag, liquidTags, withTags } from "../liquid-tags.ts";
import type { Fields } from "../rows.ts";
import { finding, type Finding } from "./finding.ts";
import type { JsonDatabases } from "../../jsondb/api.ts";
import type { SiteData } from "../render/data.ts";
import type { CmsContext } from "../context.ts";
import * as careStore from "./store.ts";

export interface Checked {
  /** Code of the page; null for a layout or a paragraph. */
  readonly page: string | null;
  /** Goes before the field's name: "" or "layout main ". */
  readonly place: string;
  readonly content: string;
  readonly fields: Fields;
}

/** Finds `title_en` in fields and templates. Fields keyed by locale do this better (behaviour A.8.2). */
export function suffixFindings({ page, place, content, fields }: Checked): Finding[] {
  const keys = Object.keys(fields).flatMap((key) => {
    const suffixed = suffixedKey(key);
    if (!suffixed) return [];
    const message = `${key} ends in a language: write it as fields.${suffixed.locale}.${suffixed.name}`;
    return [finding("suffixed_variable", page, message, { locale: suffixed.locale, field: `${place}fields.${key}` })];
  });
  const variables = suffixedIn(content).map(({ variable, name, locale, line }) =>
    finding("suffixed_variable", page, `line ${line} reads ${variable}: use ${name}, which resolves by language`, {
      locale,
      field: `${place}content`,
    }),
  );
  return [...keys, ...variables];
}

export interface HeadOptions {
  readonly multilang: boolean;
  /** Some page without a locale is shown on a domain whose language is not the site's. */
  readonly hasSharedPages: boolean;
}

/** Checks what a template with an <html> element says about its language and its alternates. behaviour A.8.6. */
export function headFindings({ page, place, content }: Checked, { multilang, hasSharedPages }: HeadOptions): Finding[] {
  const where = htmlTag(content);
  if (!where) return [];
  const tag = content.slice(where.from, where.to);
  const field = `${place}content`;
  const found: Finding[] = [];
  const lang = /\slang\s*=\s*("[^"]*"|'[^']*'|(?:\{\{[^]*?\}\}|[^\s>])+)/i.exec(tag)?.[1] ?? "";
  if (/\{\{-?\s*(?:(?:page|site|domain)\.)?locale\b/.test(lang))
    found.push(
      finding("locale_as_html_lang", page, "the lang attribute is made from `locale`: use html_lang", { field }),
    );
  else if (multilang && !/\b(?:html_lang|content_lang)\b/.test(lang))
    found.push(finding("layout_without_html_lang", page, 'has no lang="{{ html_lang }}"', { field }));
  else if (multilang && hasSharedPages && !lang.includes("content_lang"))
    found.push(
      finding(
        "html_lang_of_shared_pages",
        page,
        "html_lang is the site's language on pages without a locale, whatever language they are shown in: use content_lang",
        { field },
      ),
    );
  const tags = liquidTags(content)
    .map(({ from, to }) => content.slice(from, to))
    .join("\n");
  const says = (name: string) => new RegExp(String.raw`\b${name}\b`).test(tags);
  if (multilang && !says("seo_head") && !(says("canonical_url") && says("seo_alternates")))
    found.push(finding("layout_without_seo_head", page, "has no {{ seo_head }} in its head", { field }));
  return found;
}

/** The operations that a database opens to visitors; undefined if there is no such database. */
type Open = Awaited<ReturnType<JsonDatabases["find"]>>;

export function formsCheck(find: (code: string) => Promise<Open>): (record: Checked) => Promise<Finding[]> {
  const known = new Map<string, Promise<Open>>();
  return async ({ page, place, content }) => {
    const found: Finding[] = [];
    for (const action of new Set(postActions(content))) {
      const why = await mistakeOf(action, (code) => {
        const database = known.get(code) ?? find(code);
        known.set(code, database);
        return database;
      });
      if (why === undefined) continue;
      const message = `has a form whose action ${action === "" ? "is the page itself" : action} leads nowhere: ${why}`;
      found.push(finding("form_leads_nowhere", page, message, { field: `${place}content` }));
    }
    return found;
  };
}

const maxForms = 100;

/** Of forms that are sent by POST. What a script sends has no method, or says what happens when it is sent. */
function postActions(content: string): string[] {
  // What Liquid makes is known when the page is rendered.
  const masked = withTags(content, (tag) => "\0".repeat(tag.length));
  const tags = masked.match(/<form\b[^<>]{0,2000}>/gi) ?? [];
  return tags.slice(0, maxForms).flatMap((tag) => {
    if (attributeOf(tag, "method")?.toLowerCase() !== "post" || attributeOf(tag, "onsubmit") !== undefined) return [];
    const action = attributeOf(tag, "action") ?? "";
    return action.includes("\0") ? [] : [action.trim()];
  });
}

function attributeOf(tag: string, name: string): string | undefined {
  for (const [, key = "", double, single, bare] of tag.matchAll(
    /\s([a-z-]{1,30})(?:=(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/gi,
  ))
    if (key.toLowerCase() === name) return double ?? single ?? bare ?? "";
  return undefined;
}

async function mistakeOf(action: string, find: (code: string) => Promise<Open>): Promise<string | undefined> {
  if (/^[a-z][a-z0-9+.-]{0,20}:|^[/\\]{2}/i.test(action)) return undefined;
  const path = URL.parse(action, "http://site/")?.pathname ?? "";
  const [, code, method] = /^\/core\/db\/([^/]{1,200})\/([^/]{1,40})$/.exec(path.replace(/\.json$/, "")) ?? [];
  if (code === undefined || method === undefined)
    // Of what takes a POST, a site's host has public methods and apps alone.
    return /^\/a\//.test(path) ? undefined : "pages take no POST; send it to /core/db/<code>/create, a public method";
  const database = await find(code);
  if (!database) return `there is no database ${code}`;
  if (method !== "create" && method !== "update") return "only create and update take forms";
  return database.open.includes(method) ? undefined : `${method} of ${code} is not open to the public`;
}

/** `records`: only those whose templates can be parsed. */
export async function unknownNames(
  ctx: CmsContext,
  site: SiteData,
  categories: ReadonlySet<string>,
  records: readonly Checked[],
): Promise<Finding[]> {
  const named = records.map((record) => {
    const { paragraphs, blocks } = ctx.engine.parse(record.content);
    const linked = [...record.content.matchAll(/["']([\w.-]{1,100})["']\s?\|\s?page_url\b/g)];
    const pages = [...new Set(linked.map(([, code = ""]) => code))];
    return { record, pages, paragraphs: [...paragraphs], categories: blocks.flatMap((block) => block.categories) };
  });
  const codes = [...new Set(named.flatMap(({ paragraphs }) => paragraphs))];
  const unknown = new Set(codes.length === 0 ? [] : await careStore.unknownParagraphs(ctx.sql, site, codes));
  const linked = [...new Set(named.flatMap(({ pages }) => pages))];
  const noPages = new Set(linked.length === 0 ? [] : await careStore.unknownPages(ctx.sql, site, linked));
  return named.flatMap(({ record: { page, place }, ...of }) => [
    ...of.paragraphs
      .filter((code) => unknown.has(code))
      .map((code) =>
        finding("unknown_paragraph", page, `prints the paragraph ${code}, which does not exist`, {
          field: `${place}content`,
        }),
      ),
    ...of.pages
      .filter((code) => noPages.has(code))
      .map((code) =>
        finding("unknown_page", page, `links to the page ${code}, which does not exist: its address is empty`, {
          field: `${place}content`,
        }),
      ),
    ...of.categories
      .filter((code) => !categories.has(code))
      .map((code) =>
        finding("unknown_category", page, `lists articles of the category ${code}, which does not exist`, {
          field: `${place}content`,
        }),
      ),
  ]);
}
