/** What an import reads: the texts of its body, and the reader that finds rows in them. No HTTP. */
import { FileFault } from "../files/cells.ts";
import { createSha256, invalid, type Child } from "platform";
import { encodingOf, refuseMarkup, type FileFormat } from "../files/encodings.ts";
import { sheetText, type Received } from "../files/files.ts";
import { delimiterOf } from "../files/layout.ts";
import type { FileParameters } from "../files/parameters.ts";
import { decodedAs } from "./body.ts";
import { mappedRows, type MappedOptions } from "./mapped.ts";
import type { RowReader } from "./reader.ts";

export interface Source {
  readonly reader: RowReader;
  /** Values are text, and each is converted to the type of its field. */
  readonly asText: boolean;
  readonly texts: AsyncIterable<string>;
}

/** A file that is read as its preview has shown: what the parameters leave out is found in the same way. */
export async function mappedSource(
  child: Child,
  file: Received,
  format: FileFormat,
  parameters: FileParameters & Pick<MappedOptions, "table" | "references" | "anyField">,
): Promise<Source> {
  const options: MappedOptions = parameters;
  if (format === "xlsx") {
    const texts = textsOf(await sheetText(child, file.head, parameters.sheet));
    return { reader: mappedRows({ rows: "sheet" }, options), asText: false, texts };
  }
  if (parameters.sheet !== undefined) throw invalid({ sheet: ["is for workbooks: this file is none"] });
  if (file.isArchive) throw invalid({ file: ["is a ZIP archive or a workbook, and its Content-Type says text"] });
  const encoding = parameters.encoding ?? encodingOf(file.head, file.isComplete);
  const start = new TextDecoder(encoding).decode(file.head.subarray(0, lookedAt), { stream: true });
  refused(() => refuseMarkup(start));
  const texts = decodedAs(encoding, file.pieces);
  if (format === "json" || format === "ndjson")
    return { reader: mappedRows({ rows: format }, options), asText: false, texts };
  const separator = parameters.separator ?? (format === "tsv" ? "\t" : delimiterOf(start));
  return { reader: mappedRows({ rows: "cells", separator }, options), asText: false, texts };
}

/** The first bytes, of which the separator is found. */
const lookedAt = 400_000;

async function* textsOf(text: string): AsyncGenerator<string> {
  yield text;
}

function refused(run: () => void): void {
  try {
    run();
  } catch (error) {
    throw error instanceof FileFault ? invalid({ [error.field]: [error.message] }) : error;
  }
}

/** The texts, and the hash of all of them; it reads those that nobody has read. */
export function hashed(source: AsyncIterable<string>) {
  const sha256 = createSha256();
  async function* read() {
    for await (const text of source) {
      sha256.add(text);
      yield text;
    }
  }
  const texts = read();
  const hash = async () => {
    for await (const _ of texts);
    return sha256.end();
  };
  return { texts, hash };
}
