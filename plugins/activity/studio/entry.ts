/** An entry as its page shows it. Pure. */
import { isMap } from "studio/exact";

export interface Change {
  readonly field: string;
  readonly isSecret: boolean;
  /** How many characters a value has, of which only the beginning is kept. */
  readonly before: number | undefined;
  readonly after: number | undefined;
}

type Row = Readonly<Record<string, unknown>>;

const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

export function changesOf(changes: unknown): readonly Change[] {
  if (!isMap(changes)) return [];
  return Object.entries(changes).map(([field, change]) => {
    const one = isMap(change) ? change : {};
    const sizeOf = (part: string) => (typeof one[part] === "number" ? one[part] : undefined);
    return { field, isSecret: one["secret"] === true, before: sizeOf("old_size"), after: sizeOf("new_size") };
  });
}

/** Who it was, in one line: the login, else what is known. */
export function whoOf(entry: Row, system: string): string {
  const { login, actor, command, app_id, process_id, user_id } = entry;
  if (actor === "system") return system;
  if (actor === "command") return `corestead ${textOf(command)}`;
  const known = login ?? app_id ?? process_id ?? user_id;
  return known === null || known === undefined ? textOf(actor) : textOf(known);
}
