/** What spreadsheets put on the clipboard: tabs between cells, line breaks between rows, quotes around what has either. Pure. */

export function printTsv(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => cells.map(quoted).join("\t")).join("\r\n");
}

function quoted(cell: string): string {
  return /["\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** A line break at the end makes no row. */
export function readTsv(text: string): string[][] {
  const rows: string[][] = [];
  let cells: string[] = [];
  let at = 0;
  while (at <= text.length) {
    const { cell, end } = text[at] === '"' ? readQuoted(text, at) : readPlain(text, at);
    cells.push(cell);
    const separator = text[end];
    if (separator !== "\t") {
      rows.push(cells);
      cells = [];
    }
    at = separator === "\r" && text[end + 1] === "\n" ? end + 2 : end + 1;
    if (at === text.length && separator !== "\t") break;
  }
  return rows;
}

interface Read {
  readonly cell: string;
  readonly end: number;
}

function readPlain(text: string, start: number): Read {
  let end = start;
  while (end < text.length && text[end] !== "\t" && text[end] !== "\r" && text[end] !== "\n") end++;
  return { cell: text.slice(start, end), end };
}

/** A quote that is never closed belongs to the text. */
function readQuoted(text: string, start: number): Read {
  let at = start + 1;
  for (;;) {
    const end = text.indexOf('"', at);
    if (end < 0) return readPlain(text, start);
    if (text[end + 1] !== '"') return closed(text, start, text.slice(start + 1, end).replaceAll('""', '"'), end + 1);
    at = end + 2;
  }
}

function closed(text: string, start: number, cell: string, end: number): Read {
  const next = text[end];
  return next === undefined || next === "\t" || next === "\r" || next === "\n" ? { cell, end } : readPlain(text, start);
}
