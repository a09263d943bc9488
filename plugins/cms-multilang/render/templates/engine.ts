/**
 * The Liquid engine of sites: the runtime's guarded engine with the tags of sites and smaller limits, because any
 * visitor can make it run.
 */
import { createLiquid, LiquidFault, type LiquidFilter, type LiquidTemplate } from "platform";
import type { Values } from "../values/fields.ts";
import { imageFilter, type Pictures } from "./pictures.ts";
import { needsOf, siteTags, type Answers, type Needs } from "./tags.ts";

/** A parsed template, and what must be fetched before it is rendered. */
export interface SiteTemplate extends Needs {
  readonly template: LiquidTemplate;
}

export interface Rendering extends Answers {
  readonly picture: Pictures["find"];
  /** The address of the page with this code, or nothing. */
  readonly pageUrl: (code: string) => string;
  readonly timezone: string;
  readonly locale: string;
  /** Set if the output depends on the time or on chance. */
  usesClock: boolean;
  usesChance: boolean;
}

/** The check on saving uses the same engine that renders, so both agree. */
export interface SiteEngine {
  /** Throws a LiquidFault. Parses the same text only once. */
  parse(source: string): SiteTemplate;
  /** Throws a LiquidFault. */
  render(template: SiteTemplate, variables: Values, rendering: Rendering): string;
  /** The mistakes of a template with line and column; empty if it can be rendered. */
  mistakes(source: string): string[];
}

/** For one rendering. A page and its layout are two: together they end within 200 ms of processor time. */
const limits = { steps: 60_000, memory: 4_000_000, outputChars: 2_000_000 };

/** The most tags in one template, and in a page with its layout and paragraphs. Parsing them takes about 100 ms. */
export const maxTags = 20_000;

export function tagsIn(source: string): number {
  return source.match(/\{[{%]/g)?.length ?? 0;
}

export function createSiteEngine(): SiteEngine {
  const liquid = createLiquid<Answers>({ limits });
  const tags = siteTags((context) => {
    const answers = liquid.dataOf(context);
    if (!answers) throw new Error("a site's tag was rendered outside a page");
    return answers;
  });
  for (const [name, tag] of Object.entries(tags)) liquid.registerTag(name, tag);

  liquid.registerFilter(
    "image",
    imageFilter(() => undefined, "en"),
  );
  liquid.registerFilter(
    "page_url",
    pageUrlFilter(() => ""),
  );
  const known = new WeakMap<LiquidTemplate, SiteTemplate>();
  const parse = (source: string): SiteTemplate => {
    if (tagsIn(source) > maxTags)
      throw new LiquidFault("limit", `a template holds at most ${maxTags} tags`, { line: 1, column: 1 }, undefined);
    const template = liquid.parse(source);
    const parsed = known.get(template) ?? { template, ...needsOf(template.tags) };
    known.set(template, parsed);
    return parsed;
  };

  return {
    parse,
    render({ template }, variables, rendering) {
      const { timezone, locale } = rendering;
      return liquid.renderSync(template, variables, {
        timezone,
        locale,
        data: rendering,
        filters: { image: imageFilter(rendering.picture, locale), page_url: pageUrlFilter(rendering.pageUrl) },
        clock: () => {
          rendering.usesClock = true;
          return new Date();
        },
        random: () => {
          rendering.usesChance = true;
          return Math.random();
        },
      });
    },
    mistakes(source) {
      try {
        parse(source);
        return [];
      } catch (error) {
        if (!(error instanceof LiquidFault)) throw error;
        return [`line ${error.line}, column ${error.column}: ${error.message}`];
      }
    },
  };
}

function pageUrlFilter(find: Rendering["pageUrl"]): LiquidFilter {
  return (value) => (typeof value === "string" && value !== "" && value.length <= 100 ? find(value) : "");
}
