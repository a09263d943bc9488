/** `expires_at` as clients write it: a date means the end of that day in the account's time zone. behaviour B.3. */

const dateForm = /^(\d{4})-(\d{2})-(\d{2})$/;
const timeForm =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|z|[+-]\d{2}(?::?\d{2})?)?$/;
const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const dayMs = 86_400_000;

/** The instant of a date or a date with time (in `timezone` if it has no offset); undefined if it is neither. */
export function parseExpiry(text: string, timezone: string): Date | undefined {
  const date = dateForm.exec(text);
  if (date) {
    const start = utc(date.slice(1));
    return start === undefined ? undefined : instant(inZone(start + dayMs, timezone) - 1);
  }
  const time = timeForm.exec(text);
  if (!time) return undefined;
  const fraction = Number((time[7] ?? "").padEnd(3, "0").slice(0, 3));
  const local = utc(time.slice(1, 7), fraction);
  if (local === undefined) return undefined;
  const offset = time[8];
  if (offset === undefined) return instant(inZone(local, timezone));
  const minutes = offsetMinutes(offset);
  return minutes === undefined ? undefined : instant(local - minutes * 60_000);
}

/** Milliseconds as if the parts were UTC; undefined if the day or time does not exist. */
function utc(parts: readonly (string | undefined)[], milliseconds = 0): number | undefined {
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts.map((part) => Number(part ?? 0));
  const at = new Date(Date.UTC(year, month - 1, day, hour, minute, second, milliseconds));
  const real =
    year >= 1000 &&
    at.getUTCFullYear() === year &&
    at.getUTCMonth() === month - 1 &&
    at.getUTCDate() === day &&
    at.getUTCHours() === hour &&
    at.getUTCMinutes() === minute &&
    at.getUTCSeconds() === second;
  return real ? at.getTime() : undefined;
}

/** `+02:00`, `-0530`, `+02`, `Z` */
function offsetMinutes(offset: string): number | undefined {
  if (/^z$/i.test(offset)) return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(3).replace(":", "") || 0);
  if (hours > 23 || minutes > 59) return undefined;
  return (hours * 60 + minutes) * (offset.startsWith("-") ? -1 : 1);
}

/** The instant at which clocks in `timezone` show this time; a near one if they skip it or show it twice. */
function inZone(local: number, timezone: string): number {
  const guess = local - zoneOffset(local, timezone);
  return local - zoneOffset(guess, timezone);
}

/** How far the clocks of `timezone` are ahead of UTC at this instant, in milliseconds. */
function zoneOffset(at: number, timezone: string): number {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const shown = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const part = (name: Intl.DateTimeFormatPartTypes) => shown.get(name) ?? 0;
  const local = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  return local - Math.floor(at / 1000) * 1000;
}

/** PostgreSQL and ISO 8601 in JavaScript agree on years of four digits. */
function instant(at: number): Date {
  return new Date(Math.min(at, latest));
}
