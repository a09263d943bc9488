/** Reads the stream of changes: which fields of a record have changed, as far as the record before is known. Pure. */
import { cellText, valueAt, type Row } from "../cells.ts";

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
