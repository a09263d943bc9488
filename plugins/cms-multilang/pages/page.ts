/** Pages. behaviour 2.7, 8 and A. */
import { filter, resource, Type, type Change, type Changed, type DraftOf, type Mistakes } from "platform";
import { cleanPath, type Ref } from "../code.ts";
import { named, placeOf, there, titleOf, type SiteEdit } from "../edit.ts";
import { needsSite, needsTitle } from "../fields.ts";
import { checkTexts, fieldTimes } from "../input.ts";
import { kindOf } from "../kind.ts";
import { byLocale, byPath, byRef, bySite, codeChanged, find, searching } from "../kind-store.ts";
import { pageFields, type PagePatch } from "../rows.ts";
import { Layout } from "./parts.ts";
import type { Relative } from "./store.ts";
import * as pageStore from "./store.ts";

export const Page = kindOf(
  resource("page", {
    table: "cms_pages",
    path: "/cms/pages",
    id: "integer",
    privilege: "cms",
    model: "Cms::Page",
    events: true,
    others: ["master_is_slave", "is_slave"],
    fields: pageFields,
    check,
    changed,
    example: { id: 7 },
    request: ["code", "name", "path", "locale", "site_code", "layout_code", "content", "fields", "html_title"],
    change: { path: "offer", locale: "en" },
    docs: {
      create: {
        description:
          "A path is any string, kept without slashes at its ends and served at its encoded address; empty is the home " +
          "page, one per site. Within a site and path there is one page for each locale and at most one without. A page that is based on another one inherits whatever is empty in it.",
        refusals: {
          422: {
            path: ["is already taken"],
            based_on_page_code: ["names a page that is itself based on another page"],
          },
        },
      },
      delete: { description: "Pages based on it become independent." },
    },
  }),
  {
    large: ["content", "fields"],
    order: ["site_id", "position", "id"],
    needs: [needsTitle, needsSite],
    shownAt: "/w/{site_code}/{path}?lang={locale}",
    filters: {
      q: searching(["name", "code", "path"]),
      code: filter.exact(),
      site_code: bySite,
      locale: byLocale,
      kind: filter.exact(),
      path: byPath("exact value; empty = the home page"),
      layout_code: byRef("exact value", "layout_id", "cms_layouts", false),
      based_on_page_code: byRef("exact value", "based_on_page_id", "cms_pages", false),
      active: filter.flagged(Type.Boolean({ description: "true or false" })),
    },
    /** Its slaves become independent, which is news of each. behaviour A.4.5. */
    async remove(edit, erased, id) {
      const slaves = await pageStore.slavesOf(edit, id);
      await erased();
      for (const slave of slaves)
        await Page.announce(edit, "update", there(await find(Page, edit.tx, edit.account.id, { id: slave.id })));
    },
  },
);

async function check(
  edit: SiteEdit,
  { given, before, after }: Change<typeof pageFields, "integer">,
  wrong: Mistakes,
): Promise<DraftOf<typeof pageFields>> {
  const siteId = await placeOf(edit, wrong, given, before);
  const title = await titleOf(edit, Page, { given, before }, wrong, siteId);
  const path = given.path === undefined && before ? before.path : pathOf(wrong, given.path ?? title.code);
  const layout = siteId && (await layoutOf(edit, wrong, given, siteId));
  const page = { id: before?.id, path, basedOnPageId: before?.basedOnPageId ?? null };
  const based = siteId ? await masterOf(edit, wrong, given, { ...page, siteId }) : undefined;
  checkTexts(wrong, edit.cms.engine, given);
  const draft = {
    ...after,
    ...title,
    path,
    siteId: siteId ?? 0,
    locale: after.locale || null,
    layoutId: layout === undefined ? (before?.layoutId ?? null) : layout,
    basedOnPageId: based?.id ?? null,
    basedOnPath: based?.path ?? null,
  };
  return { ...draft, fieldTimes: fieldTimes(before, draft, new Date()) };
}

const shownIn = [
  ["cms_pages", "based_on_page_id"],
  ["cms_paragraphs", "page_id"],
] as const;

async function changed(edit: SiteEdit, { before, after }: Changed<typeof pageFields, "integer">): Promise<void> {
  if (!after) return before && pageStore.release(edit, before.id);
  if (before && before.code !== after.code) await codeChanged(edit, after.id, shownIn);
  await pageStore.dropRedirect(edit, after);
  if (before && before.path !== after.path) await pageStore.keepRedirect(edit, before);
}

/** The layout in the body. Undefined: the body does not say; null: none. */
async function layoutOf({ tx, account }: SiteEdit, wrong: Mistakes, given: PagePatch, siteId: number) {
  const asked = { as: "layout", what: "layout", code: given.layout_code, id: given.layout_id, siteId };
  const layout = await named(wrong, asked, (ref) => find(Layout, tx, account.id, ref));
  return layout && layout.id;
}

async function masterOf(edit: SiteEdit, wrong: Mistakes, given: PagePatch, page: Slave & Based) {
  const slaves = page.id === undefined ? [] : await pageStore.slavesOf(edit, page.id);
  return masterIn(wrong, page, slaves, given, async (ref) => (await pageStore.relatives(edit, ref))[0]);
}

type Based = Pick<Relative, "basedOnPageId">;

/** The master that the page will have. Adds a mistake if the rules of behaviour A.4 forbid it. */
export async function masterIn<Row extends Relative>(
  wrong: Mistakes,
  page: Slave & Based,
  slaves: readonly Relative[],
  { based_on_page_code: code, based_on_page_id: id }: Pick<PagePatch, "based_on_page_code" | "based_on_page_id">,
  look: (ref: Ref) => Promise<Row | undefined>,
): Promise<Row | undefined> {
  const asked = await named(wrong, { as: "based_on_page", what: "page", code, id, siteId: page.siteId }, look);
  const kept = page.basedOnPageId === null ? undefined : { id: page.basedOnPageId };
  const master = asked === undefined ? kept && (await look(kept)) : (asked ?? undefined);
  const mistake = masterMistake(page, master, slaves);
  const at = code ? "based_on_page_code" : "based_on_page_id";
  if (mistake) wrong.add(mistake.field === "master" ? at : "path", mistake.message);
  return master;
}

function pathOf(wrong: Mistakes, given: string): string {
  const clean = cleanPath(given);
  if ("path" in clean) return clean.path;
  wrong.add("path", clean.mistake);
  return given;
}

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
  const of = (where: MasterMistake["field"], message: string) => ({ field: where, message });
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
