/** Where the table is in a file: what separates its cells, and which row names its columns. Pure. */
import { csvReader, detectSeparator, separators } from "../csv.ts";
import { isEmpty, textOf, type Cell, type CellRow } from "./cells.ts";
import { misfit, readerOf } from "./values.ts";

const lookedAt = 50;
const lookedAtChars = 100_000;
/** A header stands among the first rows; what stands before it is a title. */
const firstRows = 20;

/** As the line `sep=;` says, else the one with which most rows have the same number of cells, and as many as possible. */
export function delimiterOf(text: string): string {
  const start = text.slice(0, lookedAtChars);
  if (/^"?sep=[^\w"\r\n]/i.test(start)) return detectSeparator(start);
  const scores = separators.map((separator) => {
    const rows: number[] = [];
    for (const { cells, fault } of csvReader(separator, lookedAtChars).push(start)) {
      if (fault === undefined) rows.push(cells.length);
      if (rows.length >= lookedAt) break;
    }
    const width = commonest(rows);
    const share = rows.filter((cells) => cells === width).length / Math.max(1, rows.length);
    return { separator, score: width > 1 ? share + Math.min(width, lookedAt) / 1_000 : 0 };
  });
  const [best] = scores.toSorted((a, b) => b.score - a.score);
  return best && best.score > 0 ? best.separator : detectSeparator(start);
}

/**
 * The row of the header among the first rows, undefined if the first row is data: a header's cells are words, they are
 * all different, and no column has its own name as a value.
 */
export function headerOf(rows: readonly CellRow[]): CellRow | undefined {
  const good = rows.filter(({ fault }) => fault === undefined).slice(0, lookedAt);
  const width = commonest(good.map(({ cells }) => extentOf(cells)));
  const wide = good.slice(0, firstRows).filter(({ cells }) => filled(cells) >= Math.max(1, width * 0.8));
  // What stands above a blank line may be as wide as the table, and still be a title.
  const first = wide.find((row, at) => (at === 0 || isAfterBlank(good, row)) && row.cells.every(isLabel));
  const header = twoRows(good, wide[0]) ?? first;
  if (!header) return undefined;
  const below = good.slice(good.indexOf(header) + 1);
  const names = header.cells.map((cell) => textOf(cell)?.trim() ?? "");
  const repeats = names.some(
    (name, at) => name !== "" && below.some(({ cells }) => textOf(cells[at])?.trim() === name),
  );
  return repeats ? undefined : header;
}

/** The second of two rows right above the first full one, each with names where the other has none: cells were merged. */
function twoRows(rows: readonly CellRow[], full: CellRow | undefined): CellRow | undefined {
  const at = full ? rows.indexOf(full) : 0;
  const [upper, lower] = at >= 2 ? rows.slice(at - 2, at) : [];
  if (!full || !upper || !lower || lower.line !== full.line - 1 || upper.line !== lower.line - 1) return undefined;
  const both = headCells(lower, upper);
  const isOne = both.length >= extentOf(full.cells) && both.every((cell) => !isEmpty(cell) && isLabel(cell));
  return isOne ? lower : undefined;
}

/** The cells of a header: cells that are merged with the row right above have their names there. */
export function headCells({ cells, line }: CellRow, above: CellRow | undefined): readonly Cell[] {
  if (above?.line !== line - 1 || !above.cells.every(isLabel)) return cells;
  const hasGaps = [cells, above.cells].some((row) => filled(row) < extentOf(row));
  const width = hasGaps ? Math.max(cells.length, extentOf(above.cells)) : cells.length;
  return Array.from({ length: width }, (_, at) => (isEmpty(cells[at]) ? above.cells[at] : cells[at]) ?? null);
}

function isAfterBlank(rows: readonly CellRow[], row: CellRow): boolean {
  const before = rows[rows.indexOf(row) - 1];
  return before !== undefined && row.line > before.line + 1;
}

function filled(cells: readonly Cell[]): number {
  return cells.filter((cell) => !isEmpty(cell)).length;
}

function extentOf(cells: readonly Cell[]): number {
  return cells.findLastIndex((cell) => !isEmpty(cell)) + 1;
}

const valueReaders = [
  readerOf("number", {}),
  readerOf("number", { decimal: "," }),
  readerOf("number", { kind: "percent" }),
  readerOf("datetime", { date_order: "dmy" }),
  readerOf("datetime", { date_order: "mdy" }),
];

/** A name of a column, and no number, day, address or yes. */
function isLabel(cell: Cell): boolean {
  if (isEmpty(cell)) return true;
  if (typeof cell !== "string") return false;
  const text = cell.trim();
  if (text.includes("@") || /^(?:https?:|true$|false$)/i.test(text)) return false;
  return valueReaders.every((read) => read(text) === misfit);
}

/** The larger of those that are equally frequent; 0 of none. */
function commonest(numbers: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  const [best] = [...counts].toSorted((a, b) => b[1] - a[1] || b[0] - a[0]);
  return best?.[0] ?? 0;
}
