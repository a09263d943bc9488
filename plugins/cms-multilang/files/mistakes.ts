/** Mistakes in the files of a site, each with its file and line. */
import { HttpError, ValidationError } from "platform";
import { fileOf, keyOf, type FileMistake, type Tree } from "./tree.ts";
import type { SiteRecord } from "./kinds.ts";

const mostShown = 50;

export class FileMistakes extends Error {
  override name = "FileMistakes";
  readonly mistakes: readonly FileMistake[];

  constructor(mistakes: readonly FileMistake[]) {
    const lines = mistakes.slice(0, mostShown).map(({ file, line, message }) => `  ${file}:${line}: ${message}`);
    const more = mistakes.length > mostShown ? [`  and ${mistakes.length - mostShown} more`] : [];
    super(["nothing was changed, because of mistakes in the files:", ...lines, ...more].join("\n"));
    this.mistakes = mistakes;
  }
}

/** The refusal of a writer, at the lines of the record's file. Empty if the error is not about the file's contents. */
export function mistakesOf(error: unknown, { places }: Tree, record: SiteRecord): FileMistake[] {
  const place = places.get(keyOf(record));
  const file = place?.file ?? fileOf(record);
  return Object.entries(fieldsOf(error)).flatMap(([field, messages]) =>
    messages.map((message) => {
      if (field !== "content") return { file, line: place?.lines.get(field) ?? 1, message: `${field} ${message}` };
      const [, line, column, rest] = /^line (\d+), column (\d+): ([^]*)$/.exec(message) ?? [];
      const bodyLine = place?.bodyLine ?? 1;
      if (line === undefined) return { file, line: bodyLine, message: `content ${message}` };
      return { file, line: bodyLine + Number(line) - 1, message: `column ${column}: ${rest}` };
    }),
  );
}

function fieldsOf(error: unknown): Readonly<Record<string, readonly string[]>> {
  if (error instanceof ValidationError) return error.fields;
  if (error instanceof HttpError && error.status < 500) return { base: [error.message] };
  // Constraints are named <table>_unique_<field>. The violation has ended the transaction.
  const constraint = error instanceof Error && "constraint_name" in error ? String(error.constraint_name) : "";
  const field = constraint.split("_unique_")[1];
  if (field === undefined) return {};
  const message = field === "name" ? "is already taken by another site" : "is already taken";
  return { [field]: [message] };
}
