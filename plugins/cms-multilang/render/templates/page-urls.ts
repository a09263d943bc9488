/**
 * `{{ "contact" | page_url }}`: the address of a page in the language shown. As with pictures, a code may be computed: so
 * pages that were not known are fetched after a rendering, and the page is rendered again.
 */
import type { Locale } from "../../locales.ts";
import { coverage } from "../addresses/alternates.ts";
import type { Variant } from "../addresses/variant.ts";
import type { SiteState } from "../door/cache.ts";
import { linkOf, type ComposeInput } from "../values/variables.ts";
import * as variantStore from "../addresses/variant-store.ts";
import type { RenderContext } from "../../context.ts";

export interface PageUrls {
  /** Empty if no page has this code, or if it is not known yet. */
  find(code: string): string;
  /** Fetches what was asked for and is not known; false if there was nothing. */
  fetch(): Promise<boolean>;
}

interface Known {
  readonly page: Variant;
  readonly group: readonly Variant[];
}

/** The most codes that one rendering may ask for, and how many a site's state keeps. */
const maxAsked = 500;
const maxKnown = 10_000;

const ofStates = new WeakMap<SiteState, Map<string, Known | undefined>>();

export function pageUrlsOf(ctx: RenderContext, input: ComposeInput, locale: Locale): PageUrls {
  const { state, drafts } = input;
  let known = ofStates.get(state) ?? new Map<string, Known | undefined>();
  if (known.size > maxKnown) known = new Map();
  ofStates.set(state, known);
  const keyOf = (code: string) => `${drafts} ${code}`;
  const missing = new Set<string>();
  return {
    find(code) {
      if (!known.has(keyOf(code)) && missing.size < maxAsked) missing.add(code);
      const found = known.get(keyOf(code));
      return found ? pageUrl(input, locale, found) : "";
    },
    async fetch() {
      if (missing.size === 0) return false;
      const codes = [...missing];
      missing.clear();
      const pages = await variantStore.pagesByCode(ctx, state.site, codes, drafts);
      const ids = pages.map(({ id }) => id);
      const groups = state.site.multilang ? await variantStore.pageGroups(ctx, state.site, ids, drafts) : undefined;
      for (const code of codes) {
        const page = pages.find((one) => one.code === code);
        known.set(keyOf(code), page && { page, group: groups?.get(page.id) ?? [page] });
      }
      return true;
    },
  };
}

/** The page's variant in this language, on a domain that shows it so. */
function pageUrl(input: ComposeInput, locale: Locale, { page, group }: Known): string {
  const { state, preview, lang, domainLocale } = input;
  const { site } = state;
  const domains = preview ? [] : state.domains;
  const placed = site.multilang ? coverage(page, group, domains, site.locale) : [];
  const placedIn = (language: Locale) => placed.find((one) => one.locale === language)?.variant;
  const open = () => group.find((one) => one.locale === null);
  const variant = placedIn(locale) ?? open() ?? placedIn(domainLocale ?? site.locale) ?? page;
  const hasDomain = domains.some((domain) => domain.locale === locale);
  const url = linkOf(input)(variant.path, variant.locale ?? (hasDomain ? locale : null));
  if (preview) return lang ? `${url}?lang=${lang}` : url;
  // No domain has the language, so only `?lang=` shows a page without a locale in it.
  const needsLang = variant.locale === null && !hasDomain && (domainLocale ?? site.locale) !== locale;
  return needsLang ? `${url}?lang=${locale}` : url;
}
