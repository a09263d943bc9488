/** The server's response to a schedule that is being typed. Pure. */

type Values = Readonly<Record<string, unknown>>;

export interface NextRuns {
  readonly timezone: string;
  readonly times: readonly string[];
}

/** Its address; undefined as long as nobody would expect an answer. */
export function nextPath(schedule: string, timezone: string): string | undefined {
  if (schedule.trim() === "") return undefined;
  const query = new URLSearchParams({ schedule: schedule.trim(), count: "3" });
  if (timezone.trim() !== "") query.set("timezone", timezone.trim());
  return `/account/crons/next.json?${query}`;
}

export function nextOf(json: unknown): NextRuns {
  const answer: Values = typeof json === "object" && json !== null ? { ...json } : {};
  const { timezone, next_runs: runs } = answer;
  return {
    timezone: typeof timezone === "string" ? timezone : "",
    times: Array.isArray(runs) ? runs.filter((one) => typeof one === "string") : [],
  };
}
