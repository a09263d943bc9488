/** Two texts as rows: the lines of both, those of only one, and runs of unchanged ones folded. Loaded when a comparison is shown. */
import { diffArrays } from "diff";

export interface DiffLine {
  readonly kind: "same" | "before" | "after";
  readonly line: string;
  /** The number of the line in the first text, if it has it. */
  readonly from?: number;
  /** The same of the second text. */
  readonly to?: number;
}

/** Unchanged lines that are not shown until somebody asks. */
export interface FoldedLines {
  readonly kind: "folded";
  readonly rows: readonly DiffLine[];
}

export type DiffRow = DiffLine | FoldedLines;

/** Unchanged lines that are shown around a change. */
const context = 3;
/** A run that is not longer is shown whole. */
const shortest = 4;

/** Empty where the texts are the same. */
export function diffRows(before: string, after: string): DiffRow[] {
  const runs = runsOf(linesOf(before), linesOf(after));
  if (runs.every(([first]) => first?.kind === "same")) return [];
  return runs.flatMap((run, at) =>
    run[0]?.kind === "same" ? folded(run, at === 0 ? 0 : context, at === runs.length - 1 ? 0 : context) : run,
  );
}

function linesOf(text: string): string[] {
  return text.replaceAll("\r\n", "\n").split("\n");
}

/** Lines of one kind that follow each other. */
function runsOf(before: readonly string[], after: readonly string[]): DiffLine[][] {
  // Texts that have little in common take long: then the one is shown after the other.
  const parts = diffArrays([...before], [...after], { timeout: 500 }) ?? [
    { removed: true, added: false, value: before },
    { removed: false, added: true, value: after },
  ];
  let [from, to] = [0, 0];
  return parts.map(({ removed, added, value }) =>
    value.map((line) => {
      if (removed) return { kind: "before", line, from: ++from };
      if (added) return { kind: "after", line, to: ++to };
      return { kind: "same", line, from: ++from, to: ++to };
    }),
  );
}

function folded(run: readonly DiffLine[], first: number, last: number): DiffRow[] {
  if (run.length - first - last < shortest) return [...run];
  const end = run.length - last;
  return [...run.slice(0, first), { kind: "folded", rows: run.slice(first, end) }, ...run.slice(end)];
}
