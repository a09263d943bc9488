/** The rows that the reading side reads. */
import type { BaseContext } from "platform";
import type { Locale } from "../locales.ts";
import type { ArticleRow, CategoryRow, LayoutRow, PageRow, PageTexts, ParagraphRow, SiteRow } from "../rows.ts";
import type { Status } from "../redirects/rule.ts";
import type { Domain } from "./addresses/addresses.ts";
import type { Inherited } from "./values/fields.ts";
import type { Variant } from "./addresses/variant.ts";

/** What the reading side is shown may come from a replica (`read`). */
export type Reading = Pick<BaseContext, "sql" | "read">;

export type SiteData = Pick<
  SiteRow,
  "id" | "accountId" | "code" | "name" | "locale" | "multilang" | "fields" | "active"
>;

/** A page with the values of its master, if it has one. */
export type PageData = PageTexts &
  Pick<PageRow, "siteId" | "kind" | "layoutId" | "position" | "cacheSeconds" | "createdAt" | "updatedAt"> & {
    readonly master: Inherited | null;
  };

export type LayoutData = Pick<LayoutRow, "id" | "code" | "name" | "content" | "fields">;

export type ParagraphData = Pick<ParagraphRow, "id" | "pageId" | "code" | "name" | "content" | "fields" | "position">;

export interface RedirectData {
  readonly target: string;
  readonly status: Status;
}

export type CategoryData = Pick<CategoryRow, "id" | "code" | "name" | "path">;

export type ArticleData = Omit<
  ArticleRow,
  "accountId" | "version" | "siteCode" | "categoryCode" | "categories" | "createdById" | "updatedById" | "fieldTimes"
> & {
  /** The main category and the additional ones. */
  readonly categoryIds: readonly number[];
};

export interface HostData {
  readonly domainId: number;
  readonly name: string;
  readonly accountId: number;
  readonly siteId: number;
}

export interface SiteFound {
  readonly site: SiteData;
  readonly domains: Domain[];
  /** When the next article becomes visible. */
  readonly nextPublication: Date | null;
}

/** Which articles are meant. */
export interface ArticlesOf {
  readonly site: Pick<SiteData, "id" | "accountId">;
  /** Null = all locales. */
  readonly locale: Locale | null;
  /** Includes what is inactive or not yet published. */
  readonly drafts: boolean;
}

/** Ids of categories; null = any article. */
export type Categories = readonly number[] | null;

/** The start and length of one part of a long list. */
export interface Batch {
  readonly after: { readonly position: number; readonly id: number } | null;
  readonly skip: number;
  readonly limit: number;
}

export interface Counted {
  readonly count: number;
  /** Characters of the longest path, encoded. */
  readonly longest: number;
}

export type ListedPage = Variant & Pick<PageRow, "position" | "updatedAt">;

export type ListedArticle = Pick<ArticleRow, "id" | "path" | "locale" | "updatedAt">;

/** A layout, or a paragraph (of a page or of none). */
export interface Source {
  readonly kind: "layout" | "paragraph";
  readonly id: number;
  readonly pageId: number | null;
  readonly code: string;
  readonly content: string;
}

/**
 * What shows articles without the content of a page doing so: layouts, pages that own such a paragraph, codes of
 * paragraphs.
 */
export interface Outside {
  readonly layoutIds: readonly number[];
  readonly pageIds: readonly number[];
  readonly codes: readonly string[];
}
