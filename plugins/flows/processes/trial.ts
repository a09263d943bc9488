/** A dry run of a stored flow, or of a program in its place, as a request asks for it. */
import { badRequest, forbidden, invalid, isObject, uuidv7, type Account, type Caller } from "platform";
import type { FlowContext } from "../context.ts";
import { dryRun, type DryRun } from "../engine/dry-run.ts";
import { programOf } from "../manage/check.ts";
import type { FlowRow } from "../manage/flow.ts";
import { checkProgram, mistakesOf } from "../program/check.ts";
import { privilegeFor } from "../program/step-types.ts";
import { blockAt, branchNames, isFlat, type Program } from "../program/program.ts";
import { shownSteps, type Included } from "./show.ts";

/** Throws 404 for an unknown flow, and the 422 that names the wrong field. */
export async function tryFlow(ctx: FlowContext, account: Account, code: string, body: unknown, included?: Included) {
  const { flowLookup, templates, stepTypes } = ctx;
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
    stepTypes,
    accountUrl: account.baseUrl,
    asWritten: ({ op, db, table, data }) =>
      ctx.databases.asWritten(account.id, db, { tableName: table, data, isNew: op === "create" }),
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

const ownSeconds = 60;

/** Runs a step that says everything itself, outside any flow. Throws the 422 that names what is wrong with it. */
export async function tryStep(ctx: FlowContext, { account, user, privileges }: Caller, step: Record<string, unknown>) {
  const { type, connector, params, ...rest } = step;
  const refused = { status: null, headers: {}, data: null };
  if (type === "http") {
    const { url } = rest;
    const code = typeof connector === "string" ? connector : undefined;
    const asked = { ...rest, url: typeof url === "string" ? url : "" };
    const outcome = await ctx.connectors.request({ accountId: account.id, code, asked });
    if (!outcome) throw invalid({ connector: ["names no active HTTP service"] });
    const { ok, status, headers = {}, data, error } = outcome;
    return { ok, status, headers, data, error };
  }
  const mail = ctx.stepTypes.get("mail.send");
  if (!mail || type !== mail.type) throw invalid({ step: ["must be of the type http or mail.send"] });
  if (!privileges.has(privilegeFor(mail, step) ?? "")) throw forbidden("a mail needs the privilege `mails`");
  if (!user.email) return { ...refused, ok: false, error: "you have no e-mail address: add it to your account" };
  const own = { ...(isObject(params) && params), to: user.email };
  const signal = AbortSignal.timeout(ownSeconds * 1000);
  const data = await mail.run({
    accountId: account.id,
    process: { accountId: account.id, id: uuidv7(), flowCode: "" },
    params: own,
    key: uuidv7(),
    authors: async () => [user.id],
    signal,
    timeoutMs: ownSeconds * 1000,
  });
  return { ...refused, ok: true, data, error: null };
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

// In one message.
const mostNamed = 30;

/** A mistake for each answer that no step uses, not even in another branch or in a called flow. */
async function answerMistakes({ program, answers, flowOf }: DryRun): Promise<string[]> {
  const known = new Set<string>();
  const called = new Set<string>();
  const look = async (steps: Program | undefined, flow: string, place: string): Promise<void> => {
    for (const [at, step] of (steps ?? []).entries()) {
      const here = place === "" ? `${at}` : `${place}.${at}`;
      if (step.type === "connector") known.add(`${flow}${step.id ?? here}`).add(`${step.connector}.${step.method}`);
      if (step.type.includes(".") || step.type === "http" || isFlat(step.type))
        known.add(`${flow}${step.id ?? here}`).add(step.type);
      if (step.type === "db") known.add(`${flow}${here}`).add(`${step.db}.${step.op}`);
      if (step.type === "flow" && !called.has(step.flow)) {
        called.add(step.flow);
        await look((await flowOf(step.flow))?.program, `${step.flow}/`, "");
      }
      for (const branch of branchNames(step)) await look(blockAt([step], `0.${branch}`), flow, `${here}.${branch}`);
    }
  };
  await look(program, "", "");
  const names = [...known].slice(0, mostNamed).map((name) => `"${name}"`);
  const hint = names.length === 0 ? "none: no step has an effect" : names.join(", ");
  // The id of a step in an `each` ends in the number of the element.
  return Object.keys(answers)
    .filter((name) => !known.has(name) && !known.has(name.split("#")[0] ?? ""))
    .slice(0, mostNamed)
    .map((name) => `answers["${name.slice(0, 200)}"] is used by no step; known are ${hint}`);
}
