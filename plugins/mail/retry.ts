/** When a mail is tried again that its server did not take. Pure. */

const minute = 60;
const hour = 60 * minute;
/** A server that is being mended is back within a day; the first waits are short because most faults are. */
const waits = [30, 2 * minute, 10 * minute, 30 * minute, hour, 3 * hour, 6 * hour, 12 * hour];

/** Seconds until the next attempt after this many failed ones; undefined = no more. */
export function secondsUntilRetry(attempts: number): number | undefined {
  return waits[attempts - 1];
}
