/** What a file holds, as a person sees it before it is imported. Runs in the guarded child. */
import { asciiOf, slugOf } from "platform";
import { ownFields, type FieldType } from "../../databases/columns.ts";
import { faultOf, fits, type Choice, type Field } from "../../databases/kinds.ts";
import { choiceReader, folded, mostValues } from "../../databases/choices.ts";
import { isEmpty, textOf, type Cell, type CellRow, FileFault } from "./cells.ts";
import { columnOf, evidenceOf, guessOf, mostDoubts, readAs, shown } from "./guess.ts";
import type { Column, Doubt, Guess, Hints, Value } from "./guess.ts";
import { place as quoted } from "./parameters.ts";
import { readTable, type FileOptions, type Table } from "./read.ts";
import { misfit, readerOf, type DateOrder, type Format } from "./values.ts";

/** A field of the table that the file is compared with. */
export interface KnownField {
  readonly name: string;
  readonly type: FieldType;
  /** What people call it, in any language. */
  readonly labels: readonly string[];
  readonly choices?: readonly Choice[] | undefined;
  /** The values are looked at where the records that they name are. */
  readonly isLink?: boolean;
}

export interface PreviewOptions extends FileOptions {
  /** Undefined: each column gets the name of a field of its own. */
  readonly fields?: readonly KnownField[] | undefined;
  /** What somebody says of columns: where they go (null: nowhere), and how they are written. */
  readonly placed?: readonly (readonly [column: string, field: string | null])[] | undefined;
  readonly written?: readonly (readonly [column: string, format: Format])[] | undefined;
  readonly locale: string;
  readonly timeZone: string;
}

export interface PreviewColumn extends Guess {
  readonly name: string;
  readonly field: string | null;
  readonly empty: number;
  readonly samples: readonly string[];
  /** The different ones; null if they are many or long. */
  readonly values: readonly string[] | null;
  /** The table in which most of them are titles: a guess. */
  readonly linked?: LinkGuess;
  /** Of a link the first different values. */
  readonly named?: readonly { readonly row: number; readonly value: string }[];
}

/** `found` of `of` different values are the field `by` of a record there. */
export interface LinkGuess {
  readonly link: string;
  readonly by: string;
  readonly found: number;
  readonly of: number;
}

export interface Preview {
  readonly format: Table["format"];
  readonly encoding: Table["encoding"];
  readonly delimiter: string | null;
  readonly sheets: readonly string[];
  readonly sheet: string | null;
  readonly header_row: number;
  readonly rows: number;
  readonly complete: boolean;
  readonly columns: readonly PreviewColumn[];
  readonly errors: Table["faults"];
}

const mostSamples = 5;

export async function previewOf(bytes: Uint8Array, isComplete: boolean, options: PreviewOptions): Promise<Preview> {
  const table = await readTable(bytes, isComplete, options);
  const placed = new Map(options.placed);
  const written = new Map(options.written);
  mustHave(table.names, { mapping: placed, formats: written });
  const fields = fieldsOf(table.names, options.fields, placed);
  const columns = table.names.map((name, at) => {
    const known = options.fields?.find((field) => field.name === fields[at]);
    const said = written.get(name)?.type;
    const { type: wanted = said, isLink } = known ?? {};
    if (said !== undefined && wanted !== said)
      throw new FileFault(
        `${quoted(name)}.type: the field ${quoted(known?.name ?? "")} is of the type ${wanted}`,
        "formats",
      );
    const values = valuesAt(table.rows, at);
    const { others, doubtful } = choicesIn(values, known);
    return { name, field: fields[at] ?? null, wanted, isLink, values, doubtful, column: columnOf(others, wanted) };
  });
  const hints = hintsOf(
    columns.map(({ column }) => column),
    table,
    options,
  );
  return {
    format: table.format,
    encoding: table.encoding,
    delimiter: table.delimiter,
    sheets: table.sheets,
    sheet: table.sheet,
    header_row: table.headerRow,
    rows: table.rows.length,
    complete: isComplete,
    columns: columns.map(({ name, field, wanted, isLink, values, column, doubtful }) => ({
      name,
      field,
      ...(table.nested.has(name) && wanted === undefined
        ? { type: null, format: {}, doubtful: [], values: null }
        : withDoubts(
            withValues(
              readAs(
                column,
                written.get(name),
                guessOf(column, wanted, inUtc.test(name) ? { ...hints, timeZone: "UTC" } : hints),
              ),
              values,
              isComplete && wanted === undefined && !written.has(name),
            ),
            doubtful,
          )),
      empty: table.rows.length - values.length,
      samples: samplesOf(values),
      ...((isLink || (options.fields === undefined && wanted !== "text")) && { named: namedBy(values) }),
    })),
    errors: table.faults,
  };
}

