/** CSV by RFC 4180: a reader for text that comes in pieces, and a writer. Pure. */

export const separators = [",", ";", "\t"] as const;
export type Separator = (typeof separators)[number];

export interface CsvRow {
  /** An empty cell without quotes is null; with quotes it is "". */
  readonly cells: readonly (string | null)[];
  readonly quoted: readonly boolean[];
  /** The line of the text on which the row begins, from 1. */
  readonly line: number;
  /** What is wrong with the row's form. */
  readonly fault?: string;
  /** What follows cannot be read as rows. */
  readonly last?: true;
}

export interface CsvReader {
  push(text: string): Generator<CsvRow>;
  end(): Generator<CsvRow>;
}

type State = "start" | "plain" | "quoted" | "closed";

const quote = 0x22;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Blank lines are left out. A row of more than `maxLength` characters ends the reading. */
export function createCsvReader(separator: string, maxLength: number): CsvReader {
  const separatorCode = separator.charCodeAt(0);
  let state: State = "start";
  let cell = "";
  let cells: (string | null)[] = [];
  let quoted: boolean[] = [];
  let length = 0;
  let line = 1;
  let rowLine = 1;
  let fault: string | undefined;
  let afterReturn = false;
  let ended = false;

  const endCell = () => {
    const isQuoted = state === "closed" || state === "quoted";
    cells.push(cell === "" && !isQuoted ? null : cell);
    quoted.push(isQuoted);
    cell = "";
    state = "start";
  };
  /** Undefined for a blank line. */
  const endRow = (): CsvRow | undefined => {
    const isBlank = cells.length === 0 && state === "start";
    if (!isBlank) endCell();
    const row: CsvRow = { cells, quoted, line: rowLine, ...(fault !== undefined && { fault }) };
    cells = [];
    quoted = [];
    length = 0;
    fault = undefined;
    return isBlank ? undefined : row;
  };

  function* push(text: string): Generator<CsvRow> {
    let from = 0;
    const take = (to: number) => {
      cell += text.slice(from, to);
      length += to - from;
    };
    for (let at = 0; at < text.length && !ended; at++) {
      const code = text.charCodeAt(at);
      if (code === lineFeed && afterReturn) {
        afterReturn = false;
        from = at + 1;
        continue;
      }
      afterReturn = code === carriageReturn && state !== "quoted";
      if (state === "quoted") {
        if (code === lineFeed) line += 1;
        if (code === quote) {
          take(at);
          from = at + 1;
          state = "closed";
        }
      } else if (code === separatorCode || code === lineFeed || code === carriageReturn) {
        take(at);
        from = at + 1;
        if (code === separatorCode) {
          endCell();
          // The cell after a separator is there even where the row ends at once.
          state = "start";
          length += 1;
        } else {
          const row = endRow();
          line += 1;
          rowLine = line;
          if (row) yield row;
        }
      } else if (code === quote && state === "start") {
        from = at + 1;
        state = "quoted";
      } else if (code === quote && state === "closed") {
        // A doubled quote: this one belongs to the cell.
        from = at;
        state = "quoted";
      } else if (state === "closed") {
        fault ??= "has text after a closing quote";
        state = "plain";
      } else state = "plain";
      if (length + at - from > maxLength) {
        ended = true;
        yield {
          cells,
          quoted,
          line: rowLine,
          fault: `has more than ${maxLength} characters: is a quote not closed?`,
          last: true,
        };
      }
    }
    if (!ended) take(text.length);
  }

  function* end(): Generator<CsvRow> {
    if (ended) return;
    if (state === "quoted") fault ??= "has a quote that is not closed";
    const row = endRow();
    if (row) yield row;
  }

  return { push, end };
}

/** The separator that the first line has most of, outside of quotes; a comma where it has none. */
export function detectSeparator(start: string): Separator {
  const counts = new Map<string, number>();
  let inQuotes = false;
  for (const character of start) {
    if (character === '"') inQuotes = !inQuotes;
    else if (inQuotes) continue;
    else if (character === "\n" || character === "\r") break;
    else counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  return separators.toSorted((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0))[0] ?? ",";
}

/** One line of cells with its end; null is an empty cell, "" a quoted one. */
export function csvLine(cells: readonly (string | null)[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

function csvCell(text: string | null): string {
  if (text === null) return "";
  // A surrounding space is kept by quotes: some programs drop it otherwise.
  return text === "" || /[",\r\n;\t]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A cell that no spreadsheet takes for a formula: those that begin like one get an apostrophe in front. */
export function withoutFormula(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}
