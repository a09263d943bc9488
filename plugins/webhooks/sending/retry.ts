/** When a failed delivery is sent again. behaviour B.8. */

/** About 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h. */
export const standardWaits = "5,300,1800,7200,18000,36000,36000";
export const maxRetryAfterSeconds = 86_400;
export const switchOffAfterMs = 5 * 86_400_000;

/** Reads a list of seconds, e.g. `5,300,1800`. Throws an Error that says what is wrong. */
export function parseWaits(text: string): readonly number[] {
  const waits = text.split(",").map((part) => part.trim());
  if (waits.length <= 20 && waits.every((part) => /^\d{1,6}(\.\d{1,3})?$/.test(part))) return waits.map(Number);
  throw new Error("must be at most 20 numbers of seconds, separated by commas");
}

/**
 * Seconds until the next attempt after the `failures`th failure, or undefined after the last one. Up to a tenth more
 * or less, so that deliveries that failed together are not retried together; never sooner than the receiver asked.
 */
export function nextWait(
  waits: readonly number[],
  failures: number,
  retryAfterSeconds: number | null,
  random = Math.random(),
) {
  const wait = waits[failures - 1];
  if (wait === undefined) return undefined;
  const asked = Math.min(retryAfterSeconds ?? 0, maxRetryAfterSeconds);
  return Math.max(wait * (0.9 + random / 5), asked * (1 + random / 50));
}
