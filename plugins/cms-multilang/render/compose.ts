/** Makes the text of a page: fetches what its templates need, then renders without waiting. DESIGN 6. */
import { escapeHtml, LiquidFault } from "platform";
import type { Locale } from "../locales.ts";
import type { LayoutData, PageData, ParagraphData, RenderStore } from "../render-store.ts";
import type { ArticlesQuery } from "./articles-block.ts";
import type { Rendering, SiteEngine, SiteTemplate } from "./engine.ts";
import { emptyValues, resolveFields, type Values } from "./fields.ts";
import { articleLocale, categoryIds, isIn, type FoundPage, type View } from "./find.ts";
import { effectiveLocale } from "./locale.ts";
import { createParams } from "./params.ts";
import type { BlockResult, PrintedParagraph } from "./tags.ts";
import { systemValues, type ComposeInput } from "./system-values.ts";
import { addressesOf, articleValues, layoutValues, pageValues, paragraphValues, titles } from "./variables.ts";

export interface Composed {
  readonly text: string;
  readonly locale: Locale;
  readonly page: PageData;
  /** The same for everybody who asks, until `until` or a change. */
  readonly shared: boolean;
  /** Milliseconds since 1970; Infinity where only a change ends it. */
  readonly until: number;
}

export interface Composer {
  /** Throws a TemplateFault. */
  compose(input: ComposeInput, found: FoundPage): Promise<Composed>;
}

/** Which template failed, and where. */
export class TemplateFault extends Error {
  readonly template: string;
  readonly fault: LiquidFault;

  constructor(template: string, fault: LiquidFault) {
    super(`${template}, line ${fault.line}, column ${fault.column}: ${fault.message}`, { cause: fault });
    this.name = "TemplateFault";
    this.template = template;
    this.fault = fault;
  }
}

/** Of paragraphs that print paragraphs. */
const maxParagraphRounds = 5;
/** A page that prints the time of day is made anew after this long. */
const clockMs = 60_000;

interface Templates {
  readonly page: SiteTemplate;
  readonly layout: (SiteTemplate & { readonly data: LayoutData }) | undefined;
  readonly paragraphs: readonly { readonly data: ParagraphData; readonly template: SiteTemplate }[];
}

export function createComposer(store: RenderStore, engine: SiteEngine, now: () => number = Date.now): Composer {
  const parse = (name: string, source: string) => blaming(name, () => engine.parse(source));

  /** A page that was found is one object until its site changes: what belongs to it is read once. */
  const known = new WeakMap<FoundPage, Templates>();
  const templatesOf = async (view: View, found: FoundPage): Promise<Templates> => {
    const templates = known.get(found) ?? (await readTemplates(view, found.page));
    known.set(found, templates);
    return templates;
  };
  const readTemplates = async ({ state }: View, page: PageData): Promise<Templates> => {
    const layoutData = page.layoutId === null ? undefined : await state.layout(page.layoutId);
    const template = parse(`page ${page.code}`, page.content);
    const layout = layoutData && { ...parse(`layout ${layoutData.code}`, layoutData.content), data: layoutData };
    const roots = layout ? [template, layout] : [template];
    return { page: template, layout, paragraphs: await paragraphsOf(state.site, page, roots) };
  };

  const paragraphsOf = async (site: View["state"]["site"], page: PageData, roots: readonly SiteTemplate[]) => {
    const found = new Map<string, { data: ParagraphData; template: SiteTemplate }>();
    const asked = new Set<string>();
    let hasAll = false;
    let open = roots;
    for (let round = 1; round <= maxParagraphRounds && open.length > 0; round++) {
      const codes = [...new Set(open.flatMap(({ paragraphs }) => [...paragraphs]))].filter((code) => !asked.has(code));
      const wantsAll: boolean = !hasAll && open.some(({ allParagraphs }) => allParagraphs);
      if (codes.length === 0 && !wantsAll) break;
      hasAll ||= wantsAll;
      for (const code of codes) asked.add(code);
      const pages = wantsAll ? [page.id, ...(page.basedOnPageId === null ? [] : [page.basedOnPageId])] : [];
      const rows = (await store.paragraphs(site, pages, codes)).filter(({ code }) => !found.has(code));
      const fresh = rows.map((data) => ({ data, template: parse(`paragraph ${data.code}`, data.content) }));
      for (const one of fresh) found.set(one.data.code, one);
      open = fresh.map(({ template }) => template);
    }
    return [...found.values()].toSorted((a, b) => a.data.position - b.data.position || a.data.id - b.data.id);
  };

  /** The same for everybody: made once for the domain and language that asked last. */
  const prepared = new WeakMap<FoundPage, { readonly of: string; readonly variables: Values }>();
  const variablesOf = async (input: ComposeInput, found: FoundPage, locale: Locale): Promise<Values> => {
    const of = `${input.domain?.id} ${input.domainLocale} ${locale} ${input.preview}`;
    const last = prepared.get(found);
    if (last?.of === of) return last.variables;
    const categories = needsCategories(found) ? await input.state.categories() : [];
    const variables = allVariables(found, locale, systemValues(input, found, locale, categories));
    prepared.set(found, { of, variables });
    return variables;
  };

  const resultsOf = async (input: ComposeInput, found: FoundPage, templates: Templates, locale: Locale) => {
    const elsewhere = [
      ...(templates.layout?.blocks ?? []),
      ...templates.paragraphs.flatMap((one) => one.template.blocks),
    ];
    const results = new Map<ArticlesQuery, BlockResult>();
    if (templates.page.blocks.length + elsewhere.length === 0) return { results, until: Infinity };
    const { state, drafts } = input;
    // Before the lists: what appears between the two reads would else be missing until the next change.
    const next = await state.nextPublication();
    const categories = await state.categories();
    const of = { site: state.site, locale: articleLocale(input), drafts };
    const options = {
      locale,
      categories,
      addressOf: addressesOf(state.site, input.preview),
      pagePath: found.page.path,
    };
    const list = async (query: ArticlesQuery, within: number | null) => {
      const rows = await store.articles(of, query, categoryIds(query.categories, categories), within);
      results.set(query, { part: "list", articles: rows.map((row) => articleValues(row, options)) });
    };
    const { article } = found;
    const own = templates.page.blocks.map((query) => {
      if (!article || !query.shows) return list(query, found.category?.id ?? null);
      if (isIn(article, categoryIds(query.categories, categories)))
        results.set(query, { part: "show", article: articleValues(article, options) });
      return undefined;
    });
    await Promise.all([...own, ...elsewhere.map((query) => list(query, null))]);
    return { results, until: next?.getTime() ?? Infinity };
  };

  return {
    async compose(input, found) {
      const { state, lang, domainLocale } = input;
      const { page } = found;
      const sources = { page: page.locale, lang, domain: domainLocale, site: state.site.locale };
      const locale = effectiveLocale(sources);
      const templates = await templatesOf(input, found);
      const { results, until } = await resultsOf(input, found, templates, locale);
      const params = createParams(input.query);
      const variables = { ...(await variablesOf(input, found, locale)), params: params.values };
      const rendering = renderingOf(state.account.timezone, locale, templates, results, page);
      const text = renderAll(engine, templates, { variables, code: page.code }, rendering, locale);
      return {
        text,
        locale,
        page,
        shared: !params.used() && !rendering.usesChance,
        until: rendering.usesClock ? Math.min(until, now() + clockMs) : until,
      };
    },
  };
}

