/** Records as a workbook (XLSX, ISO/IEC 29500), written as a stream: values have their types, and none is a formula. */
import { ExactNumber, isNumber, isObject, parseExactly, zoneOffset } from "platform";
import type { Field } from "../../databases/kinds.ts";
import type { Column } from "./columns.ts";
import { forEachRow, idText, timeMs, type ExportPage } from "./bytes.ts";
import { titled } from "./csv.ts";
import { zipped, type Part } from "./zip.ts";

interface Options {
  readonly columns: readonly Column[];
  /** A workbook knows no zones: times are those of the account's clocks. */
  readonly timeZone: string;
}

/** A program that opens a longer one calls the file damaged. */
const mostChars = 32_767;
/** A number of more digits would be rounded: it is written as text. */
const exactDigits = 15;

export function workbook(pages: AsyncGenerator<ExportPage>, options: Options): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  return zipped(partsOf(pages, options));
}

async function* partsOf(pages: AsyncGenerator<ExportPage>, options: Options): AsyncGenerator<Part> {
  const styles = createStyles();
  const rows = rowTexts(pages, options, styles);
  let sheets = 0;
  for (let isMore = true; isMore;) {
    sheets += 1;
    const sheet = { rows: 0, ended: false };
    yield { name: `xl/worksheets/sheet${sheets}.xml`, content: sheetOf(rows, options.columns, sheet) };
    isMore = !sheet.ended;
  }
  yield* textParts(styles, sheets);
}

/** Rows until the sheet is full; `sheet.ended`: there are no more. */
async function* sheetOf(
  rows: AsyncGenerator<readonly string[]>,
  columns: readonly Column[],
  sheet: { rows: number; ended: boolean },
): AsyncGenerator<string> {
  yield `${xmlHead}<worksheet xmlns="${main}"><sheetData>${rowText(
    1,
    columns.map(({ head }) => textCell(head)),
  )}`;
  while (sheet.rows < mostRecords) {
    const { value, done } = await rows.next();
    if (done) {
      sheet.ended = true;
      break;
    }
    sheet.rows += value.length;
    yield value.join("");
  }
  yield "</sheetData></worksheet>";
}

/** Divides the rows of a sheet without a rest, so that none is left over where a sheet ends. */
const rowsAtOnce = 1_024;

/** A sheet has a row less than it may, because its first one is the head. */
const mostRecords = 1_048_576 - rowsAtOnce;

async function* rowTexts(
  pages: AsyncGenerator<ExportPage>,
  { columns, timeZone }: Options,
  styles: Styles,
): AsyncGenerator<readonly string[]> {
  const offsets = createOffsets(timeZone);
  const decoder = new TextDecoder();
  const waiting: string[] = [];
  let records = 0;
  for await (const page of pages) {
    forEachRow(page, (id, time, table, endOfTable, data, endOfData) => {
      const parsed = parseExactly(decoder.decode(page.data.subarray(data, endOfData)));
      const values = isObject(parsed) ? parsed : {};
      const cells = columns.map(({ own, field, definition, titleOf }) => {
        switch (own) {
          case "id":
            return textCell(idText(page.ids, id));
          case "table_name":
            return textCell(decoder.decode(page.tableNames.subarray(table, endOfTable)));
          case "created_at":
            return momentCell(timeMs(page.createdAt, time), offsets, styles);
          case "updated_at":
            return momentCell(timeMs(page.updatedAt, time), offsets, styles);
          default: {
            const value = Object.hasOwn(values, field) ? values[field] : null;
            return cellOf(titleOf ? titled(value, titleOf) : value, definition, { offsets, styles });
          }
        }
      });
      waiting.push(rowText((records++ % mostRecords) + 2, cells));
    });
    while (waiting.length >= rowsAtOnce) yield waiting.splice(0, rowsAtOnce);
  }
  if (waiting.length > 0) yield waiting;
}

