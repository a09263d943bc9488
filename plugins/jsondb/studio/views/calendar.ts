/** The days of a month's page, in whole weeks from Monday. Pure. */

const dayMs = 86_400_000;

export function daysOf(month: string): string[] {
  const first = Date.parse(`${month}-01T00:00:00Z`);
  const begin = first - ((new Date(first).getUTCDay() + 6) % 7) * dayMs;
  const end = Date.parse(`${monthAfter(month, 1)}-01T00:00:00Z`);
  const weeks = Math.ceil((end - begin) / (7 * dayMs));
  return Array.from({ length: weeks * 7 }, (_, at) => new Date(begin + at * dayMs).toISOString().slice(0, 10));
}

export function monthAfter(month: string, by: number): string {
  const [year = 2000, number = 1] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 1 + by, 1)).toISOString().slice(0, 7);
}