function renderAll(
  engine: SiteEngine,
  { page, layout }: Templates,
  { variables, code }: { variables: Values; code: string },
  rendering: Rendering,
  locale: Locale,
): string {
  const content = blaming(`page ${code}`, () => engine.render(page, variables, rendering));
  if (!layout) return content;
  const within = { ...variables, content, layout: layoutValues(layout.data, locale) };
  return blaming(`layout ${layout.data.code}`, () => engine.render(layout, within, rendering));
}

function renderingOf(
  timezone: string,
  locale: Locale,
  { paragraphs }: Templates,
  results: ReadonlyMap<ArticlesQuery, BlockResult>,
  page: PageData,
): Rendering {
  const printed = new Map<string, PrintedParagraph>(
    paragraphs.map(({ data, template }) => [
      data.code,
      { nodes: template.template.nodes, values: paragraphValues(data, locale) },
    ]),
  );
  // A slave without paragraphs of its own shows its master's, as it does with the content that prints them.
  const own = paragraphs.filter(({ data }) => data.pageId === page.id);
  const shown =
    own.length > 0 ? own : paragraphs.filter(({ data }) => data.pageId === page.basedOnPageId && data.pageId !== null);
  const all = shown.flatMap(({ data }) => printed.get(data.code) ?? []);
  return {
    timezone,
    locale,
    usesClock: false,
    usesChance: false,
    paragraph: (code) => printed.get(code),
    paragraphs: () => all,
    block: (query) => results.get(query),
  };
}

/** Fields stand bare, other columns as `page.<column>`. What the system says means the same whatever fields are called. */
function allVariables({ page }: FoundPage, locale: Locale, system: Values): Values {
  const { overrides, ...rest } = system;
  const more = isValues(overrides) ? overrides : emptyValues();
  const bare = Object.assign(titles(page), resolveFields(page.fields, locale), more);
  return Object.assign(bare, rest, { page: Object.assign(pageValues(page, locale), more) });
}

function isValues(value: unknown): value is Values {
  return typeof value === "object" && value !== null;
}

function needsCategories({ article, category }: FoundPage): boolean {
  return article !== undefined || category !== undefined;
}

function blaming<T>(template: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof LiquidFault) throw new TemplateFault(template, error);
    throw error;
  }
}

/** A page that says why there is none; only where that may be seen. */
export function faultPage(fault: TemplateFault): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>The page cannot be shown</title>
<h1>The page cannot be shown</h1><p>${escapeHtml(fault.message)}</p></html>
`;
}
