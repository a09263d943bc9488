/** Variables with a language suffix (`title_en`), as sites used them before fields keyed by locale. Pure. */
import { liquidTags, withTags } from "../liquid-tags.ts";
import { isLocale, type Locale } from "../locales.ts";

export interface Suffixed {
  readonly name: string;
  readonly locale: Locale;
}

/** `title_en` -> title and en; undefined if the key has no such suffix. */
export function suffixedKey(key: string): Suffixed | undefined {
  const [, name, locale] = /^([A-Za-z][\w-]*)_([a-z]{2})$/.exec(key) ?? [];
  return name !== undefined && isLocale(locale) ? { name, locale } : undefined;
}

export interface Found extends Suffixed {
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
