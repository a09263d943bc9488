/** The migration of a site to several languages: its plan as people edit it, and what it would change. Pure. */
import { isMap, parseJson } from "studio/exact";
import { isLocale, type Locale } from "../../locales.ts";

interface Planned {
  readonly code: string;
  readonly path: string;
  readonly locale: Locale;
  readonly keep_content?: boolean;
}

interface PlannedGroup {
  readonly master: string;
  readonly path?: string;
  readonly locale?: Locale;
  readonly slaves: readonly Planned[];
}

export interface Plan {
  readonly locale: Locale;
  readonly domains: readonly { readonly name: string; readonly locale?: Locale | null; readonly primary?: boolean }[];
  readonly variables: unknown;
  readonly groups: readonly PlannedGroup[];
}

export interface Change {
  readonly change: "create" | "update";
  readonly kind: string;
  readonly code: string;
  readonly fields: readonly { readonly name: string; readonly before: unknown; readonly after: unknown }[];
}

export interface Outcome {
  readonly dry_run: boolean;
  readonly created: number;
  readonly updated: number;
  readonly notes: readonly string[];
  readonly changes: readonly Change[];
}

/** The text of a plan as one edits it. */
export function planText(plan: Plan): string {
  const { locale, domains, variables, groups } = plan;
  return JSON.stringify({ locale, domains, variables, groups }, null, 2);
}

/** Undefined if the text is none; what its parts hold is the server's to say. */
export function planIn(text: string): Plan | undefined {
  try {
    const value = parseJson(text);
    if (!isMap(value) || !isLocale(value["locale"])) return undefined;
    const { locale, domains, variables = "all", groups } = value;
    const lists = { domains: Array.isArray(domains) ? domains : [], groups: Array.isArray(groups) ? groups : [] };
    // What they hold is the server's to check.
    return { locale, variables, ...(lists as Pick<Plan, "domains" | "groups">) };
  } catch {
    return undefined;
  }
}

/** The files of old sitemaps that stand one after the other in a text. */
export function sitemapsIn(text: string): string[] {
  return text.trim() === "" ? [] : [text];
}

/** Without a page that was taken for a translation. */
export function withoutSlave(plan: Plan, master: string, code: string): Plan {
  const groups = plan.groups.map((group) =>
    group.master === master ? { ...group, slaves: group.slaves.filter((slave) => slave.code !== code) } : group,
  );
  return { ...plan, groups: groups.filter(({ slaves }) => slaves.length > 0) };
}

export function withDomain(plan: Plan, name: string, locale: Locale | null): Plan {
  return { ...plan, domains: plan.domains.map((domain) => (domain.name === name ? { ...domain, locale } : domain)) };
}

/** A value as one compares it. */
export function shownValue(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** Short ones stand in a line; long ones are compared line by line. */
export function isLong({ before, after }: { readonly before: unknown; readonly after: unknown }): boolean {
  return [before, after].some((value) => {
    const text = shownValue(value);
    return text.length > 80 || text.includes("\n");
  });
}
