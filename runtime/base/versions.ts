/** Semantic versions, as far as we write them: `1.2.3`, perhaps with `-rc.1` or `+build`, and ranges like `^1` or `~1.2`. */

/** Below 0 if `a` is older than `b`, and 0 if neither is. */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [parsed(a), parsed(b)];
  const at = one.numbers.findIndex((number, index) => number !== other.numbers[index]);
  if (at >= 0) return (one.numbers[at] ?? 0) - (other.numbers[at] ?? 0);
  // A release is newer than what led to it.
  if (one.before.length === 0 || other.before.length === 0) return other.before.length - one.before.length;
  return compareParts(one.before, other.before);
}

/** Whether the version fits `1.2.3`, `1.2`, `^1.2` (nothing that breaks), `~1.2` (only mends). */
export function satisfies(version: string, range: string): boolean {
  const kind = /^[\^~]/.exec(range)?.[0];
  const wanted = range
    .slice(kind ? 1 : 0)
    .split(".")
    .map(Number);
  const { numbers } = parsed(version);
  const breaking = wanted.findIndex((number) => number > 0);
  const last = wanted.length - 1;
  const fixed = kind === "^" ? (breaking < 0 ? last : breaking) : kind === "~" ? Math.min(1, last) : last;
  const isSame = numbers.slice(0, fixed + 1).every((number, index) => number === wanted[index]);
  return isSame && compareVersions(version, [0, 1, 2].map((index) => wanted[index] ?? 0).join(".")) >= 0;
}

function parsed(version: string): { numbers: readonly number[]; before: readonly string[] } {
  const [whole = ""] = version.split("+");
  const dash = whole.indexOf("-");
  const [numbers, before] = dash < 0 ? [whole, ""] : [whole.slice(0, dash), whole.slice(dash + 1)];
  return { numbers: numbers.split(".").map(Number), before: before === "" ? [] : before.split(".") };
}

/** Numbers are older than words, and few parts older than more of them. */
function compareParts(a: readonly string[], b: readonly string[]): number {
  for (const [index, one] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    if (one === other) continue;
    const [isNumber, isOtherNumber] = [one, other].map((part) => /^\d+$/.test(part));
    if (isNumber && isOtherNumber) return Number(one) - Number(other);
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
    return one < other ? -1 : 1;
  }
  return a.length - b.length;
}
