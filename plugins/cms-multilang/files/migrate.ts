/** What a site becomes by the migration of behaviour A.8. Pure: records in, records out. */
import { isObject } from "platform";
import { htmlTag, plainTemplate, suffixedIn, suffixedKey } from "../liquid-tags.ts";
import { isLocale } from "../locales.ts";
import { cleanPath } from "../code.ts";
import type { SiteRecord } from "./kinds.ts";
import { PlanMistake, type Plan } from "./plan.ts";
import { fileOf, same } from "./tree.ts";
import { textOf, type Value, type Values } from "./yaml.ts";

export interface Migrated {
  readonly records: readonly SiteRecord[];
  /** Notes for a person to look at. */
  readonly notes: readonly string[];
}

type Note = (text: string) => void;

/** Throws PlanMistake if the plan does not fit the site. */
export function migrated(records: readonly SiteRecord[], plan: Plan): Migrated {
  const notes: string[] = [];
  const note: Note = (text) => void notes.push(text);
  const isOne = variablesOf(records, plan);
  const plain = records.map((record) => withoutSuffixes(record, isOne, note));
  const pages = new Map(plain.filter(({ kind }) => kind === "page").map((page) => [page.code, page]));
  group(pages, plan, note);
  const others = plain.filter(({ kind }) => kind !== "page" && kind !== "domain");
  const rest = others.map((record) => {
    if (record.kind === "site") return withValues(record, { multilang: true, locale: plan.locale });
    return record.kind === "layout" ? withHead(record, note) : record;
  });
  return { records: [...rest, ...domains(plain, plan), ...pages.values()], notes };
}

/**
 * Which variables lose their suffix: those that the plan names, or all that have a value in some record of the site.
 */
function variablesOf(records: readonly SiteRecord[], { variables = "all" }: Plan): (variable: string) => boolean {
  if (variables !== "all") {
    const named = new Set(variables);
    return (variable) => named.has(suffixedKey(variable)?.name ?? "");
  }
  const known = new Set(records.flatMap((record) => Object.keys(mapOf(record.values["fields"]))));
  return (variable) => suffixedKey(variable) !== undefined && known.has(variable);
}

/** A.8.2: `fields.title_en` becomes `fields.en.title`, and templates read `title`. */
function withoutSuffixes(record: SiteRecord, isOne: (variable: string) => boolean, note: Note): SiteRecord {
  if (record.kind !== "page" && record.kind !== "layout" && record.kind !== "paragraph") return record;
  const { content, fields } = record.values;
  const text = typeof content === "string" ? plainTemplate(content, isOne) : "";
  for (const { variable, line } of suffixedIn(text))
    note(`${fileOf(record)}: {{ ${variable} }} in line ${line} of the content has no value anywhere, so it stays`);
  return withValues(record, { content: text, fields: keyedByLocale(record, mapOf(fields), isOne, note) });
}

function keyedByLocale(record: SiteRecord, fields: Values, isOne: (variable: string) => boolean, note: Note): Values {
  let result: Values = fields;
  for (const [key, value] of Object.entries(fields)) {
    const suffixed = isOne(key) ? suffixedKey(key) : undefined;
    if (!suffixed) continue;
    const { name, locale } = suffixed;
    const own = mapOf(result[locale]);
    const kept = own[name];
    if (kept !== undefined && !same(kept, value)) {
      note(`${fileOf(record)}: fields.${locale}.${name} already exists: ${key} stays`);
      continue;
    }
    result = withKey(withoutKey(result, key), locale, withKey(own, name, value));
  }
  return result;
}

/** A.8.2 and A.8.3: gives masters their locale and creates their slaves. Changes the map. */
function group(pages: Map<string, SiteRecord>, { groups = [], locale: primary }: Plan, note: Note): void {
  for (const { master: code, path, locale = primary, slaves } of groups) {
    const master = pages.get(code);
    if (!master) throw new PlanMistake(`the plan: there is no page ${code}`);
    const place = path === undefined ? textOf(master.values["path"]) : clean(path);
    if (place === "")
      throw new PlanMistake(`the plan: ${code} is the home page, which is translated by its fields and has no slaves`);
    let fields = mapOf(master.values["fields"]);
    for (const slave of slaves) {
      if (slave.code === code) throw new PlanMistake(`the plan: ${code} cannot be its own slave`);
      if (clean(slave.path) === place) throw new PlanMistake(`the plan: ${slave.code} must not have its master's path`);
      const before = pages.get(slave.code);
      if (before) fields = withTranslations(fields, mapOf(before.values["fields"]), slave.locale);
      pages.set(slave.code, slaveOf(master, before, slave, note));
    }
    pages.set(code, withValues(master, { path: place, locale, based_on_page_code: null, fields }));
  }
}

