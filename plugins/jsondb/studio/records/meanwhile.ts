/** Changes of many records, some of which somebody else has changed since they were seen. Pure. */
import { valueAt, cellText, type Row } from "../cells.ts";
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

// Reads the stream of changes: which fields of a record have changed, as far as the record before is known.

export const mostHistory = 200;
const mostFields = 20;

interface Difference {
  readonly field: string;
  /** As short texts: whole values would fill the memory. */
  readonly before: string;
  readonly after: string;
}

export interface Happened {
  /** In their order. */
  readonly n: number;
  readonly kind: string;
  readonly id: string;
  readonly at: number;
  /** The first column of the list, or else the record's first text. */
  readonly name: string;
  /** Undefined if nobody knows what it was before. */
  readonly differences: readonly Difference[] | undefined;
  /** How many more fields have changed. */
  readonly more: number;
}

export function happenedOf(
  kind: string,
  before: Row | undefined,
  after: Row,
  when: { n: number; at: number },
  nameField?: string,
): Happened {
  const all = kind === "update" && before ? differencesOf(before, after) : [];
  return {
    ...when,
    kind,
    id: after.id,
    name: nameOf(after, nameField),
    differences: kind === "update" && !before ? undefined : all.slice(0, mostFields),
    more: Math.max(0, all.length - mostFields),
  };
}

function differencesOf(before: Row, after: Row): Difference[] {
  const names = ["table_name", ...new Set([...Object.keys(before.data), ...Object.keys(after.data)])];
  return names.flatMap((field) => {
    const [was, is] = [valueAt(before, field), valueAt(after, field)];
    return JSON.stringify(was) === JSON.stringify(is) ? [] : [{ field, before: cellText(was), after: cellText(is) }];
  });
}

function nameOf(row: Row, field: string | undefined): string {
  const named = field === undefined ? undefined : valueAt(row, field);
  const text = named ?? Object.values(row.data).find((value) => typeof value === "string" && value.trim() !== "");
  return cellText(text).slice(0, 60);
}
