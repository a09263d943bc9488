/** What a translator writes: the texts of a record in one language beside those of another, and where each is kept. Pure. */
import { isMap, parseJson } from "studio/exact";
import { isLocale, type Locale } from "../../locales.ts";
import type { Kind } from "./rows.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** A page, paragraph, layout or article as the API answers it. */
export type Entry = Readonly<Record<string, unknown>> & { readonly id: number; readonly code: string };

/** The texts that stand in columns of their own. */
const columns: Readonly<Record<Kind, readonly string[]>> = {
  page: ["html_title", "html_description", "html_keywords", "content"],
  article: ["title", "lead", "html_title", "html_description", "content"],
  paragraph: [],
  layout: [],
};

/** The record of the row, and the one that has the language, if there is one of its own. */
export interface Group {
  readonly kind: Kind;
  readonly root: Entry;
  readonly own: Entry | undefined;
  readonly locale: Locale;
  /** The language of a record that has none. */
  readonly site: Locale;
}

/** Where a text is kept: a column, `fields[key]`, or with a locale `fields[locale][key]`. */
export type Place =
  | { readonly record: "root" | "own"; readonly column: string }
  | { readonly record: "root" | "own"; readonly key: string; readonly locale?: Locale };

export interface Unit {
  /** `html_title`, `fields.title`: as the API names it. */
  readonly name: string;
  readonly source: string;
  readonly value: string;
  /** What is no text is written as JSON. */
  readonly isJson: boolean;
  readonly place: Place;
}

/** How a record gets another language. */
export type Way =
  /** By the keys of its fields: it has no language of its own. */
  | "fields"
  /** By a record of that language. */
  | "own"
  /** By a new one that is based on it. */
  | "slave"
  /** The home page has no slaves (behaviour A.9). */
  | "home"
  /** By a new article of the same category and time. */
  | "copy"
  /** An article without a language is shown in all. */
  | "shared";

export function wayOf({ kind, root, own }: Pick<Group, "kind" | "root" | "own">): Way {
  if (own && own.id !== root.id) return "own";
  if (kind === "article") return localeOf(root) === null ? "shared" : "copy";
  if (localeOf(root) === null) return "fields";
  return root["path"] === "" ? "home" : "slave";
}

/** The texts to write. `from`: the language that stands beside, and the record that shows it. */
export function unitsOf(group: Group, from: { readonly locale: Locale; readonly record: Entry }): Unit[] {
  const way = wayOf(group);
  if (way === "home" || way === "shared") return [];
  const { kind, root, own } = group;
  const columnUnits =
    way === "fields" ? [] : columns[kind].flatMap((column) => columnUnit(column, own, from.record, root));
  const keyUnits = keysOf(group).map((key) => keyUnit(key, group, from));
  return [...columnUnits.filter(({ name }) => name !== "content"), ...keyUnits, ...columnUnits.filter(isContent)];
}

const isContent = ({ name }: Unit) => name === "content";

function columnUnit(column: string, own: Entry | undefined, source: Entry, root: Entry): Unit[] {
  const text = textOf(source[column]) || textOf(root[column]);
  const value = textOf(own?.[column]);
  if (text === "" && value === "") return [];
  return [{ name: column, source: text, value, isJson: false, place: { record: "own", column } }];
}

function keyUnit(key: string, group: Group, from: { readonly locale: Locale; readonly record: Entry }): Unit {
  const { root } = group;
  const isBased = from.record["based_on_page_id"] === root.id;
  const source = resolved(isBased ? fieldsOf(root) : {}, fieldsOf(from.record), from.locale, key);
  const place = placeOf(key, group);
  const value = valueAt(place.record === "root" ? root : group.own, place);
  const isJson = [source, value].some((one) => one !== undefined && one !== null && typeof one !== "string");
  return { name: `fields.${key}`, source: shown(source), value: shown(value), isJson, place };
}

/** Where the text stands already, else where the others of its kind stand. */
function placeOf(key: string, { kind, root, own, locale }: Group): Place & { key: string } {
  const isOwn = own && own.id !== root.id;
  if (isOwn && isPresent(at(inLocale(fieldsOf(own), locale), key))) return { record: "own", key, locale };
  if (isOwn && isPresent(at(fieldsOf(own), key))) return { record: "own", key };
  const based = kind !== "article" && (!isOwn || own["based_on_page_id"] === root.id);
  const isKeyed = localesIn(fieldsOf(root)).length > 0 || localeOf(root) === null;
  if (based && (isKeyed || isPresent(at(inLocale(fieldsOf(root), locale), key))))
    return { record: "root", key, locale };
  return { record: "own", key };
}

function valueAt(record: Entry | undefined, place: Place): unknown {
  if (!record) return undefined;
  if ("column" in place) return record[place.column];
  const fields = fieldsOf(record);
  return at(place.locale === undefined ? fields : inLocale(fields, place.locale), place.key);
}

