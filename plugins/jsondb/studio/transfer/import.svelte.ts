/** An import: its file, its faulty rows and how they were mended, and what was stored of it. */
import { ApiError, get, isMap, menu, messageOf, request, router, session, text, toasts } from "studio";
import { Database } from "../database.svelte.ts";
import { dbPath, taskPath } from "../paths.ts";
import { Check, type Typed } from "./check.svelte.ts";
import { reportOf, rowsIn, type Fault, type Report } from "./faults.ts";
import { keep, readKept } from "./kept.ts";
import { wordsIn } from "./send.ts";
import { importPath, Source } from "./source.svelte.ts";
import { taskOf } from "./tasks.ts";
import { allFaults, keepTogether } from "./watched.svelte.ts";
import { say, texts } from "./words.ts";

/** Goes on while another page of the Studio is looked at. */
const imports = new Map<string, Import>();

/** Without a database the file becomes a new one. */
export function importOf(db: string | undefined): Import {
  const key = db ?? "";
  let known = imports.get(key);
  // No page owns it.
  if (!known) $effect.root(() => void (known = new Import(db)));
  known ??= new Import(db);
  imports.set(key, known);
  return known;
}

interface Result {
  readonly total: number;
  readonly stored: number;
  readonly mended: number;
  readonly faults: readonly Fault[];
  /** Rows that were refused, also those whose mistakes the server does not keep. */
  readonly failed: number;
  readonly error: string;
  /** What stored the rows, and mended ones after them. */
  readonly tasks: readonly string[];
  /** It was taken back. */
  readonly isUndone: boolean;
}

export class Import {
  readonly source: Source;
  readonly check: Check;
  /** What the new database is called. */
  name = $state("");
  nameProblem = $state("");
  isLooking = $state(false);
  problem = $state("");
  /** 0 to 1 while the file is sent, undefined when nothing is. */
  progress = $state<number | undefined>();
  /** An upload that has had no answer: the page was left, or the connection lost. */
  isUnanswered = $state(false);
  taskId = $state<string | undefined>();
  result = $state.raw<Result | undefined>();
  /** The Idempotency-Key: sent again with it, the file is stored once, even if only the answer was lost. */
  private key: string | undefined;
  /** The same of mended rows. */
  private sent: { readonly of: string; readonly key: string } | undefined;
  private looking = new AbortController();
  private running: AbortController | undefined;

  constructor(db: string | undefined) {
    this.source = new Source(db);
    this.check = new Check(this.source, () => void this.keepState());
  }

  // The file.

  async choose(file: File): Promise<void> {
    this.clear();
    this.source.file = file;
    if (this.source.db === undefined && this.name === "") this.name = file.name.replace(/\.\w+$/, "");
    await keep(this.place("file"), new Uint8Array(await file.arrayBuffer()));
    await this.look();
  }

  private clear(): void {
    this.looking.abort();
    this.source.clear();
    this.check.clear();
    this.result = this.taskId = this.key = undefined;
    this.problem = this.nameProblem = "";
    this.isUnanswered = this.isLooking = false;
  }

  /** Forgets the file. */
  async drop(): Promise<void> {
    this.clear();
    this.name = "";
    await this.forget();
  }

  private async forget(): Promise<void> {
    await Promise.all(["file", "state"].map((part) => keep(this.place(part), undefined)));
  }

  /** Looks at the file as it was said to be: all that its rows were is open again. */
  async look(isSame = false): Promise<void> {
    this.looking.abort();
    const { signal } = (this.looking = new AbortController());
    this.problem = "";
    this.isLooking = true;
    if (!isSame) this.key = undefined;
    try {
      this.problem = await this.source.look(signal);
      if (this.problem === "") this.problem = await this.check.run(signal);
      await this.keepState();
    } catch (error) {
      if (!signal.aborted) this.problem = messageOf(error);
    } finally {
      if (!signal.aborted) this.isLooking = false;
    }
  }

  // The import.

