/** What has changed in a list since it was read. Pure. */
import { same } from "../forms/merge.ts";

type Key = (row: unknown) => string | undefined;

export interface News {
  /** As they are now, each where it was. */
  readonly rows: readonly unknown[];
  readonly changed: readonly string[];
  /** No longer in the list. */
  readonly gone: readonly string[];
  readonly fresh: readonly string[];
}

/** `rows` are shown, `latest` is what the same request answers now; `isFull`: further rows may follow on the next page. */
export function newsOf(rows: readonly unknown[], latest: readonly unknown[], key: Key, isFull: boolean): News {
  const keysOf = (list: readonly unknown[]) => list.flatMap((row) => key(row) ?? []);
  const [before, after] = [keysOf(rows), keysOf(latest)];
  const [known, current] = [new Set(before), new Map(latest.map((row) => [key(row), row]))];
  // A new row pushes the last one to the next page, and a deleted one lets the first of that page in.
  const lastLeft = isFull ? before.findLastIndex((id) => current.has(id)) : before.length;
  const lastKnown = isFull ? after.findLastIndex((id) => known.has(id)) : after.length;
  return {
    rows: rows.map((row) => current.get(key(row)) ?? row),
    changed: rows.flatMap((row) => {
      const [id, now] = [key(row), current.get(key(row))];
      return id === undefined || now === undefined || same(row, now) ? [] : [id];
    }),
    gone: before.filter((id, at) => !current.has(id) && at <= lastLeft),
    fresh: after.filter((id, at) => !known.has(id) && at <= lastKnown),
  };
}
