/** The parameters of a request about a file of people: what its preview said of it. Pure. */
import { badRequest } from "platform";
import { separators } from "../csv.ts";
import { encodings } from "./encodings.ts";
import type { FileOptions } from "./read.ts";

export const fileQuery = {
  separator: "CSV: `,`, `;`, `|` or `tab`; default: found from the rows, or from a line `sep=;` before them",
  encoding: `one of ${encodings.join(", ")}; default: found from the bytes`,
  sheet: "the name of a workbook's sheet; default: the first that is not hidden",
  header_row: "the line, or row of the sheet, with the names of the columns, from 1; 0 = none",
} as const;

type Query = Pick<URLSearchParams, "get">;

export function readFileOptions(query: Query): FileOptions {
  return {
    encoding: oneOf("encoding", query.get("encoding")?.toLowerCase(), encodings),
    separator: separatorOf(query.get("separator")),
    sheet: query.get("sheet") || undefined,
    headerRow: headerRowOf(query.get("header_row")),
  };
}

export function separatorOf(given: string | null): string | undefined {
  if (given === null || given === "") return undefined;
  const wanted = given === "tab" ? "\t" : given;
  const found = separators.find((separator) => separator === wanted);
  if (found === undefined) throw badRequest("`separator` must be `,`, `;`, `|` or `tab`");
  return found;
}

function headerRowOf(given: string | null): number | undefined {
  if (given === null || given === "") return undefined;
  if (!/^\d{1,7}$/.test(given)) throw badRequest("`header_row` must be a whole number from 0");
  return Number(given);
}

function oneOf<T extends string>(name: string, given: string | undefined, known: readonly T[]): T | undefined {
  if (given === undefined || given === "") return undefined;
  const found = known.find((one) => one === given);
  if (found === undefined) throw badRequest(`\`${name}\` must be one of ${known.join(", ")}`);
  return found;
}
