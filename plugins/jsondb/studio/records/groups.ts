/** The groups of a list: which there are, and in which order. Pure. */
import { isMap } from "studio/exact";
import { plainText } from "../cells.ts";
import type { Look } from "../look/kinds.ts";

/** Null has the records without a value. */
export type GroupValue = string | number | boolean | null;

/** The counts of an aggregate by the field: in the order of its choices, others by their size, the empty one last. */
export function groupsIn(json: unknown, { name, choices }: Look): (readonly [GroupValue, number])[] {
  const found = new Map<GroupValue, number>();
  for (const one of Array.isArray(json) ? json : []) {
    if (!isMap(one) || !isMap(one["group"])) continue;
    const value = one["group"][name];
    // What is missing, null or empty is found by one filter.
    const key = typeof value === "number" || typeof value === "boolean" ? value : plainText(value) || null;
    found.set(key, (found.get(key) ?? 0) + Number(one["count"]));
  }
  const order: GroupValue[] = [...choices.map(({ value }) => value), true, false];
  const rank = (value: GroupValue) => (value === null ? Infinity : order.indexOf(value) + 1 || order.length + 1);
  return [...found].toSorted(([a], [b]) => (a === b ? 0 : rank(a) - rank(b)));
}

/** The parameter that finds a group: only in a list a value is taken as it is, without wildcards. */
export function filterOf(field: string, value: GroupValue): [string, string] {
  const text = value === null ? "" : String(value);
  return [/[*%]/.test(text) ? `filter[${field}][in][]` : `filter[${field}]`, text];
}
