/** Creating, changing and deleting articles. behaviour B.11. */
import { field, mistakes, slugOf, Type, type Static } from "platform";
import { toApi, type ArticleInput, type ArticleView } from "./article-store.ts";
import type { SiteEdit, Expected } from "../edit.ts";
import { codeField, freeOf, type Ref } from "../code.ts";
import {
  codeRef,
  contentField,
  fieldsField,
  flag,
  idRef,
  localeField,
  pathField,
  siteRef,
  textField,
} from "../input.ts";
import { fieldTimes } from "../pages/field-times.ts";
import { cleanPath } from "../pages/path.ts";
import { parsePublished } from "./published.ts";
import { checkFields } from "../texts.ts";
import { codeOf, mustStay, named, orNull, siteOf, there, type Mistakes, lockedIn, reread } from "../write.ts";
import * as articleStore from "./article-store.ts";
import * as categoryStore from "./category-store.ts";
export const ArticleBody = Type.Object({
  code: Type.Optional(codeField()),
  category_code: codeRef(),
  category_id: idRef(),
  categories: Type.Optional(
    field.from(Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 100 }), {
      path: "/cms/categories.json",
      value: "code",
      where: ["site_code"],
    }),
  ),
  locale: localeField(),
  path: pathField(),
  title: Type.Optional(field.name(1000)),
  lead: textField(50_000),
  content: contentField(),
  fields: fieldsField(),
  html_title: textField(1000),
  html_description: textField(5000),
  published_at: textField(64),
  active: flag(),
  ...siteRef(),
});
export type ArticleBody = Static<typeof ArticleBody>;

export async function create(edit: SiteEdit, body: ArticleBody): Promise<ArticleView> {
  const { tx, account, userId } = edit;
  const wrong = mistakes();
  const site = await siteOf(edit, wrong, body);
  if (site) await edit.touch(site.id);
  const { title } = body;
  if (title === undefined) wrong.add("title", "is required");
  const categoryId = (site && (await mainOf(edit, wrong, body, site.id))) ?? null;
  const further = site ? await furtherOf(edit, wrong, body.categories ?? [], site.id) : [];
  const input = inputOf(wrong, undefined, body, account.timezone);
  wrong.check();
  const { id: siteId } = there(site);
  const code = await codeOf(edit, articleStore.taken, { code: body.code, name: title ?? "", kind: "article", siteId });
  const path = input.path || (await freePath(edit, siteId, slugOf(title ?? "") || code));
  const id = await articleStore.insert(tx, account.id, siteId, userId, { ...input, code, path, categoryId });
  await articleStore.setCategories(tx, account.id, siteId, id, further);
  return told(edit, "create", id);
}

export async function update(edit: SiteEdit, ref: Ref, body: ArticleBody, expected: Expected): Promise<ArticleView> {
  const { tx, account, userId } = edit;
  const before = await lockedIn(edit, articleStore.find, ref, expected);
  const { id, siteId } = before;
  const wrong = mistakes();
  mustStay(wrong, body, before);
  const main = await mainOf(edit, wrong, body, siteId);
  const further = body.categories && (await furtherOf(edit, wrong, body.categories, siteId));
  const input = inputOf(wrong, before, body, account.timezone);
  if (input.path === "") wrong.add("path", "can't be blank");
  wrong.check();
  const categoryId = main === undefined ? before.categoryId : main;
  await articleStore.update(tx, account.id, id, userId, { ...input, code: body.code ?? before.code, categoryId });
  if (further) await articleStore.setCategories(tx, account.id, siteId, id, further);
  return told(edit, "update", id);
}

export async function remove(edit: SiteEdit, ref: Ref, expected: Expected): Promise<void> {
  const { tx, account } = edit;
  const row = await lockedIn(edit, articleStore.find, ref, expected);
  await articleStore.remove(tx, account.id, row.id);
  await edit.cms.changed(articleEvent(account.id, "destroy", row), tx);
}

async function told(edit: SiteEdit, kind: "create" | "update", id: number): Promise<ArticleView> {
  const row = await reread(edit, articleStore.find, id);
  await edit.cms.changed(articleEvent(edit.account.id, kind, row), edit.tx);
  return row;
}

/** The main category that the body names. Undefined: the body does not say; null: it names none. */
async function mainOf({ tx, account }: SiteEdit, wrong: Mistakes, body: ArticleBody, siteId: number) {
  const given = { as: "category", what: "category", code: body.category_code, id: body.category_id, siteId };
  const row = await named(wrong, given, (ref) => categoryStore.find(tx, account.id, ref));
  return row && row.id;
}

/** The ids of the additional categories in their order, each once. */
async function furtherOf({ tx, account }: SiteEdit, wrong: Mistakes, codes: readonly string[], siteId: number) {
  const rows = codes.length === 0 ? [] : await categoryStore.byCodes(tx, account.id, siteId, codes);
  const byCode = new Map(rows.map(({ code, id }) => [code, id]));
  const unknown = codes.find((code) => !byCode.has(code));
  if (unknown !== undefined) wrong.add("categories", `${unknown} names no category of this site`);
  return [...new Set(codes)].map((code) => byCode.get(code)).filter((id) => id !== undefined);
}

async function freePath({ tx, account }: SiteEdit, siteId: number, base: string): Promise<string> {
  return freeOf(base, await articleStore.takenPaths(tx, account.id, siteId, base));
}

export function articleEvent(accountId: number, kind: "create" | "update" | "destroy", row: ArticleView) {
  return { accountId, sourceType: "Cms::Article", kind, id: row.id, data: toApi(row) };
}

type Plain = Omit<ArticleInput, "code" | "categoryId">;

/** Everything except the references. An empty path is still to be made. */
function inputOf(wrong: Mistakes, before: ArticleView | undefined, body: ArticleBody, timezone: string): Plain {
  // An article's content is printed as it is and never parsed, so an article can be about Liquid.
  checkFields(wrong, body.fields);
  const path = body.path === undefined ? { path: before?.path ?? "" } : cleanPath(body.path);
  if ("mistake" in path) wrong.add("path", path.mistake);
  const after = {
    locale: orNull(body.locale, before?.locale) || null,
    path: "path" in path ? path.path : "-",
    title: body.title ?? before?.title ?? "",
    lead: orNull(body.lead, before?.lead),
    content: body.content === undefined ? (before?.content ?? "") : (body.content ?? ""),
    fields: body.fields ?? before?.fields ?? {},
    htmlTitle: orNull(body.html_title, before?.htmlTitle),
    htmlDescription: orNull(body.html_description, before?.htmlDescription),
    publishedAt: publishedOf(wrong, before, body.published_at, timezone),
    active: body.active ?? before?.active ?? true,
  };
  return { ...after, fieldTimes: before ? fieldTimes(before, after, new Date()) : {} };
}

/** A new article is published at once, unless its body says otherwise. */
function publishedOf(
  wrong: Mistakes,
  before: ArticleView | undefined,
  given: string | null | undefined,
  timezone: string,
): Date | null {
  if (given === undefined) return before ? before.publishedAt : new Date();
  if (!given) return null;
  const parsed = parsePublished(given, timezone);
  if (!parsed) wrong.add("published_at", "must be a date, or a date with time such as 2026-01-31T10:00:00Z");
  return parsed ?? null;
}
