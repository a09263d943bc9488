/** Looks a whole site over, its pages in batches. */
import { type SiteData } from "../render/data.ts";
import { unavailable } from "platform";
import type { CarePage, CareStore } from "./care-store.ts";
import { locales, type Locale } from "../locales.ts";
import type { RenderStore } from "../render/render-store.ts";
import type { Domain } from "../render/addresses.ts";
import { siteEngine } from "../render/engine.ts";
import { inherit } from "../render/inherit.ts";
import { checkTemplate } from "../render/check.ts";
import { alternatesFindings } from "./alternates.ts";
import { finding, type Finding } from "./finding.ts";
import { matrixRow, type MatrixRow } from "./matrix.ts";
import { domainFindings } from "./site.ts";
import { headFindings, suffixFindings, type Checked, type HeadOptions } from "./templates.ts";

export interface Care {
  /** At most 10,000 findings: the first ones. */
  check(site: SiteData): Promise<Finding[]>;
  translations(site: SiteData, page: { limit: number; offset: number }): Promise<{ rows: MatrixRow[]; total: number }>;
}

interface Needed {
  readonly store: CareStore;
  readonly render: Pick<RenderStore, "groups">;
  /** `http:` or `https:` */
  readonly scheme: () => string;
}

/** Long enough to ask seldom, short enough to let others in between. */
const batch = 500;
/** Each reads a whole site: further ones are asked to come back. */
const maxAtOnce = 2;
const maxFindings = 10_000;

export function createCare({ store, render, scheme }: Needed): Care {
  let running = 0;
  const languagesOf = async (site: SiteData, domains: readonly Pick<Domain, "locale">[]): Promise<Locale[]> => {
    const used = new Set([site.locale, ...domains.map(({ locale }) => locale), ...(await store.pageLocales(site))]);
    return locales.filter((locale) => used.has(locale));
  };

  /** Pages with the whole of their groups, as they are and as drafts would make them. */
  const withGroups = async (site: SiteData, pages: readonly CarePage[]) => {
    const ids = pages.map(({ id }) => id);
    const drafted = await render.groups(site, ids, true);
    const known = new Map(pages.map((page) => [page.id, page]));
    const others = [...drafted.values()].flat().map(({ id }) => id);
    const missing = [...new Set(others)].filter((id) => !known.has(id));
    for (const page of await store.pagesById(site, missing)) known.set(page.id, page);
    const shown = new Map<number, readonly CareVariant[]>();
    for (const [id, group] of drafted)
      shown.set(
        id,
        group.filter((one) => known.get(one.id)?.active),
      );
    // A group is the same for each of its pages: also for those that this batch did not ask about.
    const ofMember = new Map<number, readonly CareVariant[]>();
    for (const group of shown.values()) for (const { id } of group) if (!ofMember.has(id)) ofMember.set(id, group);
    const groupOf = (id: number) => shown.get(id) ?? ofMember.get(id) ?? [];
    return { known, shown, drafted, groupOf };
  };
  type Groups = Awaited<ReturnType<typeof withGroups>>;

  const rowOf = (site: SiteData, page: CarePage, { known, drafted }: Groups, languages: readonly Locale[]) => {
    const group = (drafted.get(page.id) ?? [page]).flatMap(({ id }) => known.get(id) ?? []);
    return matrixRow(page, group, languages, site.locale);
  };

  return {
    async translations(site, page) {
      const languages = await languagesOf(site, await store.domains(site));
      const { rows, total } = await store.roots(site, page);
      const groups = await withGroups(site, rows);
      return { rows: rows.map((row) => rowOf(site, row, groups, languages)), total };
    },

    async check(site) {
      if (running >= maxAtOnce) throw unavailable("other sites are being checked, try again");
      running++;
      try {
        return await checked(site);
      } finally {
        running--;
      }
    },
  };

  async function checked(site: SiteData): Promise<Finding[]> {
    const found: Finding[] = [];
    const domains = await store.domains(site);
    const languages = await languagesOf(site, domains);
    found.push(...domainFindings(domains, site.multilang));
    const head: HeadOptions = {
      multilang: site.multilang,
      hasSharedPages: domains.some(({ locale }) => locale !== null && locale !== site.locale),
    };
    const categories = await store.categoryCodes(site);
    const inTemplates = async (records: readonly Checked[]) => {
      found.push(
        ...records.flatMap((record) => [...suffixFindings(record), ...headFindings(record, head), ...faults(record)]),
      );
      found.push(...(await unknownNames(store, site, categories, records)));
    };
    const layouts = await store.layouts(site);
    await inTemplates(layouts.map(({ code, ...rest }) => ({ ...rest, page: null, place: `layout ${code} ` })));
    for await (const rows of batches((after) => store.paragraphsAfter(site, after, batch))) {
      if (found.length >= maxFindings) break;
      await inTemplates(rows.map(({ code, ...rest }) => ({ ...rest, page: null, place: `paragraph ${code} ` })));
    }
    for await (const rows of batches((after) => store.pagesAfter(site, after, batch))) {
      if (found.length >= maxFindings) break;
      await inTemplates(rows.map(({ code, content, fields }) => ({ page: code, place: "", content, fields })));
      const groups = await withGroups(site, rows);
      for (const page of rows) {
        found.push(...pageFindings(site, page, groups, domains, scheme()));
        if (page.isRoot && site.multilang) found.push(...rowFindings(rowOf(site, page, groups, languages)));
      }
    }
    for await (const rows of batches((after) => store.articlesAfter(site, after, batch))) {
      if (found.length >= maxFindings) break;
      const loose = rows.filter(({ hasCategory }) => !hasCategory);
      found.push(
        ...loose.map(({ code }) =>
          finding(
            "article_without_category",
            null,
            `the article ${code} has no category: only lists of all articles show it`,
            { field: `article ${code}` },
          ),
        ),
      );
    }
    return found.slice(0, maxFindings);
  }
}

