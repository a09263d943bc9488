/** What a box of chips offers for what is typed into it. */
import type { Choice } from "../../resources/lookup.ts";

const most = 50;

/** Not those that are chosen already; each word must be found. */
export function fitting(options: readonly Choice[], chosen: readonly string[], typed: string): readonly Choice[] {
  const wanted = typed.toLowerCase().split(" ").filter(Boolean);
  const fits = ({ value, label }: Choice) =>
    !chosen.includes(value) && wanted.every((word) => label.toLowerCase().includes(word));
  return options.filter(fits).slice(0, most);
}
