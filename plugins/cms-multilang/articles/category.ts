/** Creating, changing and deleting categories of articles. */
import { field, mistakes, Type, type Static } from "platform";
import type { CategoryView } from "./category-store.ts";
import { codeField, type Ref } from "../code.ts";
import { nameField, siteRef } from "../input.ts";
import { cleanPath } from "../pages/path.ts";
import { codeOf, mustStay, nameOf, siteOf, there, type Mistakes, lockedIn, reread } from "../write.ts";
import * as categoryStore from "./category-store.ts";
import type { SiteEdit, Expected } from "../edit.ts";
export const CategoryBody = Type.Object({
  code: Type.Optional(codeField()),
  name: nameField(),
  path: Type.Optional(field.nullable(Type.String({ maxLength: 4000 }))),
  ...siteRef(),
});
export type CategoryBody = Static<typeof CategoryBody>;

export async function create(edit: SiteEdit, body: CategoryBody): Promise<CategoryView> {
  const { tx, account, userId } = edit;
  const wrong = mistakes();
  const site = await siteOf(edit, wrong, body);
  const name = nameOf(wrong, body.name, body.code);
  const path = pathOf(wrong, body.path ?? "");
  wrong.check();
  const { id: siteId } = there(site);
  await edit.touch(siteId);
  const code = await codeOf(edit, categoryStore.taken, { code: body.code, name, kind: "category", siteId });
  const id = await categoryStore.insert(tx, account.id, siteId, userId, { code, name, path });
  return reread(edit, categoryStore.find, id);
}

export async function update(edit: SiteEdit, ref: Ref, body: CategoryBody, expected: Expected): Promise<CategoryView> {
  const { tx, account, userId } = edit;
  const before = await lockedIn(edit, categoryStore.find, ref, expected);
  const wrong = mistakes();
  mustStay(wrong, body, before);
  const path = body.path === undefined ? before.path : pathOf(wrong, body.path ?? "");
  wrong.check();
  const { code = before.code, name = before.name } = body;
  await categoryStore.update(tx, account.id, before.id, userId, { code, name, path });
  if (code !== before.code) await categoryStore.codeChanged(tx, account.id, before.id);
  return reread(edit, categoryStore.find, before.id);
}

/** Its articles stay, without a category. */
export async function remove(edit: SiteEdit, ref: Ref, expected: Expected): Promise<void> {
  const { tx, account } = edit;
  const { id } = await lockedIn(edit, categoryStore.find, ref, expected);
  await categoryStore.codeChanged(tx, account.id, id);
  await categoryStore.remove(tx, account.id, id);
}

/** An empty path means no path. */
function pathOf(wrong: Mistakes, given: string): string | null {
  const clean = cleanPath(given);
  if ("path" in clean) return clean.path || null;
  wrong.add("path", clean.mistake);
  return null;
}
