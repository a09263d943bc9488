/** Two runs of a flow, step by step. Pure. */
import { shownOf, type Step } from "./process.ts";

/** A step as both runs did it; undefined where a run did not reach it. */
export interface Pair<T = Partial<Step>> {
  readonly key: string;
  readonly before: T | undefined;
  readonly after: T | undefined;
}

/** In the order of the later run; what only the earlier one did stands after what it followed there. */
export function pairsOf(before: readonly Step[], after: readonly Step[]): Pair<Step>[] {
  const [old, now] = [keyed(before), keyed(after)];
  const onlyOld = new Map<string, Pair<Step>[]>([["", []]]);
  let last = "";
  for (const [key, step] of old)
    if (now.has(key)) onlyOld.set((last = key), []);
    else onlyOld.get(last)?.push({ key, before: step, after: undefined });
  const both = [...now].flatMap(([key, step]) => [
    { key, before: old.get(key), after: step },
    ...(onlyOld.get(key) ?? []),
  ]);
  return [...(onlyOld.get("") ?? []), ...both];
}

/** A retry is another attempt at the same place; another type there is another step. */
function keyed(steps: readonly Step[]): Map<string, Step> {
  const found = new Map<string, Step>();
  const times = new Map<string, number>();
  for (const step of steps) {
    const place = `${step.id} ${step.type}`;
    const time = (times.get(place) ?? 0) + 1;
    times.set(place, time);
    found.set(`${place} ${time}`, step);
  }
  return found;
}

/** What is compared by lines; "" for nothing. */
export const writtenOf = (value: unknown) => shownOf(value)?.text ?? "";

export function isSame({ before, after }: Pair): boolean {
  const names = ["status", "error", "input", "output"] as const;
  return names.every((name) => writtenOf(before?.[name]) === writtenOf(after?.[name]));
}
