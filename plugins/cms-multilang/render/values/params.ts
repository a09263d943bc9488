/**
 * What the visitor's query says: `params`, already escaped, and `?page=2` of a list of articles, which sets `paginate`.
 * behaviour B.11.
 */
import { escapeHtml } from "platform";
import { emptyValues, type Values } from "./fields.ts";
import type { Locale } from "../../locales.ts";

/** What a template may read of the query. */
interface Params {
  readonly values: Values;
  /** Whether a template has read them. Then the output belongs to this request alone. */
  readonly used: () => boolean;
}

const maxParams = 50;
const maxNameChars = 100;
const maxValueChars = 1000;

export function paramsOf(query: URLSearchParams): Params {
  let isUsed = false;
  const use = <T>(value: T): T => {
    isUsed = true;
    return value;
  };
  const given = readable(query);
  const values = new Proxy(given, {
    get: (target, key) => use(Reflect.get(target, key)),
    has: (target, key) => use(Reflect.has(target, key)),
    ownKeys: (target) => use(Reflect.ownKeys(target)),
    getOwnPropertyDescriptor: (target, key) => use(Reflect.getOwnPropertyDescriptor(target, key)),
  });
  return { values, used: () => isUsed };
}

/** The first value of each name. A value that is too long is left out rather than cut. */
function readable(query: URLSearchParams): Values {
  const values = emptyValues();
  let count = 0;
  for (const [name, value] of query) {
    if (count === maxParams) break;
    if (name === "" || name.length > maxNameChars || value.length > maxValueChars || Object.hasOwn(values, name))
      continue;
    values[escapeHtml(name)] = escapeHtml(value);
    count++;
  }
  return values;
}

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