function pageFindings(
  site: SiteData,
  page: CarePage,
  {
    known,
    shown,
    groupOf,
  }: {
    known: Map<number, CarePage>;
    shown: Map<number, readonly CareVariant[]>;
    groupOf: (id: number) => readonly CareVariant[];
  },
  domains: readonly Domain[],
  scheme: string,
): Finding[] {
  const found: Finding[] = [];
  const master = page.basedOnPageId === null ? undefined : known.get(page.basedOnPageId);
  // The database refuses it; a copy that came in another way is told all the same.
  if (master && master.path === page.path)
    found.push(finding("slave_on_masters_path", page.code, `has the path of ${master.code}, which it is based on`));
  const whole = inherit(page, master);
  if (whole.layoutId === null && !/<html\b/i.test(whole.content) && !/\.[a-z]+$/.test(page.path))
    found.push(
      finding("page_without_layout", page.code, "has no layout, and no <html> of its own", { field: "layout_id" }),
    );
  const isShown = page.active && page.kind !== "404" && page.kind !== "500";
  if (!isShown) return found;
  const codeOf = (id: number) => known.get(id)?.code ?? `${id}`;
  const group = shown.get(page.id) ?? [page];
  return [...found, ...alternatesFindings({ page, group, groupOf, codeOf, site, domains, scheme })];
}

type CareVariant = Pick<CarePage, "id" | "path" | "locale" | "basedOnPageId">;

function rowFindings({ page, locales: cells }: MatrixRow): Finding[] {
  return Object.entries(cells).flatMap(([language, cell]): Finding[] => {
    const locale = locales.find((each) => each === language);
    if (!cell || locale === undefined) return [];
    if (cell.state === "missing")
      return [finding("missing_translation", page, `has no version in ${locale}`, { locale })];
    const shown = cell.page ?? page;
    const missing = cell.missing.map((key) =>
      finding("missing_keys", shown, `${key} has no value in ${locale}`, { locale, field: `fields.${key}` }),
    );
    const stale = cell.stale.map((field) =>
      finding("stale_translation", shown, `${field} was changed in its source after it was translated to ${locale}`, {
        locale,
        field,
      }),
    );
    return [...missing, ...stale];
  });
}

function faults({ page, place, content }: Checked): Finding[] {
  return checkTemplate(content).map((message) =>
    finding("template_error", page, message, { field: `${place}content` }),
  );
}

/** Paragraphs and categories that templates name and nobody has. */
async function unknownNames(
  store: CareStore,
  site: SiteData,
  categories: ReadonlySet<string>,
  records: readonly Checked[],
): Promise<Finding[]> {
  const named = records.flatMap((record) => {
    if (checkTemplate(record.content).length > 0) return [];
    const { paragraphs, blocks } = siteEngine().parse(record.content);
    return [{ record, paragraphs: [...paragraphs], categories: blocks.flatMap((block) => block.categories) }];
  });
  const codes = [...new Set(named.flatMap(({ paragraphs }) => paragraphs))];
  const unknown = new Set(codes.length === 0 ? [] : await store.unknownParagraphs(site, codes));
  return named.flatMap(({ record: { page, place }, ...of }) => [
    ...of.paragraphs
      .filter((code) => unknown.has(code))
      .map((code) =>
        finding("unknown_paragraph", page, `prints the paragraph ${code}, which does not exist`, {
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

async function* batches<Row extends { readonly id: number }>(next: (after: number) => Promise<readonly Row[]>) {
  for (let after = 0; ;) {
    const rows = await next(after);
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = last.id;
  }
}
