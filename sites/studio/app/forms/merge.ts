/** Two people have changed one thing: what can be kept of both, and what only a person can decide. */
import { ownOf } from "../resources/values.ts";

type Values = Readonly<Record<string, unknown>>;

export interface Conflict {
  readonly field: string;
  readonly loaded: unknown;
  readonly theirs: unknown;
  readonly mine: unknown;
}

export interface Merged {
  /** Theirs, with my changes of fields that they left alone; fields in conflict have mine. */
  readonly values: Values;
  readonly conflicts: readonly Conflict[];
}

/** `loaded` is what my changes began from. Fields are compared as JSON. */
export function merged(loaded: Values, theirs: Values, mine: Values): Merged {
  const values = new Map(Object.entries(theirs));
  const conflicts: Conflict[] = [];
  for (const [field, value] of Object.entries(mine)) {
    const [before, other] = [ownOf(loaded, field), ownOf(theirs, field)];
    if (same(value, before)) continue;
    values.set(field, value);
    if (!same(other, before) && !same(other, value))
      conflicts.push({ field, loaded: before, theirs: other, mine: value });
  }
  return { values: Object.fromEntries(values), conflicts };
}

/** The fields of `after` that differ from `before`. */
export function changes(before: Values, after: Values): Record<string, unknown> {
  return Object.fromEntries(Object.entries(after).filter(([field, value]) => !same(value, ownOf(before, field))));
}

export function same(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

/** JSON with its keys in order; nothing and null are one. */
function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
