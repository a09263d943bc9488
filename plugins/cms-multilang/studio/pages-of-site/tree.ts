/** The pages of a site as a tree, by their paths or by their masters, and in which languages each of them is there. Pure. */
import { localesIn, type SitePage } from "./site-page.ts";

export interface Branch {
  readonly key: string;
  /** What stands there: a page, or only a part of other pages' paths. */
  readonly page: SitePage | undefined;
  /** The last part of the path; of a tree by masters the whole path. */
  readonly part: string;
  readonly branches: readonly Branch[];
}

interface Growing {
  readonly path: string;
  readonly part: string;
  readonly pages: SitePage[];
  readonly below: Map<string, Growing>;
}

/** `offer/shoes` stands below `offer`, whether there is such a page or not. The home page comes first. */
export function treeByPath(pages: readonly SitePage[]): Branch[] {
  const root: Growing = { path: "", part: "", pages: [], below: new Map() };
  for (const page of ordered(pages)) {
    let at = root;
    for (const part of page.path === "" ? [] : page.path.split("/")) {
      const path = at === root ? part : `${at.path}/${part}`;
      const next = at.below.get(part) ?? { path, part, pages: [], below: new Map() };
      at.below.set(part, next);
      at = next;
    }
    at.pages.push(page);
  }
  const home = root.pages.map((page) => ({ key: `${page.id}`, page, part: "/", branches: [] }));
  return [...home, ...branchesOf(root)];
}

/** Several pages may have one path, each in its language: what is below stands below the first. */
function branchesOf({ below }: Growing): Branch[] {
  return [...below.values()].flatMap((one) => {
    const [page, ...others] = one.pages;
    const first = { key: page ? `${page.id}` : `/${one.path}`, page, part: one.part, branches: branchesOf(one) };
    return [first, ...others.map((other) => ({ key: `${other.id}`, page: other, part: one.part, branches: [] }))];
  });
}

/** Slaves below their masters. A slave whose master is not among these stands by itself. */
export function treeByMaster(pages: readonly SitePage[]): Branch[] {
  const known = new Set(pages.map(({ id }) => id));
  const isRoot = ({ masterId }: SitePage) => masterId === null || !known.has(masterId);
  const branchOf = (page: SitePage, branches: readonly Branch[]) => ({
    key: `${page.id}`,
    page,
    part: page.path === "" ? "/" : page.path,
    branches,
  });
  const slaves = Map.groupBy(
    ordered(pages).filter((page) => !isRoot(page)),
    ({ masterId }) => masterId,
  );
  return ordered(pages)
    .filter(isRoot)
    .map((page) =>
      branchOf(
        page,
        (slaves.get(page.id) ?? []).map((slave) => branchOf(slave, [])),
      ),
    );
}

function ordered(pages: readonly SitePage[]): SitePage[] {
  return pages.toSorted(
    (a, b) => a.position - b.position || (a.path < b.path ? -1 : Number(a.path > b.path)) || a.id - b.id,
  );
}

/** `page`: it has this language itself; `slave`: another page has; `fields`: by its values; `shared`: one text for all. */
export type LanguageState = "page" | "slave" | "fields" | "shared" | "none";

export interface Spoken {
  readonly locale: string;
  readonly state: LanguageState;
  /** The page of that language. */
  readonly pageId: number | undefined;
}

/** A slave says its own language only: its master shows all of them. */
export function spokenBy(page: SitePage, pages: readonly SitePage[], languages: readonly string[]): Spoken[] {
  const slaves = pages.filter(({ masterId }) => masterId === page.id);
  const keyed = localesIn(page.fields);
  return languages.flatMap((locale): Spoken[] => {
    if (page.locale === locale) return [{ locale, state: "page", pageId: page.id }];
    if (page.masterId !== null) return [];
    const slave = slaves.find((one) => one.locale === locale);
    if (slave) return [{ locale, state: "slave", pageId: slave.id }];
    if (page.locale !== null) return [{ locale, state: "none", pageId: undefined }];
    return [{ locale, state: keyed.includes(locale) ? "fields" : "shared", pageId: page.id }];
  });
}
