/** Creating, changing and deleting sites. */
import { mistakes, Type, type Static } from "platform";
import { articleEvent } from "../articles/article.ts";
import { codeOf, locked, nameOf, reread, type SiteEdit, type Writer } from "../edit.ts";
import { codeField } from "../code.ts";
import { fieldsField, flag, nameField, siteLocale, checkFields } from "../input.ts";
import { isLocale, type Locale } from "../locales.ts";
import { pageEvent } from "../pages/page.ts";
import * as kindStore from "../kind-store.ts";
import { articles } from "../articles/store.ts";
import { pages } from "../pages/store.ts";
import { sites, type SiteInput, type SiteView } from "./store.ts";

export const SiteBody = Type.Object({
  code: Type.Optional(codeField()),
  name: nameField(),
  locale: siteLocale(),
  multilang: flag(),
  fields: fieldsField(),
  active: flag(),
});
export type SiteBody = Static<typeof SiteBody>;

export const siteWriter: Writer<SiteBody, SiteView> = {
  async create(edit, body) {
    const wrong = mistakes();
    const name = nameOf(wrong, body.name, body.code);
    checkFields(wrong, body.fields);
    wrong.check();
    const id = await kindStore.insert(sites, edit, {
      code: await codeOf(edit, sites, { code: body.code, name, siteId: undefined }),
      name,
      locale: body.locale ?? localeOf(edit.account.locale),
      multilang: body.multilang ?? false,
      fields: body.fields ?? {},
      active: body.active ?? true,
    });
    return reread(edit, sites, id);
  },

  async update(edit, ref, body, expected) {
    const before = await locked(edit, sites, ref, expected);
    const wrong = mistakes();
    checkFields(wrong, body.fields);
    wrong.check();
    const after = { ...before, ...given(body, edit.account.locale) };
    await kindStore.update(sites, edit, before.id, after);
    if (after.code !== before.code) await kindStore.codeChanged(sites, edit, before.id);
    if (after.code !== before.code || after.active !== before.active) edit.hostsChange();
    return reread(edit, sites, before.id);
  },

  /** Deletes everything in the site too. */
  async remove(edit, ref, expected) {
    const { tx, account } = edit;
    const { id } = await locked(edit, sites, ref, expected);
    for await (const row of everyOf(edit, pages, id)) await edit.cms.changed(pageEvent(account.id, "destroy", row), tx);
    for await (const row of everyOf(edit, articles, id))
      await edit.cms.changed(articleEvent(account.id, "destroy", row), tx);
    await kindStore.remove(sites, edit, id);
    edit.hostsChange();
  },
};

function given({ locale, ...rest }: SiteBody, accountLocale: string): Partial<SiteInput> {
  return { ...rest, ...(locale !== undefined && { locale: locale ?? localeOf(accountLocale) }) };
}

/** An account's locale can be any word: `en-GB` becomes `en`, and an unsupported one becomes English. */
function localeOf(accountLocale: string): Locale {
  const [language = ""] = accountLocale.toLowerCase().split(/[-_]/);
  return isLocale(language) ? language : "en";
}

const batch = 200;

async function* everyOf<Row extends kindStore.KindRow>(edit: SiteEdit, kind: kindStore.Kind<Row>, siteId: number) {
  for (let after = 0; ;) {
    const rows = await kindStore.ofSite(kind, edit, siteId, after, batch);
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < batch) return;
    after = last.id;
  }
}
