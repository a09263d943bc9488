/** Which backups to keep. Pure. */

/** How many hours, days, weeks and months have a backup that is kept: the newest of each. Days without one do not count. */
export interface KeepRule {
  readonly hours: number;
  readonly days: number;
  readonly weeks: number;
  readonly months: number;
}

export interface Candidate {
  readonly name: string;
  readonly at: Date;
  /** `unknown`: it may be good. */
  readonly state: "good" | "unknown" | "bad";
}

const units = { h: "hours", d: "days", w: "weeks", m: "months" } as const;

/** `24h 7d 4w 6m` */
export function parseKeepRule(text: string): KeepRule {
  const rule = { hours: 0, days: 0, weeks: 0, months: 0 };
  const seen = new Set<string>();
  for (const word of text.split(" ").filter((part) => part !== "")) {
    const [, count = "", letter] = /^(\d{1,4})([hdwm])$/.exec(word) ?? [];
    if ((letter !== "h" && letter !== "d" && letter !== "w" && letter !== "m") || seen.has(letter))
      throw new Error(mustBe);
    seen.add(letter);
    rule[units[letter]] = Number(count);
  }
  if (rule.hours + rule.days + rule.weeks + rule.months === 0) throw new Error(mustBe);
  return rule;
}

const mustBe = "must say how many hourly, daily, weekly and monthly backups to keep, such as 24h 7d 4w 6m";

/**
 * The names of those to remove. The newest good one always stays, and whatever is newer than it. An unknown one is kept
 * for a period that has no good one.
 */
export function toPrune(candidates: readonly Candidate[], rule: KeepRule): string[] {
  const newestFirst = candidates.toSorted((a, b) => b.at.getTime() - a.at.getTime());
  const good = newestFirst.filter(({ state }) => state === "good");
  const [newest] = good;
  if (!newest) return [];
  const byPreference = [...good, ...newestFirst.filter(({ state }) => state === "unknown")];
  const kept = new Set([
    newest.name,
    ...firstOfEach(byPreference, rule.hours, (at) => at.toISOString().slice(0, 13)),
    ...firstOfEach(byPreference, rule.days, dayOf),
    ...firstOfEach(byPreference, rule.weeks, weekOf),
    ...firstOfEach(byPreference, rule.months, (at) => at.toISOString().slice(0, 7)),
  ]);
  return newestFirst.filter(({ name, at }) => at <= newest.at && !kept.has(name)).map(({ name }) => name);
}

/** Of the latest `count` periods. */
function firstOfEach(byPreference: readonly Candidate[], count: number, periodOf: (at: Date) => string): string[] {
  const found = new Map<string, string>();
  for (const { name, at } of byPreference) {
    const period = periodOf(at);
    if (!found.has(period)) found.set(period, name);
  }
  const latest = [...found.keys()].toSorted().toReversed().slice(0, count);
  return latest.flatMap((period) => found.get(period) ?? []);
}

const dayOf = (at: Date) => at.toISOString().slice(0, 10);

/** The day of its Monday. */
function weekOf(at: Date): string {
  const monday = new Date(at);
  monday.setUTCDate(at.getUTCDate() - ((at.getUTCDay() + 6) % 7));
  return dayOf(monday);
}
