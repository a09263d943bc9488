/** The answers of the routes of crons. */
import { answer, field, Type } from "platform";

const listed = {
  id: Type.Integer(),
  name: Type.String(),
  kind: Type.String(),
  target_code: Type.String(),
  schedule: Type.String(),
  timezone: Type.String(),
  active: Type.Boolean(),
  missed: field.oneOf(["skip", "latest"]),
  last_run_at: field.nullable(answer.time()),
  next_run_at: field.nullable(answer.time()),
  last_error: field.nullable(Type.String()),
  created_at: answer.time(),
  updated_at: answer.time(),
};

export const ListedCron = answer.object("ListedCron", listed);
export const Cron = answer.object("Cron", { ...listed, next_runs: answer.list(answer.time()) });
export const CronRun = answer.object("CronRun", { flow_process_id: answer.uuid() });
export const NextRuns = answer.object("CronNextRuns", {
  schedule: Type.String(),
  timezone: Type.String(),
  next_runs: answer.list(answer.time()),
});
