/** What the server says of a file before it is imported, and how a column is written, in words. Pure. */
import { isMap } from "studio/exact";
import { fieldTypes, type FieldType } from "../schema.ts";

/** How the values of a column are written, as `import/preview` says it and an import takes it back. */
export interface Format {
  readonly decimal?: string;
  readonly thousands?: string;
  readonly date_order?: string;
  readonly true?: string;
  readonly false?: string;
  readonly time_zone?: string;
  readonly currency?: string;
  readonly kind?: string;
  readonly type?: string;
  /** Of a new field: the table of the records that its values name. */
  readonly link?: string;
}

interface Doubt {
  readonly row: number;
  readonly value: string;
  readonly why: string;
}

export interface PreviewColumn {
  readonly name: string;
  readonly field: string | null;
  /** Undefined: objects and lists, which no field holds. */
  readonly type: FieldType | undefined;
  readonly format: Format;
  /** The different ones, where they are few enough to be choices. */
  readonly values: readonly string[];
  readonly doubtful: readonly Doubt[];
  /** The table where most of its values are found by this field: a guess. */
  readonly linked?: { readonly link: string; readonly by: string; readonly found: number; readonly of: number };
}

export const fileFormats = ["csv", "tsv", "xlsx", "json", "ndjson"] as const;
export type FileFormat = (typeof fileFormats)[number];

export interface Preview {
  readonly format: FileFormat;
  readonly encoding: string | undefined;
  readonly delimiter: string | undefined;
  readonly sheets: readonly string[];
  readonly sheet: string | undefined;
  readonly headerRow: number;
  readonly rows: number;
  /** False: only the beginning was looked at. */
  readonly isComplete: boolean;
  readonly columns: readonly PreviewColumn[];
}

export function previewOf(json: unknown): Preview | undefined {
  const format = isMap(json) ? fileFormats.find((one) => one === json["format"]) : undefined;
  if (!isMap(json) || !format) return undefined;
  return {
    format,
    encoding: wordOf(json["encoding"]),
    delimiter: wordOf(json["delimiter"]),
    sheets: listOf(json["sheets"]).map(String),
    sheet: wordOf(json["sheet"]),
    headerRow: Number(json["header_row"]),
    rows: Number(json["rows"]),
    isComplete: json["complete"] === true,
    columns: listOf(json["columns"]).flatMap(columnOf),
  };
}

function columnOf(json: unknown): PreviewColumn[] {
  if (!isMap(json)) return [];
  const format = isMap(json["format"]) ? json["format"] : {};
  const { link, by, found, of } = isMap(json["linked"]) ? json["linked"] : {};
  return [
    {
      name: String(json["name"]),
      field: wordOf(json["field"]) ?? null,
      type: fieldTypes.find((one) => one === json["type"]),
      format: Object.fromEntries(Object.entries(format).map(([name, value]) => [name, String(value)])),
      values: listOf(json["values"]).map(String),
      ...(typeof link === "string" &&
        typeof by === "string" && { linked: { link, by, found: Number(found), of: Number(of) } }),
      doubtful: listOf(json["doubtful"]).flatMap((one) =>
        isMap(one) ? [{ row: Number(one["row"]), value: String(one["value"]), why: String(one["why"]) }] : [],
      ),
    },
  ];
}

const listOf = (json: unknown): readonly unknown[] => (Array.isArray(json) ? json : []);
const wordOf = (json: unknown) => (typeof json === "string" ? json : undefined);

/** The server's words for what can be read in two ways; other doubts are mistakes. */
export const isTwofold = ({ why }: Doubt) => why.startsWith("read as ");

/** `1.234,56` */
export function numberLike({ decimal, thousands = "" }: Format, type: FieldType): string {
  if (type === "integer") return `1${thousands}234`;
  return `1${thousands}234${decimal ?? (thousands === "." ? "," : ".")}56`;
}

export const dateOrders = ["dmy", "mdy", "ymd"] as const;
export const decimals = [",", "."] as const;
export const groupings = ["", ".", ",", " ", "'"] as const;

/** What `value` is in the format of its column; undefined if it is not written so. Times stay texts. */
export function readCell(value: string, type: FieldType | undefined, format: Format): unknown {
  const given = value.trim();
  if (type === "number" || type === "integer") return numberIn(given, type, format);
  if (type === "boolean") return truth(given.toLowerCase(), format);
  if (type === "list") return given.split(",").flatMap((item) => item.trim() || []);
  return type === "date" ? dayIn(given, format) : value;
}

function numberIn(given: string, type: FieldType, { decimal, thousands = "", kind }: Format): number | undefined {
  const mark = decimal ?? (thousands === "." ? "," : ".");
  const plain = given
    .replaceAll(/\p{L}|\p{Sc}|%/gu, "")
    .replaceAll(/\s/g, thousands === " " ? "" : " ")
    .trim()
    .replaceAll(thousands === " " ? "" : thousands, "")
    .replace(mark, "#");
  if (!/^[-+]?\d+(?:#\d+)?$/.test(plain) || (mark !== "." && /[.]/.test(plain))) return undefined;
  const number = Number(plain.replace("#", ".")) / (kind === "percent" ? 100 : 1);
  return type === "integer" && !Number.isInteger(number) ? undefined : number;
}

function truth(word: string, { true: yes = "true", false: no = "false" }: Format): boolean | undefined {
  if (word === yes.toLowerCase()) return true;
  return word === no.toLowerCase() ? false : undefined;
}

function dayIn(given: string, { date_order: order }: Format): string | undefined {
  const parts = /^(\d{1,4})[-./ ]+(\d{1,2})[-./ ]+(\d{1,4})$/.exec(given)?.slice(1) ?? [];
  const [a = "", b = "", c = ""] = parts;
  const isYearFirst = a.length === 4;
  if (parts.length === 0 || (!isYearFirst && c.length !== 4)) return undefined;
  const [year, month, day] = isYearFirst ? [a, b, c] : order === "mdy" ? [c, a, b] : [c, b, a];
  const text = `${year}-${month?.padStart(2, "0")}-${day?.padStart(2, "0")}`;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) ? text : undefined;
}
