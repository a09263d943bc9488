/** What a column holds and how it is written, by all of its values. Pure. */
import type { FieldType } from "../../databases/columns.ts";
import { faultOf } from "../../databases/kinds.ts";
import { optionsOf } from "../../databases/choices.ts";
import { currencyIn } from "./currencies.ts";
import { whyUnread } from "./expected.ts";
import { textOf, type Cell } from "./cells.ts";
import { dateOrders, decimals, groupings, misfit, readerOf, type DateOrder, type Format } from "./values.ts";

/** A value of a column, and the record it is in, from 1. */
export interface Value {
  readonly row: number;
  readonly cell: Cell;
}

export interface Doubt {
  readonly row: number;
  readonly value: string;
  readonly why: string;
}

export interface Guess {
  /** Null: values that are no fields' (objects, lists). */
  readonly type: FieldType | null;
  readonly format: Format;
  /** The first values that can be read in two ways, or not at all. */
  readonly doubtful: readonly Doubt[];
}

/** What other columns of the file, and the file itself, say of ambiguous values. */
export interface Hints {
  readonly decimal: "." | ",";
  readonly order: DateOrder;
  /** The zone of times that name none. */
  readonly timeZone: string;
}

interface Candidate {
  readonly type: FieldType;
  readonly format: Format;
}

interface Tried extends Candidate {
  readonly read: (cell: Cell) => unknown;
  readonly fits: number;
}

/** What a column may be: the candidates that read the most of its values. */
export interface Column {
  readonly values: readonly Value[];
  readonly best: readonly Tried[];
}

export const mostDoubts = 20;
const shownChars = 200;
/** Beyond so many characters, or with line breaks, a column holds texts. */
const longString = 200;
/** As many values may be mistakes: of a short column a fifth, up to three; of a long one a twentieth. */
const mistakesIn = (count: number) => Math.max(Math.min(3, Math.floor(count / 5)), Math.floor(count / 20));
const sample = 200;

const words: readonly (readonly [yes: string, no: string])[] = [
  ["true", "false"],
  ["yes", "no"],
  ["tak", "nie"],
  ["ja", "nein"],
  ["prawda", "fałsz"],
  ["wahr", "falsch"],
  ["on", "off"],
  ["checked", "unchecked"],
  ["y", "n"],
  ["t", "n"],
  ["j", "n"],
  ["t", "f"],
];

/** Looks at the whole column. `wanted`: the type of the field that the column goes into. */
export function columnOf(values: readonly Value[], wanted: FieldType | undefined): Column {
  const candidates = candidatesFor(values, wanted);
  const few = values.length > 2 * sample ? values.slice(0, sample) : [];
  const tried = candidates.flatMap((candidate): Tried[] => {
    const read = cellReader(candidate);
    if (few.length > 0 && countOf(few, read) < few.length * 0.8) return [];
    return [{ ...candidate, read, fits: countOf(values, read) }];
  });
  const most = Math.max(0, ...tried.map(({ fits }) => fits));
  const isEnough = wanted !== undefined || most >= values.length - mistakesIn(values.length);
  return { values, best: most > 0 && isEnough ? tried.filter(({ fits }) => fits === most) : [] };
}

/** The mark of the decimals, and the order of days, if the column is sure of it. */
export function evidenceOf({ best }: Column): Partial<Hints> {
  const only = <T>(all: readonly (T | undefined)[]): T | undefined => {
    const [first, ...others] = new Set(all);
    return others.length === 0 ? first : undefined;
  };
  const decimal = only(best.map(decimalOf));
  const order = only(best.map(({ format }) => format.date_order));
  return {
    ...(decimal !== undefined && { decimal }),
    ...(order !== undefined && order !== "ymd" && { order }),
  };
}

/** Undefined if the format says nothing of it. */
function decimalOf({ type, format }: Candidate): "." | "," | undefined {
  if (type === "number") return format.decimal;
  if (format.thousands === "." || format.thousands === ",") return format.thousands === "." ? "," : ".";
  return undefined;
}

export function guessOf(column: Column, wanted: FieldType | undefined, hints: Hints): Guess {
  const { values, best } = column;
  const matches = (one: Candidate) =>
    Number((decimalOf(one) ?? hints.decimal) === hints.decimal) +
    Number((one.format.date_order ?? hints.order) === hints.order || one.format.date_order === "ymd");
  const [chosen, ...rest] = best.toSorted((a, b) => matches(b) - matches(a));
  if (!chosen) return textGuess(values, wanted);
  const doubtful: Doubt[] = [];
  for (const value of values) {
    if (doubtful.length >= mostDoubts) break;
    const why = doubtAbout(value, chosen, rest);
    if (why !== undefined) doubtful.push({ row: value.row, value: shown(value.cell), why });
  }
  const isBare = chosen.type === "datetime" && values.some(({ cell }) => bareTime.test(printed(chosen.read(cell))));
  const format = isBare ? { ...chosen.format, time_zone: hints.timeZone } : chosen.format;
  return { type: chosen.type, format, doubtful };
}

