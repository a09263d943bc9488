/** Findings about one page and its translations. Pure. */
import { locales } from "../locales.ts";
import type { Domain } from "../render/addresses/addresses.ts";
import type { SiteData } from "../render/data.ts";
import { inherit } from "../render/values/inherit.ts";
import { alternatesFindings } from "./alternates.ts";
import type { CarePage } from "./care-store.ts";
import { finding, type Finding } from "./finding.ts";
import type { PageGroups } from "./groups.ts";
import type { MatrixRow } from "./matrix.ts";

interface Place {
  readonly site: SiteData;
  readonly domains: readonly Domain[];
  readonly scheme: string;
}

export function pageFindings(page: CarePage, { known, groupOf }: PageGroups, place: Place): Finding[] {
  const found: Finding[] = [];
  const master = page.basedOnPageId === null ? undefined : known.get(page.basedOnPageId);
  // The database refuses this, but a copy that came in another way is reported all the same.
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
  return [...found, ...alternatesFindings({ page, group: groupOf(page.id), groupOf, codeOf, ...place })];
}

export function rowFindings({ page, locales: cells }: MatrixRow): Finding[] {
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
