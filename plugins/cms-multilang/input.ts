/**
 * What is checked of the texts of several kinds: templates, `fields`, and real tokens
 * anywhere; and when each translatable one last changed, so that a stale translation can be noticed.
 */
import { isObject, type Mistakes } from "platform";
import { holdsToken } from "../tokens/api.ts";
import type { SiteEngine } from "./render/templates/engine.ts";
import { isLocale } from "./locales.ts";
import type { Fields, FieldTimes } from "./rows.ts";

const maxFieldsChars = 500_000;
const maxFieldsDepth = 20;

interface Texts {
  readonly content?: string | null | undefined;
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
}

export type TemplateCheck = Pick<SiteEngine, "mistakes">;

/** Adds a template's mistakes (with line and column) under `content`, and fields that are too large under `fields`. */
export function checkTexts(wrong: Mistakes, engine: TemplateCheck, { content, fields }: Texts): void {
  if (content) for (const mistake of engine.mistakes(content)) wrong.add("content", mistake);
  checkFields(wrong, fields);
}

export function checkFields(wrong: Mistakes, fields: Texts["fields"]): void {
  if (!fields) return;
  if (isDeeper(fields, maxFieldsDepth)) wrong.add("fields", `may nest at most ${maxFieldsDepth} levels deep`);
  else if (JSON.stringify(fields).length > maxFieldsChars)
    wrong.add("fields", `may have at most ${maxFieldsChars} characters as JSON`);
}

/**
 * Adds a mistake for every value that holds a real token, because any value may end up on a public page. `carried` is
 * the request's own token, which may have been issued elsewhere.
 */
export function checkTokens(wrong: Mistakes, values: object, carried?: string): void {
  for (const [name, value] of Object.entries(values)) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (text && holdsToken(text, carried)) wrong.add(name, "holds a real token, which visitors could read");
  }
}

/** The limits of the body bound the recursion. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

/** What a page, paragraph, layout or article says; each has some of the columns. */
interface Translatable {
  readonly content: string;
  readonly fields: Fields;
  readonly layoutId?: number | null;
  readonly htmlTitle?: string | null;
  readonly htmlDescription?: string | null;
  readonly htmlKeywords?: string | null;
  readonly title?: string;
  readonly lead?: string | null;
}

/** With more keys in `fields` than this, only one time for all of `fields` is kept. */
const mostKeys = 500;

export function fieldTimes(
  before: (Translatable & { readonly fieldTimes: FieldTimes }) | undefined,
  after: Translatable,
  now: Date,
): FieldTimes {
  const old = before ? flat(before) : new Map<string, string>();
  const times = new Map<string, string>();
  for (const [name, value] of flat(after)) {
    const known = before && Object.hasOwn(before.fieldTimes, name) ? before.fieldTimes[name] : undefined;
    const same = old.get(name) === value;
    if (same && known !== undefined) times.set(name, known);
    else if (!same) times.set(name, now.toISOString());
  }
  return Object.fromEntries(times);
}

/** Every value that is not empty, as JSON by its place. */
function flat(texts: Translatable): Map<string, string> {
  const { title, lead, content, layoutId, htmlTitle, htmlDescription, htmlKeywords, fields } = texts;
  const columns = {
    title,
    lead,
    content,
    layout_id: layoutId,
    html_title: htmlTitle,
    html_description: htmlDescription,
    html_keywords: htmlKeywords,
  };
  const places = [...Object.entries(columns), ...flatFields(fields)];
  return new Map(
    places
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value]) => [name, JSON.stringify(value)]),
  );
}

function flatFields(fields: Fields): [string, unknown][] {
  const places = Object.entries(fields).flatMap(([key, value]): [string, unknown][] =>
    isLocale(key) && isObject(value)
      ? Object.entries(value).map(([inner, translated]) => [`fields.${key}.${inner}`, translated])
      : [[`fields.${key}`, value]],
  );
  return places.length > mostKeys ? [["fields", fields]] : places;
}
