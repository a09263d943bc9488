import { catalogue, textOf } from "studio";
import { furtherFields } from "./program/kind.ts";
import { kindOf, own } from "./program/kinds.ts";
import type { FaultLocation } from "./program/faults.ts";
import { isStep, numberOf, type Branch } from "./program/tree.ts";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };

export const { say, texts } = catalogue(en, pl, de);

/** The kind of a step in words; a plugin's own by its type. */
export function sayKind(step: unknown, ofConnection?: (code: string) => string | undefined): string {
  const kind = kindOf(step, ofConnection);
  if (kind && kind !== own) return say(kind.title);
  return (isStep(step) && textOf(step["type"])) || say("noStep");
}

/** What a branch is called over its steps. */
export function branchName(step: unknown, branch: Branch): string {
  const number = numberOf(branch);
  if (number >= 0) return say("branchNumber", { number: String(number + 1) });
  if (branch === "catch") return say("catchBranch");
  if (branch === "do" && isStep(step) && step["type"] === "try") return say("tryBranch");
  return say(
    branch === "then"
      ? "thenBranch"
      : branch === "else"
        ? "elseBranch"
        : branch === "do"
          ? "doBranch"
          : "on_errorBranch",
  );
}

/** What a step is called on its card. */
export function titleOfStep(step: unknown, ofConnection?: (code: string) => string | undefined): string {
  const description = isStep(step) ? textOf(step["description"]) : "";
  return description.trim() === "" ? sayKind(step, ofConnection) : description.slice(0, 200);
}

/** What is wrong with a step, with its field called as its panel does. */
export function faultSaid({ key, inside, said }: FaultLocation, step: unknown): string {
  const kind = kindOf(step);
  const field = kind && [...kind.fields, ...furtherFields(kind)].find((one) => one.key === key);
  return `${field ? say(field.label) : key}${inside} ${said}`.trim();
}
