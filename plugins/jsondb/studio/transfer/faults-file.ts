/** Faulty rows as CSV, with a column that names the fault, and what lets a browser save a text. */
import { withoutFormula } from "../../bulk/csv.ts";
import { columnsOfRows, csvLines, type Fault, type FileRow } from "./import-file.ts";

/** Without the file one has only what the server says. */
export function csvOfFaults(faults: readonly Fault[]): string {
  const lines = faults.map(({ row, line, id, field, message }) => [
    String(row),
    String(line ?? ""),
    id ?? "",
    field ?? "",
    message,
  ]);
  return csvLines([["row", "line", "id", "field", "fault"], ...lines].map((cells) => cells.map(withoutFormula)));
}

/** The rows as they are in the file (or as they were mended), so that they can be imported after one has mended them. */
export function csvOfFaultyRows(rows: readonly FileRow[], faultsByRow: ReadonlyMap<number, readonly Fault[]>): string {
  const columns = columnsOfRows(rows);
  const lines = rows.map(({ row, cells }) => [
    ...columns.map((name) => (Object.hasOwn(cells, name) ? (cells[name] ?? "") : "")),
    (faultsByRow.get(row) ?? [])
      .map(({ field, message }) => (field === null ? message : `${field}: ${message}`))
      .join("; "),
  ]);
  return csvLines([[...columns, faultColumn(columns)], ...lines]);
}

/** No column of the file has this name. */
function faultColumn(columns: readonly string[]): string {
  let name = "fault";
  while (columns.includes(name)) name += "_";
  return name;
}

export function saveFile(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob(["\uFEFF", text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