/** In a format that somebody has given, in place of the guessed one. With the type alone, the rest of it is guessed. */
export function readAs({ values }: Column, given: Format | undefined, guess: Guess): Guess {
  if (given === undefined || guess.type === null) return guess;
  const { type } = guess;
  const { kind: _kind, ...marks } = guess.format;
  const format = given.type === undefined ? given : { ...marks, ...given };
  const read = cellReader({ type, format });
  // Who is meant is known only where the people are.
  if (format.kind === "user") return { type, format, doubtful: [] };
  const { format: kind } = optionsOf(type, format, []);
  const why = (cell: Cell) => {
    const value = read(cell);
    if (value === misfit) return whyUnread(type, textOf(cell) ?? "", format);
    return given.type && value !== undefined ? faultOf({ type, required: false, format: kind }, value) : undefined;
  };
  const isGuess =
    given.type !== undefined && Object.keys(given).every((key) => !(key in guess.format) || key === "kind");
  const doubtful = isGuess ? guess.doubtful.filter((one) => one.why.startsWith(isTwofold)) : [];
  for (const { row, cell } of values) {
    if (doubtful.length >= mostDoubts) break;
    const said = why(cell);
    if (said !== undefined) doubtful.push({ row, value: shown(cell), why: said });
  }
  return { type, format, doubtful };
}

const isTwofold = "read as ";

const bareTime = /T[\d:.]{5,20}$/;

function doubtAbout({ cell }: Value, chosen: Tried, rest: readonly Tried[]): string | undefined {
  const value = chosen.read(cell);
  if (value === misfit) return whyUnread(chosen.type, textOf(cell) ?? "", chosen.format);
  const other = rest.find(({ read }) => !same(read(cell), value));
  return other && `${isTwofold}${printed(value)}, could also be ${printed(other.read(cell))}`;
}

function same(a: unknown, b: unknown): boolean {
  return a === misfit || b === misfit || printed(a) === printed(b);
}

function printed(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value === misfit ? null : (value ?? null));
}

export function shown(cell: Cell): string {
  const text = textOf(cell) ?? "";
  return text.length > shownChars ? text.slice(0, shownChars).toWellFormed() : text;
}

function textGuess(values: readonly Value[], wanted: FieldType | undefined): Guess {
  if (wanted !== undefined && wanted !== "string" && wanted !== "text") {
    const doubtful = values
      .slice(0, mostDoubts)
      .map(({ row, cell }) => ({ row, value: shown(cell), why: whyUnread(wanted, textOf(cell) ?? "", {}) }));
    return { type: wanted, format: {}, doubtful };
  }
  const texts = values.map(({ cell }) => textOf(cell) ?? "");
  const isLong = texts.some((text) => text.length > longString || /[\r\n]/.test(text));
  const { kind, doubtful } = kindOf(values, wanted === undefined ? mistakesIn(values.length) : 0);
  return { type: wanted ?? (isLong ? "text" : "string"), format: kind === undefined ? {} : { kind }, doubtful };
}

/** Addresses of mail or of pages, or telephone numbers, and those of them that are none. */
function kindOf(values: readonly Value[], mostMistakes: number): Pick<Format, "kind"> & Pick<Guess, "doubtful"> {
  const isCalled = values.filter(({ cell }) => called.test(textOf(cell) ?? "")).length >= values.length / 2;
  for (const kind of isCalled ? (["phone"] as const) : (["email", "url"] as const)) {
    const doubtful: Doubt[] = [];
    for (const { row, cell } of values) {
      const why = faultOf({ type: "string", required: false, format: kind }, textOf(cell) ?? "");
      if (why !== undefined) doubtful.push({ row, value: shown(cell), why });
      if (doubtful.length > mostMistakes) break;
    }
    if (values.length > 0 && doubtful.length <= mostMistakes) return { kind, doubtful: doubtful.slice(0, mostDoubts) };
  }
  return { doubtful: [] };
}

