/** CSV by RFC 4180: a reader for text that comes in pieces, and a writer. Pure. */

export const separators = [",", ";", "\t", "|"] as const;

export interface CsvRow {
  /** An empty cell without quotes is null, and `\N`, as MySQL and PostgreSQL write null; with quotes it is "". */
  readonly cells: readonly (string | null)[];
  readonly quoted: readonly boolean[];
  /** The line of the text on which the row begins, from 1. */
  readonly line: number;
  /** The mistake in the row's syntax. */
  readonly fault?: string;
  /** The rest of the text cannot be read as rows. */
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

/**
 * Skips rows without any value, as spreadsheets write them, and the line `sep=;` that Excel puts first. Stops at a row
 * of more than `maxLength` characters.
 */
export function csvReader(separator: string, maxLength: number): CsvReader {
  const separatorCode = separator.charCodeAt(0);
  let text = "";
  /** Where the part of the cell begins that is not in `cell` yet. */
  let from = 0;
  let state: State = "start";
  let cell = "";
  let row = emptyRow(1);
  let line = 1;
  let afterReturn = false;
  let ended = false;

  const take = (to: number) => {
    cell += text.slice(from, to);
    row.length += to - from;
    from = to;
  };
  const endCell = (at: number) => {
    take(at);
    from = at + 1;
    const isQuoted = state === "closed" || state === "quoted";
    row.cells.push(!isQuoted && (cell === "" || cell === nullCell) ? null : cell);
    row.quoted.push(isQuoted);
    row.length += 1;
    cell = "";
    state = "start";
  };
  /** Undefined for a row that is skipped. */
  const endRow = (at: number): CsvRow | undefined => {
    endCell(at);
    const done = row;
    row = emptyRow(++line);
    return isBlank(done) || (done.line === 1 && isHint(done)) ? undefined : shown(done);
  };
  const character = (code: number, at: number) => {
    if (code === quote && state === "start") {
      from = at + 1;
      state = "quoted";
    } else if (code === quote && state === "closed") {
      // A doubled quote: this one belongs to the cell.
      from = at;
      state = "quoted";
    } else {
      if (state === "closed") row.fault ??= "has text after a closing quote";
      state = "plain";
    }
  };
  const quotedCharacter = (code: number, at: number) => {
    if (code === lineFeed) line += 1;
    if (code !== quote) return;
    take(at);
    from = at + 1;
    state = "closed";
  };

  return {
    *push(more) {
      if (ended) return;
      text = more;
      from = 0;
      for (let at = 0; at < text.length && !ended; at++) {
        const code = text.charCodeAt(at);
        if (code === lineFeed && afterReturn) from = at + 1;
        else if (state === "quoted") quotedCharacter(code, at);
        else if (code === separatorCode) endCell(at);
        else if (code === lineFeed || code === carriageReturn) {
          const done = endRow(at);
          if (done) yield done;
        } else character(code, at);
        afterReturn = code === carriageReturn && state !== "quoted";
        ended = row.length + at - from > maxLength;
      }
      if (ended) {
        row.fault = `has more than ${maxLength} characters: is a quote not closed?`;
        yield { ...shown(row), last: true };
      } else take(text.length);
    },
    *end() {
      if (ended) return;
      if (state === "quoted") row.fault ??= "has a quote that is not closed";
      const done = endRow(text.length);
      if (done) yield done;
    },
  };
}

function isBlank({ cells, quoted, fault }: OpenRow): boolean {
  return fault === undefined && cells.every((cell, at) => cell === null || (!quoted[at] && cell.trim() === ""));
}

/** The separator of the row is one of its characters, or ends its first cell. */
function isHint({ cells: [first, ...others] }: OpenRow): boolean {
  return /^sep=.?$/i.test(first ?? "") && others.every((cell) => cell === null);
}

const nullCell = String.raw`\N`;

interface OpenRow {
  readonly cells: (string | null)[];
  readonly quoted: boolean[];
  readonly line: number;
  length: number;
  fault: string | undefined;
}

function emptyRow(line: number): OpenRow {
  return { cells: [], quoted: [], line, length: 0, fault: undefined };
}

function shown({ cells, quoted, line, fault }: OpenRow): CsvRow {
  return { cells, quoted, line, ...(fault !== undefined && { fault }) };
}

/** As the line `sep=;` says, else the most frequent separator of the first line, outside quotes; a comma if none is. */
export function detectSeparator(start: string): string {
  const said = /^"?sep=([^\w"\r\n])"?(?:[\r\n]|$)/i.exec(start)?.[1];
  if (said !== undefined) return said;
  const counts = new Map<string, number>();
  let inQuotes = false;
  for (const character of start) {
    if (character === '"') inQuotes = !inQuotes;
    else if (inQuotes) continue;
    else if (character !== "\n" && character !== "\r") counts.set(character, (counts.get(character) ?? 0) + 1);
    else if (counts.size > 0) break;
  }
  return separators.toSorted((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0))[0] ?? ",";
}

/** One line of cells with its end; null is an empty cell, "" a quoted one. */
export function csvLine(cells: readonly (string | null)[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

export function csvCell(text: string | null): string {
  if (text === null) return "";
  // Quotes preserve a leading or trailing space: some programs drop it otherwise.
  // One expression for both would look at every character of every cell three times.
  const isSafe = text !== "" && text !== nullCell && !/[",\r\n;\t|]/.test(text) && text.trim().length === text.length;
  return isSafe ? text : `"${text.replaceAll('"', '""')}"`;
}

/**
 * A cell that no spreadsheet reads as a formula: an apostrophe is put before text that begins like one. A number with a
 * sign is none, nor is a telephone number.
 */
export function withoutFormula(text: string): string {
  return /^[=@\t\r\n＝＠]/.test(text) || /^[+\-＋－](?![\d\s.,()/%\u00a0\u202f-]*$)/.test(text) ? `'${text}` : text;
}
