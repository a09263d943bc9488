/** What must be done to make a site match its files. Pure. */
import { isObject } from "platform";
import { kinds, type SiteRecord } from "./kinds.ts";
import { keyOf, labelOf, same } from "./tree.ts";
import type { Value, Values } from "./yaml.ts";

export interface Difference {
  readonly create: readonly SiteRecord[];
  readonly update: readonly Update[];
  /** On the server, without a file. */
  readonly extra: readonly SiteRecord[];
}

export interface Update {
  readonly before: SiteRecord;
  readonly after: SiteRecord;
  /** The fields that differ, with their new values. */
  readonly changes: Values;
}

export function difference(now: readonly SiteRecord[], wanted: readonly SiteRecord[]): Difference {
  const there = new Map(now.map((record) => [keyOf(record), record]));
  const asked = new Set(wanted.map(keyOf));
  const update = wanted.flatMap((after): Update[] => {
    const before = there.get(keyOf(after));
    if (!before) return [];
    const differing = Object.entries(after.values).filter(([name, value]) => !same(value, before.values[name]));
    return differing.length === 0 ? [] : [{ before, after, changes: Object.fromEntries(differing) }];
  });
  return {
    create: wanted.filter((record) => !there.has(keyOf(record))),
    update,
    extra: now.filter((record) => !asked.has(keyOf(record))),
  };
}

/** For people: one line per record, and below it one per changed field. */
export function printDifference({ create, update, extra }: Difference, deletes: boolean): string[] {
  const order = new Map(kinds.map(({ name }, at) => [name, at]));
  const rows = [
    ...create.map((record) => ({ record, lines: [`+ ${labelOf(record)}`] })),
    ...update.map(({ before, after, changes }) => ({
      record: after,
      lines: [
        `~ ${labelOf(after)}`,
        ...Object.entries(changes).flatMap(([name, value]) => changed(name, before.values[name] ?? null, value)),
      ],
    })),
    ...extra.map((record) => ({
      record,
      lines: [deletes ? `- ${labelOf(record)}` : `? ${labelOf(record)} (only on the server; --delete removes it)`],
    })),
  ];
  const place = ({ kind }: SiteRecord) => order.get(kind) ?? 0;
  rows.sort((a, b) => place(a.record) - place(b.record) || (a.record.code < b.record.code ? -1 : 1));
  const count = (list: readonly unknown[], verb: string) => `${list.length} to ${verb}`;
  const summary = [count(create, "create"), count(update, "change"), count(deletes ? extra : [], "delete")].join(", ");
  return [...rows.flatMap(({ lines }) => lines), summary];
}

/** Compares maps key by key; shows everything else before and after. */
function changed(name: string, before: Value, after: Value): string[] {
  if (isMap(before) && isMap(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) =>
      same(before[key], after[key]) ? [] : changed(`${name}.${key}`, before[key] ?? null, after[key] ?? null),
    );
  }
  return [`    ${name}: ${brief(before)} -> ${brief(after)}`];
}

function isMap(value: Value): value is Values {
  return isObject(value);
}

function brief(value: Value): string {
  if (typeof value === "string" && value.includes("\n")) return `(${value.length} characters)`;
  const text = JSON.stringify(value);
  return text.length <= 70 ? text : `${text.slice(0, 67)}…`;
}
