/** The answers of the routes of crons beside the usual five. */
import { answer, Type } from "platform";

export const CronRun = answer.object("CronRun", { flow_process_id: answer.uuid() });
export const NextRuns = answer.object("CronNextRuns", {
  schedule: Type.String(),
  timezone: Type.String(),
  next_runs: answer.list(answer.time()),
});
