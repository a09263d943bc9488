/** Paragraphs and categories that templates name but that do not exist. */
import type { SiteData } from "../render/data.ts";
import { finding, type Finding } from "./finding.ts";
import type { Checked } from "./templates.ts";
import * as careStore from "./care-store.ts";
import type { CmsContext } from "../context.ts";

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
