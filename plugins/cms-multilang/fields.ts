/** The fields that several kinds of records of sites have. behaviour B.11. */
import { column, field, Type, type TSchema } from "platform";
import { codeField } from "./code.ts";
import { locales, type Locale } from "./locales.ts";

const { choice, flag, id, integer, jsonb, text, value } = column;

const maxContent = 1_000_000;
/** The limit of a template: the engine parses no longer ones. */
const maxTemplate = 256_000;

/** An empty text means null. */
export const localeText = () => field.nullable(Type.Union([field.oneOf(locales), Type.Literal("")]));
export const longText = (maxLength: number, more: { readonly contentMediaType?: string } = {}) =>
  field.nullable(Type.String({ maxLength, ...more }));

/** The media types tell forms how to colour the text. */
export const contentText = () => longText(maxContent, { contentMediaType: "text/html" });
export const templateText = () => longText(maxTemplate, { contentMediaType: "text/x-liquid" });

type Label = column.Label;

/** `fields`: values without a locale, and objects of values keyed by a supported locale. behaviour 2.7. */
export type Fields = Readonly<Record<string, unknown>>;

/** When each translatable field last changed: "content", "html_title", "fields.title", "fields.pl.title" -> ISO time. */
export type FieldTimes = Readonly<Record<string, string>>;

/** Named by its id, beside the code that says the same. */
const asId = ([en, pl, de]: Label): Label => [`${en} (id)`, `${pl} (id)`, `${de} (ID)`];
const idText = () => field.nullable(field.id());
const codeText = () => field.nullable(Type.String({ maxLength: 100 }));

/** The code of the record of `to` that the column names. */
const codeIn = (table: string, name: string, to: string) =>
  `(select o.code from ${to} o where o.account_id = ${table}.account_id and o.id = ${table}.${name})`;

/** Another record, by its id; null: none. */
export const idOf = (label: Label, example: number | null = null) =>
  id({ label: asId(label), body: idText(), by: "check", orNull: true, example });

/** The same record by its code; an empty text means none. */
export const codeOf = (label: Label, table: string, name: string, to: string, example: string | null = null) =>
  text({ label, body: codeText(), by: "server", from: codeIn(table, name, to), quiet: false, orNull: true, example });

export const siteLabel: Label = ["Site", "Witryna", "Website"];

/** The site of a record, which never changes. */
export const siteOf = (table: string) => ({
  site_id: id({ label: asId(siteLabel), body: idText(), by: "check", leftOut: "by `site_code`", example: 3 }),
  site_code: text({
    label: siteLabel,
    body: codeText(),
    by: "server",
    from: codeIn(table, "site_id", "cms_sites"),
    quiet: false,
    leftOut: "refused",
    example: "acme",
  }),
});

export const code = (example: string, leftOut = "made of `name`") =>
  text({
    label: ["Short name", "Nazwa techniczna", "Technischer Name"],
    help: [
      "By this it is known in addresses, templates and files.",
      "Pod tą nazwą znają go adresy, szablony i pliki.",
      "Unter diesem Namen kennen ihn Adressen, Vorlagen und Dateien.",
    ],
    body: codeField(),
    by: "check",
    leftOut,
    example,
  });

export const name = (example: string) =>
  text({ label: ["Name", "Nazwa", "Name"], body: field.name(), by: "check", leftOut: "its `code`", example });

export const path = <B extends TSchema>(body: B, leftOut: string, example: string) =>
  text({ label: ["Path", "Ścieżka", "Pfad"], body, by: "check", leftOut, example });

/** The words of the supported locales. */
export const languages: Readonly<Record<Locale, Label>> = {
  pl: ["Polish", "Polski", "Polnisch"],
  en: ["English", "Angielski", "Englisch"],
  fr: ["French", "Francuski", "Französisch"],
  cs: ["Czech", "Czeski", "Tschechisch"],
  sk: ["Slovak", "Słowacki", "Slowakisch"],
  de: ["German", "Niemiecki", "Deutsch"],
  es: ["Spanish", "Hiszpański", "Spanisch"],
  uk: ["Ukrainian", "Ukraiński", "Ukrainisch"],
};

export const languageLabel: Label = ["Language", "Język", "Sprache"];

const none: Label = ["None", "Bez języka", "Keine"];

/** An empty text means null: no locale. */
export const locale = (example: Locale | null = null) =>
  choice(locales, {
    label: languageLabel,
    choices: { ...languages, "": none },
    body: localeText(),
    orNull: true,
    example,
  });

export const content = <B extends TSchema>(body: B, example: string) =>
  text({ label: ["Content", "Treść", "Inhalt"], body, blank: "", example });

export const values = (example: Fields = {}) =>
  jsonb({ label: ["Fields", "Pola", "Felder"], body: field.object(), blank: {}, example });

/** When each translatable field last changed. */
export const times = value("jsonb", Type.Unsafe<FieldTimes>(Type.Object({})), {
  by: "check",
  hidden: true,
  quiet: true,
});

export const active = flag({ label: ["On", "Włączone", "An"], body: field.flag(), blank: true });

export const position = (example = 0) =>
  integer({
    label: ["Position", "Pozycja", "Position"],
    body: Type.Integer({ minimum: -1_000_000_000, maximum: 1_000_000_000 }),
    blank: 0,
    example,
  });

const line = (label: Label, maxLength: number, example: string | null = null) =>
  text({ label, body: longText(maxLength), orNull: true, example });

/** What search engines read. */
export const head = (title: string | null = null) => ({
  html_title: line(["Title for search engines", "Tytuł dla wyszukiwarek", "Titel für Suchmaschinen"], 1000, title),
  html_description: line(
    ["Description for search engines", "Opis dla wyszukiwarek", "Beschreibung für Suchmaschinen"],
    5000,
  ),
});

export const keywords = line(["Keywords", "Słowa kluczowe", "Stichwörter"], 5000);

/** Who has written a record. */
export const authors = {
  created_by_id: id({
    label: ["Created by", "Utworzone przez", "Angelegt von"],
    by: "server",
    quiet: false,
    orNull: true,
    example: 1,
  }),
  updated_by_id: id({
    label: ["Changed by", "Zmienione przez", "Geändert von"],
    by: "server",
    quiet: false,
    orNull: true,
  }),
};

/** A new one needs one of these. */
export const needsTitle = ["name", "code"];
export const needsSite = ["site_code", "site_id"];
