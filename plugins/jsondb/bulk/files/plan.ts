/** The database that a file becomes: its schema is what the preview shows of the columns. Pure. */
import { invalid } from "platform";
import { schemaLimits } from "../../databases/schema.ts";
import { place, type FileParameters, type Formats, type Mapping } from "./parameters.ts";
import { mostValues, optionsOf } from "../../databases/choices.ts";
import type { Preview, PreviewColumn } from "./preview.ts";
import type { Format } from "./values.ts";

export interface Plan {
  readonly schema: Record<string, unknown>;
  /** Of every column, for the import. */
  readonly mapping: Mapping;
  readonly formats: Formats;
  /** What stands for the ids of new links: `customer:name`. */
  readonly references: ReadonlyMap<string, { readonly field: string }>;
}

interface Planned {
  readonly column: PreviewColumn;
  readonly field: string;
  /** Where the column goes: the field, or a link by a field of the record at its other end. */
  readonly target: string;
  readonly format: Format;
}

const longestLabel = 200;
/** As many as a table has index columns for. */
const indexed = { strings: 3, numbers: 2, times: 2 } as const;

/** `mapping` and `formats` may change what the preview says; 422 if they name a column that is not there. */
export function planOf({ columns }: Preview, { mapping, formats }: Pick<FileParameters, "mapping" | "formats">): Plan {
  checkNames(columns, { mapping, formats });
  const planned = columns.flatMap((column): Planned[] => {
    const target = mapping?.has(column.name) ? mapping.get(column.name) : column.field;
    const format = { ...unasked(column.format), ...formats?.get(column.name) };
    const [field = ""] = format.link === undefined ? [target ?? ""] : (target ?? "").split(":", 1);
    return target && field ? [{ column, field, target, format }] : [];
  });
  checkFields(planned);
  checkChoices(planned);
  const known = new Map(planned.map(({ column, target }) => [column.name, target]));
  const links = planned.filter(({ field, target }) => field !== target);
  return {
    schema: schemaOf(planned.filter(({ column }) => column.type !== null).slice(0, schemaLimits.fields)),
    mapping: new Map(columns.map(({ name }) => [name, known.get(name) ?? null])),
    formats: new Map(planned.map(({ column, format }) => [column.name, format])),
    references: new Map(links.map((one) => [one.target, one])),
  };
}

/** Choices refuse other values later: a guess alone makes none, whoever has seen it says it. */
function unasked({ kind, ...marks }: Format): Format {
  return kind === undefined || kind === "choice" ? marks : { ...marks, kind };
}

function checkNames(
  columns: readonly PreviewColumn[],
  given: Readonly<Record<string, ReadonlyMap<string, unknown> | undefined>>,
) {
  const names = new Set(columns.map(({ name }) => name));
  for (const [parameter, columnsOf] of Object.entries(given)) {
    const unknown = [...(columnsOf?.keys() ?? [])].filter((name) => !names.has(name)).slice(0, 20);
    if (unknown.length > 0) throw invalid({ [parameter]: unknown.map((name) => `there is no column ${place(name)}`) });
  }
}

function checkFields(planned: readonly Planned[]): void {
  const fields = planned.map(({ field }) => field);
  const twice = fields.find((field, at) => fields.indexOf(field) !== at);
  if (twice !== undefined) throw invalid({ mapping: [`two columns go into the field ${place(twice)}`] });
}

function checkChoices(planned: readonly Planned[]): void {
  const wrong = planned.find(({ column, format }) => format.kind === "choice" && !column.values?.length);
  if (wrong) throw invalid({ formats: [`${place(wrong.column.name)}.kind: a choice has 1 to ${mostValues} values`] });
}

function schemaOf(planned: readonly Planned[]): Record<string, unknown> {
  const title = titleOf(planned);
  return {
    fields: Object.fromEntries(planned.map((one) => [one.field, definitionOf(one)])),
    indexed_fields: indexedOf(planned, title),
    ...(title && { title_field: title.field }),
  };
}

function definitionOf({ column: { name, type, values }, field, format }: Planned) {
  return {
    type,
    ...(name !== field && { label: name.slice(0, longestLabel).toWellFormed() }),
    ...(format.link !== undefined && { link: format.link }),
    ...optionsOf(type ?? "", format, values ?? []),
  };
}

const titles = /name|nazw|titel|title|tytul|bezeichnung|imie|produ|subject|temat|betreff/;

/** The field that a person knows a record by: one that is called a name or title, else the first text. */
function titleOf(planned: readonly Planned[]): Planned | undefined {
  const texts = planned.filter(
    ({ column, format }) => column.type === "string" && format.kind !== "url" && !format.link,
  );
  const plain = texts.filter(({ format }) => format.kind === undefined);
  const named = texts.filter(({ format }) => format.kind !== "choice");
  return plain.find(({ field }) => titles.test(field)) ?? plain[0] ?? named[0] ?? texts[0];
}

/** What people search and sort by: the title, addresses of mail, then the first columns. */
function indexedOf(planned: readonly Planned[], title: Planned | undefined): string[] {
  const fieldsOf = (types: readonly (string | null)[]) => planned.filter(({ column }) => types.includes(column.type));
  const strings = fieldsOf(["string"]).filter((one) => one !== title && one.format.kind !== "url");
  const mails = strings.filter(({ format }) => format.kind === "email");
  const ordered = [...(title ? [title] : []), ...mails, ...strings.filter((one) => !mails.includes(one))];
  return [
    ...ordered.slice(0, indexed.strings),
    ...fieldsOf(["integer", "number"]).slice(0, indexed.numbers),
    ...fieldsOf(["date", "datetime", "time"]).slice(0, indexed.times),
  ].map(({ field }) => field);
}
