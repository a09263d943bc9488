/** The language of the Studio: its messages, and dates and numbers in the account's time zone. */
import { isolated } from "../bidi.ts";
import { lastWord, words } from "../resources/names.ts";
import type { Resource } from "../resources/resources.ts";
import { ownOf } from "../resources/values.ts";
import { whenOf } from "../when.ts";
import english from "../text/en.json" with { type: "json" };

export const languages = ["en", "pl", "de"] as const;
export type Language = (typeof languages)[number];

/** A message by the categories of `Intl.PluralRules`; Polish has `few` and `many`, too. */
type Plural = { readonly one: string; readonly few?: string; readonly many?: string; readonly other: string };
/** The shape of a catalogue in any language: English says which messages there are. */
type Translated<T> = {
  readonly [K in keyof T]: T[K] extends string | readonly string[]
    ? T[K]
    : T[K] extends { one: string }
      ? Plural
      : Translated<T[K]>;
};
type Messages = Translated<typeof english>;
type Values = Readonly<Record<string, string>>;

const storageKey = "corestead.language";

/** For the pages that the server makes, as the one to sign in by (runtime/http/language.ts): they have no scripts. */
function tellServer(language: Language): void {
  document.cookie = `core_language=${language}; path=/; max-age=31536000; samesite=lax`;
}

class Text {
  language = $state<Language>("en");
  messages = $state.raw<Messages>(english);
  timezone = "UTC";

  /** Takes the one chosen before, else the first that the browser asks for. */
  async begin(): Promise<void> {
    const wanted = [localStorage.getItem(storageKey) ?? "", ...navigator.languages].map((tag) => tag.split("-")[0]);
    await this.use(wanted.flatMap((tag) => languages.find((language) => language === tag) ?? [])[0] ?? "en");
  }

  async choose(language: Language): Promise<void> {
    localStorage.setItem(storageKey, language);
    tellServer(language);
    await this.use(language);
  }

  private async use(language: Language): Promise<void> {
    this.messages = await loaded(language);
    this.language = language;
    document.documentElement.lang = language;
  }

  /** The heading of a resource's list. */
  plural(path: string): string {
    return this.names(path)?.[0] ?? words(lastWord(path));
  }

  /** One item of a resource. */
  singular(path: string): string {
    return this.names(path)?.[1] ?? words(lastWord(path)).toLowerCase().replace(/s$/, "");
  }

  /** "New table", as the language bends it. */
  newOne(path: string): string {
    return this.names(path)?.[2] ?? this.messages.new.replace("{singular}", this.singular(path));
  }

  module(name: string): string {
    const titles: Readonly<Record<string, string>> = this.messages.modules;
    return titles[name] ?? words(name.replaceAll("-", "_"));
  }

  private names(path: string): readonly string[] | undefined {
    const names: Readonly<Record<string, readonly string[]>> = this.messages.resources;
    return names[path];
  }

  /** A field of a resource; one that declares no words is called by its name. */
  field({ fields }: Pick<Resource, "fields">, name: string): string {
    return ownOf(fields, name)?.label[this.language] ?? ownOf(this.messages.fields, name) ?? words(name);
  }

  /** A value of a field, if the resource declares words for it. */
  choice({ fields }: Pick<Resource, "fields">, name: string, value: unknown): string | undefined {
    const { choices } = ownOf(fields, name) ?? {};
    return typeof value === "string" ? ownOf(choices, value)?.[this.language] : undefined;
  }

  number(value: number): string {
    return numberFormat(this.language).format(value);
  }

  time(value: string | number | Date): string {
    const date = new Date(value);
    if (Number.isNaN(date.getTime())) return String(value);
    return timeFormat(this.language, this.timezone).format(date);
  }

  /** In words within seven days, then the day. */
  when(value: string | number): string {
    const at = new Date(value).getTime();
    return Number.isNaN(at)
      ? String(value)
      : whenOf(at, { now: Date.now(), timezone: this.timezone, language: this.language });
  }

  /** A day with the name of its weekday. */
  day(date: Date): string {
    const parts = { weekday: "long", day: "numeric", month: "long", timeZone: this.timezone } as const;
    return new Intl.DateTimeFormat(this.language, parts).format(date);
  }

  /** A plural by its number. */
  count(forms: Plural, count: number): string {
    const category = new Intl.PluralRules(this.language).select(count);
    const form = category === "one" || category === "few" || category === "many" ? forms[category] : undefined;
    return filledIn(form ?? forms.other, { count: this.number(count) });
  }
}

export const text = new Text();

/** Made once for each language, as formats of times are. */
const numberFormats = new Map<Language, Intl.NumberFormat>();

function numberFormat(language: Language): Intl.NumberFormat {
  const made = numberFormats.get(language) ?? new Intl.NumberFormat(language);
  numberFormats.set(language, made);
  return made;
}

/** Made once for each language and zone: a grid formats dozens of times while it is scrolled, and making one is slow. */
const timeFormats = new Map<string, Intl.DateTimeFormat>();

function timeFormat(language: Language, timeZone: string): Intl.DateTimeFormat {
  const key = `${language} ${timeZone}`;
  const known = timeFormats.get(key);
  if (known) return known;
  const made = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short", timeZone });
  timeFormats.set(key, made);
  return made;
}

interface Words {
  readonly [word: string]: string | Plural | Words;
}

interface Catalogue<T> {
  /** A message in the Studio's language, with `{name}` replaced by its value. */
  readonly say: (word: { [K in keyof T]: T[K] extends string ? K : never }[keyof T], values?: Values) => string;
  /** All messages in the Studio's language. */
  readonly texts: () => Translated<T>;
}

/**
 * The messages of a plugin's pages, from its `text/{en,pl,de}.json`.
 *
 * @example
 * export const { say } = catalogue(en, pl, de);
 * say("sentTo", { name: "Ann" });
 */
export function catalogue<T extends Words>(en: T & Translated<T>, pl: Translated<T>, de: Translated<T>): Catalogue<T> {
  const all: Readonly<Record<Language, Translated<T>>> = { en, pl, de };
  return {
    say(word, values = {}) {
      const message = all[text.language][word];
      return typeof message === "string" ? filledIn(message, values) : "";
    },
    texts: () => all[text.language],
  };
}

/** No value turns our own words around. */
export function filledIn(message: string, values: Values): string {
  return message.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = ownOf(values, name);
    return value === undefined ? whole : isolated(value);
  });
}

async function loaded(language: Language): Promise<Messages> {
  if (language === "pl") return (await import("../text/pl.json", { with: { type: "json" } })).default;
  return language === "de" ? (await import("../text/de.json", { with: { type: "json" } })).default : english;
}
