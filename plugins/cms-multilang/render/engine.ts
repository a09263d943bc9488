/**
 * The sites' own Liquid engine: the runtime's guarded one with the tags of sites and less to use up, since anybody who
 * asks for a page makes it run. Rendering is synchronous, so that there is one at a time.
 */
import { createLiquid, LiquidFault, type LiquidTemplate } from "platform";
import type { Values } from "./fields.ts";
import { siteTags, type Answers, type Needs } from "./tags.ts";

/** A parsed template and what must be fetched before it is rendered. */
export interface SiteTemplate extends Readonly<Needs> {
  readonly template: LiquidTemplate;
}

export interface Rendering extends Answers {
  readonly timezone: string;
  readonly locale: string;
  /** Set when the output depends on the moment, and on chance. */
  usesClock: boolean;
  usesChance: boolean;
}

export interface SiteEngine {
  /** Throws a LiquidFault; the same text is parsed once. */
  parse(source: string): SiteTemplate;
  /** Throws a LiquidFault. */
  render(template: SiteTemplate, variables: Values, rendering: Rendering): string;
  /** The mistake of a template that cannot be parsed. */
  syntaxError(source: string): { line: number; column: number; message: string } | undefined;
}

/** A page and its layout are one rendering each: together they end within 200 ms of processor time. */
const limits = { steps: 60_000, memory: 4_000_000, outputChars: 2_000_000 };

/** Of one template, and of a page with its layout and its paragraphs: to parse them takes about 100 ms. */
export const maxTags = 20_000;

export function tagsIn(source: string): number {
  return source.match(/\{[{%]/g)?.length ?? 0;
}

export function createSiteEngine(clock: () => Date = () => new Date()): SiteEngine {
  let needs: Needs | undefined;
  let current: Rendering | undefined;
  const known = new WeakMap<LiquidTemplate, SiteTemplate>();
  const liquid = createLiquid({
    limits,
    clock: () => {
      if (current) current.usesClock = true;
      return clock();
    },
    random: () => {
      if (current) current.usesChance = true;
      return Math.random();
    },
  });
  const tags = siteTags({
    needs: () => needs ?? { blocks: [], paragraphs: new Set(), allParagraphs: false },
    answers: () => {
      if (!current) throw new Error("a site's tag was rendered outside a page");
      return current;
    },
  });
  for (const [name, tag] of Object.entries(tags)) liquid.registerTag(name, tag);

  const parse = (source: string): SiteTemplate => {
    const found: Needs = { blocks: [], paragraphs: new Set(), allParagraphs: false };
    if (tagsIn(source) > maxTags)
      throw new LiquidFault("limit", `a template holds at most ${maxTags} tags`, { line: 1, column: 1 }, undefined);
    needs = found;
    try {
      const template = liquid.parse(source);
      const parsed = known.get(template) ?? { template, ...found };
      known.set(template, parsed);
      return parsed;
    } finally {
      needs = undefined;
    }
  };

  return {
    parse,
    render({ template }, variables, rendering) {
      const outer = current;
      current = rendering;
      try {
        const { timezone, locale } = rendering;
        return liquid.renderSync(template, variables, { timezone, locale });
      } finally {
        current = outer;
      }
    },
    // Parsed as for rendering: the text is kept parsed, and so must be what it needs.
    syntaxError: (source) => faultOf(() => parse(source)),
  };
}

function faultOf(work: () => unknown): { line: number; column: number; message: string } | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!(error instanceof LiquidFault)) throw error;
    return { line: error.line, column: error.column, message: error.message };
  }
}

let shared: SiteEngine | undefined;

/** The process's one engine: what checks a template at save and what renders it are the same. */
export function siteEngine(): SiteEngine {
  return (shared ??= createSiteEngine());
}
