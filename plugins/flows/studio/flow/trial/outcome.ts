/** What became of a step in a test, in a few words. */
import { adviceOf } from "../../processes/process.ts";
import { branchesOf, isStep, type Step } from "../program/tree.ts";
import { say as sayOfRun } from "../../processes/words.ts";
import { say } from "../words.ts";
import { brief, type Result, type StepResult } from "./trial.ts";

export interface Outcome {
  readonly mood: "good" | "bad" | "warn" | "none";
  readonly says: string;
}

export function outcomeOf(
  path: string,
  step: unknown,
  result: Result | undefined,
  outcomes: ReadonlyMap<string, StepResult>,
): Outcome | undefined {
  if (!result) return undefined;
  const own = outcomes.get(path);
  if (!own) return { mood: "none", says: say("notReached") };
  if (own.status === "error") return { mood: "bad", says: failureOf(own.error) };
  if (result.leftOut.includes(path)) return { mood: "good", says: say("leftOut") };
  const op = isStep(step) ? step["op"] : undefined;
  if (op === "create" || op === "update" || op === "delete") return { mood: "good", says: say("notChanged") };
  if (isStep(step) && step["type"] === "if")
    return { mood: "good", says: say(takenOf(path, step, outcomes) === "then" ? "yesTaken" : "noTaken") };
  if (isStep(step) && step["type"] === "wait") return { mood: "warn", says: say("wouldWait") };
  if (Array.isArray(own.output))
    return { mood: "good", says: own.output.length === 0 ? say("foundNone") : brief(own.output) };
  return { mood: "good", says: brief(own.output) || say("wentWell") };
}

/** A failure in words that a person can do something with, and the server's own. */
export function failureOf(error: string): string {
  const advice = adviceOf(error);
  return advice ? `${sayOfRun(advice)} (${error})` : error;
}

/** The branch of an `if` that steps of the last test stand in: without one, neither. */
function takenOf(path: string, step: Step, outcomes: ReadonlyMap<string, StepResult>): string | undefined {
  const output = outcomes.get(path)?.output;
  if (typeof output === "boolean") return output ? "then" : "else";
  return branchesOf(step).find((branch) => [...outcomes.keys()].some((one) => one.startsWith(`${path}.${branch}.`)));
}
