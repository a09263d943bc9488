/** A cron as it is to be stored, from a request and the stored cron. No SQL, no HTTP. */
import { forbidden, mistakes, type Caller } from "platform";
import type { Flows } from "../flows/api.ts";
import { isTimezone, nextRun, scheduleMistake } from "./schedule.ts";
import type { CronInput, CronRow } from "./store.ts";

/** The fields of a request; each may be missing. */
interface CronPatch {
  readonly name?: string | null;
  readonly target_code?: string;
  readonly schedule?: string;
  readonly timezone?: string | null;
  readonly active?: boolean;
  readonly missed?: "skip" | "latest";
}

/** Throws the 422 that names every mistake, or a 403. */
export async function checkedInput(
  flows: Pick<Flows, "flowExists">,
  caller: Caller,
  now: Date,
  patch: CronPatch,
  before?: CronRow,
): Promise<CronInput> {
  const { account } = caller;
  const found = mistakes();
  const targetCode = patch.target_code ?? before?.targetCode ?? "";
  const schedule = (patch.schedule ?? before?.schedule ?? "").trim();
  const timezone = (patch.timezone === undefined ? before?.timezone : patch.timezone) || account.timezone;
  const mistake = scheduleMistake(schedule);
  if (mistake !== undefined) found.add("schedule", mistake);
  if (!isTimezone(timezone)) found.add("timezone", "must be the name of a time zone, e.g. Europe/Warsaw");
  // Only a new target is checked: a cron whose flow is gone can still be switched off.
  if (patch.target_code !== undefined && !(await flows.flowExists(account.id, targetCode)))
    found.add("target_code", "names no flow of this account");
  found.check();
  if (targetCode !== before?.targetCode && !caller.privileges.has("flows"))
    throw forbidden("`target_code`: naming a flow needs the privilege `flows`");
  const active = patch.active ?? before?.active ?? true;
  const same = before?.active === true && before.schedule === schedule && before.timezone === timezone;
  const nextRunAt = !active ? null : same ? before.nextRunAt : nextRun({ schedule, timezone }, now);
  const missed = patch.missed ?? before?.missed ?? "skip";
  const name = (patch.name === undefined ? before?.name : patch.name) || targetCode;
  return { name, kind: "flow", targetCode, schedule, timezone, active, missed, nextRunAt };
}
