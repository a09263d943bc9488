/**
 * Decides which of several pages a request means, and puts the pages of a sitemap into their groups. behaviour A.3 and
 * A.5, B.11.
 */
import { locales, type Locale } from "../../locales.ts";

/** One page of a group. A group holds pages that share a path, and masters with their slaves. */
export interface Variant {
  readonly id: number;
  readonly path: string;
  readonly locale: Locale | null;
  readonly basedOnPageId: number | null;
}

export interface Choice {
  readonly multilang: boolean;
  readonly domain: Locale | null;
  readonly site: Locale;
}

/**
 * Chooses among the pages at one path. With `multilang`: the domain's locale, then no locale, then the site's, then the
 * others in the order of the supported locales. Without it, languages do not route: no locale, then the site's, then any.
 */
export function chooseVariant<V extends Pick<Variant, "id" | "locale">>(
  candidates: readonly V[],
  { multilang, domain, site }: Choice,
): V | undefined {
  const order: (Locale | null)[] = [...(multilang ? [domain] : []), null, site, ...locales];
  const rank = (page: V) => order.indexOf(page.locale);
  return candidates.toSorted((a, b) => rank(a) - rank(b) || a.id - b.id)[0];
}

/**
 * The page that a request for `page` is redirected to (301): the one in its group with the domain's locale. Undefined
 * if `page` is right, or if no other page is better.
 */
export function redirectTarget<V extends Variant>(
  page: V,
  group: readonly V[],
  { multilang, domain, site }: Choice,
): V | undefined {
  if (!multilang || domain === null || page.locale === domain) return undefined;
  const matching = group.filter((other) => other.locale === domain && other.id !== page.id);
  const target = nearest(page, matching);
  if (target) return target;
  // A page without a locale is in the site's language, so no other page is its version in that language.
  if (page.locale === null || domain !== site) return undefined;
  return nearest(
    page,
    group.filter((other) => other.locale === null),
  );
}

/** Prefers a page of the same family to one that only shares a path, then the oldest. */
function nearest<V extends Variant>(page: V, others: readonly V[]): V | undefined {
  const root = rootOf(page);
  const far = (other: V) => Number(rootOf(other) !== root);
  const elsewhere = others.filter(({ path }) => path !== page.path);
  return elsewhere.toSorted((a, b) => far(a) - far(b) || a.id - b.id)[0];
}

/** The master of a page's family, or the page's own id if it has no master. */
export function rootOf({ id, basedOnPageId }: Pick<Variant, "id" | "basedOnPageId">): number {
  return basedOnPageId ?? id;
}

/** `more`: further pages may share its path or belong to its family. */
export type Related = Variant & { readonly more: boolean };

/** Reads the pages that share a master or a path with one of these. */
type ReadRelated = (pages: readonly Variant[]) => Promise<readonly Related[]>;

/** Bounds a chain of pages that are linked by a shared master or path in turn; longer chains are cut. */
const maxRounds = 5;
const maxVariants = 64;

/** The group of each page, by its id. Pages of one group get the same array. */
export async function groupsOf(pages: readonly Variant[], read: ReadRelated): Promise<Map<number, readonly Variant[]>> {
  const known = new Map(pages.map((page) => [page.id, page]));
  let fresh = pages;
  for (let round = 1; round <= maxRounds && fresh.length > 0; round++) {
    const found: Variant[] = [];
    for (const { more, ...page } of await read(fresh)) {
      if (known.has(page.id)) continue;
      known.set(page.id, page);
      if (more) found.push(page);
    }
    fresh = found;
  }
  return joinedGroups([...known.values()]);
}

/** Pages with the same master or path are in one group, and so is everything linked with them. */
function joinedGroups(pages: readonly Variant[]): Map<number, readonly Variant[]> {
  // Keys: the root (a number) and the path (a text).
  const groupAt = new Map<number | string, Variant[]>();
  const join = (page: Variant, group: Variant[]) => {
    group.push(page);
    groupAt.set(rootOf(page), group);
    groupAt.set(page.path, group);
  };
  for (const page of pages) {
    const [byRoot, byPath] = [groupAt.get(rootOf(page)), groupAt.get(page.path)];
    const group = byRoot ?? byPath ?? [];
    if (byPath && byPath !== group) for (const moved of byPath) join(moved, group);
    join(page, group);
  }
  const groups = new Map<number, readonly Variant[]>();
  for (const group of new Set(groupAt.values())) {
    group.sort((a, b) => a.id - b.id);
    for (const { id } of group) groups.set(id, group);
    group.length = Math.min(group.length, maxVariants);
  }
  return groups;
}
