/** Finds all `{% articles %}` blocks that a page prints: they decide which addresses exist below it. behaviour B.11. */

import { type Outside, type PageData, type Source } from "../data.ts";
import type { ArticlesQuery } from "./articles-block.ts";
import type { SiteState } from "../door/cache.ts";
import type { SiteEngine } from "./engine.ts";
import { TemplateFault } from "./fault.ts";
import { maxParagraphRounds, printedBlocks, templatesOf } from "./templates.ts";
import type { RenderContext } from "../../context.ts";

/** The number of pages kept per site. */
const maxKept = 1000;

/** By page id: a page prints the same blocks until its site changes. */
const known = new WeakMap<SiteState, Map<number, readonly ArticlesQuery[]>>();

export async function blocksOf(
  ctx: RenderContext,
  state: SiteState,
  page: PageData,
): Promise<readonly ArticlesQuery[]> {
  const ofState = known.get(state) ?? new Map<number, readonly ArticlesQuery[]>();
  known.set(state, ofState);
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
