/** Makes the text of a page: fetches what its templates need, then renders without waiting. architecture 6. */
import { type PageData } from "./data.ts";
import { type Pagination, paramsOf } from "./values/params.ts";
import type { Locale } from "../locales.ts";
import { articleLists } from "./templates/article-lists.ts";
import { type ArticlesQuery, blaming } from "./templates/blocks.ts";
import type { Rendering, SiteEngine } from "./templates/engine.ts";
import { emptyValues, resolveFields, type Values } from "./values/fields.ts";
import { picturesOf } from "./templates/pictures.ts";
import type { FoundPage } from "./addresses/find.ts";
import { pageUrlsOf } from "./templates/page-urls.ts";
import { effectiveLocale } from "./addresses/addresses.ts";
import type { BlockResult, PrintedParagraph } from "./templates/tags.ts";
import { linkOf, systemValues, layoutValues, pageValues, paragraphValues, titles } from "./values/variables.ts";
import type { ComposeInput } from "./values/variables.ts";
import { type Paragraph, type Templates, templatesOf } from "./templates/templates.ts";
import type { RenderContext } from "../context.ts";

export interface Composed {
  readonly text: string;
  readonly locale: Locale;
  readonly page: PageData;
  /** Which part of a paginated list it shows. */
  readonly pageNumber: number;
  /** The same for every visitor, until `until` or a change. */
  readonly shared: boolean;
  /** Milliseconds since 1970; Infinity if only a change ends it. */
  readonly until: number;
}

const maxRounds = 3;
/** How long a page that prints the time of day is kept. */
const clockMs = 60_000;

/** The variables that are the same for every visitor, kept for the latest domain and language. */
const prepared = new WeakMap<FoundPage, { readonly of: string; readonly variables: Values }>();

export async function compose(ctx: RenderContext, input: ComposeInput, found: FoundPage): Promise<Composed> {
  const { state, lang, domainLocale } = input;
  const { page } = found;
  const sources = { page: page.locale, lang, domain: domainLocale, site: state.site.locale };
  const locale = effectiveLocale(sources);
  const templates = await templatesOf(ctx, state, page);
  const { results, pagination, until } = await articleLists(ctx, input, found, templates, locale);
  const params = paramsOf(input.query);
  const variables = { ...(await variablesOf(input, found, locale, pagination)), params: params.values };
  const [pictures, pageUrls] = [picturesOf(ctx.media, state), pageUrlsOf(ctx, input, locale)];
  const fetched = async () => [await pictures.fetch(), await pageUrls.fetch()].includes(true);
  const printed = () => {
    const finders = { picture: pictures.find, pageUrl: pageUrls.find };
    const rendering = renderingOf(state.account.timezone, locale, templates, results, finders);
    return { rendering, text: renderAll(ctx.engine, templates, { variables, code: page.code }, rendering, locale) };
  };
  let { rendering, text } = printed();
  // What was fetched may decide what else is printed, but hardly more often.
  for (let round = 0; round < maxRounds && (await fetched()); round++) ({ rendering, text } = printed());
  return {
    text,
    locale,
    page,
    pageNumber: pagination?.page ?? 1,
    shared: !params.used() && !rendering.usesChance,
    until: rendering.usesClock ? Math.min(until, Date.now() + clockMs) : until,
  };
}

async function variablesOf(input: ComposeInput, found: FoundPage, locale: Locale, pagination?: Pagination) {
  const { lang, domain, domainLocale, preview } = input;
  const of = `${domain?.id} ${domainLocale} ${locale} ${lang} ${preview} ${pagination?.page}`;
  const last = prepared.get(found);
  if (last?.of === of) return last.variables;
  const categories = needsCategories(found) ? await input.state.categories() : [];
  const url = linkOf(input)(found.page.path, found.page.locale);
  const system = systemValues(input, found, locale, categories, pagination);
  const variables = allVariables(found, locale, url, system);
  prepared.set(found, { of, variables });
  return variables;
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
  { paragraphs, listed }: Templates,
  results: ReadonlyMap<ArticlesQuery, BlockResult>,
  found: Pick<Rendering, "picture" | "pageUrl">,
): Rendering {
  const print = ({ data, template }: Paragraph): PrintedParagraph => {
    return { nodes: template.template.nodes, values: paragraphValues(data, locale) };
  };
  const printed = new Map(paragraphs.map((one) => [one.data.code, print(one)]));
  const all = listed.flatMap(({ data }) => printed.get(data.code) ?? []);
  return {
    timezone,
    locale,
    ...found,
    usesClock: false,
    usesChance: false,
    paragraph: (code) => printed.get(code),
    paragraphs: () => all,
    block: (query) => results.get(query),
  };
}

/**
 * Fields are bare names, other columns are `page.<column>`. System variables keep their meaning, whatever the fields
 * are called.
 */
function allVariables({ page }: FoundPage, locale: Locale, url: string, system: Values): Values {
  const { overrides, ...rest } = system;
  const more = isValues(overrides) ? overrides : emptyValues();
  const bare = Object.assign(titles(page), resolveFields(page.fields, locale), more);
  return Object.assign(bare, rest, { page: Object.assign(pageValues(page, locale, url), more) });
}

function isValues(value: unknown): value is Values {
  return typeof value === "object" && value !== null;
}

function needsCategories({ article, category }: FoundPage): boolean {
  return article !== undefined || category !== undefined;
}
