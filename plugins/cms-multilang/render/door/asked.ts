/** A request to a site's host, taken apart. Pure. */
import type { Log } from "platform";
import type { Locale } from "../../locales.ts";
import type { Domain } from "../addresses/addresses.ts";
import type { SiteState } from "./cache.ts";
import type { View } from "../addresses/find.ts";
import { langOf } from "../addresses/locale.ts";
import { pageNumberOf } from "../values/pagination.ts";
import type { ComposeInput } from "../values/system-values.ts";

export interface Asked extends Address {
  readonly state: SiteState;
  readonly domain: Domain;
  readonly log: Log;
  readonly headOnly: boolean;
}

/** The parts of an address after its host. */
export interface Address {
  readonly pathname: string;
  readonly search: string;
  readonly query: URLSearchParams;
  readonly lang: Locale | undefined;
  /** `?page=`, from 1. */
  readonly page: number;
}

const noQuery = new URLSearchParams();

export function addressIn(url: string): Address {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const whole = start < 0 ? "/" : url.slice(start);
  const mark = whole.indexOf("?");
  if (mark < 0) return { pathname: whole, search: "", query: noQuery, lang: undefined, page: 1 };
  const query = new URLSearchParams(whole.slice(mark + 1));
  const [lang, page] = [langOf(query), pageNumberOf(query)];
  return { pathname: whole.slice(0, mark), search: whole.slice(mark), query, lang, page };
}

export function viewOf({ state, domain, lang }: Asked): View {
  return { state, lang, domainLocale: domain.locale, preview: false, drafts: false };
}

export function composeInputOf(asked: Asked, scheme: string): ComposeInput {
  const { domain, query, page } = asked;
  return { ...viewOf(asked), domain, scheme, query, page };
}
