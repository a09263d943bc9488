/** The text of a CSV cell as a value of its field's type. Pure. */
import type { FieldType } from "../../databases/columns.ts";
import type { Data } from "../../records/record.ts";
import type { Table } from "../../databases/schema.ts";

/** Text that cannot be converted stays text, and the check of the record then names the mistake. */
export function dataFromText(table: Table, cells: Data): Data {
  const values = Object.entries(cells).map(([name, cell]): [string, unknown] => {
    const type = table.fields.get(name)?.type;
    return [name, type && typeof cell === "string" ? valueFromText(type, cell) : cell];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** Only texts may be longer: the check of the record refuses other values that are not converted. */
const maxTypedCell = 1_000;

/** Undefined for a blank cell, unless the field holds text. */
function valueFromText(type: FieldType, cell: string): unknown {
  if (type === "string" || type === "text") return cell;
  if (cell.length > maxTypedCell) return cell;
  const text = cell.trim();
  if (text === "") return undefined;
  return (converters[type] ?? ((same) => same))(text);
}

const converters: Partial<Record<FieldType, (text: string) => unknown>> = {
  integer: (text) => (/^[+-]?\d{1,30}$/.test(text) ? wholeNumber(text) : text),
  number: (text) => (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : text),
  boolean: (text) => booleans.get(text.toLowerCase()) ?? text,
  // Spreadsheets and databases write a space instead of the T.
  datetime: (text) => text.replace(/^(\d{4}-\d{2}-\d{2}) (?=\d)/, "$1T"),
};

/** Beyond 2^53 a whole number is written as text (behaviour B.7). */
function wholeNumber(text: string): number | string {
  const exact = BigInt(text.replace("+", ""));
  const number = Number(exact);
  return Number.isSafeInteger(number) ? number : `${exact}`;
}

const booleans = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);