interface PlannedSlave {
  readonly code: string;
  readonly path: string;
  readonly locale: string;
  readonly keep_content?: boolean;
}

function slaveOf(master: SiteRecord, before: SiteRecord | undefined, slave: PlannedSlave, note: Note): SiteRecord {
  const { code, locale, keep_content: keep = false } = slave;
  const old = textOf(before?.values["content"]);
  const drops = old !== "" && !keep && old !== master.values["content"];
  if (drops)
    note(
      `${fileOf({ kind: "page", code })}: its own content (${old.length} characters) is removed; "keep_content" keeps it`,
    );
  const name: Value = before?.values["name"] ?? `${textOf(master.values["name"])} (${locale})`;
  const record: SiteRecord = before ?? { kind: "page", code, values: { ...blank, name } };
  return withValues(record, {
    path: clean(slave.path),
    locale,
    based_on_page_code: master.code,
    content: keep ? old : "",
    fields: {},
  });
}

const blank: Values = {
  kind: "text",
  layout_code: null,
  html_title: null,
  html_description: null,
  html_keywords: null,
  active: true,
  position: 0,
  cache_seconds: null,
};

/** A slave's own values are not lost: the master takes them over under the slave's language. */
function withTranslations(master: Values, slave: Values, locale: string): Values {
  const plain = Object.entries(slave).filter(([key, value]) => !isLocale(key) && value !== null);
  const translated = Object.entries(mapOf(slave[locale]));
  const own = mapOf(master[locale]);
  const missing = [...plain, ...translated].filter(([key]) => !Object.hasOwn(own, key));
  return missing.length === 0 ? master : withKey(master, locale, { ...own, ...Object.fromEntries(missing) });
}

/** A.8.5: domains that the plan does not name stay. */
function domains(records: readonly SiteRecord[], { domains: planned = [] }: Plan): SiteRecord[] {
  const found = new Map(records.filter(({ kind }) => kind === "domain").map((domain) => [domain.code, domain]));
  const takesOver = planned.some(({ primary }) => primary === true);
  if (takesOver) for (const [code, domain] of found) found.set(code, withValues(domain, { primary: false }));
  for (const { name: given, locale, primary } of planned) {
    const name = given.toLowerCase();
    const before = found.get(name) ?? { kind: "domain", code: name, values: { locale: null, primary: false } };
    const changes = { ...(locale !== undefined && { locale }), ...(primary !== undefined && { primary }) };
    found.set(name, withValues(before, changes));
  }
  return [...found.values()];
}

/** A.8.6: puts `html_lang` into the `lang` attribute and `seo_head` before the end of the head. */
function withHead(layout: SiteRecord, note: Note): SiteRecord {
  const file = fileOf(layout);
  const content = textOf(layout.values["content"]);
  if (!/<html\b/i.test(content)) {
    note(`${file}: has no <html> element: add html_lang and seo_head by hand`);
    return layout;
  }
  let result = content;
  if (!/\b(?:html_lang|content_lang)\b/.test(content)) result = withHtmlLang(result);
  if (!/\bseo_head\b/.test(content)) {
    const head = /^([ \t]*)<\/head\s*>/im;
    if (head.test(result)) result = result.replace(head, (end, indent: string) => `${indent}{{ seo_head }}\n${end}`);
    else if (/<\/head\s*>/i.test(result)) result = result.replace(/<\/head\s*>/i, (end) => `{{ seo_head }}${end}`);
    else note(`${file}: has no </head>: add seo_head by hand`);
  }
  if (/<link\b[^<>]*\b(?:hreflang|rel\s*=\s*["']?canonical)/i.test(result))
    note(`${file}: has canonical or hreflang links of its own besides seo_head: remove them`);
  return withValues(layout, { content: result });
}

function withHtmlLang(content: string): string {
  const tag = htmlTag(content);
  if (!tag) return content;
  const given = content.slice(tag.from + "<html".length, tag.to - 1);
  const attributes = given.replace(/\slang\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/i, "");
  return `${content.slice(0, tag.from)}<html lang="{{ html_lang }}"${attributes}>${content.slice(tag.to)}`;
}

function clean(path: string): string {
  const result = cleanPath(path);
  if ("mistake" in result) throw new PlanMistake(`the plan: the path ${JSON.stringify(path)} ${result.mistake}`);
  return result.path;
}

function withValues(record: SiteRecord, values: Values): SiteRecord {
  return { ...record, values: { ...record.values, ...values } };
}

function mapOf(value: Value | undefined): Values {
  return isObject(value) ? value : {};
}

function withKey(map: Values, key: string, value: Value): Values {
  return Object.fromEntries([...Object.entries(map).filter(([each]) => each !== key), [key, value]]);
}

function withoutKey(map: Values, key: string): Values {
  return Object.fromEntries(Object.entries(map).filter(([each]) => each !== key));
}
