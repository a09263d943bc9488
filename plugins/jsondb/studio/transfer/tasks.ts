/** Imports, exports and changes of many records as the API tells of them. Pure. */
import { isMap } from "studio/exact";

const taskKinds = ["import", "export", "reindex", "update", "delete"] as const;
export type TaskKind = (typeof taskKinds)[number];
type TaskStatus = "running" | "finished" | "failed";

export interface Task {
  readonly id: string;
  readonly kind: TaskKind;
  readonly status: TaskStatus;
  readonly done: number;
  /** Null until it is known. */
  readonly total: number | null;
  readonly stored: number;
  readonly failed: number;
  readonly error: string | null;
  readonly started_at: string;
  readonly finished_at: string | null;
  /** The deletion that undoes this import. */
  readonly undo_id: string | null;
}

export function taskOf(json: unknown): Task | undefined {
  if (!isMap(json)) return undefined;
  const kind = taskKinds.find((one) => one === json["kind"]);
  const status = json["status"];
  if (!kind || (status !== "running" && status !== "finished" && status !== "failed")) return undefined;
  const { total, error, finished_at: finished, undo_id: undo } = json;
  return {
    id: String(json["id"]),
    kind,
    status,
    done: Number(json["done"]),
    total: typeof total === "number" ? total : null,
    stored: Number(json["stored"]),
    failed: Number(json["failed"]),
    error: typeof error === "string" ? error : null,
    started_at: String(json["started_at"]),
    finished_at: typeof finished === "string" ? finished : null,
    undo_id: typeof undo === "string" ? undo : null,
  };
}

export function tasksOf(json: unknown): Task[] {
  return Array.isArray(json) ? json.flatMap((one) => taskOf(one) ?? []) : [];
}

/** 0 to 1; undefined where nobody knows how much there is to do. */
export function shareOf({ done, total }: Task): number | undefined {
  if (total === null) return undefined;
  return total === 0 ? 1 : Math.min(1, done / total);
}

export function changesRecords({ kind }: Pick<Task, "kind">): boolean {
  return kind === "update" || kind === "delete";
}
