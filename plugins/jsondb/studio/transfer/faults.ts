/** Mistakes in rows, as the answers of imports and tasks have them. Pure, but for `saveFile`. */
import { withoutFormula } from "../../bulk/csv.ts";
import { isMap } from "studio/exact";
import { csvLines, type FileRow } from "./rows.ts";

export interface Fault {
  readonly row: number;
  readonly line: number | undefined;
  /** The id of the record, where one that was stored before is refused. */
  readonly id?: string;
  readonly field: string | null;
  readonly message: string;
}

export function faultList(json: unknown): Fault[] {
  if (!Array.isArray(json)) return [];
  return json.flatMap((one): Fault[] => {
    if (!isMap(one)) return [];
    const { row, line, id, field, message } = one;
    return [
      {
        row: Number(row),
        line: typeof line === "number" ? line : undefined,
        ...(typeof id === "string" && { id }),
        field: typeof field === "string" ? field : null,
        message: String(message),
      },
    ];
  });
}

export const rowsIn = (faults: readonly Fault[]) => [...new Set(faults.map(({ row }) => row))];

/** An import's answer: all stored, some or none. */
export interface Report {
  readonly imported: number;
  readonly failed: number;
  readonly total: number;
  readonly faults: readonly Fault[];
}

export function reportOf(json: unknown): Report | undefined {
  if (!isMap(json) || (typeof json["imported"] !== "number" && !Array.isArray(json["errors"]))) return undefined;
  const imported = Number(json["imported"] ?? 0);
  const faults = faultList(json["errors"]);
  return { imported, failed: Number(json["failed"] ?? 0), total: Number(json["total"] ?? imported), faults };
}

/** Without the file one has only what the server says; with it, the rows as they stand there. */
export function csvOfFaults(faults: readonly Fault[], rows: ReadonlyMap<number, FileRow> = new Map()): string {
  const columns = [...new Set([...rows.values()].flatMap(({ cells }) => Object.keys(cells)))];
  const head = ["row", "line", "id", "field", "fault"];
  const lines = faults.map(({ row, line, id, field, message }) => [
    ...[String(row), String(line ?? ""), id ?? "", field ?? "", message].map(withoutFormula),
    ...columns.map((name) => withoutFormula(rows.get(row)?.cells[name] ?? "")),
  ]);
  return csvLines([[...head, ...columns].map(withoutFormula), ...lines]);
}

export function saveFile(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob(["\uFEFF", text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
