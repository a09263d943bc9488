/** Creating, changing and deleting categories of articles. */
import { field, mistakes, Type, type Static } from "platform";
import { codeField, type Ref, cleanPath } from "../code.ts";
import { nameField, siteRef } from "../input.ts";
import { codeOf, locked, mustStay, nameOf, reread, siteOf, there } from "../edit.ts";
import type { Expected, Mistakes, SiteEdit } from "../edit.ts";
import * as kindStore from "../kind-store.ts";
import { categories, categoryChanged, leaveCategory, type CategoryView } from "./store.ts";

export const CategoryBody = Type.Object({
  code: Type.Optional(codeField()),
  name: nameField(),
  path: Type.Optional(field.nullable(Type.String({ maxLength: 4000 }))),
  ...siteRef(),
});
export type CategoryBody = Static<typeof CategoryBody>;

export async function create(edit: SiteEdit, body: CategoryBody): Promise<CategoryView> {
  const wrong = mistakes();
  const site = await siteOf(edit, wrong, body);
  const name = nameOf(wrong, body.name, body.code);
  const path = pathOf(wrong, body.path ?? "");
  wrong.check();
  const { id: siteId } = there(site);
  await edit.touch(siteId);
  const code = await codeOf(edit, categories, { code: body.code, name, siteId });
  return reread(edit, categories, await kindStore.insert(categories, edit, { code, name, path }, siteId));
}

export async function update(edit: SiteEdit, ref: Ref, body: CategoryBody, expected: Expected): Promise<CategoryView> {
  const before = await locked(edit, categories, ref, expected);
  const wrong = mistakes();
  mustStay(wrong, body, before);
  const path = body.path === undefined ? before.path : pathOf(wrong, body.path ?? "");
  wrong.check();
  const { code = before.code, name = before.name } = body;
  await kindStore.update(categories, edit, before.id, { code, name, path });
  if (code !== before.code) await categoryChanged(edit, before.id);
  return reread(edit, categories, before.id);
}

/** Its articles stay, without a category. */
export async function remove(edit: SiteEdit, ref: Ref, expected: Expected): Promise<void> {
  const { id } = await locked(edit, categories, ref, expected);
  await categoryChanged(edit, id);
  await leaveCategory(edit, id);
  await kindStore.remove(categories, edit, id);
}

/** An empty path means no path. */
function pathOf(wrong: Mistakes, given: string): string | null {
  const clean = cleanPath(given);
  if ("path" in clean) return clean.path || null;
  wrong.add("path", clean.mistake);
  return null;
}
