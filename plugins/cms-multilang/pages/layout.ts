/** Creating, changing and deleting layouts. */
import { mistakes, Type, type Static } from "platform";
import { codeField, type Ref } from "../code.ts";
import { fieldTimes } from "./field-times.ts";
import { templateField, fieldsField, nameField, siteRef, checkTexts } from "../input.ts";
import { codeOf, locked, mustStay, nameOf, reread, siteOf, there, type Expected, type SiteEdit } from "../edit.ts";
import * as kindStore from "../kind-store.ts";
import { layouts, leaveLayout, type LayoutView } from "./store.ts";

export const LayoutBody = Type.Object({
  code: Type.Optional(codeField()),
  name: nameField(),
  content: templateField(),
  fields: fieldsField(),
  ...siteRef(),
});
export type LayoutBody = Static<typeof LayoutBody>;

export async function create(edit: SiteEdit, body: LayoutBody): Promise<LayoutView> {
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
}

export async function update(edit: SiteEdit, ref: Ref, body: LayoutBody, expected: Expected): Promise<LayoutView> {
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
}

/** Its pages stay, without a layout. */
export async function remove(edit: SiteEdit, ref: Ref, expected: Expected): Promise<void> {
  const { id } = await locked(edit, layouts, ref, expected);
  await leaveLayout(edit, id);
  await kindStore.remove(layouts, edit, id);
}
