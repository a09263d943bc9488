/** Making, changing and deleting layouts. */
import { mistakes, Type, type Static } from "platform";
import { locked, type Change } from "../change.ts";
import { codeField, type Ref } from "../code.ts";
import { templateField, fieldsField, nameField, siteRef } from "../input.ts";
import type { LayoutStore, LayoutView } from "./layout-store.ts";
import type { SiteStore } from "../sites/site-store.ts";
import { checkTexts } from "../texts.ts";
import { codeOf, mustStay, nameOf, siteOf, there, type Writer } from "../write.ts";

export const LayoutBody = Type.Object({
  code: Type.Optional(codeField()),
  name: nameField(),
  content: templateField(),
  fields: fieldsField(),
  ...siteRef(),
});
export type LayoutBody = Static<typeof LayoutBody>;

interface Needed {
  readonly store: LayoutStore;
  readonly sites: SiteStore;
}

export function createLayouts({ store, sites }: Needed): Writer<LayoutBody, LayoutView> {
  const finder =
    ({ tx, account }: Change) =>
    (ref: Ref) =>
      store.find(tx, account.id, ref);

  return {
    async create(change, body) {
      const { tx, account, userId } = change;
      const wrong = mistakes();
      const site = await siteOf(change, sites, wrong, body);
      const name = nameOf(wrong, body.name, body.code);
      checkTexts(wrong, body);
      wrong.check();
      const { id: siteId } = there(site);
      await change.touch(siteId);
      const code = await codeOf(change, store, { code: body.code, name, kind: "layout", siteId });
      const input = { code, name, content: body.content ?? "", fields: body.fields ?? {} };
      const id = await store.insert(tx, account.id, siteId, userId, input);
      return there(await store.find(tx, account.id, { id }));
    },

    async update(change, ref, body, expected) {
      const { tx, account, userId } = change;
      const before = await locked(change, finder(change), ref, expected);
      const wrong = mistakes();
      mustStay(wrong, body, before);
      checkTexts(wrong, body);
      wrong.check();
      const { code = before.code, name = before.name, fields = before.fields } = body;
      const content = body.content === undefined ? before.content : (body.content ?? "");
      await store.update(tx, account.id, before.id, userId, { code, name, content, fields });
      if (code !== before.code) await store.codeChanged(tx, account.id, before.id);
      return there(await store.find(tx, account.id, { id: before.id }));
    },

    /** Its pages go on without one. */
    async remove(change, ref, expected) {
      const { id } = await locked(change, finder(change), ref, expected);
      await store.delete(change.tx, change.account.id, id);
    },
  };
}
