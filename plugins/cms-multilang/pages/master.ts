/** The rules between a page and its master. behaviour A.4 and A.9. */
import type { PageRow } from "../rows.ts";

export type Relative = Pick<PageRow, "id" | "siteId" | "path" | "basedOnPageId">;

/** A page as it will be stored; it has no id before it is created. */
export interface Slave {
  readonly id: number | undefined;
  readonly siteId: number;
  readonly path: string;
}

export interface MasterMistake {
  readonly field: "master" | "path";
  readonly message: string;
}

/** What forbids that `page` is based on `master`; `slaves` are the pages based on `page`. */
export function masterMistake(
  page: Slave,
  master: Relative | undefined,
  slaves: readonly Pick<Relative, "path">[],
): MasterMistake | undefined {
  const of = (field: MasterMistake["field"], message: string) => ({ field, message });
  if (master) {
    if (master.id === page.id) return of("master", "a page cannot be based on itself");
    if (master.siteId !== page.siteId) return of("master", "names a page of another site");
    if (master.basedOnPageId !== null) return of("master", "names a page that is itself based on another page");
    if (slaves.length > 0) return of("master", "must be empty: other pages are based on this one");
    if (master.path === "") return of("master", "names the home page, which is translated by its fields");
    if (master.path === page.path) return of("path", "must differ from the path of the page it is based on");
  }
  if (slaves.length > 0 && page.path === "")
    return of(
      "path",
      "must not be empty: other pages are based on this one, and no page can be based on the home page",
    );
  if (slaves.some(({ path }) => path === page.path))
    return of("path", "is already the path of a page based on this one");
  return undefined;
}
