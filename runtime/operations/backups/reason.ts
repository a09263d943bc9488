/** With what caused it: the outermost message alone seldom tells what to mend. */
export function reasonOf(error: unknown): string {
  const reasons: string[] = [];
  for (let at = error; at instanceof Error && reasons.length < 5; at = at.cause) reasons.push(at.message);
  return (reasons.length > 0 ? reasons.join(": ") : String(error)).slice(0, 2_000);
}
