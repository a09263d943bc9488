/** Groups of many pages at once, for the sitemap: set by set instead of page by page. */
import { rootOf, type Variant } from "./variant.ts";

/** Reads the pages that are, or are based on, one of `roots`, and those at one of `paths`. */
export type ReadRelated = (roots: readonly number[], paths: readonly string[]) => Promise<readonly Variant[]>;

/** Of a chain of pages that share now a master, now a path: longer ones are cut. */
const maxRounds = 5;
const maxVariants = 64;

/** The group of each of `pages` by its id. Pages of one group get the same array. */
export async function groupsOf(pages: readonly Variant[], read: ReadRelated): Promise<Map<number, readonly Variant[]>> {
  const known = new Map(pages.map((page) => [page.id, page]));
  const asked = { roots: new Set<number>(), paths: new Set<string>() };
  for (let round = 1; round <= maxRounds; round++) {
    const members = [...known.values()];
    const roots = [...new Set(members.map(rootOf))].filter((root) => !asked.roots.has(root));
    const paths = [...new Set(members.map(({ path }) => path))].filter((path) => !asked.paths.has(path));
    if (roots.length === 0 && paths.length === 0) break;
    for (const root of roots) asked.roots.add(root);
    for (const path of paths) asked.paths.add(path);
    for (const { id, path, locale, basedOnPageId } of await read(roots, paths))
      if (!known.has(id)) known.set(id, { id, path, locale, basedOnPageId });
  }
  return joinedGroups([...known.values()]);
}

/** Pages with the same master, or at the same path, are in one group, and so are those of theirs. */
function joinedGroups(pages: readonly Variant[]): Map<number, readonly Variant[]> {
  const groups = new Map<number, Variant[]>();
  const byKey = new Map<string, Variant[]>();
  for (const page of pages.toSorted((a, b) => a.id - b.id)) {
    const keys = [`root ${rootOf(page)}`, `path ${page.path}`];
    const [group = [], other] = [
      ...new Set(keys.flatMap((key) => byKey.get(key) ?? []).map((one) => groups.get(one.id) ?? [])),
    ];
    if (other) {
      for (const moved of other) groups.set(moved.id, group);
      group.push(...other);
    }
    group.push(page);
    groups.set(page.id, group);
    for (const key of keys) byKey.set(key, [page]);
  }
  for (const group of new Set(groups.values())) {
    group.sort((a, b) => a.id - b.id);
    group.length = Math.min(group.length, maxVariants);
  }
  return groups;
}
