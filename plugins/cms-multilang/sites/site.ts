/** Creating, changing and deleting sites. */
import { mistakes, Type, type BaseContext, type Static } from "platform";
import type { ArticleStore } from "../articles/article-store.ts";
import { articleEvent } from "../articles/article.ts";
import { locked, type SiteEdit } from "../edit.ts";
import { codeField } from "../code.ts";
import { fieldsField, flag, nameField, siteLocale } from "../input.ts";
import { isLocale, type Locale } from "../locales.ts";
import type { PageStore } from "../pages/page-store.ts";
import { pageEvent } from "../pages/page.ts";
import type { SiteRow } from "../rows.ts";
import type { SiteInput, SiteStore } from "./site-store.ts";
import { checkFields } from "../texts.ts";
import { codeOf, nameOf, there, type Writer } from "../write.ts";

export const SiteBody = Type.Object({
  code: Type.Optional(codeField()),
  name: nameField(),
  locale: siteLocale(),
  multilang: flag(),
  fields: fieldsField(),
  active: flag(),
});
export type SiteBody = Static<typeof SiteBody>;

interface Needed {
  readonly ctx: Pick<BaseContext, "changed">;
  readonly siteStore: SiteStore;
  readonly pageStore: Pick<PageStore, "ofSite">;
  readonly articleStore: Pick<ArticleStore, "ofSite">;
}

export function createSiteWriter({ ctx, siteStore, pageStore, articleStore }: Needed): Writer<SiteBody, SiteRow> {
  const find = async ({ tx, account }: SiteEdit, ref: Parameters<SiteStore["find"]>[2]) => {
    const row = await siteStore.find(tx, account.id, ref);
    return row && { ...row, siteId: row.id };
  };

  return {
    async create(edit, body) {
      const { tx, account, userId } = edit;
      const wrong = mistakes();
      const name = nameOf(wrong, body.name, body.code);
      checkFields(wrong, body.fields);
      wrong.check();
      const id = await siteStore.insert(tx, account.id, userId, {
        code: await codeOf(edit, siteStore, { code: body.code, name, kind: "site", siteId: null }),
        name,
        locale: body.locale ?? localeOf(account.locale),
        multilang: body.multilang ?? false,
        fields: body.fields ?? {},
        active: body.active ?? true,
      });
      return there(await siteStore.find(tx, account.id, { id }));
    },

    async update(edit, ref, body, expected) {
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
    },

    /** Deletes everything in the site too. */
    async remove(edit, ref, expected) {
      const { tx, account } = edit;
      const { id } = await locked(edit, (which) => find(edit, which), ref, expected);
      await eachOf(
        (after, most) => pageStore.ofSite(tx, account.id, id, after, most),
        async (row) => {
          await ctx.changed(pageEvent(account.id, "destroy", row), tx);
        },
      );
      await eachOf(
        (after, most) => articleStore.ofSite(tx, account.id, id, after, most),
        async (row) => {
          await ctx.changed(articleEvent(account.id, "destroy", row), tx);
        },
      );
      await siteStore.delete(tx, account.id, id);
      edit.hostsChange();
    },
  };
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
