/** The answers that a test of a flow can use: by the id or place of a step with an effect, and by what it calls. */
import { isObject } from "platform";
import type { DryRun } from "./dry-run.ts";
import type { Program } from "../program/program.ts";

const told = 30;

/** A mistake for each answer that no step uses, not even in another branch or in a called flow. */
export async function answerMistakes({ program, answers, flowOf }: DryRun): Promise<string[]> {
  const known = new Set<string>();
  const called = new Set<string>();
  const look = async (steps: Program | undefined, flow: string, place: string): Promise<void> => {
    for (const [at, step] of (steps ?? []).entries()) {
      const here = place === "" ? `${at}` : `${place}.${at}`;
      if (step.type === "connector") known.add(`${flow}${step.id ?? here}`).add(`${step.connector}.${step.method}`);
      if (step.type.includes(".")) known.add(`${flow}${step.id ?? here}`).add(step.type);
      if (step.type === "db") known.add(`${flow}${here}`).add(`${step.db}.${step.op}`);
      if (step.type === "flow" && !called.has(step.flow)) {
        called.add(step.flow);
        await look((await flowOf(step.flow))?.program, `${step.flow}/`, "");
      }
      for (const branch of ["then", "else", "do", "on_error"] as const)
        if (isObject(step) && Array.isArray(step[branch])) await look(step[branch], flow, `${here}.${branch}`);
    }
  };
  await look(program, "", "");
  const names = [...known].slice(0, told).map((name) => `"${name}"`);
  const hint = names.length === 0 ? "none: no step has an effect" : names.join(", ");
  // The id of a step in an `each` ends in the number of the element.
  return Object.keys(answers)
    .filter((name) => !known.has(name) && !known.has(name.split("#")[0] ?? ""))
    .slice(0, told)
    .map((name) => `answers["${name.slice(0, 200)}"] is used by no step; known are ${hint}`);
}
