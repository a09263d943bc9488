import { catalogue, textOf } from "studio";
import { kindOf } from "./program/kinds.ts";
import { isStep } from "./program/tree.ts";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

export const { say } = catalogue(en, pl, de);

/** The kind of a step in words; a plugin's own by its type. */
export function sayKind(step: unknown): string {
  const kind = kindOf(step);
  if (kind && kind !== "own") return say(`${kind}Kind`);
  return (isStep(step) && textOf(step["type"])) || say("noStep");
}
