/** The rows of a CSV body. Pure. */
import { csvReader, detectSeparator, type CsvReader, type CsvRow } from "../csv.ts";
import { fieldOfHeader, headerOfField, isExportHeader, ownColumns } from "../exports/csv.ts";
import { badRow, lastRow, maxRowLength, type Place, type Row } from "./rows.ts";
import type { RowReader } from "./reader.ts";
import { createSigns, hasSign, type Signs } from "./signs.ts";
import type { FieldType } from "../../databases/columns.ts";
import { recordLimits } from "../../records/record.ts";

const maxColumns = recordLimits.keys + ownColumns.size;

/** The fields of the rows' tables. */
interface Fields {
  readonly multiTable: boolean;
  /** `table`: what the row names; undefined in a file without such a column. */
  readonly typeOf: (table: string | null | undefined, field: string) => FieldType | undefined;
}

/** The first line names the fields; cells are text. Without `separator`, it is detected from the first line. */
export function csvRows(separator: string | undefined, known: Fields): RowReader {
  const leftOut = new Set<string>();
  const signs = createSigns();
  let reader: CsvReader | undefined;
  if (separator !== undefined) reader = csvReader(separator, maxRowLength);
  let header: Header | undefined;
  let start = "";
  let number = 0;

  const read = function* (rows: Generator<CsvRow>): Generator<Row> {
    for (const row of rows) {
      if (header) yield readRow(row, header, { row: ++number, line: row.line }, { known, leftOut, signs });
      else {
        const found = readHeader(row, known.multiTable);
        if (typeof found === "string") yield lastRow({ row: 0, line: row.line }, found);
        else header = found;
      }
    }
  };
  /** Begins to read once the first line is complete. */
  const begin = function* (): Generator<Row> {
    reader = csvReader(detectSeparator(start), maxRowLength);
    yield* read(reader.push(start));
  };
  return {
    leftOut,
    signs,
    written: () => plain,
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

/** Only forms with one meaning. */
const plain = {};

interface Header {
  readonly names: readonly string[];
  /** The field of each column; undefined = left out. */
  readonly fields: readonly (string | undefined)[];
  /** The columns that only a table with a field of that name takes: in an export they describe the old record. */
  readonly own: readonly boolean[];
  /** The column with each row's table; -1 if there is none. */
  readonly tableColumn: number;
}

/** The header, or what is wrong with it. */
function readHeader({ cells, quoted, fault }: CsvRow, multiTable: boolean): Header | string {
  if (fault !== undefined) return `the header ${fault}`;
  // A space next to a separator belongs to the name only inside quotes.
  const all = cells.map((cell, at) => (quoted[at] ? cell : cell?.trim()) ?? "");
  const isNamed = (name: string, at: number) => name !== "" || quoted[at] === true;
  // Spreadsheets write columns that once held something to the right of all others.
  const names = all.slice(0, all.findLastIndex(isNamed) + 1);
  if (names.length > maxColumns) return `the header has more than ${maxColumns} columns`;
  const blank = names.findIndex((name, at) => !isNamed(name, at));
  if (blank >= 0) return `the header has no name for column ${blank + 1}`;
  const isExport = isExportHeader(names);
  const tableColumn = multiTable ? names.indexOf("table_name") : -1;
  const own = names.map((name, at) => isExport && ownColumns.has(name) && at !== tableColumn);
  const fields = names.map((name, at) => {
    if (at === tableColumn || (own[at] && names.includes(headerOfField(name)))) return undefined;
    return isExport ? fieldOfHeader(name) : name;
  });
  const twice = fields.find((name, at) => name !== undefined && fields.indexOf(name) !== at);
  if (twice !== undefined) return `the header has the column ${JSON.stringify(twice)} twice`;
  return { names, fields, own, tableColumn };
}

interface Reading {
  readonly known: Fields;
  readonly leftOut: Set<string>;
  readonly signs: Signs;
}

function readRow(
  { cells, fault, last }: CsvRow,
  header: Header,
  place: Place,
  { known, leftOut, signs }: Reading,
): Row {
  const { names, fields, own, tableColumn } = header;
  if (fault !== undefined) return last ? lastRow(place, fault) : badRow(place, fault);
  const isComplete = cells.length >= fields.length && cells.slice(fields.length).every((cell) => !cell?.trim());
  if (!isComplete) return badRow(place, `has ${cells.length} cells where the header has ${fields.length}`);
  const tableName = tableColumn < 0 ? undefined : (cells[tableColumn] ?? null);
  const given: [string, string][] = [];
  for (const [at, field] of fields.entries()) {
    const cell = cells[at];
    if (cell === null || cell === undefined || at === tableColumn) continue;
    if (field === undefined || (own[at] && known.typeOf(tableName, field) === undefined)) {
      leftOut.add(names[at] ?? "");
      continue;
    }
    if (cell.includes("\0")) return badRow(place, "has a character that cannot be stored", field);
    if (hasSign(cell)) signs.see(field, known.typeOf(tableName, field), cell, place);
    given.push([field, cell]);
  }
  // `fromEntries` makes a name like `__proto__` an own property.
  return { place, data: Object.fromEntries(given), tableName };
}
