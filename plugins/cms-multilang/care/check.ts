/** Checks a whole site and lists its translations. Pages are read in batches. */
import { unavailable, type ReadPage } from "platform";
import { locales, type Locale } from "../locales.ts";
import type { SiteRow } from "../rows.ts";
import type { Domain } from "../render/addresses/addresses.ts";
import type { SiteData } from "../render/data.ts";
import type { SiteEngine } from "../render/templates/engine.ts";
import type { RenderStore } from "../render/render-store.ts";
import type { SiteCache } from "../render/door/cache.ts";
import type { ReadShowing } from "../render/templates/showing.ts";
import type { JsonDatabases } from "../../jsondb/api.ts";
import { formsCheck } from "./forms.ts";
import { articlesCheck, hiddenArticles, type Listing } from "./articles.ts";
import type { CarePage, CareStore } from "./care-store.ts";
import { finding, type Finding } from "./finding.ts";
import { readGroups, type PageGroups } from "./groups.ts";
import { matrixRow, type MatrixRow } from "./matrix.ts";
import { unknownNames } from "./names.ts";
import { pageFindings, rowFindings } from "./pages.ts";
import { domainFindings } from "./site.ts";
import { articleRows, keyedRow, type TextRow } from "./texts.ts";
import type { TextsStore } from "./texts-store.ts";
import { headFindings, suffixFindings, type HeadOptions } from "./templates.ts";

export interface Care {
  /** The first 10,000 findings. */
  check(site: SiteData): Promise<Finding[]>;
  /** `more`: languages besides those that the site has. */
  translations(
    site: SiteData,
    page: { limit: number; offset: number },
    more?: readonly Locale[],
  ): Promise<ReadPage<MatrixRow>>;
  texts(
    kind: TextKind,
    site: SiteRow,
    page: { limit: number; offset: number },
    more: readonly Locale[],
  ): Promise<ReadPage<TextRow>>;
}

export const textKinds = ["paragraph", "layout", "article"] as const;
type TextKind = (typeof textKinds)[number];

interface Needed {
  readonly careStore: CareStore;
  readonly textsStore: TextsStore;
  readonly renderStore: Pick<RenderStore, "groups">;
  readonly engine: Pick<SiteEngine, "mistakes" | "parse">;
  readonly stateOf: SiteCache["get"];
  readonly showingOf: ReadShowing;
  readonly findDatabase: JsonDatabases["find"];
  /** `http:` or `https:` */
  readonly scheme: () => string;
}

/** Large enough for few queries, small enough to let other requests run in between. */
const batch = 500;
/** A check reads a whole site, so only a few run at once; the others are told to try again. */
const maxAtOnce = 2;
const maxFindings = 10_000;

export function createCare(needed: Needed): Care {
  const { careStore, textsStore } = needed;
  let running = 0;
  return {
    async texts(kind, site, page, more) {
      const ofArticles = kind === "article" ? await textsStore.articleLocales(site) : [];
      const used = await languagesOf(careStore, site, await careStore.domains(site));
      const languages = locales.filter((locale) => [...used, ...ofArticles, ...more].includes(locale));
      if (kind === "article") {
        const read = await textsStore.articles(site, page);
        return { ...read, rows: articleRows(read.rows, languages) };
      }
      const read = await textsStore[kind === "layout" ? "layouts" : "paragraphs"](site, page);
      return { ...read, rows: read.rows.map((row) => keyedRow(row, languages, site.locale)) };
    },

    async translations(site, page, more = []) {
      const used = new Set([...(await languagesOf(careStore, site, await careStore.domains(site))), ...more]);
      const languages = locales.filter((locale) => used.has(locale));
      const read = await careStore.roots(site, page);
      const groups = await readGroups(needed, site, read.rows);
      return { ...read, rows: read.rows.map((row) => rowOf(site, row, groups, languages)) };
    },

    async check(site) {
      if (running >= maxAtOnce) throw unavailable("other sites are being checked, try again");
      running++;
      try {
        const found: Finding[] = [];
        for await (const some of findings(needed, site)) {
          found.push(...some);
          if (found.length >= maxFindings) break;
        }
        return found.slice(0, maxFindings);
      } finally {
        running--;
      }
    },
  };
}

async function* findings(needed: Needed, site: SiteData): AsyncGenerator<Finding[]> {
  const { careStore } = needed;
  const domains = await careStore.domains(site);
  yield domainFindings(domains, site.multilang);
  const check = await templateCheck(needed, site, domains);
  for await (const rows of batches((after) => careStore.layoutsAfter(site, after, batch)))
    yield check(rows.map(({ code, ...rest }) => ({ ...rest, page: null, place: `layout ${code} ` })));
  for await (const rows of batches((after) => careStore.paragraphsAfter(site, after, batch)))
    yield check(rows.map(({ code, ...rest }) => ({ ...rest, page: null, place: `paragraph ${code} ` })));
  const languages = await languagesOf(careStore, site, domains);
  const place = { site, domains, scheme: needed.scheme() };
  for await (const rows of batches((after) => careStore.pagesAfter(site, after, batch))) {
    yield check(rows.map(({ code, ...rest }) => ({ ...rest, page: code, place: "" })));
    const groups = await readGroups(needed, site, rows);
    yield rows.flatMap((page) => [
      ...pageFindings(page, groups, place),
      ...(page.isRoot && site.multilang ? rowFindings(rowOf(site, page, groups, languages)) : []),
    ]);
  }
  yield hiddenArticles(needed, site, await needed.stateOf(site.id));
  for await (const rows of batches((after) => careStore.articlesAfter(site, after, batch)))
    yield rows.filter(({ hasCategory }) => !hasCategory).map(({ code }) => withoutCategory(code));
}

/** Returns a check of templates that knows the site's head options and categories. */
async function templateCheck(
  needed: Needed,
  site: SiteData,
  domains: readonly Pick<Domain, "locale">[],
): Promise<(records: readonly Listing[]) => Promise<Finding[]>> {
  const head: HeadOptions = {
    multilang: site.multilang,
    hasSharedPages: domains.some(({ locale }) => locale !== null && locale !== site.locale),
  };
  const categories = await needed.careStore.categoryCodes(site);
  const listed = await articlesCheck(needed, site, await needed.stateOf(site.id));
  const forms = formsCheck((code) => needed.findDatabase(site.accountId, code));
  return async (records) => {
    const read = records.map((record) => ({ record, mistakes: needed.engine.mistakes(record.content) }));
    const found = read.flatMap(({ record, mistakes }) => [
      ...suffixFindings(record),
      ...headFindings(record, head),
      ...mistakes.map((message) =>
        finding("template_error", record.page, message, { field: `${record.place}content` }),
      ),
    ]);
    const sound = read.filter(({ mistakes }) => mistakes.length === 0).map(({ record }) => record);
    found.push(...(await unknownNames(needed, site, categories, sound)));
    for (const record of sound) found.push(...(await listed(record)), ...(await forms(record)));
    return found;
  };
}

async function languagesOf(
  careStore: Pick<CareStore, "pageLocales">,
  site: SiteData,
  domains: readonly Pick<Domain, "locale">[],
): Promise<Locale[]> {
  const used = new Set([site.locale, ...domains.map(({ locale }) => locale), ...(await careStore.pageLocales(site))]);
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
