/** Articles and their categories. behaviour B.11. */
import { filter, resource, slugOf, Type } from "platform";
import type { Change, Changed, DraftOf, Mistakes, PatchOf } from "platform";
import { cleanPath, freeOf } from "../code.ts";
import { codeOf, named, placeOf, titleOf, type SiteEdit } from "../edit.ts";
import { needsSite, needsTitle } from "../fields.ts";
import { checkFields, fieldTimes } from "../input.ts";
import { kindOf } from "../kind.ts";
import { byLocale, byPath, bySite, find, searching, taken } from "../kind-store.ts";
import { articleFields, categoryFields, type ArticleRow } from "../rows.ts";
import { categoryChanged, inCategory, leaveCategory, missingCategory, setCategories } from "./store.ts";

type Patch = PatchOf<typeof articleFields>;

export const Article = kindOf(
  resource("article", {
    table: "cms_articles",
    path: "/cms/articles",
    id: "integer",
    privilege: "cms",
    model: "Cms::Article",
    events: true,
    fields: articleFields,
    check,
    elsewhere: (edit, id, draft) => setCategories(edit, id, draft),
    example: { id: 10 },
    request: ["code", "site_code", "category_code", "locale", "title", "lead", "content"],
    change: { category_code: "news", locale: "en" },
    docs: {
      create: {
        description:
          "`category_code` is the main category, the same for all languages; `categories` are the codes of additional ones. " +
          "`path` defaults to the title as a path. `published_at` defaults to now; null = no date.",
        refusals: { 422: { category_code: ["names no category of this site"] } },
      },
    },
  }),
  {
    large: ["content", "fields", "lead"],
    needs: [["title"], needsSite],
    filters: {
      q: searching(["title", "code", "lead"]),
      code: filter.exact(),
      site_code: bySite,
      category_code: inCategory,
      locale: byLocale,
      path: byPath(),
      active: filter.flagged(Type.Boolean({ description: "true or false" })),
    },
  },
);

async function check(
  edit: SiteEdit,
  { given, before, after }: Change<typeof articleFields, "integer">,
  wrong: Mistakes,
): Promise<DraftOf<typeof articleFields>> {
  const siteId = await placeOf(edit, wrong, given, before);
  const title = given.title ?? before?.title ?? "";
  if (!before && given.title === undefined) wrong.add("title", "is required");
  const main = siteId && (await mainOf(edit, wrong, given, siteId));
  const missing = siteId && given.categories?.length && (await missingCategory(edit, siteId, given.categories));
  if (missing) wrong.add("categories", `${missing} names no category of this site`);
  // An article's content is printed as it is and never parsed, so an article can be about Liquid.
  checkFields(wrong, given.fields);
  const path = given.path === undefined ? (before?.path ?? "") : pathOf(wrong, given.path);
  if (before && path === "") wrong.add("path", "can't be blank");
  const publishedAt = publishedOf(wrong, before, given.published_at, edit.account.timezone);
  wrong.check();
  const code = await codeOf(edit, Article, given.code ?? before?.code, title, siteId);
  const base = slugOf(title) || code;
  const draft = {
    ...after,
    siteId: siteId ?? 0,
    code,
    title,
    path: path || freeOf(base, await taken(Article, edit, siteId, base, "path")),
    locale: after.locale || null,
    categoryId: main === undefined ? (before?.categoryId ?? null) : main || null,
    publishedAt,
  };
  return { ...draft, fieldTimes: before ? fieldTimes(before, draft, new Date()) : {} };
}

/** The main category that the body names. Undefined: the body does not say; null: it names none. */
async function mainOf({ tx, account }: SiteEdit, wrong: Mistakes, given: Patch, siteId: number) {
  const asked = { as: "category", what: "category", code: given.category_code, id: given.category_id, siteId };
  const row = await named(wrong, asked, (ref) => find(Category, tx, account.id, ref));
  return row && row.id;
}

function pathOf(wrong: Mistakes, given: string): string {
  const clean = cleanPath(given);
  if ("path" in clean) return clean.path;
  wrong.add("path", clean.mistake);
  return "-";
}

/** A new article is published at once, unless its body says otherwise. */
function publishedOf(
  wrong: Mistakes,
  before: ArticleRow | undefined,
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

export const Category = kindOf(
  resource("category", {
    table: "cms_categories",
    path: "/cms/categories",
    id: "integer",
    privilege: "cms",
    model: "Cms::Category",
    fields: categoryFields,
    check: checkCategory,
    changed: categoryWritten,
    example: { id: 9 },
    request: ["code", "name", "site_code"],
    change: { path: "company" },
    docs: {
      create: {
        description: "`path` narrows a list of articles: `<page path>/<category path>` shows only this category.",
        refusals: { 422: { code: ["is already taken"] } },
      },
      delete: { description: "Its articles stay, without this category." },
    },
  }),
  {
    needs: [needsTitle, needsSite],
    filters: { q: searching(["name", "code"]), code: filter.exact(), site_code: bySite, path: byPath() },
  },
);

async function checkCategory(
  edit: SiteEdit,
  { given, before, after }: Change<typeof categoryFields, "integer">,
  wrong: Mistakes,
): Promise<DraftOf<typeof categoryFields>> {
  const siteId = await placeOf(edit, wrong, given, before);
  const title = await titleOf(edit, Category, { given, before }, wrong, siteId);
  const path = cleanPath(given.path ?? "");
  if ("mistake" in path) wrong.add("path", path.mistake);
  const kept = given.path === undefined ? after.path : "path" in path ? path.path || null : null;
  return { siteId: siteId ?? 0, ...title, path: kept };
}

/** Its articles stay, without a category. */
async function categoryWritten(
  edit: SiteEdit,
  { before, after }: Changed<typeof categoryFields, "integer">,
): Promise<void> {
  if (before && after?.code !== before.code) await categoryChanged(edit, before.id);
  if (before && !after) await leaveCategory(edit, before.id);
}
