/** The fields of sites, pages, layouts, paragraphs, articles and categories, and the rows that follow from them. behaviour B.11. */
import { look } from "../accounts/api.ts";
import { column, field, Type, type PatchOf, type RowOf } from "platform";
import * as shared from "./fields.ts";
import { locales } from "./locales.ts";

export type { Fields, FieldTimes } from "./fields.ts";

const { choice, flag, id, text } = column;

export const siteFields = {
  code: shared.code("acme"),
  name: shared.name("Acme"),
  locale: choice(locales, {
    label: shared.languageLabel,
    choices: shared.languages,
    body: field.nullable(field.oneOf(locales)),
    by: "check",
    leftOut: "the account's",
    example: "pl",
  }),
  multilang: flag({
    label: ["In several languages", "Wielojęzyczne", "Mehrsprachig"],
    help: [
      "Search engines get the other languages of each page.",
      "Wyszukiwarki dostają inne języki każdej strony.",
      "Suchmaschinen erhalten die anderen Sprachen jeder Seite.",
    ],
    body: field.flag(),
    blank: false,
    example: true,
  }),
  fields: shared.values({ company: "Acme" }),
  ...look,
  active: shared.active,
  ...shared.authors,
  /** Grows in the transaction of every change within the site. */
  revision: id({ by: "server", hidden: true }),
  // A site is its own.
  site_id: id({ by: "server", hidden: true, from: "id" }),
  site_code: text({ by: "server", hidden: true, from: "code" }),
};

export type SiteRow = RowOf<typeof siteFields, "integer">;

const frame: column.Label = ["Frame", "Układ", "Rahmen"];
const basis: column.Label = ["Based on", "Oparta na", "Beruht auf"];

export const pageFields = {
  code: shared.code("offer-en"),
  name: shared.name("Offer"),
  /** Without slashes at its ends; "" is the home page. */
  path: shared.path(Type.String({ maxLength: 4000 }), "its `code`", "offer"),
  locale: shared.locale("en"),
  kind: column.text({
    label: ["Kind", "Rodzaj", "Art"],
    help: [
      "404 and 500 answer for missing and failing pages.",
      "404 i 500 odpowiadają za brakujące i zepsute strony.",
      "404 und 500 antworten für fehlende und fehlerhafte Seiten.",
    ],
    body: field.code(),
    blank: "text",
  }),
  ...shared.siteOf("cms_pages"),
  layout_id: shared.idOf(frame, 5),
  layout_code: shared.codeOf(frame, "cms_pages", "layout_id", "cms_layouts", "main"),
  content: shared.content(shared.templateText(), "<h1>{{ title }}</h1>"),
  fields: shared.values({ title: "Our offer" }),
  ...shared.head("Our offer"),
  html_keywords: shared.keywords,
  based_on_page_id: shared.idOf(basis),
  based_on_page_code: shared.codeOf(basis, "cms_pages", "based_on_page_id", "cms_pages"),
  /** The master's path. */
  based_on_path: column.text({ by: "check", hidden: true, orNull: true }),
  active: shared.active,
  position: shared.position(),
  cache_seconds: column.integer({
    label: ["Kept by browsers (seconds)", "Pamięć przeglądarki (sekundy)", "Im Browser behalten (Sekunden)"],
    body: field.nullable(Type.Integer({ minimum: 0, maximum: 31_536_000 })),
    orNull: true,
  }),
  field_times: shared.times,
  ...shared.authors,
};

export type PageRow = RowOf<typeof pageFields, "integer">;
export type PagePatch = PatchOf<typeof pageFields>;

/** What a page says, in which language, and where. */
export type PageTexts = Pick<
  PageRow,
  | "id"
  | "code"
  | "name"
  | "path"
  | "locale"
  | "content"
  | "fields"
  | "htmlTitle"
  | "htmlDescription"
  | "htmlKeywords"
  | "basedOnPageId"
>;

