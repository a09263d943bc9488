/** `?page=2` of a list of articles, and the variable `paginate`. */
import type { Locale } from "../../locales.ts";
import type { Values } from "./fields.ts";

/** Which part of a paginated list is shown. */
export interface Pagination {
  /** From 1 to `pages`. */
  readonly page: number;
  readonly pages: number;
  /** The number of articles on all pages together. */
  readonly total: number;
  /** The path that all pages of the list share. */
  readonly path: string;
}

/** Anything but a number from 1 to 9999 means the first page. */
export function pageNumberOf(query: URLSearchParams): number {
  const given = query.get("page") ?? "";
  return /^[1-9]\d{0,3}$/.test(given) ? Number(given) : 1;
}

/** The address of one page of a list. The first page has the page's own address. */
export function numbered(address: string, page: number, lang?: Locale): string {
  const query = [...(lang ? [`lang=${lang}`] : []), ...(page > 1 ? [`page=${page}`] : [])];
  return query.length > 0 ? `${address}?${query.join("&")}` : address;
}

/** `paginate`; an address that does not exist is null. */
export function paginateValues(
  { page, pages, total, path }: Pagination,
  addressOf: (path: string) => string,
  lang: Locale | undefined,
): Values {
  const url = (of: number) => (of >= 1 && of <= pages ? numbered(addressOf(path), of, lang) : null);
  return { page, pages, total, prev_url: url(page - 1), next_url: url(page + 1) };
}
