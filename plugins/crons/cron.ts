/** A cron: a flow that is started on a schedule. behaviour 2.6 and B.9. */
import { answer, column, field, filter, forbidden, resource } from "platform";
import type { At, Change, DraftOf, Mistakes, RowOf } from "platform";
import type { Flows } from "../flows/api.ts";
import { isTimezone, nextRun, nextRuns, scheduleMistake } from "./schedule.ts";

const { choice, flag, text, time } = column;

const fields = {
  name: text({ body: field.line(), blank: "", example: "Every morning" }),
  kind: text({ body: field.oneOf(["flow"]), blank: "flow" }),
  target_code: text({
    body: field.from(field.name(100), { path: "/connect/flows.json", value: "code" }),
    example: "weather-advice",
  }),
  schedule: text({ body: field.name(200), example: "0 7 * * *" }),
  timezone: text({ body: field.line(64), blank: "", example: "Europe/Warsaw" }),
  active: flag({ body: field.flag(), blank: true }),
  missed: choice(["skip", "latest"], { blank: "skip" }),
  last_run_at: time({ by: "server", orNull: true }),
  next_run_at: time({ by: "check", orNull: true, quiet: true, example: new Date("2026-02-01T06:00:00.000Z") }),
  last_error: text({ by: "server", orNull: true }),
};

export type CronRow = RowOf<typeof fields, "integer">;

export interface CronAt extends At {
  readonly flows: Pick<Flows, "flowExists">;
}

export const Cron = resource("cron", {
  table: "crons",
  path: "/account/crons",
  id: "integer",
  privilege: "crons",
  model: "Core::Cron",
  fields,
  derived: { next_runs: answer.list(answer.time()) },
  filters: { target_code: filter.exact() },
  check,
  derive: ({ now }, row) => ({ next_runs: row.active ? nextRuns(row, 5, now()) : [] }),
  example: { id: 7, next_runs: ["2026-02-01T06:00:00.000Z", "2026-02-02T06:00:00.000Z"].map((at) => new Date(at)) },
  request: ["name", "kind", "target_code", "schedule"],
  change: { active: false },
  changes: { next_run_at: null, next_runs: [] },
  docs: {
    get: { summary: "One cron, with its next five due times" },
    create: {
      description:
        'Starts the flow `target_code` with the input { kind: "cron", cron_id }. `schedule` has five fields, in ' +
        "`timezone` (default: the account's). `missed` is for due times while no server ran: `skip` leaves them out, " +
        "`latest` fires the latest one. Naming a flow needs the privilege `flows`.",
      refusals: { 422: { schedule: ["is not a cron expression: …"] } },
    },
    change: { description: "A run of the cron is no change of it: `If-Match` compares what people have set." },
  },
});

async function check(
  { flows, caller, now }: CronAt,
  { tx, given, before, after }: Change<typeof fields, "integer">,
  wrong: Mistakes,
): Promise<DraftOf<typeof fields>> {
  const { target_code } = given;
  const schedule = after.schedule.trim();
  const timezone = after.timezone || caller.account.timezone;
  const mistake = scheduleMistake(schedule);
  if (mistake !== undefined) wrong.add("schedule", mistake);
  if (!isTimezone(timezone)) wrong.add("timezone", "must be the name of a time zone, e.g. Europe/Warsaw");
  // Only a new target is checked: a cron whose flow is gone can still be switched off.
  if (target_code !== undefined && !(await flows.flowExists(tx, caller.account.id, target_code)))
    wrong.add("target_code", "names no flow of this account");
  wrong.check();
  if (after.targetCode !== before?.targetCode && !caller.privileges.has("flows"))
    throw forbidden("`target_code`: naming a flow needs the privilege `flows`");
  const same = before?.active === true && before.schedule === schedule && before.timezone === timezone;
  const nextRunAt = !after.active ? null : same ? before.nextRunAt : nextRun({ schedule, timezone }, now());
  return { ...after, schedule, timezone, name: after.name || after.targetCode, nextRunAt };
}