  /** Stores the good rows; then `result` says what became of them. */
  async send(): Promise<void> {
    const { source } = this;
    if (this.progress !== undefined) return;
    this.problem = this.nameProblem = "";
    this.progress = 0;
    this.key ??= crypto.randomUUID();
    this.isUnanswered = true;
    await this.keepState();
    addEventListener("beforeunload", warn);
    const { signal } = (this.running = new AbortController());
    try {
      await source.addFields();
      const isNew = source.db === undefined;
      const sending = { key: this.key, signal, onprogress: (share: number) => (this.progress = share) };
      const { json, task } = isNew
        ? await source.send("/core/dbs/from_file", { name: this.name, history: "true" }, sending)
        : await source.send(importPath(source.db), { partial: "true" }, sending);
      this.isUnanswered = false;
      this.key = undefined;
      if (isNew) await this.made(json);
      else await this.stored(reportOf(json), json, task);
    } catch (error) {
      this.isUnanswered &&= !signal.aborted;
      const isCut = error instanceof ApiError && error.status === 0;
      this.problem = signal.aborted ? say("stopped") : isCut ? say("cutOff") : messageOf(error);
    } finally {
      removeEventListener("beforeunload", warn);
      this.progress = undefined;
      await this.keepState();
    }
  }

  stop(): void {
    this.running?.abort(new DOMException("stopped", "AbortError"));
  }

  /** The import of the new database from now on. */
  private async made(json: unknown): Promise<void> {
    const { db, task, name } = isMap(json) ? json : {};
    const made = taskOf(task);
    if (!isMap(db) || !made) {
      if (name === undefined) this.problem = wordsIn(json, this.source.file?.name);
      else this.nameProblem = wordsIn({ base: name });
      return;
    }
    await this.forget();
    imports.delete("");
    const code = (this.source.db = String(db["code"]));
    this.source.database = new Database(code);
    void menu.read();
    imports.set(this.source.db, this);
    const bytes = await this.source.file?.arrayBuffer();
    if (made.failed > 0 && bytes) await keep(this.place("file"), new Uint8Array(bytes));
    await this.conclude({ imported: made.stored, failed: made.failed, total: made.done, faults: [] }, made.id);
    if (made.failed > 0) return;
    const undo = () => request("DELETE", dbPath(code)).then(() => router.go("/studio/core/dbs"));
    toasts.offerUndo(
      text.count(texts().importedRows, made.stored),
      () => void undo().catch((error: unknown) => toasts.fail(error)),
    );
  }

  private async stored(report: Report | undefined, json: unknown, task: string | undefined): Promise<void> {
    if (report && task !== undefined && report.total > 0) return this.conclude(report, task);
    this.problem = wordsIn(
      report ? { file: report.faults.map(({ message }) => message) } : json,
      this.source.file?.name,
    );
  }

  /** The rows are stored; those that were mended before follow. */
  private async conclude(report: Report, task: string): Promise<void> {
    this.taskId = task;
    const faults = report.failed > 0 ? await allFaults(this.source.db ?? "", task) : [];
    this.result = {
      total: report.total,
      stored: report.imported,
      mended: 0,
      faults,
      failed: report.failed,
      error: "",
      tasks: [task],
      isUndone: false,
    };
    await this.source.read(rowsIn(faults));
    const ready = [...this.check.mended].filter((row) => faults.some((fault) => fault.row === row));
    this.check.mended = new Set();
    if (ready.length > 0) await this.sendMended(ready);
  }

