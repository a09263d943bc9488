/** Checks a whole site and lists its translations. Pages are read in batches. */
import { unavailable, type Page, type ReadPage } from "platform";
import { locales, type Locale } from "../locales.ts";
import type { SiteRow } from "../rows.ts";
import type { Domain } from "../render/addresses/addresses.ts";
import type { SiteData } from "../render/data.ts";
import { formsCheck, unknownNames, headFindings, suffixFindings, type HeadOptions } from "./templates.ts";
import { articlesCheck, hiddenArticles, type Listing } from "./articles.ts";
import type { CarePage } from "./store.ts";
import * as careStore from "./store.ts";
import { finding, type Finding } from "./finding.ts";
import { readGroups, type PageGroups, pageFindings, rowFindings, domainFindings } from "./pages.ts";
import { matrixRow, type MatrixRow, articleRows, keyedRow, type TextRow } from "./matrix.ts";
import * as textsStore from "./texts-store.ts";
import { schemeOf, type CmsContext } from "../context.ts";

export const textKinds = ["paragraph", "layout", "article"] as const;
type TextKind = (typeof textKinds)[number];

/** Large enough for few queries, small enough to let other requests run in between. */
const batch = 500;
/** A check reads a whole site, so only a few run at once; the others are told to try again. */
const maxAtOnce = 2;
const maxFindings = 10_000;

let running = 0;

export async function textTranslations(
  ctx: CmsContext,
  kind: TextKind,
  site: SiteRow,
  page: Page,
  more: readonly Locale[],
): Promise<ReadPage<TextRow>> {
  const ofArticles = kind === "article" ? await textsStore.articleLocales(ctx.sql, site) : [];
  const used = await languagesOf(ctx, site, await careStore.domains(ctx.sql, site));
  const languages = locales.filter((locale) => [...used, ...ofArticles, ...more].includes(locale));
  if (kind === "article") {
    const read = await textsStore.articles(ctx.sql, site, page);
    return { ...read, rows: articleRows(read.rows, languages) };
  }
  const read = await (kind === "layout" ? textsStore.layouts : textsStore.paragraphs)(ctx.sql, site, page);
  return { ...read, rows: read.rows.map((row) => keyedRow(row, languages, site.locale)) };
}

/** `more`: languages besides those that the site has. */
export async function pageTranslations(
  ctx: CmsContext,
  site: SiteData,
  page: Page,
  more: readonly Locale[],
): Promise<ReadPage<MatrixRow>> {
  const used = new Set([...(await languagesOf(ctx, site, await careStore.domains(ctx.sql, site))), ...more]);
  const languages = locales.filter((locale) => used.has(locale));
  const read = await careStore.roots(ctx.sql, site, page);
  const groups = await readGroups(ctx, site, read.rows);
  return { ...read, rows: read.rows.map((row) => rowOf(site, row, groups, languages)) };
}

/** The first 10,000 findings. */
export async function checkSite(ctx: CmsContext, site: SiteData): Promise<Finding[]> {
  if (running >= maxAtOnce) throw unavailable("other sites are being checked, try again");
  running++;
  try {
    const found: Finding[] = [];
    for await (const some of findings(ctx, site)) {
      found.push(...some);
      if (found.length >= maxFindings) break;
    }
    return found.slice(0, maxFindings);
  } finally {
    running--;
  }
}

async function* findings(ctx: CmsContext, site: SiteData): AsyncGenerator<Finding[]> {
  const domains = await careStore.domains(ctx.sql, site);
  yield domainFindings(domains, site.multilang);
  const check = await templateCheck(ctx, site, domains);
  for await (const rows of batches((after) => careStore.layoutsAfter(ctx.sql, site, after, batch)))
    yield check(rows.map(({ code, ...rest }) => ({ ...rest, page: null, place: `layout ${code} ` })));
  for await (const rows of batches((after) => careStore.paragraphsAfter(ctx.sql, site, after, batch)))
    yield check(rows.map(({ code, ...rest }) => ({ ...rest, page: null, place: `paragraph ${code} ` })));
  const languages = await languagesOf(ctx, site, domains);
  const place = { site, domains, scheme: schemeOf(ctx) };
  for await (const rows of batches((after) => careStore.pagesAfter(ctx.sql, site, after, batch))) {
    yield check(rows.map(({ code, ...rest }) => ({ ...rest, page: code, place: "" })));
    const groups = await readGroups(ctx, site, rows);
    yield rows.flatMap((page) => [
      ...pageFindings(page, groups, place),
      ...(page.isRoot && site.multilang ? rowFindings(rowOf(site, page, groups, languages)) : []),
    ]);
  }
  yield hiddenArticles(ctx, site, await ctx.sites.get(site.id));
  for await (const rows of batches((after) => careStore.articlesAfter(ctx.sql, site, after, batch)))
    yield rows.filter(({ hasCategory }) => !hasCategory).map(({ code }) => withoutCategory(code));
}

/** Returns a check of templates that knows the site's head options and categories. */
async function templateCheck(
  ctx: CmsContext,
  site: SiteData,
  domains: readonly Pick<Domain, "locale">[],
): Promise<(records: readonly Listing[]) => Promise<Finding[]>> {
  const head: HeadOptions = {
    multilang: site.multilang,
    hasSharedPages: domains.some(({ locale }) => locale !== null && locale !== site.locale),
  };
  const categories = await careStore.categoryCodes(ctx.sql, site);
  const listed = await articlesCheck(ctx, site, await ctx.sites.get(site.id));
  const forms = formsCheck((code) => ctx.databases.find(site.accountId, code));
  return async (records) => {
    const read = records.map((record) => ({ record, mistakes: ctx.engine.mistakes(record.content) }));
    const found = read.flatMap(({ record, mistakes }) => [
      ...suffixFindings(record),
      ...headFindings(record, head),
      ...mistakes.map((message) =>
        finding("template_error", record.page, message, { field: `${record.place}content` }),
      ),
    ]);
    const sound = read.filter(({ mistakes }) => mistakes.length === 0).map(({ record }) => record);
    found.push(...(await unknownNames(ctx, site, categories, sound)));
    for (const record of sound) found.push(...(await listed(record)), ...(await forms(record)));
    return found;
  };
}

async function languagesOf(
  ctx: CmsContext,
  site: SiteData,
  domains: readonly Pick<Domain, "locale">[],
): Promise<Locale[]> {
  const used = new Set([
    site.locale,
    ...domains.map(({ locale }) => locale),
    ...(await careStore.pageLocales(ctx.sql, site)),
  ]);
  return locales.filter((locale) => used.has(locale));
}

function rowOf(
  site: SiteData,
  page: CarePage,
  { known, drafted }: PageGroups,
  languages: readonly Locale[],
): MatrixRow {
  const group = (drafted.get(page.id) ?? [page]).flatMap(({ id }) => known.get(id) ?? []);
  return matrixRow(page, group, languages, site.locale);
}

function withoutCategory(code: string): Finding {
  const message = `the article ${code} has no category: only lists of all articles show it`;
  return finding("article_without_category", null, message, { field: `article ${code}` });
}

async function* batches<Row extends { readonly id: number }>(next: (after: number) => Promise<readonly Row[]>) {
  for (let after = 0; ;) {
    const rows = await next(after);
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = last.id;
  }
}
