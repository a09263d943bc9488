/**
 * What the server does not know of imports: which faulty rows were mended and stored since, and which upload of this tab
 * has not been answered. Pure but for the storage.
 */
import { isMap } from "studio/exact";

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

/** A file on its way: the tab has lost it if it is loaded again meanwhile. */
export interface Upload {
  readonly name: string;
  readonly size: number;
  readonly format: string;
  readonly table: string | null;
  readonly partial: boolean;
  /** The Idempotency-Key: sent again with it, the file is stored once, even if only the answer was lost. */
  readonly key: string;
}

export function uploadOf(text: string | null): Upload | undefined {
  try {
    const json: unknown = JSON.parse(text ?? "null");
    if (!isMap(json)) return undefined;
    const { name, size, format, table, partial, key: once } = json;
    if (typeof name !== "string" || typeof size !== "number" || typeof once !== "string") return undefined;
    const rest = { table: typeof table === "string" ? table : null, partial: partial === true, key: once };
    return { name, size, format: String(format), ...rest };
  } catch {
    return undefined;
  }
}

/** Whether it is the same request, which may have the same Idempotency-Key. */
export function isSameUpload(a: Upload, b: Omit<Upload, "key">): boolean {
  const sameFile = a.name === b.name && a.size === b.size;
  return sameFile && a.format === b.format && a.table === b.table && a.partial === b.partial;
}

const uploadKey = (person: number, db: string) => `corestead.upload ${person} ${db}`;

/** Only in this tab: in another one it may be under way. */
export function readUpload(person: number, db: string): Upload | undefined {
  return uploadOf(sessionStorage.getItem(uploadKey(person, db)));
}

export function keepUpload(person: number, db: string, upload: Upload | undefined): void {
  if (upload) sessionStorage.setItem(uploadKey(person, db), JSON.stringify(upload));
  else sessionStorage.removeItem(uploadKey(person, db));
}
