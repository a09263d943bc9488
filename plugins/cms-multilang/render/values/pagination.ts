/** `?page=2` of a list of articles, and the variable `paginate` beside it. */
import type { Locale } from "../../locales.ts";
import type { Values } from "./fields.ts";

/** Which part of a paginated list is shown. */
export interface Pagination {
  /** From 1 to `pages`. */
  readonly page: number;
  readonly pages: number;
  /** Articles on all of them. */
  readonly total: number;
  /** The path that all of them stand at. */
  readonly path: string;
}

/** What is no number from 1 to 9999 is the first page. */
export function pageNumberOf(query: URLSearchParams): number {
  const given = query.get("page") ?? "";
  return /^[1-9]\d{0,3}$/.test(given) ? Number(given) : 1;
}

/** The address of one page of a list; the first one is the page's own. */
export function numbered(address: string, page: number, lang?: Locale): string {
  const query = [...(lang ? [`lang=${lang}`] : []), ...(page > 1 ? [`page=${page}`] : [])];
  return query.length > 0 ? `${address}?${query.join("&")}` : address;
}

/** `{{ paginate.next_url }}`; null where there is none. */
export function paginateValues(
  { page, pages, total, path }: Pagination,
  addressOf: (path: string) => string,
  lang: Locale | undefined,
): Values {
  const url = (of: number) => (of >= 1 && of <= pages ? numbered(addressOf(path), of, lang) : null);
  return { page, pages, total, prev_url: url(page - 1), next_url: url(page + 1) };
}
