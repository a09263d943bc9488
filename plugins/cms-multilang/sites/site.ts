/** Sites. Everything else of this plugin is in one. behaviour 2.7, B.11. */
import { filter, resource, Type } from "platform";
import type { Change, Changed, DraftOf, Mistakes } from "platform";
import { refOf } from "../code.ts";
import { Article } from "../articles/article.ts";
import type { CmsContext } from "../context.ts";
import { there, titleOf, type SiteEdit } from "../edit.ts";
import { needsTitle } from "../fields.ts";
import { checkFields } from "../input.ts";
import { kindOf, type Kind } from "../kind.ts";
import { codeChanged, find, ofSite, searching } from "../kind-store.ts";
import { isLocale, locales, type Locale } from "../locales.ts";
import { Page } from "../pages/page.ts";
import { siteFields, type SiteRow } from "../rows.ts";

export const Site = kindOf(
  resource("site", {
    table: "cms_sites",
    path: "/cms/sites",
    id: "integer",
    privilege: "cms",
    model: "Cms::Site",
    fields: siteFields,
    check,
    changed,
    example: { id: 3 },
    request: ["code", "name", "locale", "multilang", "fields"],
    change: { multilang: true, locale: "pl" },
    docs: {
      create: {
        description:
          "`locale` defaults to the account's. `multilang` switches on alternates, canonical addresses and redirects.",
        refusals: { 422: { code: ["is already taken"] } },
      },
      delete: { description: "Deletes its domains, layouts, pages, paragraphs, categories and articles too." },
    },
  }),
  {
    inSites: false,
    large: ["fields"],
    needs: [needsTitle],
    shownAt: "/w/{code}/",
    filters: {
      q: searching(["name", "code"]),
      code: filter.exact(),
      locale: filter.exact(Type.String({ enum: [...locales], "x-open": true, description: "exact value" })),
    },
  },
);

/** The site of an address, by its id or its code. */
export async function siteAt({ sql }: Pick<CmsContext, "sql">, accountId: number, text: string): Promise<SiteRow> {
  const ref = refOf(text);
  return there(ref && (await find(Site, sql, accountId, ref)));
}

async function check(
  edit: SiteEdit,
  { given, before, after }: Change<typeof siteFields, "integer">,
  wrong: Mistakes,
): Promise<DraftOf<typeof siteFields>> {
  const title = await titleOf(edit, Site, { given, before }, wrong, undefined);
  checkFields(wrong, given.fields);
  const { locale = before?.locale } = given;
  return { ...after, ...title, locale: locale ?? localeOf(edit.account.locale) };
}

const shownIn = ["domains", "layouts", "pages", "paragraphs", "categories", "articles"].map(
  (plural) => [`cms_${plural}`, "site_id"] as const,
);

/** Everything in the site goes with it. */
async function changed(edit: SiteEdit, { before, after }: Changed<typeof siteFields, "integer">): Promise<void> {
  if (!before) return;
  if (after && after.code !== before.code) await codeChanged(edit, before.id, shownIn);
  if (after?.code !== before.code || after.active !== before.active) edit.hostsChange();
  if (after) return;
  for await (const row of everyOf(edit, Page, before.id)) await Page.announce(edit, "destroy", row);
  for await (const row of everyOf(edit, Article, before.id)) await Article.announce(edit, "destroy", row);
}

/** An account's locale can be any word: `en-GB` becomes `en`, and an unsupported one becomes English. */
function localeOf(accountLocale: string): Locale {
  const [language = ""] = accountLocale.toLowerCase().split(/[-_]/);
  return isLocale(language) ? language : "en";
}

const batch = 200;

async function* everyOf<Row>(edit: SiteEdit, kind: Kind<Row>, siteId: number) {
  for (let after = 0; ;) {
    const rows = await ofSite(kind, edit, siteId, after, batch);
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < batch) return;
    after = last.id;
  }
}
