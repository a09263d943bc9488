/** `published_at` as clients write it. behaviour B.3. */

const dateForm = /^\d{4}-\d{2}-\d{2}$/;
const timeForm = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s*(?:([Zz])|([+-]\d{2}):?(\d{2}))?$/;

/**
 * The instant of a date (its first moment) or of a date with time; without an offset it is read in `timezone`.
 * Undefined if the text is neither.
 */
export function parsePublished(text: string, timezone: string): Date | undefined {
  const trimmed = text.trim();
  const time = dateForm.test(trimmed) ? [trimmed, trimmed, "00:00"] : timeForm.exec(trimmed);
  if (!time) return undefined;
  const [, date = "", clock = "", zulu, hours, minutes = "00"] = time;
  const offset = zulu ? "+00:00" : hours ? `${hours}:${minutes}` : undefined;
  try {
    const local = Temporal.PlainDateTime.from(`${date}T${clock}`);
    if (local.year < 1000) return undefined;
    return new Date(local.toZonedDateTime(offset ?? timezone).epochMilliseconds);
  } catch {
    return undefined; // no such day or time
  }
}
