/** What kind of value a field has for people, and how it is called: read from its definition. Pure. */
import { isMap } from "studio/exact";
import type { FieldDraft, SchemaDraft, TableDraft } from "../schema.ts";

export type Kind =
  | "boolean"
  | "choice"
  | "choices"
  | "date"
  | "datetime"
  | "email"
  | "file"
  | "files"
  | "link"
  | "links"
  | "list"
  | "money"
  | "number"
  | "percent"
  | "phone"
  | "rating"
  | "rollup"
  | "text"
  | "long"
  | "time"
  | "url";

export interface FieldChoice {
  readonly value: string;
  readonly label: string;
  readonly color: string | undefined;
}

/** Never what every object inherits: fields may be called so. */
function ownOf<T>(map: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

/** What a definition says beside type and `required`. */
export function optionOf(field: FieldDraft, name: string): unknown {
  return ownOf(field.more ?? {}, name);
}

const formats: Readonly<Record<string, Kind>> = {
  email: "email",
  phone: "phone",
  url: "url",
  file: "file",
  money: "money",
  percent: "percent",
  rating: "rating",
  markdown: "long",
};

/** `isShown`: of a value that is worked out, how it is shown. */
export function kindOf(field: FieldDraft, isShown = false): Kind {
  const isList = field.type === "list";
  if (optionOf(field, "rollup") !== undefined && !isShown) return "rollup";
  if (typeof optionOf(field, "link") === "string") return isList ? "links" : "link";
  if (Array.isArray(optionOf(field, "choices"))) return isList ? "choices" : "choice";
  const format = ownOf(formats, String(optionOf(field, "format")));
  if (isList) return format === "file" ? "files" : "list";
  if (format) return format;
  if (field.type === "integer") return "number";
  return field.type === "string" ? "text" : field.type === "text" ? "long" : field.type;
}

/** Words of a definition in a language: one text for all, or by locale, of which there may be another one only. */
export function wordsOf(value: unknown, language: string): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  if (!isMap(value)) return undefined;
  const found = ownOf(value, language) ?? ownOf(value, "en") ?? Object.values(value)[0];
  return typeof found === "string" && found !== "" ? found : undefined;
}

export function labelOf(field: FieldDraft, language: string, named: (name: string) => string): string {
  return wordsOf(optionOf(field, "label"), language) ?? named(field.name);
}

export function choicesOf(field: FieldDraft, language: string): readonly FieldChoice[] {
  const given = optionOf(field, "choices");
  if (!Array.isArray(given)) return [];
  return given.map((one: unknown) => {
    if (!isMap(one)) return { value: String(one), label: String(one), color: undefined };
    const value = String(one["value"]);
    const color = typeof one["color"] === "string" ? one["color"] : undefined;
    return { value, label: wordsOf(one["label"], language) ?? value, color };
  });
}

/** The database and the table that a link leads to. */
export function targetOf(field: FieldDraft): { readonly db: string; readonly table: string | undefined } | undefined {
  const link = optionOf(field, "link");
  if (typeof link !== "string") return undefined;
  const [db = "", table] = link.split(".");
  return { db, table };
}

/** The field that people know a record by. */
export function titleField(table: TableDraft | undefined): string | undefined {
  const named = ownOf(table?.more ?? {}, "title_field");
  if (typeof named === "string") return named;
  return table?.fields.find(({ type }) => type === "string" || type === "text")?.name;
}

/** What people call a record; "" if it has no such value. */
export function titleIn(data: Readonly<Record<string, unknown>> | undefined, table: TableDraft | undefined): string {
  const field = titleField(table);
  const value =
    field === undefined ? Object.values(data ?? {}).find((one) => typeof one === "string") : ownOf(data ?? {}, field);
  return (typeof value === "string" || typeof value === "number" ? String(value) : "").slice(0, 200).trim();
}

/** The table of a record. */
export function tableNamed({ multiTable, tables }: SchemaDraft, name: string | null): TableDraft | undefined {
  return multiTable ? tables.find((table) => table.name === name) : tables[0];
}

export function isEmptyValue(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

/** People type 25 for a quarter. */
export function percentText(stored: string): string {
  return scaled(stored, 100);
}
export function percentValue(typed: string): string {
  return scaled(typed.replace("%", "").trim(), 0.01);
}
/** Without the digits that binary fractions add; what is no number stays for the form to refuse. */
function scaled(text: string, by: number): string {
  const number = Number(text);
  return text === "" || !Number.isFinite(number) ? text : String(Number((number * by).toPrecision(14)));
}

/** A list as its items: what was typed, or is stored. */
export function itemsOf(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value.map(String);
  } catch {
    // It is no JSON.
  }
  return text.split(",").flatMap((item) => item.trim() || []);
}
