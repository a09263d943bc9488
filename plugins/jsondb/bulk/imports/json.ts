/** The rows of a JSON array, and of a body with one JSON value per line. Pure. */
import { HttpError, isObject, parseJson, ValidationError } from "platform";
import { ownColumns } from "../exports/csv.ts";
import { badRow, lastRow, maxRowLength, type Place, type Row } from "./rows.ts";
import type { RowReader } from "./reader.ts";
import type { Data } from "../../records/record.ts";

/** One JSON value per line; skips blank lines. */
export function ndjsonRows(): RowReader {
  const leftOut = new Set<string>();
  let rest = "";
  let line = 0;
  let number = 0;
  const read = (text: string): Row[] => {
    line += 1;
    if (text.trim() === "") return [];
    number += 1;
    return [readElement(text, { row: number, line }, leftOut)];
  };
  return {
    leftOut,
    *push(text) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const one of lines) yield* read(one);
      if (rest.length > maxRowLength) yield tooLong({ row: number + 1, line: line + 1 });
    },
    *end() {
      yield* read(rest);
    },
  };
}

/** The elements of one JSON array. */
export function jsonRows(): RowReader {
  const leftOut = new Set<string>();
  const scanner = createScanner();
  let state: State = "before";
  let element = "";
  let number = 0;
  return {
    leftOut,
    *push(text) {
      let from = 0;
      for (let at = 0; at < text.length; at++) {
        const character = text[at] ?? "";
        if (state === "element") {
          if (!scanner.isEnd(character)) continue;
          yield readElement(element + text.slice(from, at), { row: number }, leftOut);
          element = "";
          state = character === "," ? "next" : character === "]" ? "after" : "broken";
        } else if (!/\s/.test(character)) state = stateAfter(state, character);
        if (state === "broken") yield lastRow({ row: number }, "the body is not a JSON array from here on");
        if (state !== "begin") continue;
        state = "element";
        number += 1;
        from = at;
        scanner.isEnd(character);
      }
      if (state === "element") element += text.slice(from);
      if (element.length > maxRowLength) yield tooLong({ row: number });
    },
    *end() {
      if (state !== "after") yield lastRow({ row: number }, "the array is not closed");
    },
  };
}

type State = "before" | "first" | "begin" | "element" | "next" | "after" | "broken";

/** The state after a character outside the elements. */
function stateAfter(state: State, character: string): State {
  if (state === "before") return character === "[" ? "first" : "broken";
  if (state === "after" || character === ",") return "broken";
  if (character === "]") return state === "first" ? "after" : "broken";
  return "begin";
}

/** Finds the end of an element: the first `,`, `]` or `}` that is not inside of it. */
function createScanner() {
  let depth = 0;
  let inString = false;
  let escaped = false;
  return {
    isEnd(character: string): boolean {
      if (inString) {
        if (escaped) escaped = false;
        else if (character === "\\") escaped = true;
        else inString = character !== '"';
      } else if (character === '"') inString = true;
      else if (character === "{" || character === "[") depth += 1;
      else if (character === "}" || character === "]" || character === ",") {
        if (depth === 0) return true;
        if (character !== ",") depth -= 1;
      }
      return false;
    },
  };
}

/** A data object, or { data, table_name } as the API shows a record. */
function readElement(text: string, place: Place, leftOut: Set<string>): Row {
  if (text.length > maxRowLength) return tooLong(place);
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    return unreadable(error, place);
  }
  if (!isObject(value)) return badRow(place, "must be an object");
  if (!isWrapped(value)) return { place, data: value, tableName: undefined };
  const tableName = value["table_name"];
  if (tableName !== undefined && tableName !== null && typeof tableName !== "string")
    return badRow(place, "must be a string", "table_name");
  for (const name of Object.keys(value)) if (name !== "data" && name !== "table_name") leftOut.add(name);
  return { place, data: value.data, tableName };
}

function unreadable(error: unknown, place: Place): Row {
  if (error instanceof ValidationError) {
    const [field = "base", messages = []] = Object.entries(error.fields)[0] ?? [];
    return badRow(place, messages.join(", "), field);
  }
  if (error instanceof HttpError) return badRow(place, error.message.replace("the body", "the row"));
  throw error;
}

function isWrapped(value: Data): value is Data & { data: Data } {
  if (!Object.hasOwn(value, "data") || !isObject(value["data"])) return false;
  return Object.keys(value).every((key) => key === "data" || ownColumns.has(key));
}

function tooLong(place: Place): Row {
  return lastRow(place, `has more than ${maxRowLength} characters`);
}
