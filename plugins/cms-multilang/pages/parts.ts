/** Layouts, and paragraphs: of a page, of a site or of every site. behaviour B.11. */
import { filter, mistakes, resource } from "platform";
import type { Change, Changed, DraftOf, Mistakes, PatchOf } from "platform";
import { hold, named, placeOf, siteIn, titleOf, type SiteEdit } from "../edit.ts";
import { needsSite, needsTitle } from "../fields.ts";
import { checkTexts, fieldTimes } from "../input.ts";
import { kindOf } from "../kind.ts";
import { byRef, bySite, codeChanged, searching } from "../kind-store.ts";
import { layoutFields, paragraphFields } from "../rows.ts";
import { leaveLayout, relatives } from "./store.ts";

export const Layout = kindOf(
  resource("layout", {
    table: "cms_layouts",
    path: "/cms/layouts",
    id: "integer",
    privilege: "cms",
    model: "Cms::Layout",
    fields: layoutFields,
    check: checkLayout,
    changed: layoutChanged,
    example: { id: 5 },
    request: ["code", "name", "site_code", "content", "fields"],
    change: { name: "Main layout" },
    docs: {
      create: {
        description: "`content` is a Liquid template that prints the page with `{{ content }}`.",
        refusals: { 422: { content: ["line 3, column 7: …"] } },
      },
      delete: { description: "Its pages are left without a layout." },
    },
  }),
  {
    large: ["content", "fields"],
    needs: [needsTitle, needsSite],
    filters: { q: searching(["name", "code"]), code: filter.exact(), site_code: bySite },
  },
);

async function checkLayout(
  edit: SiteEdit,
  { given, before, after }: Change<typeof layoutFields, "integer">,
  wrong: Mistakes,
): Promise<DraftOf<typeof layoutFields>> {
  const siteId = await placeOf(edit, wrong, given, before);
  const title = await titleOf(edit, Layout, { given, before }, wrong, siteId);
  checkTexts(wrong, edit.cms.engine, given);
  return { ...after, ...title, siteId: siteId ?? 0, fieldTimes: fieldTimes(before, after, new Date()) };
}

/** Its pages stay, without a layout. */
async function layoutChanged(edit: SiteEdit, { before, after }: Changed<typeof layoutFields, "integer">) {
  if (before && !after) await leaveLayout(edit, before.id);
  else if (before && after?.code !== before.code) await codeChanged(edit, before.id, [["cms_pages", "layout_id"]]);
}

export const Paragraph = kindOf(
  resource("paragraph", {
    table: "cms_paragraphs",
    path: "/cms/paragraphs",
    id: "integer",
    privilege: "cms",
    model: "Cms::Paragraph",
    fields: paragraphFields,
    check: checkParagraph,
    example: { id: 8 },
    request: ["code", "name", "page_code", "content", "fields", "position"],
    change: { position: 1 },
    docs: {
      create: {
        description:
          "It belongs to a page (`page_code`), without that to a whole site (`site_code`), and without either to every site. " +
          "`page_code` is looked up in the given site; without `site_code` it is enough if only one site has such a page. A " +
          "site's own paragraph takes precedence over one of every site.",
        refusals: { 422: { page_code: ["names no page of this site"] } },
      },
    },
  }),
  {
    large: ["content", "fields"],
    order: ["position", "id"],
    needs: [needsTitle],
    filters: {
      q: searching(["name", "code"]),
      code: filter.exact(),
      site_code: byRef("code of a site; none = of every site", "site_id", "cms_sites", true),
      page_code: byRef("code of a page; none = without one", "page_id", "cms_pages", true),
    },
  },
);

/** Where a paragraph belongs. */
interface Place {
  readonly siteId: number | null;
  readonly pageId: number | null;
}

const nowhere: Place = { siteId: null, pageId: null };

async function checkParagraph(
  edit: SiteEdit,
  { given, before, after }: Change<typeof paragraphFields, "integer">,
  wrong: Mistakes,
): Promise<DraftOf<typeof paragraphFields>> {
  // Asked again below, because the page may have been deleted before its site was locked.
  if (!before) await hold(edit, (await belongsTo(edit, mistakes(), given, nowhere)).siteId);
  const place = await belongsTo(edit, wrong, given, before ?? nowhere);
  if (before && before.siteId !== null && place.siteId !== before.siteId)
    wrong.add(
      given.page_code || given.page_id ? "page_code" : "site_code",
      "cannot move the paragraph to another site",
    );
  const title = await titleOf(edit, Paragraph, { given, before }, wrong, place.siteId);
  checkTexts(wrong, edit.cms.engine, given);
  return { ...after, ...title, ...place, fieldTimes: fieldTimes(before, after, new Date()) };
}

/** The page decides the site. Without a page it is the site in the body, else the previous one. */
async function belongsTo(
  edit: SiteEdit,
  wrong: Mistakes,
  given: PatchOf<typeof paragraphFields>,
  before: Place,
): Promise<Place> {
  const site = given.site_code || given.site_id ? await siteIn(edit, wrong, given) : undefined;
  const siteId = site ?? before.siteId;
  const asked = { as: "page", what: "page", code: given.page_code, id: given.page_id, siteId: siteId ?? undefined };
  const found = await named(wrong, asked, async (ref) => {
    const [one, other] = await relatives(edit, ref);
    if (other) wrong.add("page_code", "names pages of several sites: add site_code");
    return one;
  });
  if (!found) return { siteId, pageId: found === undefined ? before.pageId : null };
  return { siteId: found.siteId, pageId: found.id };
}
