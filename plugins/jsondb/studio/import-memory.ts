/** Which faulty rows of an import were mended and stored since: the server knows nothing of that. Pure but for the storage. */
import { isMap } from "./schema.ts";

const key = "corestead.mended";
const mostImports = 20;

type Mended = Readonly<Record<string, readonly number[]>>;

export function mendedOf(text: string | null): Mended {
  try {
    const json: unknown = JSON.parse(text ?? "{}");
    if (!isMap(json)) return {};
    const rows = Object.entries(json).flatMap(([task, list]) =>
      Array.isArray(list) ? [[task, list.filter((row) => typeof row === "number")] as const] : [],
    );
    return Object.fromEntries(rows);
  } catch {
    return {};
  }
}

/** With these rows too; only of the newest imports. */
export function withMended(before: Mended, task: string, rows: readonly number[]): Mended {
  const all = [...new Set([...(before[task] ?? []), ...rows])];
  const others = Object.entries(before).filter(([other]) => other !== task);
  return Object.fromEntries([...others, [task, all] as const].slice(-mostImports));
}

export function readMended(task: string): ReadonlySet<number> {
  return new Set(mendedOf(localStorage.getItem(key))[task]);
}

export function keepMended(task: string, rows: readonly number[]): void {
  localStorage.setItem(key, JSON.stringify(withMended(mendedOf(localStorage.getItem(key)), task, rows)));
}
