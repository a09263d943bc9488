/** The language groups of some pages of a site. */
import type { SiteData } from "../render/data.ts";
import type { CarePage } from "./care-store.ts";
import * as variantStore from "../render/addresses/variant-store.ts";
import * as careStore from "./care-store.ts";
import type { CmsContext } from "../context.ts";

export type CareVariant = Pick<CarePage, "id" | "path" | "locale" | "basedOnPageId">;

export interface PageGroups {
  /** These pages and every other member of their groups. */
  readonly known: ReadonlyMap<number, CarePage>;
  /** By page id: the group, drafts included. */
  readonly drafted: ReadonlyMap<number, readonly CareVariant[]>;
  /** The group that visitors see; empty if the page has none. */
  groupOf(id: number): readonly CareVariant[];
}

export async function readGroups(ctx: CmsContext, site: SiteData, pages: readonly CarePage[]): Promise<PageGroups> {
  const ids = pages.map(({ id }) => id);
  const drafted = await variantStore.pageGroups(ctx, site, ids, true);
  const known = new Map(pages.map((page) => [page.id, page]));
  const others = [...drafted.values()].flat().map(({ id }) => id);
  const missing = [...new Set(others)].filter((id) => !known.has(id));
  for (const page of await careStore.pagesById(ctx.sql, site, missing)) known.set(page.id, page);
  return { known, drafted, groupOf: shownGroups(known, drafted) };
}

/** Groups without inactive pages. */
function shownGroups(
  known: ReadonlyMap<number, CarePage>,
  drafted: ReadonlyMap<number, readonly CareVariant[]>,
): PageGroups["groupOf"] {
  const groups = new Map<number, readonly CareVariant[]>();
  const ofMember = new Map<number, readonly CareVariant[]>();
  for (const [page, group] of drafted) {
    const shown = group.filter(({ id }) => known.get(id)?.active);
    groups.set(page, shown);
    // Every page of a group has the same group, including pages that were not asked about.
    for (const { id } of shown) if (!ofMember.has(id)) ofMember.set(id, shown);
  }
  return (id) => groups.get(id) ?? ofMember.get(id) ?? [];
}
