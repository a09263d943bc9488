/** Which of several pages a request means. behaviour A.3 and A.5, B.11. */
import { locales, type Locale } from "../../locales.ts";

/** One page of a group: those at one path, and a master with its slaves. */
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
 * The page among those at one path. With `multilang`: of the domain's locale, then without one, then of any other in
 * the order of the supported locales. Without it languages do not route: without a locale, then of the site's, then any.
 */
export function chooseVariant<V extends Pick<Variant, "id" | "locale">>(
  candidates: readonly V[],
  { multilang, domain, site }: Choice,
): V | undefined {
  const first = multilang ? [domain, null] : [null, site];
  const order: (Locale | null)[] = [...first, ...locales];
  const rank = (page: V) => order.indexOf(page.locale);
  return candidates.toSorted((a, b) => rank(a) - rank(b) || a.id - b.id)[0];
}

/**
 * Where a request for `page` is sent to (301): to the page of its group that has the domain's locale. Undefined where
 * the page itself is right, or nothing else is better.
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
  // A page without a locale is the site's own language, and there is none other for it.
  if (page.locale === null || domain !== site) return undefined;
  return nearest(
    page,
    group.filter((other) => other.locale === null),
  );
}

/** Of the same master before one that only shares a path; in the end the oldest. */
function nearest<V extends Variant>(page: V, others: readonly V[]): V | undefined {
  const root = rootOf(page);
  const far = (other: V) => Number(rootOf(other) !== root);
  const elsewhere = others.filter(({ path }) => path !== page.path);
  return elsewhere.toSorted((a, b) => far(a) - far(b) || a.id - b.id)[0];
}

/** The master of a page's family; its own id where it has none. */
export function rootOf({ id, basedOnPageId }: Pick<Variant, "id" | "basedOnPageId">): number {
  return basedOnPageId ?? id;
}
