/** What a record's JSON, changed by hand, changes of it. Pure. */
import { isMap } from "../schema.ts";

/** The fields that differ; one that was removed becomes null, because a change merges. Undefined if the text is no JSON object. */
export function changedFields(
  before: Readonly<Record<string, unknown>>,
  text: string,
  parse: (text: string) => unknown = JSON.parse,
): Record<string, unknown> | undefined {
  let after: unknown;
  try {
    after = parse(text);
  } catch {
    return undefined;
  }
  if (!isMap(after)) return undefined;
  const changed = Object.entries(after).filter(
    ([name, value]) => !Object.hasOwn(before, name) || JSON.stringify(value) !== JSON.stringify(before[name]),
  );
  const kept = new Set(Object.keys(after));
  const removed = Object.entries(before).filter(([name, value]) => !kept.has(name) && value !== null);
  return Object.fromEntries([...changed, ...removed.map(([name]) => [name, null] as const)]);
}
