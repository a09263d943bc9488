/** The schemas of what the routes of sites answer. */
import { answer, field, Type } from "platform";
import { findingCodes } from "./care/finding.ts";
import { locales } from "./locales.ts";

const text = Type.String();
const orNull = field.nullable;
const id = Type.Integer();
const locale = orNull(field.oneOf(locales));
const kept = {
  created_by_id: orNull(id),
  updated_by_id: orNull(id),
  created_at: answer.time(),
  updated_at: answer.time(),
};
const ofSite = { site_id: id, site_code: text };

export const Site = answer.object("Site", {
  id,
  code: text,
  name: text,
  locale: field.oneOf(locales),
  multilang: Type.Boolean(),
  fields: answer.json(),
  active: Type.Boolean(),
  ...kept,
});

/** How the account proves that a pending domain is its own. */
const DomainVerification = answer.object("DomainVerification", {
  txt_name: text,
  txt_value: text,
  file_url: text,
  file_content: text,
});

export const Domain = answer.object("Domain", {
  id,
  name: text,
  ...ofSite,
  locale,
  primary: Type.Boolean(),
  status: field.oneOf(["pending", "approved"]),
  verification: orNull(DomainVerification),
  ...kept,
});

export const Layout = answer.object("Layout", {
  id,
  code: text,
  name: text,
  ...ofSite,
  content: text,
  fields: answer.json(),
  ...kept,
});

export const Page = answer.object("Page", {
  id,
  code: text,
  name: text,
  path: text,
  locale,
  kind: text,
  ...ofSite,
  layout_id: orNull(id),
  layout_code: orNull(text),
  content: text,
  fields: answer.json(),
  html_title: orNull(text),
  html_description: orNull(text),
  html_keywords: orNull(text),
  based_on_page_id: orNull(id),
  based_on_page_code: orNull(text),
  active: Type.Boolean(),
  position: Type.Integer(),
  cache_seconds: orNull(Type.Integer()),
  ...kept,
});

export const Paragraph = answer.object("Paragraph", {
  id,
  code: text,
  name: text,
  site_id: orNull(id),
  site_code: orNull(text),
  page_id: orNull(id),
  page_code: orNull(text),
  content: text,
  fields: answer.json(),
  position: Type.Integer(),
  ...kept,
});

export const Category = answer.object("Category", {
  id,
  code: text,
  name: text,
  path: orNull(text),
  ...ofSite,
  ...kept,
});

export const Redirect = answer.object("Redirect", {
  id,
  path: text,
  to: text,
  status: Type.Union([Type.Literal(301), Type.Literal(302), Type.Literal(308)]),
  ...ofSite,
  domain_id: orNull(id),
  domain: orNull(text),
  ...kept,
});

export const Article = answer.object("Article", {
  id,
  code: text,
  ...ofSite,
  category_id: orNull(id),
  category_code: orNull(text),
  categories: answer.list(text),
  locale,
  path: text,
  title: text,
  lead: orNull(text),
  content: text,
  fields: answer.json(),
  html_title: orNull(text),
  html_description: orNull(text),
  published_at: orNull(answer.time()),
  active: Type.Boolean(),
  ...kept,
});

export const SiteFinding = answer.object("SiteFinding", {
  code: Type.Unsafe<keyof typeof findingCodes>(field.oneOf(Object.keys(findingCodes))),
  severity: field.oneOf(["error", "warning"]),
  page: orNull(text),
  locale: Type.Optional(field.oneOf(locales)),
  field: Type.Optional(text),
  message: text,
});

const TranslationState = answer.object("TranslationState", {
  state: field.oneOf(["own", "fields", "inherited", "missing", "stale"]),
  page: orNull(text),
  missing: answer.list(text),
  stale: answer.list(text),
});

export const PageTranslations = answer.object("PageTranslations", {
  page: text,
  name: text,
  path: text,
  locales: Type.Record(text, TranslationState),
});

const Alternate = answer.object("Alternate", { locale: text, url: text });

/** What the head of a page tells search engines. */
const PageSeen = answer.object("PageSeen", {
  title: orNull(text),
  description: orNull(text),
  canonical_url: orNull(text),
  alternates: answer.list(Alternate),
  robots: orNull(text),
  lang: orNull(text),
});

export const DraftPreview = answer.object("DraftPreview", {
  url: text,
  expires_at: answer.time(),
  domain: orNull(text),
  locale: field.oneOf(locales),
  address: orNull(text),
  redirects_to: orNull(text),
  seen: PageSeen,
  canonical_url: orNull(text),
  alternates: answer.list(Alternate),
  fault: orNull(text),
});

const TextState = answer.object("TextState", {
  state: field.oneOf(["own", "fields", "inherited", "missing", "stale"]),
  code: orNull(text),
  missing: answer.list(text),
  stale: answer.list(text),
});

export const TextTranslations = answer.object("TextTranslations", {
  code: text,
  name: text,
  locales: Type.Record(text, TextState),
});

/** The end of a page's path decides its type. */
export const sitePage = [
  ...["text/html", "text/plain", "application/xml", "application/manifest+json"].map(answer.text),
  Type.Unknown({ description: "A page whose path ends in .json" }),
];
