/** The values of a column whose field has choices: those that are none, and labels with what they stand for. Pure. */
import { choiceReader } from "../../databases/choices.ts";
import { faultOf, fits, type Field } from "../../databases/kinds.ts";
import { textOf, type Cell } from "./cells.ts";
import { shown, type Doubt, type Value } from "./guess.ts";
import { misfit, readerOf } from "./values.ts";

interface Chosen {
  /** Those that are no labels. */
  readonly others: readonly Value[];
  /** First the values that are no choice, then each label once. */
  readonly doubtful: readonly Doubt[];
}

export function choicesIn(values: readonly Value[], known: Pick<Field, "type" | "choices"> | undefined): Chosen {
  if (!known?.choices) return { others: values, doubtful: [] };
  const { type, choices } = known;
  const read = readerOf(type, {});
  const valueOf = (cell: Cell) => {
    const value = read(textOf(cell) ?? "");
    return value === misfit ? textOf(cell) : value;
  };
  const choose = choiceReader({ choices });
  const labels = new Map<string, Doubt>();
  const outside: Doubt[] = [];
  const others = values.filter(({ row, cell }) => {
    const given = valueOf(cell);
    const chosen = choose(given);
    const value = shown(cell);
    const wrong = fits(type, chosen) ? faultOf({ type, required: false, choices }, chosen) : undefined;
    if (wrong !== undefined) outside.push({ row, value, why: wrong });
    const isLabel = JSON.stringify(chosen) !== JSON.stringify(given);
    if (isLabel && wrong === undefined && !labels.has(value))
      labels.set(value, { row, value, why: `is a label, read as ${JSON.stringify(chosen)}` });
    return !isLabel;
  });
  return { others, doubtful: [...outside, ...labels.values()] };
}
