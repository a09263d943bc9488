/** The tasks of a database, looked at while a page shows them: also those that another tab, person or program began. */
import { get, messageOf } from "studio";
import { listOfTasks } from "../paths.ts";
import { tasksOf, type Task, type TaskKind } from "./tasks.ts";

export const busyMs = 1000;
const idleMs = 10_000;

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
