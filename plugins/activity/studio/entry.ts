/** An entry as its page shows it. Pure. */
import { isMap } from "studio/exact";

export interface Side {
  readonly text: string;
  /** Characters of the whole value, where this is its beginning. */
  readonly size: number | undefined;
}

export interface Change {
  readonly field: string;
  readonly isSecret: boolean;
  /** Undefined = there was no value. */
  readonly before: Side | undefined;
  readonly after: Side | undefined;
}

type Row = Readonly<Record<string, unknown>>;

const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

export function changesOf(changes: unknown): readonly Change[] {
  if (!isMap(changes)) return [];
  return Object.entries(changes).map(([field, change]) => {
    const one = isMap(change) ? change : {};
    return { field, isSecret: one["secret"] === true, before: sideOf(one, "old"), after: sideOf(one, "new") };
  });
}

function sideOf(change: Row, part: "old" | "new"): Side | undefined {
  const value = change[part];
  if (value === undefined || value === null) return undefined;
  const size = change[`${part}_size`];
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return { text, size: typeof size === "number" ? size : undefined };
}

/** Who it was, in one line: the login, else what is known. */
export function whoOf(entry: Row, system: string): string {
  const { login, actor, command, app_id, process_id, user_id } = entry;
  if (actor === "system") return system;
  if (actor === "command") return `corestead ${textOf(command)}`;
  const known = login ?? app_id ?? process_id ?? user_id;
  return known === null || known === undefined ? textOf(actor) : textOf(known);
}
