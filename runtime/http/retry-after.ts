/** `Retry-After` in seconds: a number or an HTTP date. Null for what is neither. */
export function parseRetryAfter(value: string | null, now = Date.now()): number | null {
  const text = value?.trim() ?? "";
  if (/^\d{1,10}$/.test(text)) return Number(text);
  // `Date.parse` reads much that is no date; an HTTP date begins with the day of the week.
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? null : Math.max(0, (at - now) / 1000);
}
