/** Creating, changing and deleting articles and their categories. behaviour B.11. */
import { field, mistakes, slugOf, Type, type Static } from "platform";
import { codeField, freeOf, cleanPath } from "../code.ts";
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
  checkFields,
  nameField,
  fieldTimes,
} from "../input.ts";
import {
  codeOf,
  locked,
  mustStay,
  named,
  orNull,
  reread,
  siteOf,
  there,
  type Mistakes,
  type SiteEdit,
  type Writer,
  nameOf,
} from "../edit.ts";
import {
  articles,
  categories,
  categoriesOf,
  setCategories,
  type ArticleInput,
  type ArticleView,
  categoryChanged,
  leaveCategory,
  type CategoryView,
} from "./store.ts";
import * as kindStore from "../kind-store.ts";

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

export const articleWriter: Writer<ArticleBody, ArticleView> = {
  async create(edit, body) {
    const wrong = mistakes();
    const site = await siteOf(edit, wrong, body);
    if (site) await edit.touch(site.id);
    const { title } = body;
    if (title === undefined) wrong.add("title", "is required");
    const categoryId = (site && (await mainOf(edit, wrong, body, site.id))) ?? null;
    const further = site ? await furtherOf(edit, wrong, body.categories ?? [], site.id) : [];
    const input = inputOf(wrong, undefined, body, edit.account.timezone);
    wrong.check();
    const { id: siteId } = there(site);
    const code = await codeOf(edit, articles, { code: body.code, name: title ?? "", siteId });
    const base = slugOf(title ?? "") || code;
    const path = input.path || freeOf(base, await kindStore.taken(articles, edit, siteId, base, "path"));
    const id = await kindStore.insert(articles, edit, { ...input, code, path, categoryId }, siteId);
    await setCategories(edit, siteId, id, further);
    return told(edit, "create", id);
  },

  async update(edit, ref, body, expected) {
    const before = await locked(edit, articles, ref, expected);
    const { id, siteId } = before;
    const wrong = mistakes();
    mustStay(wrong, body, before);
    const main = await mainOf(edit, wrong, body, siteId);
    const further = body.categories && (await furtherOf(edit, wrong, body.categories, siteId));
    const input = inputOf(wrong, before, body, edit.account.timezone);
    if (input.path === "") wrong.add("path", "can't be blank");
    wrong.check();
    const categoryId = main === undefined ? before.categoryId : main;
    await kindStore.update(articles, edit, id, { ...input, code: body.code ?? before.code, categoryId });
    if (further) await setCategories(edit, siteId, id, further);
    return told(edit, "update", id);
  },

  async remove(edit, ref, expected) {
    const { tx, account } = edit;
    const row = await locked(edit, articles, ref, expected);
    await kindStore.remove(articles, edit, row.id);
    await edit.cms.changed(articleEvent(account.id, "destroy", row), tx);
  },
};

async function told(edit: SiteEdit, kind: "create" | "update", id: number): Promise<ArticleView> {
  const row = await reread(edit, articles, id);
  await edit.cms.changed(articleEvent(edit.account.id, kind, row), edit.tx);
  return row;
}

/** The main category that the body names. Undefined: the body does not say; null: it names none. */
async function mainOf({ tx, account }: SiteEdit, wrong: Mistakes, body: ArticleBody, siteId: number) {
  const given = { as: "category", what: "category", code: body.category_code, id: body.category_id, siteId };
  const row = await named(wrong, given, (ref) => kindStore.find(categories, tx, account.id, ref));
  return row && row.id;
}

/** The ids of the additional categories in their order, each once. */
async function furtherOf(edit: SiteEdit, wrong: Mistakes, codes: readonly string[], siteId: number) {
  const rows = codes.length === 0 ? [] : await categoriesOf(edit, siteId, codes);
  const byCode = new Map(rows.map(({ code, id }) => [code, id]));
  const unknown = codes.find((code) => !byCode.has(code));
  if (unknown !== undefined) wrong.add("categories", `${unknown} names no category of this site`);
  return [...new Set(codes)].map((code) => byCode.get(code)).filter((id) => id !== undefined);
}

export function articleEvent(accountId: number, kind: "create" | "update" | "destroy", row: ArticleView) {
  return { accountId, sourceType: "Cms::Article", kind, id: row.id, data: articles.toApi(row) };
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

const dateForm = /^\d{4}-\d{2}-\d{2}$/;
const timeForm = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s*(?:([Zz])|([+-]\d{2}):?(\d{2}))?$/;

/**
 * The instant of a date (its first moment) or of a date with time; without an offset it is read in `timezone`.
 * Undefined if the text is neither.
 */
export function parsePublished(text: string, timezone: string): Date | undefined {
  const trimmed = text.trim();
  const time = dateForm.test(trimmed) ? [trimmed, trimmed, "00:00"] : timeForm.exec(trimmed);
  if (!time) return undefined;
  const [, date = "", clock = "", zulu, hours, minutes = "00"] = time;
  const offset = zulu ? "+00:00" : hours ? `${hours}:${minutes}` : undefined;
  try {
    const local = Temporal.PlainDateTime.from(`${date}T${clock}`);
    if (local.year < 1000) return undefined;
    return new Date(local.toZonedDateTime(offset ?? timezone).epochMilliseconds);
  } catch {
    return undefined; // no such day or time
  }
}

export const CategoryBody = Type.Object({
  code: Type.Optional(codeField()),
  name: nameField(),
  path: Type.Optional(field.nullable(Type.String({ maxLength: 4000 }))),
  ...siteRef(),
});
export type CategoryBody = Static<typeof CategoryBody>;

export const categoryWriter: Writer<CategoryBody, CategoryView> = {
  async create(edit, body) {
    const wrong = mistakes();
    const site = await siteOf(edit, wrong, body);
    const name = nameOf(wrong, body.name, body.code);
    const path = pathOf(wrong, body.path ?? "");
    wrong.check();
    const { id: siteId } = there(site);
    await edit.touch(siteId);
    const code = await codeOf(edit, categories, { code: body.code, name, siteId });
    return reread(edit, categories, await kindStore.insert(categories, edit, { code, name, path }, siteId));
  },

  async update(edit, ref, body, expected) {
    const before = await locked(edit, categories, ref, expected);
    const wrong = mistakes();
    mustStay(wrong, body, before);
    const path = body.path === undefined ? before.path : pathOf(wrong, body.path ?? "");
    wrong.check();
    const { code = before.code, name = before.name } = body;
    await kindStore.update(categories, edit, before.id, { code, name, path });
    if (code !== before.code) await categoryChanged(edit, before.id);
    return reread(edit, categories, before.id);
  },

  /** Its articles stay, without a category. */
  async remove(edit, ref, expected) {
    const { id } = await locked(edit, categories, ref, expected);
    await categoryChanged(edit, id);
    await leaveCategory(edit, id);
    await kindStore.remove(categories, edit, id);
  },
};

/** An empty path means no path. */
function pathOf(wrong: Mistakes, given: string): string | null {
  const clean = cleanPath(given);
  if ("path" in clean) return clean.path || null;
  wrong.add("path", clean.mistake);
  return null;
}
