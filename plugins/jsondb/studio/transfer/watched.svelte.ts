/** One task of a database: its progress, its faults, and the imports that it is undone with. */
import { changePreference, get, mapsIn, messageOf, preference, request, toasts } from "studio";
import { stopPath, taskErrorsPath, taskPath } from "../paths.ts";
import { faultList, type Fault } from "./faults.ts";
import { busyMs } from "./tasks.svelte.ts";
import { taskOf, type Task } from "./tasks.ts";

const errorsAtOnce = 1000;

/** One task, until it has ended. */
export class WatchedTask {
  task = $state.raw<Task | undefined>();
  problem = $state("");
  private readonly path: string;

  constructor(db: string, id: string) {
    this.path = taskPath(db, id);
  }

  follow(): () => void {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      try {
        const { json } = await get(this.path, stop.signal);
        this.task = taskOf(json);
        this.problem = "";
        if (this.task?.status === "running") timer = setTimeout(() => void look(), busyMs);
      } catch (error) {
        if (!stop.signal.aborted) this.problem = messageOf(error);
      }
    };
    void look();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }
}

/** Imports whose mended rows followed as others: they are undone together. The last of a person are kept. */
const groups = "studio.imports";
const mostGroups = 30;

export async function keepTogether(ids: readonly string[], stored: number): Promise<void> {
  const others = (before: unknown) => mapsIn(before).filter((one) => !idsIn(one).includes(ids[0] ?? ""));
  await changePreference(groups, (before) => [...others(before), { ids, stored }].slice(-mostGroups));
}

/** The imports that belong to this one, and how many records they have made. */
export async function togetherWith(ids: readonly string[], stored: number) {
  const found = mapsIn(await preference(groups)).find((one) => idsIn(one).includes(ids[0] ?? ""));
  return found ? { ids: idsIn(found), stored: Number(found["stored"]) } : { ids, stored };
}

const idsIn = ({ ids }: Readonly<Record<string, unknown>>) => (Array.isArray(ids) ? ids.map(String) : []);

/** Waits for the end of a task. */
export async function taskEnd(db: string, id: string): Promise<Task | undefined> {
  for (;;) {
    const task = taskOf((await get(taskPath(db, id))).json);
    if (task?.status !== "running") return task;
    await new Promise((resolve) => setTimeout(resolve, busyMs));
  }
}

/** Stops a task; its finished part stays. */
export async function stopTask(db: string, id: string): Promise<void> {
  try {
    await request("POST", stopPath(db, id));
  } catch (error) {
    toasts.fail(error);
  }
}

export interface FaultPage {
  readonly faults: readonly Fault[];
  /** How many mistakes the server keeps. */
  readonly total: number;
}

export async function faultPage(
  db: string,
  id: string,
  { offset, limit, signal }: { offset: number; limit: number; signal?: AbortSignal },
): Promise<FaultPage> {
  const { json, headers } = await get(`${taskErrorsPath(db, id)}?limit=${limit}&offset=${offset}`, signal);
  return { faults: faultList(json), total: Number(headers.get("x-total-count") ?? 0) };
}

/** All that the server keeps, at most 10,000. */
export async function allFaults(db: string, id: string): Promise<Fault[]> {
  const found: Fault[] = [];
  for (;;) {
    const { faults, total } = await faultPage(db, id, { offset: found.length, limit: errorsAtOnce });
    found.push(...faults);
    if (faults.length === 0 || found.length >= total) return found;
  }
}
