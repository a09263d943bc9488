/** The templates of a page: its own, its layout's, and those of the paragraphs that both print. */
import { type LayoutData, type PageData, type ParagraphData, type SiteData } from "../data.ts";
import { LiquidFault } from "platform";
import * as renderStore from "../render-store.ts";
import type { ArticlesQuery } from "./articles-block.ts";
import type { SiteState } from "../door/cache.ts";
import { maxTags, tagsIn, type SiteEngine, type SiteTemplate } from "./engine.ts";
import { blaming } from "./fault.ts";
import type { RenderContext } from "../../context.ts";

export interface Templates {
  readonly page: SiteTemplate;
  readonly layout: (SiteTemplate & { readonly data: LayoutData }) | undefined;
  /** All printed paragraphs, including those printed by name. */
  readonly paragraphs: readonly Paragraph[];
  /** The paragraphs that `{% paragraphs %}` prints, in this order. */
  readonly listed: readonly Paragraph[];
}

export interface Paragraph {
  readonly data: ParagraphData;
  readonly template: SiteTemplate;
}

type Parse = (name: string, source: string) => SiteTemplate;

/** How deep paragraphs may print paragraphs. */
export const maxParagraphRounds = 5;
/** The same limit as for the output of a page. */
const maxChars = 2_000_000;

/** By page: a page stays one object until its site changes, so its templates are read once. */
const known = new WeakMap<PageData, Templates>();

export async function templatesOf(ctx: RenderContext, state: SiteState, page: PageData): Promise<Templates> {
  const templates = known.get(page) ?? (await read(ctx, state, page));
  known.set(page, templates);
  return templates;
}

async function read(ctx: RenderContext, state: SiteState, page: PageData): Promise<Templates> {
  const parse = boundedParse(ctx.engine);
  const layoutData = page.layoutId === null ? undefined : await state.layout(page.layoutId);
  const template = parse(`page ${page.code}`, page.content);
  const layout = layoutData && { ...parse(`layout ${layoutData.code}`, layoutData.content), data: layoutData };
  const roots = layout ? [template, layout] : [template];
  return { page: template, layout, ...(await paragraphsOf(ctx, state.site, page, roots, parse)) };
}

/** All blocks of a page that list or show articles, each once. */
export function printedBlocks({ page, layout, paragraphs }: Templates): ArticlesQuery[] {
  const parts = [page, ...(layout ? [layout] : []), ...paragraphs.map(({ template }) => template)];
  return [...new Set(parts.flatMap(({ blocks }) => blocks))];
}

async function paragraphsOf(
  ctx: RenderContext,
  site: SiteData,
  page: PageData,
  roots: readonly SiteTemplate[],
  parse: Parse,
): Promise<Pick<Templates, "paragraphs" | "listed">> {
  const found = new Map<string, Paragraph>();
  const asked = new Set<string>();
  let listed: readonly ParagraphData[] | undefined;
  let open = roots;
  for (let round = 1; round <= maxParagraphRounds && open.length > 0; round++) {
    const codes = [...new Set(open.flatMap(({ paragraphs }) => [...paragraphs]))].filter((code) => !asked.has(code));
    const wantsAll: boolean = !listed && open.some(({ allParagraphs }) => allParagraphs);
    if (codes.length === 0 && !wantsAll) break;
    for (const code of codes) asked.add(code);
    const pages = wantsAll ? [page.id, ...(page.basedOnPageId === null ? [] : [page.basedOnPageId])] : [];
    const rows = await renderStore.paragraphs(ctx, site, pages, codes);
    if (wantsAll) listed = listedOf(rows, page);
    const printed = rows.filter((row) => !found.has(row.code) && (asked.has(row.code) || listed?.includes(row)));
    const fresh = printed.map((data) => ({ data, template: parse(`paragraph ${data.code}`, data.content) }));
    for (const one of fresh) found.set(one.data.code, one);
    open = fresh.map(({ template }) => template);
  }
  const paragraphs = [...found.values()].toSorted((a, b) => a.data.position - b.data.position || a.data.id - b.data.id);
  return { paragraphs, listed: (listed ?? []).flatMap(({ code }) => found.get(code) ?? []) };
}

/** A slave without paragraphs of its own shows its master's, just as it inherits the content that prints them. */
function listedOf(rows: readonly ParagraphData[], page: PageData): readonly ParagraphData[] {
  const own = rows.filter(({ pageId }) => pageId === page.id);
  return own.length > 0 ? own : rows.filter(({ pageId }) => pageId !== null && pageId === page.basedOnPageId);
}

/** Bounds a page with all its parts: together they may not take longer to parse than a single template. */
function boundedParse(engine: SiteEngine): Parse {
  let [tags, chars] = [0, 0];
  return (name, source) =>
    blaming(name, () => {
      tags += tagsIn(source);
      chars += source.length;
      if (tags <= maxTags && chars <= maxChars) return engine.parse(source);
      const message = `a page with its layout and paragraphs holds at most ${maxTags} tags and ${maxChars} characters`;
      throw new LiquidFault("limit", message, { line: 1, column: 1 }, undefined);
    });
}
