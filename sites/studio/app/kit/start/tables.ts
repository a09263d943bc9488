/** The tables of the account and their fields, as people call them. Pure. */
import { isMap } from "../../resources/values.ts";

export interface TableField {
  readonly name: string;
  readonly label: string;
  /** As the schema calls its type. */
  readonly type: string;
  readonly choices: readonly { readonly value: string | number; readonly label: string; readonly color: string }[];
}

export interface Table {
  readonly db: string;
  /** Of a database with several; "" else. */
  readonly table: string;
  readonly label: string;
  readonly fields: readonly TableField[];
  readonly titleField: string | undefined;
}

export function tablesOf(
  row: Readonly<Record<string, unknown>>,
  language: string,
  words: (name: string) => string,
): Table[] {
  const { code, name, schema } = row;
  if (typeof code !== "string") return [];
  const label = typeof name === "string" && name !== "" ? name : code;
  const whole = isMap(schema) ? schema : {};
  const several = isMap(whole["tables"]) ? whole["tables"] : undefined;
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
  return {
    name,
    label: wordsIn(whole["label"], language) || words(name),
    type: typeof whole["type"] === "string" ? whole["type"] : "string",
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

/** A text for people: one, or one for each language. */
function wordsIn(value: unknown, language: string): string {
  if (typeof value === "string") return value;
  const said = isMap(value) ? (value[language] ?? value["en"]) : "";
  return typeof said === "string" ? said : "";
}