/** Excel would do without references; many other programs do not. */
function rowText(row: number, cells: readonly string[]): string {
  let text = `<row r="${row}">`;
  for (let at = 0; at < cells.length; at++) {
    const cell = cells[at] ?? "";
    if (cell !== "") text += `<c r="${columnName(at)}${row}"${cell}</c>`;
  }
  return `${text}</row>`;
}

const columnNames: string[] = [];

/** 27 -> "AB" */
function columnName(column: number): string {
  const known = columnNames[column];
  if (known !== undefined) return known;
  const before = Math.floor(column / 26) - 1;
  return (columnNames[column] = `${before >= 0 ? columnName(before) : ""}${String.fromCharCode(65 + (column % 26))}`);
}

// Cells: what follows their reference. An empty one is left out.

interface Writing {
  readonly offsets: (ms: number) => number;
  readonly styles: Styles;
}

/** A value as its field says, else as JSON has it. */
function cellOf(value: unknown, definition: Field | undefined, { offsets, styles }: Writing): string {
  if (value === null || value === undefined || value === "") return empty;
  if (typeof value === "boolean") return ` t="b"><v>${value ? 1 : 0}</v>`;
  if (isNumber(value)) return numberCell(value, definition, styles);
  if (typeof value === "string") {
    if (definition?.type === "integer") return textCell(value);
    const moment = definition && momentIn(definition.type, value, offsets);
    return moment === undefined ? textCell(value) : styledCell(moment, styles.of(codes[definition?.type ?? ""] ?? ""));
  }
  const isSimple = Array.isArray(value) && value.every((item) => typeof item !== "object");
  return textCell(isSimple ? value.join(", ") : JSON.stringify(value));
}

const empty = "";
const codes: Readonly<Record<string, string>> = {
  date: "yyyy-mm-dd",
  datetime: "yyyy-mm-dd hh:mm:ss",
  time: "hh:mm:ss",
};

function numberCell(value: number | ExactNumber, definition: Field | undefined, styles: Styles): string {
  const text = String(value);
  if (text.replaceAll(/[^0-9]/g, "").length > exactDigits || value instanceof ExactNumber) return textCell(text);
  if (definition?.format === "percent") return styledCell(value, styles.of("0.##%"));
  if (definition?.format === "money")
    return styledCell(value, styles.of(definition.currency ? `#,##0.00 [$${definition.currency}]` : "#,##0.00"));
  return `><v>${text}</v>`;
}

function styledCell(value: number, style: number): string {
  return ` s="${style}"><v>${value}</v>`;
}

const dayMs = 86_400_000;
/** The day 0 of sheets. */
const firstDay = Date.UTC(1899, 11, 30);
/** Before it their calendar is wrong: 1900 was no leap year. */
const firstRightDay = 61;

/** Days since the day 0; undefined if a sheet cannot show it. */
function momentIn(type: Field["type"], value: string, offsets: (ms: number) => number): number | undefined {
  if (type === "time") return Date.parse(`1970-01-01T${value}Z`) / dayMs;
  if (type !== "date" && type !== "datetime") return undefined;
  if (type === "date") return daysOf(Date.parse(value));
  const [, zone, hours = "", minutes = "00"] = /(Z|([+-]\d\d):?(\d\d)?)$/.exec(value.slice(10)) ?? [];
  const local = zone === undefined ? value : value.slice(0, -zone.length);
  const ms = Date.parse(`${local}${hours === "" ? "Z" : `${hours}:${minutes}`}`);
  return daysOf(ms + offsets(ms));
}

function daysOf(ms: number): number | undefined {
  const days = (ms - firstDay) / dayMs;
  return days >= firstRightDay ? days : undefined;
}

function momentCell(ms: number, offsets: (ms: number) => number, styles: Styles): string {
  const days = daysOf(ms + offsets(ms));
  return days === undefined ? textCell(new Date(ms).toJSON()) : styledCell(days, styles.of(codes["datetime"] ?? ""));
}

