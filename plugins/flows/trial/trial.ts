/** A dry run of a stored flow, or of a program in its place, as a request asks for it. */
import { badRequest, invalid, isObject, type Account } from "platform";
import { checkProgram, mistakesOf } from "../program/check.ts";
import { dryRun, type DryRun } from "./dry-run.ts";
import { programOf } from "../manage/flow-check.ts";
import type { FlowLookup } from "../manage/flow-lookup.ts";
import type { FlowRow } from "../manage/flow-store.ts";
import type { Program } from "../program/program.ts";
import { shownSteps, type Included } from "../processes/show.ts";
import type { StepTypes } from "../program/step-types.ts";
import type { Templates } from "../program/template.ts";
import { answerMistakes } from "./test-answers.ts";

export interface TrialNeeded {
  readonly flowLookup: Pick<FlowLookup, "find" | "current">;
  readonly templates: Templates;
  readonly stepTypes: StepTypes;
}

/** Throws 404 for an unknown flow, and the 422 that names the wrong field. */
export async function tryFlow(needed: TrialNeeded, account: Account, code: string, body: unknown, included?: Included) {
  const { flowLookup, templates, stepTypes } = needed;
  const flow = await flowLookup.find(account.id, code);
  const given = trialOf(flow, body);
  // The stored one runs as it does, even if it could not be saved today.
  const isStored = given.program === programOf(flow.fields);
  const mistakes = isStored
    ? checkProgram(given.program, templates, stepTypes).mistakes
    : mistakesOf(given.program, templates, stepTypes);
  if (mistakes.length > 0) throw invalid({ program: [...mistakes] });
  const dry: DryRun = {
    ...given,
    code: flow.code,
    program: given.program as Program, // it was checked
    templates: templates.at(account),
    accountUrl: account.baseUrl,
    flowOf: (called) => flowLookup.current(account.id, called),
  };
  const unknown = await answerMistakes(dry);
  if (unknown.length > 0) throw invalid({ answers: unknown });
  const { end, steps, cursor } = await dryRun(dry);
  const error = end.kind === "error" ? end.message : null;
  return {
    status: end.kind === "finished" ? "finished" : "error",
    data: end.kind === "finished" ? (end.data ?? null) : null,
    error,
    steps: shownSteps(steps, cursor, error, included),
  };
}

/** The fields of the request; the program is not checked yet. */
function trialOf({ fields }: Pick<FlowRow, "fields">, body: unknown) {
  if (!isObject(body)) throw badRequest("the body must be a JSON object");
  const { input = {}, app = null, answers = {}, program = programOf(fields) } = body;
  if (!isObject(input)) throw invalid({ input: ["must be an object"] });
  if (app !== null && !isObject(app)) throw invalid({ app: ["must be an object { id, action, user }"] });
  if (!isObject(answers))
    throw invalid({
      answers: ["must be an object of step id, <connector code>.<method>, <database code>.<op> or step type to answer"],
    });
  return { input, app, answers, program };
}
