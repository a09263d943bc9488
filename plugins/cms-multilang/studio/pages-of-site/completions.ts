/** What the editor of a page's content offers besides Liquid's own words. Pure. */
import type { CodeWord } from "studio";
import { isLocale } from "../../locales.ts";

const variables = [
  "site.name site.code site.locale domain.name params content_lang html_lang",
  "page.name page.path page.url page.code page.locale page.html_title page.html_description",
  "html_title html_description html_keywords canonical_url seo_alternates seo_head lang_switch",
  "content layout.name layout.code paragraph.name paragraph.code",
  "article.title article.lead article.content article.url article.published_at",
].flatMap((some) => some.split(" "));
const tags = ["paragraph", "paragraphs", "articles", "list", "show", "empty", "endarticles"];

/** `keys`: the fields of the record, and of a page's master. Those of a page are variables by their bare names too. */
export function wordsFor(
  keys: readonly string[],
  of: "page" | "layout" | "paragraph" | "article" = "page",
): CodeWord[] {
  const own = keys.filter((key) => /^[A-Za-z_][\w-]{0,99}$/.test(key) && !isLocale(key));
  const names = [...new Set([...(of === "page" ? own : []), ...own.map((key) => `${of}.${key}`), ...variables])];
  return [
    ...names.map((label): CodeWord => ({ label, type: "variable" })),
    ...tags.map((label): CodeWord => ({ label, type: "tag" })),
    { label: "image", type: "filter", detail: "width: 640" },
  ];
}
