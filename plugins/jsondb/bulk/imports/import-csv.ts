/** The rows of a CSV body. Pure. */
import { createCsvReader, detectSeparator, type CsvReader, type CsvRow } from "../csv.ts";
import { fieldOfHeader, isExportHeader, ownColumns } from "../exports/export-columns.ts";
import { badRow, lastRow, maxRowLength, type Place, type Row, type RowReader } from "./import-rows.ts";
import { recordLimits } from "../../records/record.ts";

const maxColumns = recordLimits.keys + ownColumns.size;

/** The first line names the fields; cells are text. Without `separator`, it is detected from the first line. */
export function csvRows(separator: string | undefined, multiTable: boolean): RowReader {
  let reader: CsvReader | undefined;
  if (separator !== undefined) reader = createCsvReader(separator, maxRowLength);
  let header: Header | undefined;
  let start = "";
  let number = 0;

  const read = function* (rows: Generator<CsvRow>): Generator<Row> {
    for (const row of rows) {
      if (header) yield readRow(row, header, { row: ++number, line: row.line });
      else {
        const found = readHeader(row, multiTable);
        if (typeof found === "string") yield lastRow({ row: 0, line: row.line }, found);
        else header = found;
      }
    }
  };
  /** Begins to read once the first line is complete. */
  const begin = function* (): Generator<Row> {
    reader = createCsvReader(detectSeparator(start), maxRowLength);
    yield* read(reader.push(start));
  };
  return {
    *push(text) {
      if (reader) yield* read(reader.push(text));
      else {
        start += text;
        // Looks only at the new piece: a header may arrive in very many pieces.
        if (/[\r\n]/.test(text) || start.length >= maxRowLength) yield* begin();
      }
    },
    *end() {
      if (!reader) yield* begin();
      if (reader) yield* read(reader.end());
      if (!header) yield lastRow({ row: 0, line: 1 }, "there is no header row with the names of the fields");
    },
  };
}

interface Header {
  /** The field of each column; undefined = left out. */
  readonly fields: readonly (string | undefined)[];
  /** The column with each row's table; -1 if there is none. */
  readonly tableColumn: number;
}

/** The header, or what is wrong with it. */
function readHeader({ cells, quoted, fault }: CsvRow, multiTable: boolean): Header | string {
  if (fault !== undefined) return `the header ${fault}`;
  if (cells.length > maxColumns) return `the header has more than ${maxColumns} columns`;
  const blank = cells.findIndex((cell, at) => !quoted[at] && (cell ?? "").trim() === "");
  if (blank >= 0) return `the header has no name for column ${blank + 1}`;
  // A space next to a separator belongs to the name only inside quotes.
  const names = cells.map((cell, at) => (quoted[at] ? cell : cell?.trim()) ?? "");
  const isExport = isExportHeader(names);
  const tableColumn = multiTable ? names.indexOf("table_name") : -1;
  const fields = names.map((name, at) => {
    if (at === tableColumn || (isExport && ownColumns.has(name))) return undefined;
    return isExport ? fieldOfHeader(name) : name;
  });
  const twice = fields.find((name, at) => name !== undefined && fields.indexOf(name) !== at);
  if (twice !== undefined) return `the header has the column ${JSON.stringify(twice)} twice`;
  return { fields, tableColumn };
}

function readRow({ cells, fault, last }: CsvRow, { fields, tableColumn }: Header, place: Place): Row {
  if (fault !== undefined) return last ? lastRow(place, fault) : badRow(place, fault);
  if (cells.length !== fields.length)
    return badRow(place, `has ${cells.length} cells where the header has ${fields.length}`);
  const given: [string, string][] = [];
  for (const [at, cell] of cells.entries()) {
    const field = fields[at];
    if (cell === null || field === undefined) continue;
    if (cell.includes("\0")) return badRow(place, "has a character that cannot be stored", field);
    given.push([field, cell]);
  }
  const tableName = tableColumn < 0 ? undefined : (cells[tableColumn] ?? null);
  // `fromEntries` makes a name like `__proto__` an own property.
  return { place, data: Object.fromEntries(given), tableName };
}
