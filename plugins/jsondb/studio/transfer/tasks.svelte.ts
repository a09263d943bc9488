/** The tasks of a database, looked at while a page shows them: also those that another tab, person or program began. */
import { changePreference, get, mapsIn, messageOf, preference, request, toasts } from "studio";
import { faultList, type Fault } from "./faults.ts";
import { listOfTasks, taskErrorsPath, taskPath, stopPath } from "../paths.ts";
import { taskOf, tasksOf, type Task, type TaskKind } from "./tasks.ts";

const busyMs = 1000;
const idleMs = 10_000;
const errorsAtOnce = 1000;

export class Tasks {
  list = $state.raw<readonly Task[]>([]);
  problem = $state("");
  /** Tasks that ran while the page was open stay until one hides them. */
  private seen = $state.raw<ReadonlySet<string>>(new Set());
  private readonly db: string;
  private readonly kinds: readonly TaskKind[];
  private readonly ended: (task: Task) => void;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private stop = new AbortController();

  constructor(db: string, kinds: readonly TaskKind[], ended: (task: Task) => void = () => {}) {
    this.db = db;
    this.kinds = kinds;
    this.ended = ended;
  }

  readonly running: readonly Task[] = $derived(this.list.filter(({ status }) => status === "running"));
  readonly shown: readonly Task[] = $derived(this.list.filter(({ id }) => this.seen.has(id)));
  readonly latest: Task | undefined = $derived(this.list[0]);

  /** Gives back what ends it. */
  follow(): () => void {
    this.stop = new AbortController();
    const seen = () => document.visibilityState === "visible" && void this.look();
    document.addEventListener("visibilitychange", seen);
    void this.look();
    return () => {
      document.removeEventListener("visibilitychange", seen);
      clearTimeout(this.timer);
      this.stop.abort();
    };
  }

  async look(): Promise<void> {
    clearTimeout(this.timer);
    const { signal } = this.stop;
    try {
      const { json } = await get(listOfTasks(this.db), signal);
      this.take(tasksOf(json).filter(({ kind }) => this.kinds.includes(kind)));
      this.problem = "";
    } catch (error) {
      if (signal.aborted) return;
      this.problem = messageOf(error);
    }
    if (signal.aborted) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(
      () => {
        // A tab that nobody sees asks nothing.
        if (document.visibilityState === "visible") void this.look();
      },
      this.running.length > 0 ? busyMs : idleMs,
    );
  }

  private take(list: readonly Task[]): void {
    const ran = new Set(this.running.map(({ id }) => id));
    this.list = list;
    this.seen = new Set([...this.seen, ...this.running.map(({ id }) => id)]);
    for (const task of list) if (task.status !== "running" && ran.has(task.id)) this.ended(task);
  }

  /** One that was begun here. */
  add(task: Task): void {
    this.take([task, ...this.list.filter(({ id }) => id !== task.id)]);
    void this.look();
  }

  hide(id: string): void {
    this.seen = new Set([...this.seen].filter((other) => other !== id));
  }
}

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
