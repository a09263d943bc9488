/** Changes of many records, some of which somebody else has changed since they were seen. Pure. */
import { valueAt, type Row } from "../cells.ts";
import type { PasteOperation } from "../grid.ts";

/** A cell that two people have changed; without a field it is a record that one of them is about to delete. */
export interface Meanwhile {
  readonly id: string;
  readonly field: string | undefined;
  readonly theirs: unknown;
  readonly mine: unknown;
}

export interface Met {
  /** For the records as they are now. Cells of both still have mine. */
  readonly operations: readonly PasteOperation[];
  readonly both: readonly Meanwhile[];
}

/** The operations that a refusal says are for a record that has changed; none if anything else is wrong with the batch. */
export function staleOf(errors: Readonly<Record<string, unknown>>): number[] {
  const places = Object.keys(errors).map((path) => /^operations\[(\d{1,4})\]\.if_updated_at$/.exec(path)?.[1]);
  return places.every((at) => at !== undefined) ? places.map(Number) : [];
}

/** Cells that they have left alone, or have given the same value, are no conflict. */
export function meet(
  operations: readonly PasteOperation[],
  seen: ReadonlyMap<string, Row>,
  now: ReadonlyMap<string, Row>,
): Met {
  const both: Meanwhile[] = [];
  const met = operations.map((operation) => {
    const { op, id = "", data = {} } = operation;
    const theirs = now.get(id);
    if (op === "create" || !theirs) return operation;
    if (op === "delete") both.push({ id, field: undefined, theirs: undefined, mine: undefined });
    for (const [field, mine] of Object.entries(data)) {
      const other = valueAt(theirs, field);
      if (!isLeftAlone(field, seen.get(id), theirs) && !isSame(other, mine))
        both.push({ id, field, theirs: other, mine });
    }
    // They may have moved it to another table too.
    const table = op === "update" && { table_name: theirs.table_name };
    return { ...operation, ...table, if_updated_at: theirs.updated_at };
  });
  return { operations: met, both };
}

/** Only the beginning of a long value is known. */
function isLeftAlone(field: string, before: Row | undefined, after: Row): boolean {
  if (!before || before.cut?.has(field) || after.cut?.has(field)) return false;
  return isSame(valueAt(before, field), valueAt(after, field));
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}

/** Leaves to them the cells that both have changed. */
export function withTheirs({ operations, both }: Met): PasteOperation[] {
  const left = Map.groupBy(both, ({ id }) => id);
  return operations.flatMap((operation) => {
    const cells = left.get(operation.id ?? "");
    if (!cells) return [operation];
    const fields = new Set(cells.map(({ field }) => field));
    const kept = Object.entries(operation.data ?? {}).filter(([field]) => !fields.has(field));
    return kept.length === 0 ? [] : [{ ...operation, data: Object.fromEntries(kept) }];
  });
}