/** Begins as only telephone numbers do: codes, postcodes, days and numbers of invoices (012/2026) have digits too. */
const called = /^\s*(?:\+[1-9(]|\(\+?\d|0\d{2,5}[ /.-](?=.*\d{5}|.* )(?!.*[/.-](?:19|20)\d\d$))(?:[ ()./-]*\d){4}/;

/**
 * Values that their file says to be numbers are written as JSON writes them, so no other format fits them. Each says by
 * itself whether it is a percentage.
 */
function cellReader({ type, format }: Candidate): (cell: Cell) => unknown {
  const read = readerOf(type, format);
  const isPlain = format.decimal !== "," && (format.thousands ?? "") === "";
  const typed = format.kind === "percent" ? readerOf(type, { decimal: ".", thousands: "" }) : read;
  return (cell) => {
    if (typeof cell === "string") return read(cell);
    if (cell === null) return undefined;
    return isPlain ? (cell[0].endsWith("%") ? read : typed)(cell[0]) : misfit;
  };
}

function countOf(values: readonly Value[], read: (cell: Cell) => unknown): number {
  let fits = 0;
  for (const { cell } of values) if (read(cell) !== misfit) fits += 1;
  return fits;
}

/** Simple ones first: of those that read all values alike, the first is shown. */
function candidatesFor(values: readonly Value[], wanted: FieldType | undefined): Candidate[] {
  if (values.length === 0 || wanted === "string" || wanted === "text") return [];
  const texts = values.map(({ cell }) => textOf(cell) ?? "");
  if (wanted === "list") return [{ type: "list", format: {} }];
  const all = [...booleans(wanted), ...numbers(texts, wanted), ...days(texts, wanted)];
  return all.filter(({ type }) => wanted === undefined || type === wanted);
}

function booleans(wanted: FieldType | undefined): Candidate[] {
  const pairs = wanted === "boolean" ? ([...words, ["1", "0"], ["x", ""]] as const) : words;
  return pairs.map(([yes, no]) => ({ type: "boolean", format: { true: yes, false: no } }));
}

function numbers(texts: readonly string[], wanted: FieldType | undefined): Candidate[] {
  if (wanted === undefined && texts.some(isCode)) return [];
  const percent = texts.some((text) => text.trimEnd().endsWith("%"));
  const money = percent ? undefined : oneOf(texts.map(currencyIn));
  const said: Format = {
    ...(percent && { kind: "percent" as const }),
    ...(money !== undefined && { kind: "money" as const, currency: money }),
  };
  const isPlain = !percent && money === undefined;
  // Marks that no value has would be looked for in all of them.
  const marks = groupMarksOf(texts);
  const used = groupings.filter((thousands) => thousands === "" || marks.has(thousands));
  const integers = used.map((thousands): Candidate => ({ type: "integer", format: { thousands, ...said } }));
  const broken = used.flatMap((thousands) =>
    decimals
      .filter((decimal) => decimal !== thousands)
      .map((decimal): Candidate => ({ type: "number", format: { decimal, thousands, ...said } })),
  );
  const [plain, ...grouped] = isPlain || wanted === "integer" ? integers : [];
  return [...(plain ? [plain] : []), ...broken.slice(0, 2), ...grouped, ...broken.slice(2)];
}

/** The marks that may stand between groups of digits in some of the texts. */
function groupMarksOf(texts: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const text of texts)
    for (const [mark, forms] of markForms) if (!found.has(mark) && forms.test(text)) found.add(mark);
  return found;
}

const markForms: readonly (readonly [mark: string, forms: RegExp])[] = [
  [" ", /[ \u00a0\u2009\u202f]/],
  [".", /\./],
  [",", /,/],
  ["'", /['’]/],
];

/** The currency that some name, undefined if they name several. */
function oneOf(all: readonly (string | undefined)[]): string | undefined {
  const [first, ...others] = new Set(all.filter((code) => code !== undefined));
  return others.length === 0 ? first : undefined;
}

/** Digits that are no quantity: a number would lose zeros before it, the plus of a telephone number, or its last digits. */
function isCode(text: string): boolean {
  const trimmed = text.slice(0, 40).trim();
  if (/^[-+]?0\d/.test(trimmed) || /^\+[\d ()-]{7,}$/.test(trimmed)) return true;
  return /^-?\d{19,}$/.test(trimmed) && readerOf("integer", {})(trimmed) === misfit;
}

function days(texts: readonly string[], wanted: FieldType | undefined): Candidate[] {
  const type = wanted ?? (texts.some((text) => text.includes(":")) ? "datetime" : "date");
  const time: Candidate = { type: "time", format: {} };
  if (type !== "date" && type !== "datetime") return [time];
  // What begins with the year has one meaning.
  const isSure = texts.every((text) => /^\s*\d{4}[-/.]/.test(text));
  const orders = isSure ? [dateOrders[2]] : [dateOrders[2], dateOrders[0], dateOrders[1]];
  return [...orders.map((order): Candidate => ({ type, format: { date_order: order } })), time];
}
