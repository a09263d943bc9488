/**
 * Finds Liquid in a template, `{{ … }}` and `{% … %}`, and variables with a language suffix (`title_en`), as sites used
 * them before fields keyed by locale. Pure. A single pattern would search for an end from every opening, which takes
 * minutes for a template of nothing but `{{`.
 */
import { isLocale, type Locale } from "./locales.ts";

interface LiquidTag {
  readonly from: number;
  readonly to: number;
}

const opening = /\{[{%]/g;

/** In their order. An opening that is never closed is not a tag. */
export function liquidTags(template: string): LiquidTag[] {
  const tags: LiquidTag[] = [];
  const unclosed = new Set<string>();
  const search = new RegExp(opening);
  for (let match = search.exec(template); match; match = search.exec(template)) {
    const closing = match[0] === "{{" ? "}}" : "%}";
    const end = unclosed.has(closing) ? -1 : template.indexOf(closing, match.index + 2);
    if (end < 0) unclosed.add(closing);
    // The second brace of `{{{` may be an opening too.
    else tags.push({ from: match.index, to: end + 2 });
    search.lastIndex = end < 0 ? match.index + 1 : end + 2;
  }
  return tags;
}

/** The template with each tag replaced by the result of `change`. */
export function withTags(template: string, change: (tag: string) => string): string {
  let at = 0;
  const parts = liquidTags(template).flatMap(({ from, to }) => {
    const before = template.slice(at, from);
    at = to;
    return [before, change(template.slice(from, to))];
  });
  return parts.join("") + template.slice(at);
}

/** The position of the <html> tag, including Liquid in its attributes; undefined if the template has none. */
export function htmlTag(template: string): LiquidTag | undefined {
  const masked = withTags(template, (tag) => "_".repeat(tag.length));
  const match = /<html\b[^<>]*>/i.exec(masked);
  return match ? { from: match.index, to: match.index + match[0].length } : undefined;
}

interface Suffixed {
  readonly name: string;
  readonly locale: Locale;
}

/** `title_en` -> title and en; undefined if the key has no such suffix. */
export function suffixedKey(key: string): Suffixed | undefined {
  const [, name, locale] = /^([A-Za-z][\w-]*)_([a-z]{2})$/.exec(key) ?? [];
  return name !== undefined && isLocale(locale) ? { name, locale } : undefined;
}

interface Found extends Suffixed {
  readonly variable: string;
  readonly line: number;
}

const quoted = /"[^"]*"|'[^']*'/g;
const name = /(?<![\w-])[A-Za-z][\w-]*_[a-z]{2}(?![\w-]|\s*:)/g;

/** The suffixed variables that a template reads, each once. */
export function suffixedIn(template: string): Found[] {
  const found = new Map<string, Found>();
  let line = 1;
  let counted = 0;
  for (const { from, to } of liquidTags(template)) {
    line += template.slice(counted, from).split("\n").length - 1;
    counted = from;
    for (const [variable] of template.slice(from, to).replaceAll(quoted, "").matchAll(name)) {
      const key = suffixedKey(variable);
      if (key && !found.has(variable)) found.set(variable, { variable, ...key, line });
    }
  }
  return [...found.values()];
}

/** The template with `title_en` replaced by `title`, for every variable that `isOne` accepts. */
export function plainTemplate(template: string, isOne: (variable: string) => boolean): string {
  return withTags(template, (tag) =>
    tag
      .split(/("[^"]*"|'[^']*')/)
      .map((part, at) =>
        at % 2 === 1
          ? part
          : part.replaceAll(name, (variable) =>
              isOne(variable) ? (suffixedKey(variable)?.name ?? variable) : variable,
            ),
      )
      .join(""),
  );
}
