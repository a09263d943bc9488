/** Dates and times as clients write them. JavaScript's `Date` would read February 31st as March 3rd. */

const dayForm = /^(\d{4})-(\d{2})-(\d{2})$/;
const timeForm = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?([Zz]|[+-](0\d|1[0-5]):?[0-5]\d)$/;

/** `2026-01-31`, if the calendar has that day. */
export function isDay(text: string): boolean {
  const [, year = "", month = "", day = ""] = dayForm.exec(text) ?? [];
  // `Date.UTC` maps years 0 to 99 to 1900 to 1999. The calendar repeats every 400 years, so shift them.
  const at = new Date(Date.UTC(2000 + (Number(year) % 400), Number(month) - 1, Number(day)));
  return Number(year) > 0 && at.getUTCMonth() === Number(month) - 1 && at.getUTCDate() === Number(day);
}

/** `2026-01-31T10:00:00Z`: a day and a time with its offset, as RFC 3339 has it; seconds may be left out. */
export function isDateTime(text: string): boolean {
  return (
    text.length <= 40 && /^[Tt ]$/.test(text.charAt(10)) && isDay(text.slice(0, 10)) && timeForm.test(text.slice(11))
  );
}

const lateDay = /(?<![\d:.+])(?:29|30|31)(?![\d:])/;

/** Like `Date.parse`, but rejects "Feb 31, 2026". `zone` is appended to the text before it is parsed. */
export function parseWords(text: string, zone = ""): number {
  const instant = Date.parse(text + zone);
  const day = Number(lateDay.exec(text)?.[0] ?? 0);
  // The 15th is in the same month in every time zone.
  const middle = new Date(day === 0 ? Number.NaN : Date.parse(text.replace(lateDay, "15") + zone));
  if (Number.isNaN(middle.getTime())) return instant;
  const last = new Date(Date.UTC(middle.getUTCFullYear(), middle.getUTCMonth() + 1, 0));
  return day <= last.getUTCDate() ? instant : Number.NaN;
}