/** "Created date (UTC)", as Stripe calls it. */
const inUtc = /\(UTC\)/i;

function withDoubts<T extends Guess>({ doubtful, ...guess }: T, others: Guess["doubtful"]) {
  return { ...guess, doubtful: [...doubtful, ...others].slice(0, mostDoubts) };
}

/** The values of a column whose field has choices: those that are none, and labels with what they stand for. */
interface Chosen {
  /** Those that are no labels. */
  readonly others: readonly Value[];
  /** First the values that are no choice, then each label once. */
  readonly doubtful: readonly Doubt[];
}

function choicesIn(values: readonly Value[], known: Pick<Field, "type" | "choices"> | undefined): Chosen {
  if (!known?.choices) return { others: values, doubtful: [] };
  const { type, choices } = known;
  const read = readerOf(type, {});
  const valueOf = (cell: Cell) => {
    const value = read(textOf(cell) ?? "");
    return value === misfit ? textOf(cell) : value;
  };
  const choose = choiceReader({ choices });
  const labels = new Map<string, Doubt>();
  const outside: Doubt[] = [];
  const others = values.filter(({ row, cell }) => {
    const given = valueOf(cell);
    const chosen = choose(given);
    const value = shown(cell);
    const wrong = fits(type, chosen) ? faultOf({ type, required: false, choices }, chosen) : undefined;
    if (wrong !== undefined) outside.push({ row, value, why: wrong });
    const isLabel = JSON.stringify(chosen) !== JSON.stringify(given);
    if (isLabel && wrong === undefined && !labels.has(value))
      labels.set(value, { row, value, why: `is a label, read as ${JSON.stringify(chosen)}` });
    return !isLabel;
  });
  return { others, doubtful: [...outside, ...labels.values()] };
}

/** A text with few values is a choice, if all of them were looked at: another one would be refused. */
function withValues(guess: Guess, all: readonly Value[], mayBeChoice: boolean) {
  const values = differentOf(all, guess.type);
  const most = Math.min(fewValues, all.length / 2, 1 + Math.sqrt(all.length));
  const isFew = values !== null && values.length > 1 && values.length <= most;
  const isChoice = mayBeChoice && isFew && guess.type === "string" && guess.format.kind === undefined;
  return { ...guess, ...(isChoice && { format: { kind: "choice" as const } }), values };
}

const fewValues = 24;
const longestValue = 100;

/** As they are written first; those of a list by themselves. */
function differentOf(all: readonly Value[], type: FieldType | null): readonly string[] | null {
  const found = new Map<string, string>();
  const read = readerOf("list", {});
  for (const { cell } of all) {
    const text = textOf(cell)?.trim() ?? "";
    const items = type === "list" ? read(text) : [text];
    for (const item of Array.isArray(items) ? items.map(String) : []) {
      if (item.length > longestValue) return null;
      if (!found.has(folded(item))) found.set(folded(item), item);
    }
    if (found.size > mostValues) return null;
  }
  return [...found.values()];
}

function valuesAt(rows: readonly CellRow[], at: number): Value[] {
  return rows.flatMap(({ cells }, index) => {
    const cell = cells[at];
    return cell === undefined || cell === null || isEmpty(cell) ? [] : [{ row: index + 1, cell }];
  });
}

