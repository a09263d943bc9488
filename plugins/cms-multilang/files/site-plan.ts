/** Drafts a plan from the site itself, where there are no old sitemaps: by the codes and paths of its pages. Pure. */
import { isLocale, type Locale } from "../locales.ts";
import type { SiteRecord } from "./kinds.ts";
import type { Drafted } from "./sitemap-plan.ts";
import { textOf } from "./yaml.ts";

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
