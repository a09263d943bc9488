/** What pasting a rectangle into a grid does: changes of the records it covers, and new records below the last. Pure. */
import { isOwn, typedValue, valueAt, type Row } from "./cells.ts";
import type { FieldType } from "./schema.ts";

export interface Column {
  readonly name: string;
  readonly type: FieldType | undefined;
}

export interface Place {
  readonly row: number;
  readonly column: string;
}

export interface PasteOperation {
  readonly op: "create" | "update";
  readonly id?: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly table_name?: string | null;
}

export interface Pasted {
  readonly operations: readonly PasteOperation[];
  /** The row of the grid of each operation. */
  readonly rows: readonly number[];
  /** What takes the changes back; a record that was made is deleted instead. */
  readonly before: readonly PasteOperation[];
  readonly wrong: readonly { readonly place: Place; readonly mistake: "number" | "boolean" | "readOnly" }[];
}

interface Onto {
  readonly columns: readonly Column[];
  /** The place of the rectangle's first cell in the grid, and the rectangle that is chosen there. */
  readonly from: { readonly row: number; readonly column: number };
  readonly size: { readonly rows: number; readonly columns: number };
  readonly rowAt: (row: number) => Row | undefined;
  readonly table: string | null;
}

/** One cell fills the whole rectangle that is chosen. */
export function paste(cells: readonly (readonly string[])[], onto: Onto): Pasted {
  const { from, size, rowAt, columns, table } = onto;
  const single = cells.length === 1 && cells[0]?.length === 1;
  const height = single ? size.rows : cells.length;
  const operations: PasteOperation[] = [];
  const rows: number[] = [];
  const before: PasteOperation[] = [];
  const wrong: { place: Place; mistake: "number" | "boolean" | "readOnly" }[] = [];
  for (let at = 0; at < height; at++) {
    const row = rowAt(from.row + at);
    const line = single ? Array<string>(size.columns).fill(cells[0]?.[0] ?? "") : (cells[at] ?? []);
    const data = new Map<string, unknown>();
    for (const [index, text] of line.entries()) {
      const column = columns[from.column + index];
      if (!column) break;
      const place = { row: from.row + at, column: column.name };
      if (isOwn(column.name) || row?.cut?.has(column.name)) {
        wrong.push({ place, mistake: "readOnly" });
        continue;
      }
      const result = typedValue(column.type, text, row && valueAt(row, column.name));
      if ("mistake" in result) wrong.push({ place, mistake: result.mistake });
      // A new record has no fields without a value.
      else if (row || result.value !== null) data.set(column.name, result.value);
    }
    if (data.size === 0) continue;
    rows.push(from.row + at);
    const changes: Readonly<Record<string, unknown>> = Object.fromEntries(data);
    operations.push(row ? update(row, changes) : { op: "create", data: changes, table_name: table });
    if (row) before.push(update(row, former(row, changes)));
  }
  return { operations, rows, before, wrong };
}

/** A batch moves a record without `table_name` out of its table. */
export function update({ id, table_name }: Row, data: Readonly<Record<string, unknown>>): PasteOperation {
  return { op: "update", id, data, table_name };
}

export function former(row: Row, data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.keys(data).map((name) => [name, valueAt(row, name) ?? null]));
}

/** `operations[3].data.age` of a 422: which operation, and which field. */
export function placeOfError(path: string): { readonly at: number; readonly field: string } | undefined {
  const [, at, field] = /^operations\[(\d{1,4})\](?:\.data)?\.(.+)$/s.exec(path) ?? [];
  return at === undefined || field === undefined ? undefined : { at: Number(at), field };
}
