/** The known names that a wrong one may mean. Pure. */

const mostNear = 3;

/** The known names that this one may be a misspelling or a part of: all that are equally near. */
export function nearest(name: string, known: readonly string[]): string[] {
  if (name.length > 60) return [];
  const given = plain(name);
  let found: string[] = [];
  let least = Infinity;
  for (const candidate of known) {
    const other = plain(candidate);
    const isPart = Math.min(given.length, other.length) >= 3 && (given.includes(other) || other.includes(given));
    const slips = isPart ? Math.min(distance(given, other), 2) : distance(given, other);
    const most = isPart ? 2 : Math.floor(Math.max(given.length, other.length) / 3);
    if (slips > most || slips > least) continue;
    found = slips < least ? [candidate] : [...found, candidate];
    least = slips;
  }
  return found.slice(0, mostNear);
}

/** `tableName`, `table-name` and `table_name` count as the same name. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_\- ]/g, "");
}

/** How many letters are wrong, missing, extra or swapped (optimal string alignment distance). */
export function distance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let at = 1; at <= b.length; at++) {
      const isSame = a[row - 1] === b[at - 1];
      const isSwapped = row > 1 && at > 1 && a[row - 1] === b[at - 2] && a[row - 2] === b[at - 1];
      current[at] = Math.min(
        (above[at] ?? 0) + 1,
        (current[at - 1] ?? 0) + 1,
        (above[at - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[at - 2] ?? 0) + 1 : Infinity,
      );
    }
    [before, above] = [above, current];
  }
  return above[b.length] ?? 0;
}
