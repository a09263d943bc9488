/** What a field is to people: its kind, its label and its choices, out of what the schema says of it. Pure. */
import { isMap, ownOf } from "studio/exact";
import { choiceColors } from "../../databases/choices.ts";
import type { FieldType, TableDraft } from "../schema.ts";

/** In the order in which they are offered; the last two are only met. */
export const kinds = [
  "text",
  "long",
  "number",
  "money",
  "percent",
  "rating",
  "choice",
  "choices",
  "yesno",
  "date",
  "datetime",
  "link",
  "person",
  "email",
  "url",
  "phone",
  "file",
  "rollup",
  "time",
  "list",
  "none",
] as const;
export type Kind = (typeof kinds)[number];

export interface Labelled {
  readonly name: string;
  readonly type: FieldType | undefined;
  /** What else the schema says of the field. */
  readonly more?: Readonly<Record<string, unknown>> | undefined;
}

export interface Choice {
  readonly value: string | number;
  readonly label: string;
  /** "" is grey. */
  readonly color: string;
}

/** A database or one of its tables. */
export interface Target {
  readonly db: string;
  readonly table: string | undefined;
}

/** Where fields of people lead, as no database is called. */
export const people: Target = { db: "", table: undefined };

/** Whoever asks, in a filter. */
export const me = "{user_id}";

/** A field as a grid, a card or a form shows it. */
export interface Look {
  readonly name: string;
  readonly kind: Kind;
  /** Of a value that is worked out, how it is shown. */
  readonly shown: Kind;
  readonly label: string;
  readonly help: string;
  /** Several values in a list. */
  readonly isList: boolean;
  readonly choices: readonly Choice[];
  readonly currency: string;
  readonly target: Target | undefined;
}

const ofFormat: Readonly<Record<string, Kind>> = {
  email: "email",
  url: "url",
  phone: "phone",
  file: "file",
  markdown: "long",
  money: "money",
  percent: "percent",
  rating: "rating",
  user: "person",
};

const ofType: Readonly<Record<FieldType, Kind>> = {
  string: "text",
  text: "long",
  integer: "number",
  number: "number",
  boolean: "yesno",
  datetime: "datetime",
  date: "date",
  time: "time",
  list: "list",
};

const ofOwn: Readonly<Record<string, Kind>> = { created_at: "datetime", updated_at: "datetime" };

export function kindOf(field: Labelled): Kind {
  return field.type !== undefined && ownOf(field.more, "rollup") ? "rollup" : shownKind(field);
}

function shownKind({ name, type, more }: Labelled): Kind {
  if (type === undefined) return ofOwn[name] ?? "none";
  if (typeof ownOf(more, "link") === "string") return "link";
  if (ownOf(more, "choices")) return type === "list" ? "choices" : "choice";
  return ownOf(ofFormat, String(ownOf(more, "format"))) ?? ofType[type];
}

/** Numbers stand at the right. */
export function isNumeric(kind: Kind): boolean {
  return kind === "number" || kind === "money" || kind === "percent" || kind === "rollup";
}

/** A text for people: one, or one for each language. */
export function wordsOf(value: unknown, language: string): string {
  if (typeof value === "string") return value;
  if (!isMap(value)) return "";
  const said = ownOf(value, language) ?? ownOf(value, "en") ?? Object.values(value)[0];
  return typeof said === "string" ? said : "";
}

export function lookOf(field: Labelled, language: string, fallback: (name: string) => string): Look {
  const more = field.more ?? {};
  return {
    name: field.name,
    kind: kindOf(field),
    shown: shownKind(field),
    label: wordsOf(more["label"], language) || fallback(field.name),
    help: wordsOf(more["help"], language),
    isList: field.type === "list",
    choices: Array.isArray(more["choices"]) ? more["choices"].flatMap((one) => choiceOf(one, language)) : [],
    currency: typeof more["currency"] === "string" ? more["currency"] : "",
    target: targetOf(more["link"]),
  };
}

function choiceOf(choice: unknown, language: string): Choice[] {
  const whole = isMap(choice) ? choice : { value: choice };
  const { value, label, color } = whole;
  if (typeof value !== "string" && typeof value !== "number") return [];
  return [{ value, label: wordsOf(label, language) || String(value), color: typeof color === "string" ? color : "" }];
}

/** `"orders"`, or `"shop.orders"` of a database with tables. */
function targetOf(link: unknown): Target | undefined {
  if (typeof link !== "string") return undefined;
  const at = link.indexOf(".");
  return at < 0 ? { db: link, table: undefined } : { db: link.slice(0, at), table: link.slice(at + 1) };
}

/** The field that a person knows a record by: the schema says it, else it is the first text. */
export function titleField(table: TableDraft | undefined): string | undefined {
  const said = table?.more?.["title_field"];
  if (typeof said === "string") return said;
  return (table?.fields.find(({ type, more }) => type === "string" && !more?.["link"]) ?? table?.fields[0])?.name;
}

/** What people call a record; "" if it has no such value. */
export function titleIn(data: Readonly<Record<string, unknown>> | undefined, table: TableDraft | undefined): string {
  const field = titleField(table);
  const value =
    field === undefined ? Object.values(data ?? {}).find((one) => typeof one === "string") : ownOf(data, field);
  return (typeof value === "string" || typeof value === "number" ? String(value) : "").slice(0, 200).trim();
}

/** The values of a cell, of one that holds a list and of one that holds a single value. */
export function itemsOf(value: unknown): unknown[] {
  return value === null || value === undefined || value === "" ? [] : Array.isArray(value) ? value : [value];
}

/** A value that the choices do not have is shown as it is. */
export function choiceAt(choices: readonly Choice[], value: unknown): Choice {
  return (
    choices.find((one) => one.value === value) ?? {
      value: String(value),
      label: typeof value === "string" ? value : JSON.stringify(value),
      color: "",
    }
  );
}

/** One of the nine colours for a title, always the same one. */
export function colorOf(title: string): string {
  let sum = 0;
  for (const letter of title.slice(0, 20)) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9973;
  return choiceColors[sum % choiceColors.length] ?? "sky";
}

/** The fields by which a view of a kind can be arranged: choices for lanes and bars, dates for a calendar, files as pictures. */
export function fieldsFor<T extends Labelled>(view: string, fields: readonly T[]): T[] {
  if (view === "chart")
    return (["choice", "date", "datetime", "yesno", "link", "person"] as const).flatMap((kind) =>
      fields.filter((one) => kindOf(one) === kind && one.type !== "list"),
    );
  return fields.filter((field) => {
    const kind = kindOf(field);
    if (view === "board") return kind === "choice" || (kind === "person" && field.type !== "list");
    if (view === "group")
      return kind === "choice" || kind === "yesno" || ((kind === "link" || kind === "person") && field.type !== "list");
    if (view === "calendar") return kind === "date" || kind === "datetime";
    return view === "gallery" && kind === "file";
  });
}

const ofKind: Partial<Record<Kind, readonly ["earliest", "latest"] | readonly ["smallest", "largest"]>> = {
  date: ["earliest", "latest"],
  datetime: ["earliest", "latest"],
  time: ["earliest", "latest"],
  number: ["smallest", "largest"],
  money: ["smallest", "largest"],
  percent: ["smallest", "largest"],
  rating: ["smallest", "largest"],
  rollup: ["smallest", "largest"],
};

export function sortWords(
  kind: Kind,
): readonly ["earliest" | "smallest" | "sortUpText", "latest" | "largest" | "sortDownText"] {
  return ofKind[kind] ?? ["sortUpText", "sortDownText"];
}
