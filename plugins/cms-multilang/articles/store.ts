/** The SQL that only articles and their categories need. */
import { narrowing, type Writing } from "../kind-store.ts";

/** The articles of a category, be it their main one or an additional one. */
export const inCategory = narrowing(
  "exact value",
  (sql, given, accountId) => sql`exists (
    select 1 from cms_categories c
    where c.account_id = ${accountId} and c.site_id = cms_articles.site_id and c.code = ${given}
      and (c.id = cms_articles.category_id or exists (
        select 1 from cms_article_categories ac
        where ac.account_id = ${accountId} and ac.article_id = cms_articles.id and ac.category_id = c.id)))`,
);

/** Sets the additional categories, in this order, each once; those that stay are not written. */
export async function setCategories(
  { tx, account }: Writing,
  id: number,
  { siteId, categories }: { readonly siteId: number; readonly categories: readonly string[] },
): Promise<void> {
  await tx`
    delete from cms_article_categories
    where account_id = ${account.id} and article_id = ${id} and category_id not in (
      select c.id from cms_categories c
      where c.account_id = ${account.id} and c.site_id = ${siteId} and c.code = any(${categories}::text[]))`;
  await tx`
    insert into cms_article_categories as r (account_id, site_id, article_id, category_id, position)
    select ${account.id}::bigint, ${siteId}::bigint, ${id}::bigint, c.id, min(given.position)
    from unnest(${categories}::text[]) with ordinality as given (code, position)
    join cms_categories c on c.account_id = ${account.id} and c.site_id = ${siteId} and c.code = given.code
    group by c.id
    on conflict (account_id, article_id, category_id) do update set position = excluded.position
    where r.position <> excluded.position`;
}

/** The first of these codes that no category of the site has. */
export async function missingCategory(
  { tx, account }: Writing,
  siteId: number,
  codes: readonly string[],
): Promise<string | undefined> {
  const rows = await tx<{ code: string }[]>`
    select code from cms_categories
    where account_id = ${account.id} and site_id = ${siteId} and code = any(${codes}::text[])`;
  return codes.find((code) => !rows.some((row) => row.code === code));
}

/** The articles of a main category stay, without one. */
export async function leaveCategory({ tx, account }: Writing, id: number): Promise<void> {
  await tx`
    update cms_articles set category_id = null, updated_at = now()
    where account_id = ${account.id} and category_id = ${id}`;
}

/** Articles show the category's code, so they get a new version if the code changes or the category goes. */
export async function categoryChanged({ tx, account }: Writing, id: number): Promise<void> {
  await tx`
    update cms_articles a set version = version + 1
    where account_id = ${account.id} and (category_id = ${id} or exists (
      select 1 from cms_article_categories ac
      where ac.account_id = ${account.id} and ac.article_id = a.id and ac.category_id = ${id}))`;
}
