/** `Retry-After` in seconds, from a number or an HTTP date; null for anything else. */
export function parseRetryAfter(value: string | null, now = Date.now()): number | null {
  const text = value?.trim() ?? "";
  if (/^\d{1,10}$/.test(text)) return Number(text);
  // `Date.parse` accepts much that is not a date; an HTTP date begins with the day of the week.
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? null : Math.max(0, (at - now) / 1000);
}
