/** Imports and exports as tasks: how far they are is written while they run. No HTTP, no SQL. */
import { HttpError, uuidv7 } from "platform";
import type { RowFault } from "../bulk/imports/rows.ts";
import { keptErrors, type NewTask, type Progress } from "./store.ts";
import * as taskStore from "./store.ts";
import type { JsondbContext } from "../context.ts";

export interface RunningTask {
  readonly id: string;
  /** Asked once a second from now on. */
  follow(progress: () => Progress): void;
  /** Keeps mistakes in rows, the first 10,000 of them. */
  refuse(faults: readonly RowFault[]): Promise<void>;
  /** With an error it has failed. */
  end(progress: Progress, result?: TaskResult): Promise<void>;
  /** Ends with the progress that was made until then. */
  fail(error: unknown): Promise<void>;
}

interface TaskResult {
  readonly error?: string | undefined;
  readonly warnings?: readonly string[];
}

const everyMs = 1000;
/** Written even if nothing has changed: a task that is silent for two minutes has lost its process. */
const silentTurns = 30;
const errorsAtOnce = 1000;
const most = { fieldChars: 200, messageChars: 500 };

export async function beginTask(ctx: JsondbContext, task: Omit<NewTask, "id">): Promise<RunningTask> {
  const { accountId } = task;
  // Whoever imports must not fail because their progress cannot be told.
  const warn = (error: unknown) => ctx.log.warn("the progress of a task was not written", { error });
  const id = uuidv7();
  await taskStore.insert(ctx.sql, { ...task, id });
  let current = (): Progress => ({ done: 0, stored: 0, failed: 0, errors: [] });
  let told = "";
  let silent = 0;
  let writing = Promise.resolve();
  let kept = 0;
  const refused: RowFault[] = [];
  const keep = () => {
    const errors = refused.splice(0);
    if (errors.length > 0)
      writing = writing.then(() => taskStore.addErrors(ctx.sql, accountId, id, errors).catch(warn));
    return writing;
  };
  const tell = () => {
    const { done, failed } = current();
    const text = `${done} ${failed}`;
    if (text === told && ++silent < silentTurns) return;
    [told, silent] = [text, 0];
    const progress = bounded(current());
    void keep();
    writing = writing.then(() => taskStore.progress(ctx.sql, accountId, id, progress).catch(warn));
  };
  const timer = setInterval(tell, everyMs);
  const end = async (progress: Progress, { error, warnings = [] }: TaskResult = {}) => {
    clearInterval(timer);
    await keep();
    await taskStore.end(ctx.sql, accountId, id, { ...bounded(progress), error: error ?? null, warnings }).catch(warn);
  };
  return {
    id,
    follow: (progress) => void (current = progress),
    async refuse(faults) {
      const more = faults.slice(0, keptErrors - kept).map(boundedFault);
      kept += more.length;
      refused.push(...more);
      if (refused.length >= errorsAtOnce) await keep();
    },
    end,
    fail: (error) => end(current(), { error: error instanceof HttpError ? error.message : "the server failed" }),
  };
}

/** A name of a field may be as long as a row. */
function bounded(progress: Progress): Progress {
  return { ...progress, errors: progress.errors.map(boundedFault) };
}

export function boundedFault(fault: RowFault): RowFault {
  const { field, message } = fault;
  return { ...fault, field: field && cut(field, most.fieldChars), message: cut(message, most.messageChars) };
}

/** PostgreSQL takes no half of a pair of surrogates. */
function cut(text: string, chars: number): string {
  return text.length > chars ? text.slice(0, chars).toWellFormed() : text;
}
