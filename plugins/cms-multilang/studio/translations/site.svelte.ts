/** The site of the address, by its code or its id. */
import { get, isMap, mapsIn, router, textOf } from "studio";
import { isLocale, type Locale } from "../../locales.ts";

export interface Site {
  readonly id: number;
  readonly code: string;
  readonly name: string;
  readonly locale: Locale;
  readonly multilang: boolean;
}

export async function readSite(given: string, signal?: AbortSignal): Promise<Site> {
  const { json } = await get(`/cms/sites/${encodeURIComponent(given)}.json`, signal);
  const site = isMap(json) ? json : {};
  const { id, locale } = site;
  const code = textOf(site["code"]);
  // One address for a page: that of the code.
  if (code !== given)
    router.go(router.path.replace(`/${encodeURIComponent(given)}/`, `/${code}/`) + router.search, { replace: true });
  return {
    id: Number(id),
    code,
    name: textOf(site["name"]),
    locale: isLocale(locale) ? locale : "en",
    multilang: site["multilang"] === true,
  };
}

/** Every row of a list, a thousand at a time, up to `most`. */
export async function readAll(
  path: string,
  query: Readonly<Record<string, string>>,
  signal?: AbortSignal,
  most = 20_000,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const rows: Readonly<Record<string, unknown>>[] = [];
  while (rows.length < most) {
    const asked = new URLSearchParams({ ...query, limit: "1000", offset: String(rows.length) });
    const { json } = await get(`${path}?${asked}`, signal);
    const found = mapsIn(json);
    rows.push(...found);
    if (found.length < 1000) break;
  }
  return rows;
}