function samplesOf(values: readonly Value[]): string[] {
  const found = new Set<string>();
  for (const { cell } of values) {
    found.add(shown(cell));
    if (found.size >= mostSamples) break;
  }
  return [...found];
}

const mostNamed = 200;

/** With the row where each stands first. */
function namedBy(values: readonly Value[]): { row: number; value: string }[] {
  const found = new Map<string, number>();
  for (const { row, cell } of values) {
    const text = textOf(cell)?.trim() ?? "";
    if (text.length <= mostNamedChars && !found.has(text)) found.set(text, row);
    if (found.size >= mostNamed) break;
  }
  return [...found].map(([value, row]) => ({ row, value }));
}

const mostNamedChars = 2000;

/** What most columns that are sure say; else what goes with the file and the language of the account. */
function hintsOf(columns: readonly Column[], table: Table, { locale, timeZone }: PreviewOptions): Hints {
  const found = columns.map(evidenceOf);
  const decimal = mostOf(found.map((one) => one.decimal)) ?? (table.delimiter === ";" ? "," : ".");
  const isEnglish = locale.startsWith("en") && decimal === ".";
  const order: DateOrder = mostOf(found.map((one) => one.order)) ?? (isEnglish ? "mdy" : "dmy");
  return { decimal, order, timeZone };
}

function mostOf<T>(all: readonly (T | undefined)[]): T | undefined {
  const counts = new Map<T, number>();
  for (const one of all) if (one !== undefined) counts.set(one, (counts.get(one) ?? 0) + 1);
  return [...counts].toSorted((a, b) => b[1] - a[1])[0]?.[0];
}

/** A table without fields takes every name. What is placed goes there, and its field is no other column's. */
function fieldsOf(
  names: readonly string[],
  known: PreviewOptions["fields"],
  placed: ReadonlyMap<string, string | null>,
): readonly (string | undefined)[] {
  const taken = new Set(placed.values());
  const free = names.filter((name) => !placed.has(name));
  const left = known?.filter(({ name }) => !taken.has(name));
  const found = known === undefined ? newFields(free) : known.length === 0 ? free : matching(free, left ?? []);
  return names.map((name) => (placed.has(name) ? (placed.get(name) ?? undefined) : found[free.indexOf(name)]));
}

function mustHave(names: readonly string[], given: Readonly<Record<string, ReadonlyMap<string, unknown>>>): void {
  for (const [parameter, columns] of Object.entries(given)) {
    const unknown = [...columns.keys()].find((name) => !names.includes(name));
    if (unknown !== undefined) throw new FileFault(`there is no column ${quoted(unknown)}`, parameter);
  }
}

/** Names of new fields: "Kwota brutto" becomes `kwota_brutto`. */
function newFields(names: readonly string[]): string[] {
  const taken = new Set<string>(["table_name", ...ownFields]);
  return names.map((name, at) => {
    const base = slugOf(name).replaceAll("-", "_") || `column_${at + 1}`;
    let field = taken.has(base) ? (ownFields.has(base) ? `original_${base}` : base) : base;
    for (let number = 2; taken.has(field); number++) field = `${base}_${number}`;
    taken.add(field);
    return field;
  });
}

/** By the same name, else by the same letters and digits of a name or label; a field is given once. */
function matching(names: readonly string[], fields: readonly KnownField[]): (string | undefined)[] {
  const free = new Set(fields.map(({ name }) => name));
  const claim = (name: string | undefined) => (name !== undefined && free.delete(name) ? name : undefined);
  const exact = names.map((name) => claim(name));
  const known = fields.map(({ name, labels }) => ({ name, words: [name, ...labels].map(bare) }));
  return names.map((name, at) => {
    const word = bare(name);
    return exact[at] ?? claim(known.find((field) => free.has(field.name) && field.words.includes(word))?.name);
  });
}

function bare(name: string): string {
  return asciiOf(name)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "");
}