export const layoutFields = {
  code: shared.code("main"),
  name: shared.name("Main layout"),
  ...shared.siteOf("cms_layouts"),
  content: shared.content(
    shared.templateText(),
    '<!doctype html><html lang="{{ content_lang }}"><head>{{ seo_head }}</head><body>{{ content }}</body></html>',
  ),
  fields: shared.values({ pl: { slogan: "Dobra robota" }, en: { slogan: "Good work" } }),
  field_times: shared.times,
  ...shared.authors,
};

export type LayoutRow = RowOf<typeof layoutFields, "integer">;

const page: column.Label = ["Page", "Strona", "Seite"];

export const paragraphFields = {
  code: shared.code("offer-intro"),
  name: shared.name("Introduction"),
  site_id: shared.idOf(shared.siteLabel, 3),
  site_code: shared.codeOf(shared.siteLabel, "cms_paragraphs", "site_id", "cms_sites", "acme"),
  page_id: shared.idOf(page, 7),
  page_code: shared.codeOf(page, "cms_paragraphs", "page_id", "cms_pages", "offer-en"),
  content: shared.content(shared.templateText(), "<p>{{ paragraph.text }}</p>"),
  fields: shared.values({ pl: { text: "Od lat" }, en: { text: "For years" } }),
  position: shared.position(1),
  field_times: shared.times,
  ...shared.authors,
};

/** Without a page it belongs to the whole site; without a site, to every site of the account. */
export type ParagraphRow = RowOf<typeof paragraphFields, "integer">;

const category: column.Label = ["Category", "Kategoria", "Kategorie"];

/** The codes of an article's additional categories, in their order. */
const furtherCategories = `array(
  select c.code from cms_article_categories ac
  join cms_categories c on c.account_id = ac.account_id and c.id = ac.category_id
  where ac.account_id = cms_articles.account_id and ac.article_id = cms_articles.id order by ac.position)`;

export const articleFields = {
  code: shared.code("new-office", "made of `title`"),
  ...shared.siteOf("cms_articles"),
  /** The main category. */
  category_id: shared.idOf(category, 9),
  category_code: shared.codeOf(category, "cms_articles", "category_id", "cms_categories", "news"),
  /** Codes of the additional categories, in their order. */
  categories: column.texts({
    label: ["More categories", "Dalsze kategorie", "Weitere Kategorien"],
    body: field.from(Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 100 }), {
      path: "/cms/categories.json",
      value: "code",
      where: ["site_code"],
    }),
    from: furtherCategories,
    blank: [],
  }),
  locale: shared.locale("en"),
  path: shared.path(Type.String({ maxLength: 4000 }), "made of `title`", "new-office"),
  title: column.text({
    label: ["Title", "Tytuł", "Titel"],
    body: field.name(1000),
    by: "check",
    leftOut: "refused",
    example: "A new office",
  }),
  lead: column.text({
    label: ["Introduction", "Wstęp", "Einleitung"],
    body: shared.longText(50_000),
    orNull: true,
    example: "We have moved.",
  }),
  content: shared.content(shared.contentText(), "<p>Come and see us.</p>"),
  fields: shared.values(),
  ...shared.head(),
  /** A time in the future hides the article until then. */
  published_at: column.time({
    label: ["Published", "Publikacja", "Veröffentlicht"],
    body: shared.longText(64),
    by: "check",
    orNull: true,
    leftOut: "now",
    example: new Date("2026-01-31T10:00:00.000Z"),
  }),
  active: shared.active,
  /** Of changes alone: its creation is no change. */
  field_times: shared.times,
  ...shared.authors,
};

export type ArticleRow = RowOf<typeof articleFields, "integer">;

export const categoryFields = {
  code: shared.code("news"),
  name: shared.name("News"),
  path: column.text({
    label: ["Path", "Ścieżka", "Pfad"],
    body: field.nullable(Type.String({ maxLength: 4000 })),
    orNull: true,
  }),
  ...shared.siteOf("cms_categories"),
  ...shared.authors,
};

export type CategoryRow = RowOf<typeof categoryFields, "integer">;

/** The kinds of pages that answer for missing or failing pages. They have no address of their own. */
export const errorKinds = ["404", "500"] as const;
export type ErrorKind = (typeof errorKinds)[number];
