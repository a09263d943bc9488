/** Faulty rows as CSV, with a column that names the fault, and what lets a browser save a text. */
import { withoutFormula } from "../bulk/csv.ts";
import { csvLines, type Fault } from "./import-file.ts";

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

export function saveFile(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob(["\uFEFF", text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
