/** The columns that a grid shows, as names in their order. Pure. */

/** Shown last, or no longer; the only one stays. */
export function toggled(shown: readonly string[], name: string): readonly string[] {
  if (!shown.includes(name)) return [...shown, name];
  return shown.length === 1 ? shown : shown.filter((other) => other !== name);
}

/** By so many places; at the ends it stays. */
export function withMoved(shown: readonly string[], name: string, by: number): readonly string[] {
  const from = shown.indexOf(name);
  if (from < 0) return shown;
  const to = Math.max(0, Math.min(shown.length - 1, from + by));
  return shown.toSpliced(from, 1).toSpliced(to, 0, name);
}
