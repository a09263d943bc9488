/** Rows of cells, whatever the format of the file: text, a workbook's sheet or JSON. Pure. */

/** In an array: a value that its file says to be a number or the like, in the form of JSON; so its format is known. */
export type Typed = readonly [text: string];
export type Cell = string | null | Typed;

export interface CellRow {
  readonly cells: readonly Cell[];
  /** The line of the file, or the row of the sheet, from 1. */
  readonly line: number;
  /** The mistake in the row's syntax. */
  readonly fault?: string;
  /** The rest of the file cannot be read. */
  readonly last?: true;
}

export function textOf(cell: Cell | undefined): string | null {
  return typeof cell === "string" ? cell : (cell?.[0] ?? null);
}

export function isEmpty(cell: Cell | undefined): boolean {
  return (textOf(cell) ?? "").trim() === "";
}

/** A row of text has a cell for each column; of a sheet the last ones may be missing. None has more with a value. */
export function widthFault({ cells }: CellRow, width: number, isText: boolean): string | undefined {
  const fits = (!isText || cells.length >= width) && cells.slice(width).every(isEmpty);
  return fits ? undefined : `has ${cells.length} cells where the header has ${width}`;
}

const longestName = 255;

/**
 * The names of a header: without control characters, blanks around them and more than 255 characters. A column without
 * a name is called by its number, and names that are there already get one.
 */
export function columnNames(header: readonly Cell[], width: number): string[] {
  const taken = new Set<string>();
  return Array.from({ length: width }, (_, at) => {
    const given = (textOf(header[at]) ?? "")
      .replaceAll(/\p{Cc}/gu, " ")
      .replaceAll(/ {2,}/g, " ")
      .trim();
    const base = cut(given) || `column ${at + 1}`;
    let name = base;
    for (let number = 2; taken.has(name); number++) name = `${base} (${number})`;
    taken.add(name);
    return name;
  });
}

function cut(text: string): string {
  return text.length > longestName ? text.slice(0, longestName).toWellFormed().trim() : text;
}

/** A file, or a parameter about it, that cannot be read so: the answer is 422 with the parameter's name. */
export class FileFault extends Error {
  readonly field: string;

  constructor(message: string, field = "file") {
    super(message);
    this.name = "FileFault";
    this.field = field;
  }
}
