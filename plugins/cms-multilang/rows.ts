/** The rows of all the plugin's tables as the pool returns them: column names in camelCase. See migrations/. */
import type { Locale } from "./locales.ts";

/** `fields`: values without a locale, and objects of values keyed by a supported locale. behaviour 2.7. */
export type Fields = Readonly<Record<string, unknown>>;

/** When each translatable field last changed: "content", "html_title", "fields.title", "fields.pl.title" -> ISO time. */
export type FieldTimes = Readonly<Record<string, string>>;

interface Kept {
  readonly id: number;
  readonly accountId: number;
  /** For the ETag. Grows when the row changes, and when a code changes that its answer shows. */
  readonly version: number;
  readonly createdById: number | null;
  readonly updatedById: number | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface SiteRow extends Kept {
  readonly code: string;
  readonly name: string;
  readonly locale: Locale;
  readonly multilang: boolean;
  readonly fields: Fields;
  readonly active: boolean;
  /** Grows in the transaction of every change within the site. */
  readonly revision: number;
}

export interface DomainRow extends Kept {
  readonly siteId: number;
  /** A host in lower case and in ASCII, with a port only if one was given. */
  readonly name: string;
  readonly locale: Locale | null;
  readonly isPrimary: boolean;
  /** Only approved domains are served. */
  readonly status: "pending" | "approved";
  /** The text that a TXT record or a file must hold to prove that the account owns the domain. */
  readonly proof: string;
}

export interface LayoutRow extends Kept {
  readonly siteId: number;
  readonly code: string;
  readonly name: string;
  readonly content: string;
  readonly fields: Fields;
  readonly fieldTimes: FieldTimes;
}

export interface PageRow extends Kept {
  readonly siteId: number;
  readonly code: string;
  readonly name: string;
  /** Without slashes at its ends; "" is the home page. */
  readonly path: string;
  readonly locale: Locale | null;
  readonly kind: string;
  readonly layoutId: number | null;
  readonly content: string;
  readonly fields: Fields;
  readonly htmlTitle: string | null;
  readonly htmlDescription: string | null;
  readonly htmlKeywords: string | null;
  readonly basedOnPageId: number | null;
  /** The master's path. */
  readonly basedOnPath: string | null;
  readonly active: boolean;
  readonly position: number;
  readonly cacheSeconds: number | null;
  readonly fieldTimes: FieldTimes;
}

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

/** Without a page it belongs to the whole site; without a site, to every site of the account. */
export interface ParagraphRow extends Kept {
  readonly siteId: number | null;
  readonly pageId: number | null;
  readonly code: string;
  readonly name: string;
  readonly content: string;
  readonly fields: Fields;
  readonly position: number;
  readonly fieldTimes: FieldTimes;
}

export interface CategoryRow extends Kept {
  readonly siteId: number;
  readonly code: string;
  readonly name: string;
  readonly path: string | null;
}

export interface ArticleRow extends Kept {
  readonly siteId: number;
  readonly code: string;
  /** The main category. */
  readonly categoryId: number | null;
  readonly locale: Locale | null;
  readonly path: string;
  readonly title: string;
  readonly lead: string | null;
  readonly content: string;
  readonly fields: Fields;
  readonly htmlTitle: string | null;
  readonly htmlDescription: string | null;
  /** Defaults to the time of creation. A time in the future hides the article until then. */
  readonly publishedAt: Date | null;
  readonly active: boolean;
  /** Of changes alone: its creation is no change. */
  readonly fieldTimes: FieldTimes;
}

/** A redirect that an editor has written. */
export interface RedirectRuleRow extends Kept {
  readonly siteId: number;
  /** Null: on every domain of the site. */
  readonly domainId: number | null;
  readonly path: string;
  /** `/offer`, or an address (`https://…`); encoded as it is sent. */
  readonly target: string;
  readonly status: 301 | 302 | 308;
}

/** The kinds of pages that answer for missing or failing pages. They have no address of their own. */
export const errorKinds = ["404", "500"] as const;
export type ErrorKind = (typeof errorKinds)[number];
