/**
 * Which records of a site are files, and which fields a file has (the API's, by the same names). A field that is left
 * out has its default value, so a file describes its record completely.
 */
import type { Value, Values } from "./yaml.ts";

export type KindName = "site" | "domain" | "layout" | "category" | "page" | "paragraph" | "article" | "redirect";

export interface Kind {
  readonly name: KindName;
  /** "" = a single file at the top level (`redirects.yaml` has all redirects). */
  readonly folder: string;
  readonly extension: ".yaml" | ".liquid";
  /** In the order in which a file shows them. */
  readonly fields: Readonly<Record<string, FieldSpec>>;
}

export interface FieldSpec {
  readonly type: "text" | "time" | "flag" | "integer" | "codes" | "object";
  /** The value of a field that is left out; undefined = the field is required. */
  readonly standard: Value | undefined;
}

const required: FieldSpec = { type: "text", standard: undefined };
const optional: FieldSpec = { type: "text", standard: null };
const flag = (standard: boolean): FieldSpec => ({ type: "flag", standard });
const fields: FieldSpec = { type: "object", standard: {} };
const position: FieldSpec = { type: "integer", standard: 0 };

/** In the order in which they are written: a record comes after those that it refers to. */
export const kinds: readonly Kind[] = [
  {
    name: "site",
    folder: "",
    extension: ".yaml",
    fields: { name: required, locale: required, multilang: flag(false), active: flag(true), fields },
  },
  { name: "domain", folder: "domains", extension: ".yaml", fields: { locale: optional, primary: flag(false) } },
  { name: "layout", folder: "layouts", extension: ".liquid", fields: { name: required, fields } },
  { name: "category", folder: "categories", extension: ".yaml", fields: { name: required, path: optional } },
  {
    name: "page",
    folder: "pages",
    extension: ".liquid",
    fields: {
      name: required,
      path: required,
      locale: optional,
      kind: { type: "text", standard: "text" },
      layout_code: optional,
      based_on_page_code: optional,
      html_title: optional,
      html_description: optional,
      html_keywords: optional,
      active: flag(true),
      position,
      cache_seconds: { type: "integer", standard: null },
      fields,
    },
  },
  {
    name: "paragraph",
    folder: "paragraphs",
    extension: ".liquid",
    fields: { name: required, page_code: optional, position, fields },
  },
  {
    name: "article",
    folder: "articles",
    extension: ".liquid",
    fields: {
      title: required,
      path: required,
      locale: optional,
      category_code: optional,
      categories: { type: "codes", standard: [] },
      lead: optional,
      html_title: optional,
      html_description: optional,
      published_at: { type: "time", standard: null },
      active: flag(true),
      fields,
    },
  },
  {
    name: "redirect",
    folder: "",
    extension: ".yaml",
    fields: { path: required, domain: optional, to: required, status: { type: "integer", standard: 301 } },
  },
];

/** A record as its file holds it: every field of its kind, and `content` if the kind has a body. */
export interface SiteRecord {
  readonly kind: KindName;
  /** The record's code (for a domain its name, for the site "", for a redirect `host/path`). */
  readonly code: string;
  readonly values: Values;
}
