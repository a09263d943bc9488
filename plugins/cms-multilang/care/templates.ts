/** Mistakes in templates and fields, whichever record they belong to. Pure. */
import { suffixedIn, suffixedKey } from "../files/suffixes.ts";
import { htmlTag, liquidTags } from "../liquid-tags.ts";
import type { Fields } from "../rows.ts";
import { finding, type Finding } from "./finding.ts";

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
