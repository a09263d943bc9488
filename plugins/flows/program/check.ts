/** Finds the mistakes of a program, each with its step and key: `program[2].then[0].connector is required`. Pure. */
import { isObject, unknownNames } from "platform";
import { knownTypes, shapeOf, type StepCheck } from "./check-rules.ts";
import { limits } from "./program.ts";
import type { StepTypes } from "./step-types.ts";
import type { Templates } from "./template.ts";

const maxMistakes = 50;

export interface ProgramReport {
  /** Reasons to refuse the program. */
  readonly mistakes: readonly string[];
  /**
   * What earlier versions took, such as unknown keys: refused in a program that is saved, a warning about one that is
   * stored.
   */
  readonly outdated: readonly string[];
}

/** Everything that is wrong with a program that is about to be saved or tried. */
export function mistakesOf(given: unknown, templates: Templates, own: StepTypes): string[] {
  const { mistakes, outdated } = checkProgram(given, templates, own);
  return [...mistakes, ...outdated].slice(0, maxMistakes);
}

export function checkProgram(given: unknown, templates: Templates, own: StepTypes): ProgramReport {
  const refused = (message: string): ProgramReport => ({ mistakes: [message], outdated: [] });
  if (!Array.isArray(given)) return refused("program must be an array of steps");
  if (JSON.stringify(given).length > limits.programChars)
    return refused(`program may have at most ${limits.programChars} characters as JSON`);
  const walk: Walk = { templates, own, mistakes: [], outdated: [], ids: new Set(), steps: 0 };
  checkBlock(walk, given, "program", 1);
  return { mistakes: walk.mistakes.slice(0, maxMistakes), outdated: walk.outdated.slice(0, maxMistakes) };
}

/** The state of the check so far. */
interface Walk {
  readonly templates: Templates;
  readonly own: StepTypes;
  readonly mistakes: string[];
  readonly outdated: string[];
  readonly ids: Set<string>;
  steps: number;
}

function checkBlock(walk: Walk, given: unknown, place: string, depth: number): void {
  const wrong = (message: string) => void walk.mistakes.push(`${place} ${message}`);
  if (!Array.isArray(given)) return wrong("must be an array of steps");
  if (depth > limits.nesting) return wrong(`nests deeper than ${limits.nesting} levels`);
  for (const [at, one] of given.entries()) {
    walk.steps += 1;
    if (walk.steps === limits.steps + 1) wrong(`: a program may have at most ${limits.steps} steps`);
    if (walk.steps > limits.steps || walk.mistakes.length > maxMistakes) return;
    checkStep(walk, one, `${place}[${at}]`, depth);
  }
}

function checkStep(walk: Walk, given: unknown, place: string, depth: number): void {
  const { mistakes, own, templates, ids } = walk;
  if (!isObject(given)) return void mistakes.push(`${place} must be an object { type, … }`);
  const shape = shapeOf(given["type"], own);
  if (!shape) return void mistakes.push(`${place}.type must be one of ${knownTypes(own).join(", ")}`);
  const { rules, stores } = shape;
  walk.outdated.push(...unknownNames(Object.keys(given), Object.keys(rules), (name) => `${place}.${name} is unknown`));
  for (const [key, rule] of Object.entries(rules)) {
    const at: StepCheck = {
      step: given,
      key,
      templates,
      stores,
      wrong: (message, inside = "") => void mistakes.push(`${place}.${key}${inside} ${message}`),
      outdated: (message) => void walk.outdated.push(`${place}.${key}${message}`),
      block: (steps = given[key], inside = "") => checkBlock(walk, steps, `${place}.${key}${inside}`, depth + 1),
      isNewId: (id) => ids.size !== ids.add(id).size,
    };
    rule(given[key], at);
  }
}