/** Keys that have a value in some language. Plain texts count only where no language has any. */
function keysOf({ root, own, locale, site }: Group): string[] {
  const fields = fieldsOf(root);
  const source = localeOf(root) ?? site;
  const inLocales = localesIn(fields).flatMap((one) => present(inLocale(fields, one)));
  const plain = present(fields).filter((key) => !isLocale(key));
  const words = plain.filter((key) => typeof fields[key] === "string");
  const ownFields = own && own.id !== root.id ? fieldsOf(own) : {};
  const owned = present(ownFields).filter((key) => !isLocale(key) && plain.includes(key));
  const keys = [...present(inLocale(fields, source)), ...inLocales, ...(inLocales.length === 0 ? words : [])];
  const found = [...new Set([...keys, ...owned, ...present(inLocale(ownFields, locale))])];
  return found.toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** What a reader of the page sees first. The database does not keep the order of keys. */
const first = ["eyebrow", "title", "heading", "name", "lead", "intro", "text"];

function rankOf(key: string): number {
  const place = first.indexOf(key);
  return place < 0 ? first.length : place;
}

/** A.2 and A.4: the record's own value by language, its own plain one, then its master's. */
function resolved(master: Fields, own: Fields, locale: Locale, key: string): unknown {
  const places = [inLocale(own, locale), inLocale(master, locale), own, master];
  return places.map((place) => at(place, key)).find(isPresent);
}

export interface Change {
  readonly record: "root" | "own";
  /** The fields of the API's body. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** What is to be saved: only what was typed, on top of the records as they are now. Empty takes a value away. */
export function changesOf(
  { kind, root, own }: Pick<Group, "kind" | "root" | "own">,
  units: readonly Unit[],
  typed: Readonly<Record<string, string>>,
): Change[] {
  const touched = units.filter(({ name, value }) => (typed[name] ?? value) !== value);
  return (["own", "root"] as const).flatMap((record): Change[] => {
    const mine = touched.filter(({ place }) => place.record === record);
    if (mine.length === 0) return [];
    const values: Record<string, unknown> = {};
    // A new article keeps what is not translated.
    let fields = fieldsOf(record === "root" ? root : (own ?? (kind === "article" ? root : undefined)));
    for (const unit of mine) {
      const { place } = unit;
      const text = typed[unit.name] ?? "";
      if ("column" in place)
        values[place.column] = text === "" && !/^(content|title)$/.test(place.column) ? null : text;
      else fields = values["fields"] = withValue(fields, place, parsed(unit, text));
    }
    return [{ record, values }];
  });
}

/** The names of JSON texts that cannot be read. */
export function mistaken(units: readonly Unit[], typed: Readonly<Record<string, string>>): string[] {
  return units
    .filter(({ isJson, name }) => {
      const text = typed[name] ?? "";
      return isJson && text.trim() !== "" && !canParse(text);
    })
    .map(({ name }) => name);
}

function canParse(text: string): boolean {
  try {
    return JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}

function parsed({ isJson }: Unit, text: string): unknown {
  if (text.trim() === "") return undefined;
  return isJson ? parseJson(text) : text;
}

function withValue(fields: Fields, { key, locale }: { key: string; locale?: Locale }, value: unknown): Fields {
  if (locale === undefined) return withKey(fields, key, value);
  const inner = withKey(inLocale(fields, locale), key, value);
  return withKey(fields, locale, Object.keys(inner).length === 0 ? undefined : inner);
}

function withKey(map: Fields, key: string, value: unknown): Fields {
  const rest = Object.fromEntries(Object.entries(map).filter(([name]) => name !== key || value !== undefined));
  return value === undefined ? rest : { ...rest, [key]: value };
}

/** `Über uns` -> `ueber-uns`: the path that a page of this name would have; with the language before it if it is its master's. */
export function pathFor(name: string, master: string, locale: Locale): string {
  const path = name.toLowerCase().replaceAll(/[äöüßłœæ]/g, (sign) => spelled[sign] ?? sign);
  const plain = path.normalize("NFD").replaceAll(/\p{M}/gu, "");
  const slug = plain
    .split(/[^\p{L}\p{N}]/u)
    .filter(Boolean)
    .join("-")
    .slice(0, 100);
  return slug === "" || slug === master ? `${locale}/${master}` : slug;
}

const spelled: Readonly<Record<string, string>> = { ä: "ae", ö: "oe", ü: "ue", ß: "ss", ł: "l", œ: "oe", æ: "ae" };

function localeOf({ locale }: Entry): Locale | null {
  return isLocale(locale) ? locale : null;
}

function fieldsOf(record: Entry | undefined): Fields {
  const fields = record?.["fields"];
  return isMap(fields) ? fields : {};
}

function inLocale(fields: Fields, locale: string): Fields {
  const inner = at(fields, locale);
  return isMap(inner) ? inner : {};
}

/** Authors choose the keys, and every object has a `constructor`. */
function at(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

function localesIn(fields: Fields): Locale[] {
  return Object.keys(fields).filter((key): key is Locale => isLocale(key) && isMap(fields[key]));
}

function present(fields: Fields): string[] {
  return Object.keys(fields).filter((key) => isPresent(at(fields, key)));
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function shown(value: unknown): string {
  if (!isPresent(value)) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
