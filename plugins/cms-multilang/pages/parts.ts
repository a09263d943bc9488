/** Creating, changing and deleting layouts and paragraphs: of a page, of a site or of every site. behaviour B.11. */
import { mistakes, Type, type Static } from "platform";
import { codeField } from "../code.ts";
import {
  fieldTimes,
  templateField,
  fieldsField,
  nameField,
  siteRef,
  checkTexts,
  codeRef,
  idRef,
  positionField,
} from "../input.ts";
import {
  codeOf,
  locked,
  mustStay,
  nameOf,
  reread,
  siteOf,
  there,
  type SiteEdit,
  type Writer,
  named,
  type Mistakes,
} from "../edit.ts";
import { layouts, leaveLayout, type LayoutView, paragraphs, relatives, type ParagraphView } from "./store.ts";
import * as kindStore from "../kind-store.ts";

export const LayoutBody = Type.Object({
  code: Type.Optional(codeField()),
  name: nameField(),
  content: templateField(),
  fields: fieldsField(),
  ...siteRef(),
});
export type LayoutBody = Static<typeof LayoutBody>;

export const layoutWriter: Writer<LayoutBody, LayoutView> = {
  async create(edit, body) {
    const wrong = mistakes();
    const site = await siteOf(edit, wrong, body);
    const name = nameOf(wrong, body.name, body.code);
    checkTexts(wrong, edit.cms.engine, body);
    wrong.check();
    const { id: siteId } = there(site);
    await edit.touch(siteId);
    const code = await codeOf(edit, layouts, { code: body.code, name, siteId });
    const texts = { content: body.content ?? "", fields: body.fields ?? {} };
    const input = { code, name, ...texts, fieldTimes: fieldTimes(undefined, texts, new Date()) };
    return reread(edit, layouts, await kindStore.insert(layouts, edit, input, siteId));
  },

  async update(edit, ref, body, expected) {
    const before = await locked(edit, layouts, ref, expected);
    const wrong = mistakes();
    mustStay(wrong, body, before);
    checkTexts(wrong, edit.cms.engine, body);
    wrong.check();
    const { code = before.code, name = before.name, fields = before.fields } = body;
    const content = body.content === undefined ? before.content : (body.content ?? "");
    const times = fieldTimes(before, { content, fields }, new Date());
    const input = { code, name, content, fields, fieldTimes: times };
    await kindStore.update(layouts, edit, before.id, input);
    if (code !== before.code) await kindStore.codeChanged(layouts, edit, before.id);
    return reread(edit, layouts, before.id);
  },

  /** Its pages stay, without a layout. */
  async remove(edit, ref, expected) {
    const { id } = await locked(edit, layouts, ref, expected);
    await leaveLayout(edit, id);
    await kindStore.remove(layouts, edit, id);
  },
};

export const ParagraphBody = Type.Object({
  code: Type.Optional(codeField()),
  name: nameField(),
  content: templateField(),
  fields: fieldsField(),
  position: positionField(),
  page_code: codeRef(),
  page_id: idRef(),
  ...siteRef(),
});
export type ParagraphBody = Static<typeof ParagraphBody>;

/** Where a paragraph belongs. */
interface Place {
  readonly siteId: number | null;
  readonly pageId: number | null;
}

export const paragraphWriter: Writer<ParagraphBody, ParagraphView> = {
  async create(edit, body) {
    const wrong = mistakes();
    const nowhere = { siteId: null, pageId: null };
    await hold(edit, (await placeOf(edit, mistakes(), body, nowhere)).siteId);
    // Asked again, because the page may have been deleted before its site was locked.
    const place = await placeOf(edit, wrong, body, nowhere);
    const name = nameOf(wrong, body.name, body.code);
    checkTexts(wrong, edit.cms.engine, body);
    wrong.check();
    const texts = { content: body.content ?? "", fields: body.fields ?? {} };
    const id = await kindStore.insert(paragraphs, edit, {
      ...place,
      code: await codeOf(edit, paragraphs, { code: body.code, name, siteId: place.siteId }),
      name,
      ...texts,
      position: body.position ?? 0,
      fieldTimes: fieldTimes(undefined, texts, new Date()),
    });
    return reread(edit, paragraphs, id);
  },

  async update(edit, ref, body, expected) {
    const before = await locked(edit, paragraphs, ref, expected);
    const wrong = mistakes();
    const place = await placeOf(edit, wrong, body, before);
    if (before.siteId !== null && place.siteId !== before.siteId)
      wrong.add(
        body.page_code || body.page_id ? "page_code" : "site_code",
        "cannot move the paragraph to another site",
      );
    checkTexts(wrong, edit.cms.engine, body);
    wrong.check();
    const { code = before.code, name = before.name, fields = before.fields, position = before.position } = body;
    const content = body.content === undefined ? before.content : (body.content ?? "");
    await kindStore.update(paragraphs, edit, before.id, {
      ...place,
      code,
      name,
      content,
      fields,
      position,
      fieldTimes: fieldTimes(before, { content, fields }, new Date()),
    });
    return reread(edit, paragraphs, before.id);
  },

  async remove(edit, ref, expected) {
    const { id } = await locked(edit, paragraphs, ref, expected);
    await kindStore.remove(paragraphs, edit, id);
  },
};

/** The page decides the site. Without a page it is the site in the body, else the previous one. */
async function placeOf(edit: SiteEdit, wrong: Mistakes, body: ParagraphBody, before: Place): Promise<Place> {
  const site = body.site_code || body.site_id ? await siteOf(edit, wrong, body) : undefined;
  const siteId = site?.id ?? before.siteId;
  const given = { as: "page", what: "page", code: body.page_code, id: body.page_id, siteId: siteId ?? undefined };
  const page = await named(wrong, given, async (ref) => {
    const [found, other] = await relatives(edit, ref);
    if (other) wrong.add("page_code", "names pages of several sites: add site_code");
    return found;
  });
  if (!page) return { siteId, pageId: page === undefined ? before.pageId : null };
  return { siteId: page.siteId, pageId: page.id };
}

function hold({ touch, touchAll }: SiteEdit, siteId: number | null) {
  return siteId === null ? touchAll() : touch(siteId);
}
