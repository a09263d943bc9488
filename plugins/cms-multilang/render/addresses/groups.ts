/** The groups of many pages at once, for the sitemap: read set by set instead of page by page. */
import { rootOf, type Variant } from "./variant.ts";

/** `more`: further pages may share its path or belong to its family. */
export type Related = Variant & { readonly more: boolean };

/** Reads the pages that share a master or a path with one of these. */
export type ReadRelated = (pages: readonly Variant[]) => Promise<readonly Related[]>;

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
