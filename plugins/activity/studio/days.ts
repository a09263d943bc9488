/** Spans of days that people choose, as days of the address and as times of the API. Pure. */
const dayMs = 86_400_000;
const dayAfter = (day: string, days: number) => new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);

/** "" = at any time, "1" = today, "7" and "30" = the last days with today, "days" = others. */
export function spanOf(from: string | null, to: string | null, today: string): string {
  if (!from && !to) return "";
  const known = ["1", "7", "30"].find((count) => !to && from === dayAfter(today, 1 - Number(count)));
  return known ?? "days";
}

export function daysOf(span: string, today: string): { from: string | undefined; to: undefined } {
  return { from: span === "" ? undefined : dayAfter(today, 1 - Number(span)), to: undefined };
}

/** `to` is a whole day, and the API wants the time that it ends. What is no day is left as it is; `timeOf` knows the zone. */
export function timesOf(
  query: readonly (readonly [string, string])[],
  timeOf: (local: string) => string,
): [string, string][] {
  return query.map(([name, value]) => {
    if ((name !== "from" && name !== "to") || !/^\d{4}-\d\d-\d\d$/.test(value)) return [name, value];
    return [name, timeOf(`${name === "to" ? dayAfter(value, 1) : value}T00:00`)];
  });
}
