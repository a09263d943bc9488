/** What the check of a site has found: grouped for people, and what each is about. Pure. */
import { isLocale, type Locale } from "../../locales.ts";
import type { FindingCode } from "../../care/finding.ts";

export interface Finding {
  readonly code: FindingCode;
  readonly severity: "error" | "warning";
  readonly page: string | null;
  readonly locale?: Locale;
  readonly field?: string;
  readonly message: string;
}

export interface Group {
  readonly code: FindingCode;
  readonly severity: Finding["severity"];
  readonly findings: readonly Finding[];
}

/** By kind: errors first, in the order in which they were found. */
export function groupsOf(findings: readonly Finding[]): Group[] {
  const groups = new Map<FindingCode, Finding[]>();
  for (const finding of findings) groups.set(finding.code, [...(groups.get(finding.code) ?? []), finding]);
  const all = [...groups].map(([code, of]) => ({ code, severity: of[0]?.severity ?? "warning", findings: of }));
  return all.toSorted((a, b) => Number(a.severity === "warning") - Number(b.severity === "warning"));
}

export type Kind = "page" | "layout" | "paragraph" | "article";

export interface Subject {
  readonly kind: Kind;
  readonly code: string;
}

/** The record that it is about; undefined = the site or its domains. */
export function subjectOf({ page, field = "" }: Pick<Finding, "page" | "field">): Subject | undefined {
  if (page !== null) return { kind: "page", code: page };
  const [kind = "", code = ""] = field.split(" ", 2);
  return kind === "layout" || kind === "paragraph" || kind === "article" ? { kind, code } : undefined;
}

/** The field within the record: `layout main content` -> `content`. */
export function fieldOf({ page, field }: Pick<Finding, "page" | "field">): string {
  if (field === undefined) return "";
  return page === null ? field.split(" ").slice(2).join(" ") : field;
}

const ofTranslations: ReadonlySet<string> = new Set(["missing_translation", "missing_keys", "stale_translation"]);

/** Where in the Studio it is seen to: the matrix, the site's domains, the site, or the record (`subjectOf`). */
export function placeOf({ code, page, locale }: Finding): "translations" | "domains" | "site" | "migration" | "record" {
  if (ofTranslations.has(code) && page !== null && isLocale(locale)) return "translations";
  if (code === "no_domain" || code.startsWith("domain") || code === "language_unreachable") return "domains";
  if (code === "suffixed_variable") return "migration";
  return code === "path_needs_multilang" ? "site" : "record";
}

export const severities = ["error", "warning"] as const;
