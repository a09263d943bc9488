/** Reads files of people in a guarded process: what they contain may be made to take any time or memory. */
import { FileFault } from "./cells.ts";
import { previewOf, type Preview, type PreviewOptions } from "./preview.ts";
import { isWorkbook } from "./encodings.ts";
import { openWorkbook } from "./workbook.ts";

/** What the process is asked for; `bytes` are in base64. */
export type FileTask =
  | {
      readonly do: "preview";
      readonly bytes: string;
      readonly isComplete: boolean;
      readonly options: PreviewOptions;
    }
  | { readonly do: "rows"; readonly bytes: string; readonly sheet: string | undefined };

export type FileResult =
  | { readonly preview: Preview }
  | { readonly text: string }
  | { readonly fault: { readonly field: string; readonly message: string } };

export default async function read(input: unknown): Promise<FileResult> {
  const task = input as FileTask; // files.ts makes it
  const bytes = Uint8Array.fromBase64(task.bytes);
  try {
    if (task.do === "rows") return { text: await rowsOf(bytes, task.sheet) };
    return { preview: await previewOf(bytes, task.isComplete, task.options) };
  } catch (error) {
    if (error instanceof FileFault) return { fault: { field: error.field, message: error.message } };
    throw error;
  }
}

/** A line is parsed at once, in the server. */
const rowsInLine = 200;

async function rowsOf(bytes: Uint8Array, sheet: string | undefined): Promise<string> {
  if (!isWorkbook(bytes)) throw new FileFault("is no workbook (XLSX)");
  const book = await openWorkbook(bytes);
  let text = "";
  for await (const rows of book.rows(book.sheetNamed(sheet)))
    for (let at = 0; at < rows.length; at += rowsInLine)
      text += `${JSON.stringify(rows.slice(at, at + rowsInLine).map(({ line, cells }) => [line, ...cells]))}\n`;
  return text;
}
