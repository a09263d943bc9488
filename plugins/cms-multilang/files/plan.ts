/**
 * The JSON file that plans a migration to several languages (behaviour A.8), drafted from the languages in old sitemaps
 * (A.8.1), or without them from the codes and paths of the site's pages. Pure.
 */
import { checkerOf, field, parseJson, Type, ValidationError, HttpError, type Static } from "platform";
import { locales, isLocale, type Locale } from "../locales.ts";
import { cleanPath } from "../code.ts";
import type { SiteRecord } from "./kinds.ts";
import { textOf } from "./yaml.ts";

const localeField = () => field.oneOf(locales);
const codeField = () => field.name(100);

export const PlanBody = Type.Object({
  /** `site.locale`: the primary language (A.8.4). */
  locale: localeField(),
  domains: Type.Optional(
    Type.Array(
      Type.Object({
        name: field.name(),
        locale: Type.Optional(field.nullable(localeField())),
        primary: Type.Optional(field.flag()),
      }),
      { maxItems: 1000 },
    ),
  ),
  /** The names of variables with a language suffix ("title" for `title_en`); "all" = every name that looks like one. */
  variables: Type.Optional(Type.Union([Type.Literal("all"), field.names(10_000)])),
  groups: Type.Optional(
    Type.Array(
      Type.Object({
        master: codeField(),
        path: Type.Optional(Type.String({ maxLength: 4000 })),
        /** Locale of the master; default: the site's. */
        locale: Type.Optional(localeField()),
        slaves: Type.Array(
          Type.Object({
            code: codeField(),
            path: Type.String({ maxLength: 4000 }),
            locale: localeField(),
            /** Keeps the slave's own content, if it has any; A.8.3 would empty it. */
            keep_content: Type.Optional(field.flag()),
          }),
          { maxItems: 50 },
        ),
      }),
      { maxItems: 100_000 },
    ),
  ),
});
export type Plan = Static<typeof PlanBody>;

/** The plan does not fit the site. */
export class PlanMistake extends Error {
  override name = "PlanMistake";
}

/** Throws an error that lists all mistakes. */
export function parsePlan(text: string): Plan {
  try {
    return checkerOf(PlanBody)(parseJson(text));
  } catch (error) {
    if (error instanceof ValidationError)
      throw new Error(
        `the plan: ${Object.entries(error.fields)
          .map(([name, messages]) => `${name} ${messages.join(", ")}`)
          .join("; ")}`,
        { cause: error },
      );
    if (error instanceof HttpError) throw new Error(`the plan: ${error.message}`, { cause: error });
    throw error;
  }
}

/** `notes`: what no plan can express, for a person to look at. The reader of plans ignores them. */
type Drafted = Plan & { readonly notes: readonly string[] };

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

export function planFromRecords(records: readonly SiteRecord[]): Drafted {
  const given = records.find(({ kind }) => kind === "site")?.values["locale"];
  const locale: Locale = isLocale(given) ? given : "en";
  const pages = new Map(records.filter(({ kind }) => kind === "page").map((page) => [page.code, page]));
  const groups = new Map<string, Slave[]>();
  for (const page of pages.values()) {
    const named = languageAtEnd(page.code);
    const master = named && (pages.get(named.rest) ?? pages.get(`${named.rest}-${locale}`));
    if (!named || !master || !canLead(master, page, named.locale, locale)) continue;
    const slave = { code: page.code, path: pathOf(page, master, named.locale), locale: named.locale };
    groups.set(master.code, [...(groups.get(master.code) ?? []), slave]);
  }
  const domains = records
    .filter(({ kind }) => kind === "domain")
    .map(({ code, values }) => ({
      name: code,
      locale: isLocale(values["locale"]) ? values["locale"] : null,
      primary: values["primary"] === true,
    }));
  const planned = [...groups].map(([master, slaves]) => ({
    master,
    ...masterPath(pages.get(master), locale),
    locale,
    slaves,
  }));
  const notes =
    pages.size > 0 && planned.length === 0 ? ["no page has a code like that of another one with a language"] : [];
  return { locale, domains, variables: "all", groups: planned, notes };
}

interface Slave {
  readonly code: string;
  readonly path: string;
  readonly locale: Locale;
}

/** Neither may be based on another page already, nor be the home page. */
function canLead(master: SiteRecord, slave: SiteRecord, language: Locale, primary: Locale): boolean {
  const isFree = [master, slave].every(({ values }) => !values["based_on_page_code"] && values["path"] !== "");
  return master !== slave && language !== primary && isFree;
}

/** A master has no prefix of its language. */
function masterPath(master: SiteRecord | undefined, locale: Locale): { readonly path?: string } {
  const path = textOf(master?.values["path"]);
  return path.startsWith(`${locale}/`) && path.length > locale.length + 1
    ? { path: path.slice(locale.length + 1) }
    : {};
}

/** `about-en` -> about and en */
function languageAtEnd(code: string): { readonly rest: string; readonly locale: Locale } | undefined {
  const end = code.slice(-2);
  const rest = code.slice(0, -3);
  return isLocale(end) && /[-_.]/.test(code.at(-3) ?? "") && rest !== "" ? { rest, locale: end } : undefined;
}

/** Without the language before it, unless that would be its master's (A.4.7). */
function pathOf(page: SiteRecord, master: SiteRecord, locale: Locale): string {
  const path = textOf(page.values["path"]);
  const plain = path.startsWith(`${locale}/`) ? path.slice(locale.length + 1) : path;
  const taken = textOf(master.values["path"]);
  if (plain !== "" && plain !== taken) return plain;
  return path === taken ? `${locale}/${path}` : path;
}
