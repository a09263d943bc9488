/** The columns of an export for people: which, in what order, and how they are called. Pure. */
import { badRequest } from "platform";
import type { Database } from "../../databases/database.ts";
import type { Field, Words } from "../../databases/kinds.ts";
import { fieldOfHeader, headerOfField, isOwnColumn, type CsvColumn, type TitleOf } from "./csv.ts";

export interface Column extends CsvColumn {
  readonly head: string;
  /** Undefined for a key that the schema does not have. */
  readonly definition: Field | undefined;
}

export interface ColumnOptions {
  /** Names of columns in their order; undefined = all of them. */
  readonly names: readonly string[] | undefined;
  /** Call fields by their labels. */
  readonly labels: boolean;
  /** Show links as the titles of their records. */
  readonly titles: boolean;
  readonly locale: string;
}

/** `fields`: the keys that the records have, those of the schema first. */
export function columnsOf(
  db: Database,
  fields: readonly string[],
  { names, labels, locale }: Omit<ColumnOptions, "titles">,
  titleOf?: TitleOf,
): Column[] {
  const tables = [...db.schema.tables.values()];
  const all = [
    "id",
    ...(db.schema.multiTable ? ["table_name"] : []),
    ...fields.map(headerOfField),
    "created_at",
    "updated_at",
  ];
  return (names ?? all).map((name) => {
    if (isOwnColumn(name)) return { head: name, own: name, field: "", definition: undefined };
    const field = fieldOfHeader(name);
    const definition = tables.map((table) => table.fields.get(field)).find((one) => one !== undefined);
    const label = labels ? wordIn(definition?.label, locale) : undefined;
    const isLink = tables.some((table) => table.fields.get(field)?.link !== undefined);
    return { head: label ?? name, own: undefined, field, definition, titleOf: isLink ? titleOf : undefined };
  });
}

/** The keys of the data that these columns show. */
export function fieldsOfColumns(names: readonly string[]): string[] {
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw badRequest(`\`columns\` names ${JSON.stringify(twice.slice(0, 100))} twice`);
  return names.filter((name) => !isOwnColumn(name)).map(fieldOfHeader);
}

function wordIn(words: Words | undefined, locale: string): string | undefined {
  if (words === undefined || typeof words === "string") return words;
  return words[locale] ?? words[locale.slice(0, 2)] ?? words["en"] ?? Object.values(words)[0];
}
