/** An export as a task, from the moment that it takes a while. */
import type { Log } from "platform";
import type { RunningTask } from "../../tasks/tasks.ts";

export interface ExportTask {
  readonly passed: (records: number) => void;
  /** With an error it has failed. */
  readonly end: (error?: unknown) => Promise<void>;
}

/** A smaller export is over at once. */
const mostUntold = 1000;

export function exportTask(begin: () => Promise<RunningTask>, log: Log): ExportTask {
  let records = 0;
  let task: Promise<RunningTask | undefined> | undefined;
  const progress = () => ({ done: records, stored: 0, failed: 0, errors: [] });

  const begun = async (): Promise<RunningTask | undefined> => {
    try {
      const running = await begin();
      running.follow(progress);
      return running;
    } catch (error) {
      // A database that only reads still exports.
      log.warn("an export is not told as a task", { error });
      return undefined;
    }
  };

  return {
    passed(more) {
      records += more;
      if (records > mostUntold) task ??= begun();
    },
    async end(error) {
      const running = await task;
      if (error === undefined) await running?.end(progress());
      else await running?.fail(error);
    },
  };
}
