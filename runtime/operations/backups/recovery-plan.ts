/** Which files of the archive bring back a moment. Pure. */
import type { Base, Piece } from "./wal-names.ts";

export interface Plan {
  readonly base: Base;
  /** In order, each from where the one before it ends, or earlier. */
  readonly pieces: readonly Piece[];
  /** The end of the last piece. */
  readonly to: bigint;
}

/**
 * The ways to that moment, or to the newest one, the best first: a base that was not done yet at the moment does not
 * serve, and then the one before it does. Throws an Error that says which moments there are.
 */
export function recoveryPlans(
  files: readonly (Base | Piece)[],
  until: Date | undefined,
  place: string,
): readonly Plan[] {
  const bases = files
    .filter((file): file is Base => file.to === undefined)
    .toSorted((a, b) => Number(b.at) - Number(a.at));
  const [newest, oldest] = [bases[0], bases.at(-1)];
  if (!newest || !oldest)
    throw new Error(`there is no base backup in ${place}: nothing is archived there (BACKUP_WAL)`);
  const before = until ? bases.filter(({ at }) => at <= until) : bases.slice(0, 2);
  if (before.length === 0)
    throw new Error(
      `the oldest base backup in ${place} was begun at ${oldest.at.toISOString()}: earlier moments cannot be restored`,
    );
  const pieces = files.filter((file): file is Piece => file.to !== undefined);
  const runs = before.map((base) => ({ base, ...runFrom(base, pieces) }));
  const [last] = runs;
  // The newest moment is not the one before a missing piece: that one must be asked for.
  const isBroken = !until && last?.missingFrom !== undefined;
  const plans = isBroken ? [] : runs.flatMap(({ base, run }) => planOf(base, run, until) ?? []);
  if (plans.length > 0) return plans;
  throw new Error(whyNot(last?.run.at(-1), last?.missingFrom, until, bases));
}

/** The pieces from a base on, as far as none is missing. */
function runFrom(base: Base, pieces: readonly Piece[]): { run: readonly Piece[]; missingFrom: string | undefined } {
  const own = pieces
    .filter(({ chain, to }) => chain === base.chain && to > base.from)
    // Of two that begin at one place, the longer one came later.
    .toSorted((a, b) => Number(a.from - b.from) || Number(a.to - b.to));
  const run: Piece[] = [];
  let to = base.from;
  for (const piece of own) {
    if (piece.from > to) return { run, missingFrom: piece.name };
    if (piece.to > to) run.push(piece);
    if (piece.to > to) to = piece.to;
  }
  return { run, missingFrom: undefined };
}

function planOf(base: Base, run: readonly Piece[], until: Date | undefined): Plan | undefined {
  // What was committed before a piece's time is in it, and a commit after that, at which the recovery stops.
  const end = until ? run.findIndex(({ at }) => at > until) : run.length - 1;
  const pieces = end < 0 ? [] : run.slice(0, end + 1);
  const last = pieces.at(-1);
  return last && { base, pieces, to: last.to };
}

function whyNot(
  last: Piece | undefined,
  missingBefore: string | undefined,
  until: Date | undefined,
  bases: readonly Base[],
): string {
  const upTo = last
    ? `moments before ${last.at.toISOString()} can be restored`
    : "nothing after its base can be restored";
  if (!last && missingBefore === undefined && !until)
    return "the newest base backup has no changes archived since it was made, which it needs: wait a minute";
  if (missingBefore !== undefined) return `the piece before ${missingBefore} is missing: only ${upTo}`;
  const next = bases.findLast(({ at }) => until && at > until);
  if (next)
    return `nothing is archived between ${last?.at.toISOString() ?? "the base before it"} and ${next.at.toISOString()}, when another base was begun`;
  return `that is after the last archived change: only ${upTo}, or the newest one by --at without a time`;
}

/** From when to when each chain goes, for people. */
export function momentLines(files: readonly (Base | Piece)[]): string[] {
  const chains = Map.groupBy(files, ({ chain }) => chain);
  return [...chains.keys()].toSorted().flatMap((chain) => {
    const own = chains.get(chain) ?? [];
    const first = own
      .filter(({ to }) => to === undefined)
      .map(({ at }) => at.toISOString())
      .toSorted()[0];
    const last = own
      .filter(({ to }) => to !== undefined)
      .map(({ at }) => at.toISOString())
      .toSorted()
      .at(-1);
    return first && last ? [`any moment: ${first} to ${last} (corestead restore --at TIME)`] : [];
  });
}
