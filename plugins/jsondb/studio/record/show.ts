/** Values as people write them, in a language and the account's time zone. Pure. */

const dayMs = 86_400_000;
const nearDays = 7;

function dayNumber(day: string): number {
  return Math.floor(Date.parse(`${day}T00:00:00Z`) / dayMs);
}

/** Within a week by its distance or weekday, else as a date; the year where it is not this one. `today` is a day, too. */
export function dayText(day: string, today: string, language: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return day;
  const away = dayNumber(day) - dayNumber(today);
  if (Math.abs(away) <= 1)
    return capital(new Intl.RelativeTimeFormat(language, { numeric: "auto" }).format(away, "day"));
  const isNear = Math.abs(away) <= nearDays;
  return new Intl.DateTimeFormat(language, {
    timeZone: "UTC",
    day: "numeric",
    month: "short",
    ...(isNear && { weekday: "short" }),
    ...(day.slice(0, 4) !== today.slice(0, 4) && { year: "numeric" }),
  }).format(date);
}

export function fullDay(day: string, language: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return day;
  return new Intl.DateTimeFormat(language, { timeZone: "UTC", dateStyle: "full" }).format(date);
}

export function moneyText(value: number, currency: unknown, language: string): string {
  try {
    return new Intl.NumberFormat(language, { style: "currency", currency: String(currency) }).format(value);
  } catch {
    return new Intl.NumberFormat(language, { minimumFractionDigits: 2 }).format(value); // it names no currency
  }
}

export function percentShown(value: number, language: string): string {
  return new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 4 }).format(value);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const safeAddress = /^(?:https?:\/\/|mailto:|tel:)/i;

/** Where a text leads, if it is an address of its kind. */
export function addressOfValue(kind: string, value: string): string | undefined {
  if (kind === "email") return `mailto:${encodeURIComponent(value).replace("%40", "@")}`;
  if (kind === "phone") return `tel:${value.replaceAll(/[^\d+]/g, "")}`;
  return kind === "url" && safeAddress.test(value) ? value : undefined;
}
