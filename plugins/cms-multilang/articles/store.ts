/** Articles and their categories as kinds of records, and the SQL that only they need. */
import { filter, Type } from "platform";
import * as answers from "../answers.ts";
import { byLocale, byPath, bySite, narrowing, searching, shownBy, type Kind, type Writing } from "../kind-store.ts";
import type { ArticleRow, CategoryRow } from "../rows.ts";

export interface ArticleView extends ArticleRow {
  readonly siteCode: string;
  readonly categoryCode: string | null;
  /** Codes of the additional categories, in their order. */
  readonly categories: readonly string[];
}

const articleColumns = [
  "code",
  "categoryId",
  "locale",
  "path",
  "title",
  "lead",
  "content",
  "fields",
  "htmlTitle",
  "htmlDescription",
  "publishedAt",
  "active",
  "fieldTimes",
] as const satisfies (keyof ArticleRow)[];

/** What a save writes. */
export type ArticleInput = Pick<ArticleRow, (typeof articleColumns)[number]>;

export const articles: Kind<ArticleView, keyof ArticleInput> = {
  name: "article",
  plural: "articles",
  table: "cms_articles",
  writes: articleColumns,
  shows: `r.site_id, s.code as site_code, c.code as category_code,
    array(select ec.code from cms_article_categories ac
      join cms_categories ec on ec.account_id = ac.account_id and ec.id = ac.category_id
      where ac.account_id = r.account_id and ac.article_id = r.id order by ac.position) as categories`,
  joins: `
    join cms_sites s on s.account_id = r.account_id and s.id = r.site_id
    left join cms_categories c on c.account_id = r.account_id and c.id = r.category_id`,
  large: ["content", "fields", "lead"],
  order: ["id"],
  filters: {
    q: searching(["title", "code", "lead"]),
    code: filter.exact(),
    site_code: bySite,
    category_code: narrowing(
      "exact value",
      (sql, given, accountId) => sql`exists (
        select 1 from cms_categories c
        where c.account_id = ${accountId} and c.site_id = r.site_id and c.code = ${given}
          and (c.id = r.category_id or exists (
            select 1 from cms_article_categories ac
            where ac.account_id = ${accountId} and ac.article_id = r.id and ac.category_id = c.id)))`,
    ),
    locale: byLocale,
    path: byPath(),
    active: filter.flagged(Type.Boolean({ description: "true or false" })),
  },
  toApi: shownBy(answers.Article),
};

export interface CategoryView extends CategoryRow {
  readonly siteCode: string;
}

export const categories: Kind<CategoryView, "code" | "name" | "path"> = {
  name: "category",
  plural: "categories",
  table: "cms_categories",
  writes: ["code", "name", "path"],
  shows: "r.site_id, s.code as site_code",
  joins: "join cms_sites s on s.account_id = r.account_id and s.id = r.site_id",
  large: [],
  order: ["id"],
  filters: { q: searching(["name", "code"]), code: filter.exact(), site_code: bySite, path: byPath() },
  toApi: shownBy(answers.Category),
};

/** Sets the additional categories, in this order. */
export async function setCategories(
  { tx, account }: Writing,
  siteId: number,
  id: number,
  categoryIds: readonly number[],
): Promise<void> {
  await tx`delete from cms_article_categories where account_id = ${account.id} and article_id = ${id}`;
  await tx`
    insert into cms_article_categories (account_id, site_id, article_id, category_id, position)
    select ${account.id}::bigint, ${siteId}::bigint, ${id}::bigint, category_id, position
    from unnest(${categoryIds}::bigint[]) with ordinality as given (category_id, position)`;
}

export async function categoriesOf(
  { tx, account }: Writing,
  siteId: number,
  codes: readonly string[],
): Promise<Pick<CategoryRow, "id" | "code">[]> {
  return tx<Pick<CategoryRow, "id" | "code">[]>`
    select id, code from cms_categories
    where account_id = ${account.id} and site_id = ${siteId} and code = any(${codes}::text[])`;
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