/** Milliseconds east of UTC; one of each quarter of an hour is looked up once. */
function createOffsets(timeZone: string): (ms: number) => number {
  const known = new Map<number, number>();
  return (ms) => {
    const quarter = Math.floor(ms / 900_000);
    const found = known.get(quarter);
    if (found !== undefined || Number.isNaN(quarter)) return found ?? 0;
    if (known.size > 10_000) known.clear();
    const offset = zoneOffset(timeZone, ms) * 1000;
    known.set(quarter, offset);
    return offset;
  };
}

/** A text is never a formula, whatever it begins with. */
function textCell(text: string): string {
  return text === "" ? empty : ` t="inlineStr"><is><t xml:space="preserve">${escaped(text)}</t></is>`;
}

/** Characters that XML does not have are written as `_x0001_`, and what looks like that as `_x005F_x0001_`. */
function escaped(given: string): string {
  const text = given.length > mostChars ? `${given.slice(0, mostChars - 1)}…` : given;
  if (!/[&<>_\p{Cc}\p{Cs}\ufffe\uffff]/u.test(text)) return text;
  return text
    .toWellFormed()
    .replaceAll(/_(?=x[0-9A-Fa-f]{4}_)/g, "_x005F_")
    .replaceAll(/[\p{Cc}\ufffe\uffff]/gu, (character) => {
      const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
      return character === "\t" || character === "\n" ? character : `_x${code}_`;
    })
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

// The other parts.

interface Styles {
  /** The number of the style with this format. */
  readonly of: (code: string) => number;
  readonly codes: () => readonly string[];
}

function createStyles(): Styles {
  const known = new Map<string, number>();
  return {
    of(code) {
      const style = known.get(code) ?? known.size + 1;
      known.set(code, style);
      return style;
    },
    codes: () => [...known.keys()],
  };
}

const xmlHead = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const documents = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const packages = "http://schemas.openxmlformats.org/package/2006";
const types = "application/vnd.openxmlformats-officedocument.spreadsheetml";
const firstCode = 164;

function* textParts(styles: Styles, count: number): Generator<Part> {
  const sheets = Array.from({ length: count }, (_, at) => at + 1);
  const each = (text: (sheet: number) => string) => sheets.map(text).join("");
  const part = (name: string, text: string): Part => ({ name, content: once(`${xmlHead}${text}`) });
  yield part(
    "[Content_Types].xml",
    `<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${types}.styles+xml"/>${each((sheet) => `<Override PartName="/xl/worksheets/sheet${sheet}.xml" ContentType="${types}.worksheet+xml"/>`)}</Types>`,
  );
  yield part(
    "_rels/.rels",
    `<Relationships xmlns="${packages}/relationships"><Relationship Id="rId1" Type="${documents}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  );
  yield part(
    "xl/workbook.xml",
    `<workbook xmlns="${main}" xmlns:r="${documents}"><sheets>${each((sheet) => `<sheet name="Sheet${sheet}" sheetId="${sheet}" r:id="rId${sheet}"/>`)}</sheets></workbook>`,
  );
  yield part(
    "xl/_rels/workbook.xml.rels",
    `<Relationships xmlns="${packages}/relationships">${each((sheet) => `<Relationship Id="rId${sheet}" Type="${documents}/worksheet" Target="worksheets/sheet${sheet}.xml"/>`)}<Relationship Id="rId${count + 1}" Type="${documents}/styles" Target="styles.xml"/></Relationships>`,
  );
  yield part("xl/styles.xml", stylesText(styles.codes()));
}

function stylesText(all: readonly string[]): string {
  const formats = all.map((code, at) => `<numFmt numFmtId="${firstCode + at}" formatCode="${escaped(code)}"/>`);
  const looks = all.map(
    (_, at) => `<xf numFmtId="${firstCode + at}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`,
  );
  const list = formats.length > 0 ? `<numFmts count="${formats.length}">${formats.join("")}</numFmts>` : "";
  return `<styleSheet xmlns="${main}">${list}<fonts count="1"><font/></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="${looks.length + 1}"><xf xfId="0"/>${looks.join("")}</cellXfs></styleSheet>`;
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}
