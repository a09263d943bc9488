/** Creating, changing and deleting layouts. */
import { mistakes, Type, type Static } from "platform";
import { codeField, type Ref } from "../code.ts";
import { fieldTimes } from "./field-times.ts";
import { templateField, fieldsField, nameField, siteRef } from "../input.ts";
import type { LayoutView } from "./layout-store.ts";
import { checkTexts } from "../texts.ts";
import { codeOf, mustStay, nameOf, siteOf, there, lockedIn, reread } from "../write.ts";
import * as layoutStore from "./layout-store.ts";
import type { SiteEdit, Expected } from "../edit.ts";
export const LayoutBody = Type.Object({
  code: Type.Optional(codeField()),
  name: nameField(),
  content: templateField(),
  fields: fieldsField(),
  ...siteRef(),
});
export type LayoutBody = Static<typeof LayoutBody>;

export async function create(edit: SiteEdit, body: LayoutBody): Promise<LayoutView> {
  const { tx, account, userId } = edit;
  const wrong = mistakes();
  const site = await siteOf(edit, wrong, body);
  const name = nameOf(wrong, body.name, body.code);
  checkTexts(wrong, edit.cms.engine, body);
  wrong.check();
  const { id: siteId } = there(site);
  await edit.touch(siteId);
  const code = await codeOf(edit, layoutStore.taken, { code: body.code, name, kind: "layout", siteId });
  const texts = { content: body.content ?? "", fields: body.fields ?? {} };
  const input = { code, name, ...texts, fieldTimes: fieldTimes(undefined, texts, new Date()) };
  const id = await layoutStore.insert(tx, account.id, siteId, userId, input);
  return reread(edit, layoutStore.find, id);
}

export async function update(edit: SiteEdit, ref: Ref, body: LayoutBody, expected: Expected): Promise<LayoutView> {
  const { tx, account, userId } = edit;
  const before = await lockedIn(edit, layoutStore.find, ref, expected);
  const wrong = mistakes();
  mustStay(wrong, body, before);
  checkTexts(wrong, edit.cms.engine, body);
  wrong.check();
  const { code = before.code, name = before.name, fields = before.fields } = body;
  const content = body.content === undefined ? before.content : (body.content ?? "");
  const times = fieldTimes(before, { content, fields }, new Date());
  const input = { code, name, content, fields, fieldTimes: times };
  await layoutStore.update(tx, account.id, before.id, userId, input);
  if (code !== before.code) await layoutStore.codeChanged(tx, account.id, before.id);
  return reread(edit, layoutStore.find, before.id);
}

/** Its pages stay, without a layout. */
export async function remove(edit: SiteEdit, ref: Ref, expected: Expected): Promise<void> {
  const { id } = await lockedIn(edit, layoutStore.find, ref, expected);
  await layoutStore.remove(edit.tx, edit.account.id, id);
}
