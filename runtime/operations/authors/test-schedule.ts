/** Runs a schedule of a server under test without waiting for its time. */
import type { Sql } from "../../db/db.ts";
import { writeJob } from "../../jobs/job-store.ts";
import { jobOf } from "../../jobs/schedule.ts";
import { eventually } from "./test-client.ts";

/** Waits until the schedule `id` has run once, as if it were due at `dueAt`; throws what it has failed with. */
export async function runSchedule(sql: Sql, id: string, dueAt: Date): Promise<void> {
  const payload = { dueAt: dueAt.toISOString() };
  const ended = await writeJob(sql, { name: jobOf(id).id, payload, maxAttempts: 1 });
  const { outcome, error } = await eventually(ended, `a run of the schedule "${id}" (is that its id?)`);
  if (outcome !== "done") throw new Error(`the schedule "${id}" failed: ${error}`);
}
