/** Drafts a plan from the languages in old sitemaps (behaviour A.8.1). Pure. */
import { isLocale, type Locale } from "../locales.ts";
import { cleanPath } from "../pages/path.ts";
import type { SiteRecord } from "./kinds.ts";
import type { Plan } from "./plan.ts";
import { textOf } from "./yaml.ts";

/** `notes`: what no plan can express, for a person to look at. The reader of plans ignores them. */
export type Drafted = Plan & { readonly notes: readonly string[] };

interface Entry {
  readonly locale: Locale;
  readonly host: string;
  readonly path: string;
}

const maxAddresses = 200_000;

/** `records`: the current site, which gives the codes of pages. */
export function planFromSitemaps(sitemaps: readonly string[], records: readonly SiteRecord[]): Drafted {
  const notes: string[] = [];
  const given = records.find(({ kind }) => kind === "site")?.values["locale"];
  const primary: Locale = isLocale(given) ? given : "en";
  const codes = new Map<string, string>();
  for (const { kind, code, values } of records)
    if (kind === "page") codes.set(`${textOf(values["locale"])} ${textOf(values["path"])}`, code);
  const codeOf = ({ path, locale }: Entry) => codes.get(`${locale} ${path}`) ?? codes.get(` ${path}`);

  const hosts = new Map<string, Map<Locale, number>>();
  const groups: NonNullable<Plan["groups"]> = [];
  const seen = new Set<string>();
  for (const entries of sitemaps.flatMap(hreflangSets)) {
    const key = entries
      .map(({ locale, host, path }) => `${locale} ${host}/${path}`)
      .toSorted()
      .join("\n");
    if (seen.has(key)) continue;
    seen.add(key);
    for (const { host, locale } of entries) {
      const counts = hosts.get(host) ?? new Map<Locale, number>();
      hosts.set(host, counts.set(locale, (counts.get(locale) ?? 0) + 1));
    }
    const master = entries.find(({ locale }) => locale === primary) ?? entries[0];
    if (!master || entries.length < 2) continue;
    if (entries.some(({ path }) => path === "")) {
      notes.push(`the home page (${entries.map(({ locale }) => locale).join(", ")}) is translated by its fields`);
      continue;
    }
    const code = codeOf(master);
    if (code === undefined) {
      notes.push(`no page has the path ${master.path}`);
      continue;
    }
    const slaves = entries
      .filter((entry) => entry !== master)
      .map((entry) => {
        const known = codeOf(entry);
        const own = known === undefined || known === code ? `${code}-${entry.locale}` : known;
        // A slave cannot have its master's path, so it gets a prefix (A.4.7).
        const path = entry.path === master.path ? `${entry.locale}/${entry.path}` : entry.path;
        return { code: own, path, locale: entry.locale };
      });
    groups.push({ master: code, path: master.path, locale: master.locale, slaves });
  }
  const domains = [...hosts].map(([name, counts]) => {
    const [only] = counts.size === 1 ? counts.keys() : [];
    return { name, locale: only ?? null, ...(only === primary && { primary: true }) };
  });
  return { locale: primary, domains: onePrimary(domains), variables: "all", groups, notes };
}

function onePrimary<D extends { primary?: boolean }>(domains: readonly D[]): D[] {
  const first = domains.findIndex(({ primary }) => primary === true);
  return domains.map((domain, at) => (at === first ? domain : { ...domain, primary: false }));
}

/** The languages of each address in a sitemap, without x-default. */
function hreflangSets(sitemap: string): Entry[][] {
  const sets: Entry[][] = [];
  for (const [, url = ""] of sitemap.matchAll(/<url>((?:[^<]|<(?!\/?url>))*)<\/url>/g)) {
    const entries = [...url.matchAll(/<xhtml:link\b([^<>]*)>/g)].flatMap(([, attributes = ""]): Entry[] => {
      const locale = attribute(attributes, "hreflang").toLowerCase().split("-")[0];
      const entry = isLocale(locale) ? entryOf(attribute(attributes, "href"), locale) : undefined;
      return entry ? [entry] : [];
    });
    const unique = new Map(entries.map((entry) => [entry.locale, entry]));
    sets.push([...unique.values()]);
    if (sets.length >= maxAddresses) break;
  }
  return sets;
}

function entryOf(href: string, locale: Locale): Entry | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  const clean = cleanPath(decoded(url.pathname));
  return "path" in clean ? { locale, host: url.host, path: clean.path } : undefined;
}

function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}

function attribute(attributes: string, name: string): string {
  const [, double, single] = new RegExp(`\\b${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(attributes) ?? [];
  return (double ?? single ?? "").replaceAll("&amp;", "&").replaceAll("&apos;", "'").replaceAll("&quot;", '"');
}
