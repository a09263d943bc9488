/**
 * The templates of a page (its own, its layout's, and those of the paragraphs that both print), and all `{% articles
 * %}` blocks in them, which decide the addresses that exist below the page. behaviour B.11.
 */
import type { LayoutData, PageData, ParagraphData, SiteData, Outside, Source } from "../data.ts";
import { LiquidFault } from "platform";
import { type ArticlesQuery, blaming, TemplateFault } from "./blocks.ts";
import type { SiteState } from "../door/cache.ts";
import { maxTags, tagsIn, type SiteEngine, type SiteTemplate } from "./engine.ts";
import type { RenderContext } from "../../context.ts";
import * as renderStore from "../store.ts";

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
const maxParagraphRounds = 5;
/** The same limit as for the output of a page. */
const maxChars = 2_000_000;

/** By page: a page stays one object until its site changes, so its templates are read once. */
const parsed = new WeakMap<PageData, Templates>();

export async function templatesOf(ctx: RenderContext, state: SiteState, page: PageData): Promise<Templates> {
  const templates = parsed.get(page) ?? (await readTemplates(ctx, state, page));
  parsed.set(page, templates);
  return templates;
}

async function readTemplates(ctx: RenderContext, state: SiteState, page: PageData): Promise<Templates> {
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

/** The number of pages kept per site. */
const maxKept = 1000;

/** By page id: a page prints the same blocks until its site changes. */
const printed = new WeakMap<SiteState, Map<number, readonly ArticlesQuery[]>>();

export async function blocksOf(
  ctx: RenderContext,
  state: SiteState,
  page: PageData,
): Promise<readonly ArticlesQuery[]> {
  const ofState = printed.get(state) ?? new Map<number, readonly ArticlesQuery[]>();
  printed.set(state, ofState);
  const blocks = ofState.get(page.id) ?? (await readBlocks(ctx, state, page));
  if (ofState.size >= maxKept) ofState.clear();
  ofState.set(page.id, blocks);
  return blocks;
}

async function readBlocks(ctx: RenderContext, state: SiteState, page: PageData): Promise<readonly ArticlesQuery[]> {
  try {
    return printedBlocks(await templatesOf(ctx, state, page));
  } catch (error) {
    if (!(error instanceof TemplateFault)) throw error;
    // The page itself reports the mistake. Below it, the blocks of its own content answer and report it too.
    return contentBlocks(ctx.engine, page.content);
  }
}

/** The blocks of a template alone; empty if it cannot be parsed. */
export function contentBlocks(engine: SiteEngine, content: string): readonly ArticlesQuery[] {
  return engine.mistakes(content).length > 0 ? [] : engine.parse(content).blocks;
}

/** The layouts and paragraphs that show articles, by themselves or through a paragraph that they name. */
export function showingOutside(engine: SiteEngine, sources: readonly Source[]): Outside {
  const read = sources.flatMap((source) =>
    engine.mistakes(source.content).length > 0 ? [] : [{ source, needs: engine.parse(source.content) }],
  );
  let showing: readonly Source[] = [];
  let codes: ReadonlySet<string> = new Set();
  for (let round = 0; round <= maxParagraphRounds; round++) {
    showing = read
      .filter(
        ({ needs }) => needs.blocks.some(({ shows }) => shows) || [...needs.paragraphs].some((code) => codes.has(code)),
      )
      .map(({ source }) => source);
    const next = new Set(showing.flatMap(({ kind, code }) => (kind === "paragraph" ? code : [])));
    if (next.size === codes.size) break;
    codes = next;
  }
  return {
    layoutIds: showing.flatMap(({ kind, id }) => (kind === "layout" ? id : [])),
    pageIds: showing.flatMap(({ pageId }) => pageId ?? []),
    codes: [...codes],
  };
}
