/** Creating, changing and deleting sites. */
import { mistakes, Type, type Static } from "platform";
import { articleEvent } from "../articles/article.ts";
import { locked, type SiteEdit, type Expected } from "../edit.ts";
import { codeField, type Ref } from "../code.ts";
import { fieldsField, flag, nameField, siteLocale } from "../input.ts";
import { isLocale, type Locale } from "../locales.ts";
import { pageEvent } from "../pages/page.ts";
import type { SiteRow } from "../rows.ts";
import type { SiteInput } from "./site-store.ts";
import { checkFields } from "../texts.ts";
import { codeOf, nameOf, there } from "../write.ts";
import * as siteStore from "./site-store.ts";
import * as pageStore from "../pages/page-store.ts";
import * as articleStore from "../articles/article-store.ts";
export const SiteBody = Type.Object({
  code: Type.Optional(codeField()),
  name: nameField(),
  locale: siteLocale(),
  multilang: flag(),
  fields: fieldsField(),
  active: flag(),
});
export type SiteBody = Static<typeof SiteBody>;

export async function create(edit: SiteEdit, body: SiteBody): Promise<SiteRow> {
  const { tx, account, userId } = edit;
  const wrong = mistakes();
  const name = nameOf(wrong, body.name, body.code);
  checkFields(wrong, body.fields);
  wrong.check();
  const id = await siteStore.insert(tx, account.id, userId, {
    code: await codeOf(edit, siteStore.taken, { code: body.code, name, kind: "site", siteId: null }),
    name,
    locale: body.locale ?? localeOf(account.locale),
    multilang: body.multilang ?? false,
    fields: body.fields ?? {},
    active: body.active ?? true,
  });
  return there(await siteStore.find(tx, account.id, { id }));
}

export async function update(edit: SiteEdit, ref: Ref, body: SiteBody, expected: Expected): Promise<SiteRow> {
  const { tx, account, userId } = edit;
  const before = await locked(edit, (which) => find(edit, which), ref, expected);
  const wrong = mistakes();
  checkFields(wrong, body.fields);
  wrong.check();
  const { code, name, locale, multilang, fields, active } = { ...before, ...given(body, account.locale) };
  await siteStore.update(tx, account.id, before.id, userId, { code, name, locale, multilang, fields, active });
  if (code !== before.code) await siteStore.codeChanged(tx, account.id, before.id);
  if (code !== before.code || active !== before.active) edit.hostsChange();
  return there(await siteStore.find(tx, account.id, { id: before.id }));
}

/** Deletes everything in the site too. */
export async function remove(edit: SiteEdit, ref: Ref, expected: Expected): Promise<void> {
  const { tx, account } = edit;
  const { id } = await locked(edit, (which) => find(edit, which), ref, expected);
  await eachOf(
    (after, most) => pageStore.ofSite(tx, account.id, id, after, most),
    async (row) => {
      await edit.cms.changed(pageEvent(account.id, "destroy", row), tx);
    },
  );
  await eachOf(
    (after, most) => articleStore.ofSite(tx, account.id, id, after, most),
    async (row) => {
      await edit.cms.changed(articleEvent(account.id, "destroy", row), tx);
    },
  );
  await siteStore.remove(tx, account.id, id);
  edit.hostsChange();
}

async function find({ tx, account }: SiteEdit, ref: Ref) {
  const row = await siteStore.find(tx, account.id, ref);
  return row && { ...row, siteId: row.id };
}

function given({ locale, ...rest }: SiteBody, accountLocale: string): Partial<SiteInput> {
  return { ...rest, ...(locale !== undefined && { locale: locale ?? localeOf(accountLocale) }) };
}

/** An account's locale can be any word: `en-GB` becomes `en`, and an unsupported one becomes English. */
function localeOf(accountLocale: string): Locale {
  const [language = ""] = accountLocale.toLowerCase().split(/[-_]/);
  return isLocale(language) ? language : "en";
}

const batch = 200;

async function eachOf<Row extends { readonly id: number }>(
  next: (afterId: number, most: number) => Promise<readonly Row[]>,
  run: (row: Row) => Promise<void>,
): Promise<void> {
  for (let after = 0; ;) {
    const rows = await next(after, batch);
    for (const row of rows) await run(row);
    const last = rows.at(-1);
    if (!last || rows.length < batch) return;
    after = last.id;
  }
}
