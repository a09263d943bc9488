/** Times between the API (ISO 8601) and what people type: the day and time of the account's time zone. */

/** `2026-01-31T11:00`; a text that is no time is empty. */
export function localOf(time: string | number, timeZone: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "";
  const parts = new Intl.DateTimeFormat("en-CA", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  }).formatToParts(date);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? "";
  return `${part("year").padStart(4, "0")}-${part("month")}-${part("day")}T${part("hour")}:${part("minute")}`;
}

/** In UTC. Of a time that clocks skip, the one an hour later; of one that comes twice, one of the two. */
export function timeOf(local: string, timeZone: string): string {
  const wanted = Date.parse(`${local}Z`);
  if (Number.isNaN(wanted)) return "";
  const offsetAt = (time: number) => Date.parse(`${localOf(time, timeZone)}Z`) - time;
  const near = wanted - offsetAt(wanted);
  return new Date(wanted - offsetAt(near)).toISOString();
}