  /** Stores mended rows; those that are refused again stay, with what is said of them now. */
  async sendMended(rows: readonly number[]): Promise<void> {
    const before = this.result;
    if (!before || rows.length === 0) return;
    const mended = rows.map((row) => this.check.mendedRow(row));
    const of = JSON.stringify(mended);
    if (this.sent?.of !== of) this.sent = { of, key: crypto.randomUUID() };
    const { json, status, task } = await this.source.sendRows(mended, { partial: "true" }, { key: this.sent.key });
    const report = reportOf(json);
    if (!report) throw new ApiError(status, wordsIn(json));
    const again = report.faults.map((fault) => ({ ...fault, row: rows[fault.row - 1] ?? fault.row, line: undefined }));
    const stored = rows.filter((row) => !again.some((fault) => fault.row === row));
    this.check.typed = new Map([...this.check.typed].filter(([row]) => !stored.includes(row)));
    this.result = {
      ...before,
      stored: before.stored + stored.length,
      tasks: stored.length > 0 && task ? [...before.tasks, task] : before.tasks,
      mended: before.mended + stored.length,
      failed: before.failed - stored.length,
      faults: [...before.faults.filter(({ row }) => !rows.includes(row)), ...again].toSorted((a, b) => a.row - b.row),
    };
    const { tasks: ids, stored: all } = this.result;
    if (ids.length > 1) await keepTogether(ids, all).catch(() => undefined); // each can be undone by itself
    await this.keepState();
  }

  async undone(): Promise<void> {
    if (this.result) this.result = { ...this.result, isUndone: true };
    await this.keepState();
  }

  /** The same file again, after it was forgotten: its faulty rows are read, and nothing is sent. */
  async chooseAgain(file: File): Promise<void> {
    this.source.file = file;
    this.problem = await this.source.look(AbortSignal.timeout(60_000));
    await this.source.read(rowsIn(this.result?.faults ?? []));
  }

  /** An import that was begun in another tab or by a program, or here before the page was loaded again. */
  async open(id: string): Promise<void> {
    if (this.taskId === id) return;
    this.clear();
    await this.restore();
    if (this.taskId === id && this.result) return;
    this.clear();
    const db = this.source.db ?? "";
    const task = taskOf((await get(taskPath(db, id))).json);
    if (!task || task.status === "running") return;
    this.taskId = id;
    const { done, total, stored, failed, error } = task;
    const faults = failed > 0 ? await allFaults(db, id) : [];
    this.result = {
      total: total ?? done,
      stored,
      mended: 0,
      faults,
      failed,
      error: error ?? "",
      tasks: [id],
      isUndone: task.undo_id !== null,
    };
  }

  // What outlasts the page.

  private place(part: string): string {
    return `${session.person.id} ${this.source.db ?? ""} ${part}`;
  }

  private async keepState(): Promise<void> {
    const { source, check, name, key, isUnanswered, taskId, result } = this;
    const { file, table, options, targets, formats, preview } = source;
    if (!file) return;
    if (result?.failed === 0) return this.forget();
    const kept: Kept = {
      fileName: file.name,
      source: { table, options, targets, formats, preview },
      own: { name, isUnanswered, taskId, result },
      key,
      typed: [...check.typed],
      settled: check.settled,
    };
    await keep(this.place("state"), new TextEncoder().encode(JSON.stringify(kept)));
  }

  /** What was begun here and is not over. */
  async restore(): Promise<void> {
    if (this.source.file) return;
    const [bytes, state] = await Promise.all(["file", "state"].map((part) => readKept(this.place(part))));
    if (!bytes || !state || this.source.file) return;
    const kept = JSON.parse(new TextDecoder().decode(state)) as Kept; // written by keepState
    Object.assign(this.source, kept.source);
    Object.assign(this, kept.own);
    this.check.typed = new Map(kept.typed);
    this.check.settled = kept.settled;
    this.source.file = new File([bytes], kept.fileName);
    if (this.result) return this.source.read(rowsIn(this.result.faults));
    this.key = kept.key;
    await this.look(true);
  }
}

interface Kept {
  readonly fileName: string;
  readonly source: Partial<Source>;
  readonly own: Partial<Import>;
  readonly key: string | undefined;
  readonly typed: readonly (readonly [number, Typed])[];
  readonly settled: readonly string[];
}

/** The upload goes on in other pages of the Studio, but not when all of it is left. */
function warn(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
