/** What a file is by its bytes, and how its text is encoded: its name and type may say anything. Pure. */
import { FileFault } from "./cells.ts";

export const encodings = ["utf-8", "utf-16le", "utf-16be", "windows-1250", "windows-1252"] as const;
export type Encoding = (typeof encodings)[number];

export type FileFormat = "csv" | "tsv" | "xlsx" | "json" | "ndjson";

/** The first bytes of what people send by mistake. */
const others: readonly (readonly [start: string, what: string])[] = [
  ["%PDF", "a PDF"],
  ["\x89PNG", "a picture (PNG)"],
  ["GIF8", "a picture (GIF)"],
  ["\xff\xd8\xff", "a picture (JPEG)"],
  ["\x1f\x8b", "a gzip archive: unpack it"],
  ["Rar!", "a RAR archive: unpack it"],
  ["7z\xbc\xaf", "a 7-Zip archive: unpack it"],
  ["{\\rtf", "an RTF document"],
  ["SQLite format 3", "an SQLite database"],
  ["PAR1", "a Parquet file"],
];
const parts: readonly (readonly [name: string, what: string])[] = [
  ["word/document.xml", "a Word document (DOCX)"],
  ["ppt/presentation.xml", "a presentation (PPTX)"],
  ["xl/workbook.bin", "a binary workbook (XLSB): save it as XLSX"],
  ["opendocument.spreadsheet", "an OpenDocument spreadsheet: save it as XLSX or CSV"],
];

/** Whether the bytes are a workbook; throws if they are no file that is read. */
export function isWorkbook(bytes: Uint8Array): boolean {
  if (bytes.length === 0) throw new FileFault("is empty");
  const start = latin(bytes.subarray(0, 20));
  if (start.startsWith("\xd0\xcf\x11\xe0")) {
    const isLocked = latin(bytes).includes("E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e");
    throw new FileFault(
      isLocked ? "is protected by a password: save it without one" : "is an old Excel file (XLS): save it as XLSX",
    );
  }
  if (start.startsWith("PK\x03\x04") || start.startsWith("PK\x05\x06")) {
    // Names of entries stand in a ZIP as they are.
    const text = latin(bytes);
    if (text.includes("xl/workbook.xml")) return true;
    const what = parts.find(([name]) => text.includes(name))?.[1] ?? "a ZIP archive, not a workbook: unpack it";
    throw new FileFault(`is ${what}`);
  }
  const what = others.find(([bytesOf]) => start.startsWith(bytesOf))?.[1];
  if (what !== undefined) throw new FileFault(`is ${what}, not a table`);
  return false;
}

/** By the byte order mark, else by what the bytes can be: valid UTF-8, every second byte 0, letters of Polish and Czech. */
export function encodingOf(bytes: Uint8Array, isComplete: boolean): Encoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  const wide = wideEncoding(bytes.subarray(0, 4_000));
  if (wide) return wide;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !isComplete });
    return "utf-8";
  } catch {
    return isCentralEuropean(bytes) ? "windows-1250" : "windows-1252";
  }
}

/** Text that is mostly ASCII has a 0 in every second byte. */
function wideEncoding(bytes: Uint8Array): Encoding | undefined {
  const zeros = [0, 0];
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const most = bytes.length / 4;
  if (odd > most && even < odd / 10) return "utf-16le";
  return even > most && odd < even / 10 ? "utf-16be" : undefined;
}

/** Letters in Windows-1250 where Windows-1252 has signs: ł ą ż ś ź Ł Ą Ż Ś Ź ť Ť ş ľ, and what only Windows-1250 has. */
const strong = new Set([0xb3, 0xb9, 0xbf, 0x9c, 0x9f, 0xa3, 0xa5, 0xaf, 0x8c, 0x8f, 0x9d, 0x8d, 0xba, 0xbe, 0xbc]);
/** ę and ć are ê and æ in Windows-1252, which end no word in the languages that have them. */
const strongAtEnd = new Set([0xea, 0xe6]);
/** Č č ě ř ů ň are accented letters of the West too, but not beside š and ž. */
const czech = new Set([0xc8, 0xe8, 0xec, 0xf8, 0xf9, 0xf2]);
const caron = new Set([0x9a, 0x9e, 0x8a, 0x8e]);

function isCentralEuropean(bytes: Uint8Array): boolean {
  let letters = 0;
  let evidence = 0;
  let carons = 0;
  let czechs = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) continue;
    const [before, after] = [isLetter(bytes[at - 1]), isLetter(bytes[at + 1])];
    if (!before && !after) continue;
    letters += 1;
    if (strong.has(byte) || (strongAtEnd.has(byte) && before && !after)) evidence += 1;
    if (czech.has(byte)) czechs += 1;
    if (caron.has(byte)) carons += 1;
  }
  // A stray sign between letters is no evidence.
  return evidence > letters / 20 || (carons > 0 && czechs > 0);
}

function isLetter(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return byte >= 0x80 || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}

/** A text that is no table: HTML and XML. */
export function refuseMarkup(text: string): void {
  const start = text.slice(0, 200).trimStart().toLowerCase();
  const isMarkup = ["<!doctype", "<html", "<head", "<body", "<table", "<?xml", "<svg"].some((tag) =>
    start.startsWith(tag),
  );
  if (isMarkup) throw new FileFault("is HTML or XML, not a table: save it as CSV or XLSX");
}

/** JSON by its first characters; undefined for rows of text. */
export function jsonFormat(text: string): "json" | "ndjson" | undefined {
  const start = text.slice(0, 1_000).trimStart();
  if (/^\[\s*(?:[{\]]|$)/.test(start)) return "json";
  return /^\{\s*(?:["}]|$)/.test(start) ? "ndjson" : undefined;
}

function latin(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}
