/** Creating, changing and deleting layouts. */
import { mistakes, Type, type Static } from "platform";
import { codeField } from "../code.ts";
import { fieldTimes } from "./field-times.ts";
import { templateField, fieldsField, nameField, siteRef } from "../input.ts";
import type { LayoutStore, LayoutView } from "./layout-store.ts";
import type { SiteStore } from "../sites/site-store.ts";
import { checkTexts, type TemplateCheck } from "../texts.ts";
import { codeOf, mustStay, nameOf, siteOf, there, type Writer, lockedIn, reread } from "../write.ts";

export const LayoutBody = Type.Object({
  code: Type.Optional(codeField()),
  name: nameField(),
  content: templateField(),
  fields: fieldsField(),
  ...siteRef(),
});
export type LayoutBody = Static<typeof LayoutBody>;

interface Needed {
  readonly engine: TemplateCheck;
  readonly layoutStore: LayoutStore;
  readonly siteStore: SiteStore;
}

export function createLayoutWriter({ engine, layoutStore, siteStore }: Needed): Writer<LayoutBody, LayoutView> {
  return {
    async create(edit, body) {
      const { tx, account, userId } = edit;
      const wrong = mistakes();
      const site = await siteOf(edit, siteStore, wrong, body);
      const name = nameOf(wrong, body.name, body.code);
      checkTexts(wrong, engine, body);
      wrong.check();
      const { id: siteId } = there(site);
      await edit.touch(siteId);
      const code = await codeOf(edit, layoutStore, { code: body.code, name, kind: "layout", siteId });
      const texts = { content: body.content ?? "", fields: body.fields ?? {} };
      const input = { code, name, ...texts, fieldTimes: fieldTimes(undefined, texts, new Date()) };
      const id = await layoutStore.insert(tx, account.id, siteId, userId, input);
      return reread(edit, layoutStore, id);
    },

    async update(edit, ref, body, expected) {
      const { tx, account, userId } = edit;
      const before = await lockedIn(edit, layoutStore, ref, expected);
      const wrong = mistakes();
      mustStay(wrong, body, before);
      checkTexts(wrong, engine, body);
      wrong.check();
      const { code = before.code, name = before.name, fields = before.fields } = body;
      const content = body.content === undefined ? before.content : (body.content ?? "");
      const times = fieldTimes(before, { content, fields }, new Date());
      const input = { code, name, content, fields, fieldTimes: times };
      await layoutStore.update(tx, account.id, before.id, userId, input);
      if (code !== before.code) await layoutStore.codeChanged(tx, account.id, before.id);
      return reread(edit, layoutStore, before.id);
    },

    /** Its pages stay, without a layout. */
    async remove(edit, ref, expected) {
      const { id } = await lockedIn(edit, layoutStore, ref, expected);
      await layoutStore.delete(edit.tx, edit.account.id, id);
    },
  };
}
