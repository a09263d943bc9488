/** The tables of the account and their fields, as people call them. Pure. */
import { isMap } from "../../resources/values.ts";

/** Told by the type alone. */
type KindOfType = "text" | "number" | "yesno" | "date" | "datetime" | "list";
export type FieldKind = KindOfType | "choice" | "link" | "file" | "rollup" | "any";

export interface TableField {
  readonly name: string;
  readonly label: string;
  /** As the schema calls its type. */
  readonly type: string;
  /** What people call it. */
  readonly kind: FieldKind;
  readonly isRequired: boolean;
  readonly choices: readonly { readonly value: string | number; readonly label: string; readonly color: string }[];
}

export interface Table {
  readonly db: string;
  /** Of a database with several; "" else. */
  readonly table: string;
  readonly label: string;
  readonly fields: readonly TableField[];
  readonly titleField: string | undefined;
  /** Whether anybody may add a record, by its public form. */
  readonly hasForm: boolean;
}

export function tablesOf(
  row: Readonly<Record<string, unknown>>,
  language: string,
  words: (name: string) => string,
): Table[] {
  const { code, name, schema, public_methods: open } = row;
  if (typeof code !== "string") return [];
  const label = typeof name === "string" && name !== "" ? name : code;
  const whole = isMap(schema) ? schema : {};
  const several = isMap(whole["tables"]) ? whole["tables"] : undefined;
  const form = isMap(open) ? open["create"] : undefined;
  const one = (table: string, said: string, given: unknown): Table => {
    const own = isMap(given) ? given : {};
    const fields = Object.entries(isMap(own["fields"]) ? own["fields"] : {}).map(([field, how]) =>
      fieldOf(field, how, language, words),
    );
    const title = own["title_field"];
    return {
      db: code,
      table,
      label: said,
      fields,
      titleField: typeof title === "string" ? title : fields.find(({ type }) => type === "string")?.name,
      hasForm: isMap(form) && (table === "" || form["table_name"] === table),
    };
  };
  if (!several) return [one("", label, whole)];
  return Object.entries(several).map(([table, given]) =>
    one(table, `${label} · ${wordsIn(isMap(given) ? given["label"] : undefined, language) || words(table)}`, given),
  );
}

function fieldOf(name: string, how: unknown, language: string, words: (name: string) => string): TableField {
  const whole: Readonly<Record<string, unknown>> = isMap(how) ? how : { type: how };
  const choices = Array.isArray(whole["choices"]) ? whole["choices"] : [];
  const type = typeof whole["type"] === "string" ? whole["type"] : "string";
  return {
    name,
    label: wordsIn(whole["label"], language) || words(name),
    type,
    kind: kindOf(type, whole),
    isRequired: whole["required"] === true && !("default" in whole),
    choices: choices.flatMap((choice) => {
      const one: Readonly<Record<string, unknown>> = isMap(choice) ? choice : { value: choice };
      const { value, label, color } = one;
      if (typeof value !== "string" && typeof value !== "number") return [];
      return [
        { value, label: wordsIn(label, language) || String(value), color: typeof color === "string" ? color : "" },
      ];
    }),
  };
}

/** A field of which no more than its name is known, and a type that it may have. */
export function plainField(name: string, label: string, type = "", isRequired = false): TableField {
  return { name, label, type, kind: kindOf(type, {}), isRequired, choices: [] };
}

/** What a condition begins with: the first choice of a field. */
export function firstOf(field: TableField | undefined): unknown {
  return field?.choices[0]?.value ?? (field?.kind === "yesno" ? true : "");
}

const kindsOfTypes: Readonly<Record<string, KindOfType>> = {
  string: "text",
  text: "text",
  integer: "number",
  number: "number",
  boolean: "yesno",
  date: "date",
  datetime: "datetime",
  list: "list",
  array: "list",
};

function kindOf(type: string, more: Readonly<Record<string, unknown>>): FieldKind {
  if ("rollup" in more) return "rollup";
  if ("link" in more) return "link";
  if (more["format"] === "file") return "file";
  if (type === "string" && "choices" in more) return "choice";
  return Object.hasOwn(kindsOfTypes, type) ? (kindsOfTypes[type] ?? "any") : "any";
}

/** A text for people: one, or one for each language. */
export function wordsIn(value: unknown, language: string): string {
  if (typeof value === "string") return value;
  const said = isMap(value) ? (value[language] ?? value["en"]) : "";
  return typeof said === "string" ? said : "";
}
