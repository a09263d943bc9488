/** A cron: a flow that is started on a schedule. behaviour 2.6 and B.9. */
import { answer, column, field, filter, forbidden, resource } from "platform";
import type { At, Change, DraftOf, Mistakes, RowOf } from "platform";
import type { Flows } from "../flows/api.ts";
import { isTimezone, nextRun, nextRuns, scheduleMistake } from "./schedule.ts";

const { choice, flag, text, time, usual } = column;

const fields = {
  name: text({
    ...usual.name,
    help: ["Empty: the name of its flow.", "Puste pole: nazwa przepływu.", "Leer: der Name des Ablaufs."],
    body: field.line(),
    blank: "",
    example: "Every morning",
  }),
  kind: text({
    label: ["What it starts", "Co uruchamia", "Was gestartet wird"],
    choices: { flow: ["Flow", "Przepływ", "Ablauf"] },
    body: field.oneOf(["flow"]),
    blank: "flow",
  }),
  target_code: text({
    label: ["Flow", "Przepływ", "Ablauf"],
    body: field.from(field.name(100), { path: "/connect/flows.json", value: "code" }),
    example: "weather-advice",
  }),
  schedule: text({
    label: ["When", "Kiedy", "Wann"],
    help: [
      "Minute, hour, day, month, weekday: 0 7 * * 1 is each Monday at 7:00.",
      "Minuta, godzina, dzień, miesiąc, dzień tygodnia: 0 7 * * 1 to każdy poniedziałek o 7:00.",
      "Minute, Stunde, Tag, Monat, Wochentag: 0 7 * * 1 ist jeden Montag um 7:00 Uhr.",
    ],
    body: field.name(200),
    example: "0 7 * * *",
  }),
  timezone: text({
    label: ["Time zone", "Strefa czasowa", "Zeitzone"],
    help: ["Empty: that of the account.", "Puste pole: strefa konta.", "Leer: die des Kontos."],
    body: field.line(64),
    blank: "",
    example: "Europe/Warsaw",
  }),
  active: flag({ ...usual.active, body: field.flag(), blank: true }),
  missed: choice(["skip", "latest"], {
    label: ["Missed times", "Przegapione terminy", "Verpasste Termine"],
    help: [
      "What to do about times at which no server ran.",
      "Co zrobić z terminami, w których serwer nie działał.",
      "Was mit Terminen geschieht, zu denen kein Server lief.",
    ],
    choices: {
      skip: ["Leave them out", "Pomiń je", "Auslassen"],
      latest: ["Make up for the last one", "Nadrób ostatni", "Den letzten nachholen"],
    },
    blank: "skip",
  }),
  last_run_at: time({ label: ["Last run", "Ostatnie uruchomienie", "Letzter Durchlauf"], by: "server", orNull: true }),
  next_run_at: time({
    label: ["Next run", "Następne uruchomienie", "Nächster Durchlauf"],
    by: "check",
    orNull: true,
    quiet: true,
    example: new Date("2026-02-01T06:00:00.000Z"),
  }),
  last_error: text({ label: ["Last error", "Ostatni błąd", "Letzter Fehler"], by: "server", orNull: true }),
};

export type CronRow = RowOf<typeof fields, "integer">;

export interface CronAt extends At {
  readonly flows: Pick<Flows, "flowName">;
}

export const Cron = resource("cron", {
  table: "crons",
  path: "/account/crons",
  id: "integer",
  privilege: "crons",
  model: "Core::Cron",
  fields,
  derived: {
    next_runs: {
      label: ["Next runs", "Następne uruchomienia", "Nächste Durchläufe"],
      schema: answer.list(answer.time()),
    },
  },
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
  const flowName = await flows.flowName(tx, caller.account.id, after.targetCode);
  // Only a new target is checked: a cron whose flow is gone can still be switched off.
  if (target_code !== undefined && flowName === undefined) wrong.add("target_code", "names no flow of this account");
  wrong.check();
  if (after.targetCode !== before?.targetCode && !caller.privileges.has("flows"))
    throw forbidden("`target_code`: naming a flow needs the privilege `flows`");
  const same = before?.active === true && before.schedule === schedule && before.timezone === timezone;
  const nextRunAt = !after.active ? null : same ? before.nextRunAt : nextRun({ schedule, timezone }, now());
  return { ...after, schedule, timezone, name: after.name || flowName || after.targetCode, nextRunAt };
}
