/** Performs each type of step. behaviour B.9. */
import { StepFault } from "./fault.ts";
import { isObject } from "platform";
import { Suspended } from "./host.ts";
import { commonKeys, computes, isFlat, isPlain, limits } from "../program/program.ts";
import type {
  ConnectorStep,
  DbStep,
  EachStep,
  FlatStep,
  FlowStep,
  HttpStep,
  MutationStep,
  OwnStep,
  Step,
  WaitStep,
} from "../program/program.ts";
import { plus, resultOf, type BlockFrame } from "./state.ts";
import { callsOf, deadlineOf, idOf, pathOf, placeIn, scopeAt, stepOf, variablesOf, type Thread } from "./thread.ts";
import { expandPaths, readCondition, readIncrement, readSearch } from "../program/records.ts";
import { elementsOf } from "../program/template.ts";
import type { Tools } from "./tools.ts";

const longCallMs = 700;

export async function perform(tools: Tools, thread: Thread, frame: BlockFrame, step: Step): Promise<void> {
  const value = (template: unknown) => tools.host.templates.value(template, variablesOf(tools.world, thread));
  switch (step.type) {
    case "mutation":
      return mutate(tools, thread, step);
    case "if": {
      const branch = tools.host.templates.holds(step.condition, variablesOf(tools.world, thread)) ? "then" : "else";
      if (!step[branch]?.length) return tools.finish(thread, null);
      return void thread.frames.push({ kind: "block", place: placeIn(frame, branch), at: 0 });
    }
    case "return":
      return tools.leave(thread, step.value === undefined ? resultOf(scopeAt(tools.world, thread)) : value(step.value));
    case "fail":
      throw new StepFault(text(value(step.message ?? "the flow failed")));
    case "wait":
      return wait(tools, thread, frame, step);
    case "each":
      return each(tools, thread, step);
    case "try":
      return void thread.frames.push({ kind: "block", place: placeIn(frame, "do"), at: 0 });
    case "parallel": {
      const { length: branches } = step.branches;
      const { concurrency = branches } = step;
      return void thread.frames.push({ kind: "each", list: "", as: "", concurrency, branches, next: 0, lanes: [] });
    }
    case "flow":
      return call(tools, thread, step);
    case "connector":
    case "http":
      return connect(tools, thread, frame, step);
    case "db":
      return database(tools, thread, step);
    default:
      return own(tools, thread, step);
  }
}

/** Sets all names or none; each value sees those before it. */
function mutate({ host, world, changed, finish }: Tools, thread: Thread, { set }: MutationStep): void {
  const variables = variablesOf(world, thread);
  const values: Record<string, unknown> = {};
  for (const [name, template] of Object.entries(set)) {
    values[name] = host.templates.value(template, variables);
    variables[name] = values[name];
  }
  const scope = scopeAt(world, thread);
  Object.assign(scope.vars, values);
  scope.set = [...new Set([...scope.set, ...Object.keys(values)])];
  changed();
  finish(thread, values);
}

function wait({ host, world, journal, finish }: Tools, thread: Thread, frame: BlockFrame, step: WaitStep): void {
  const given = host.templates.value(step.seconds, variablesOf(world, thread));
  // Not `Number(given)`: an object may have a `toString` that throws.
  const seconds = typeof given === "string" && given.trim() !== "" ? Number(given) : given;
  if (typeof seconds !== "number" || !(seconds >= 0 && seconds <= limits.waitSeconds))
    throw new StepFault(`seconds must be a number from 0 to ${limits.waitSeconds}`);
  journal.given(frame, { seconds });
  if (seconds === 0) return finish(thread, null);
  frame.wakeMs = seconds * 1000;
  frame.wake = Math.min(host.now() + frame.wakeMs, deadlineOf(thread) ?? Infinity);
  frame.waiting = true;
}

function each({ host, world, cursor, changed, finish }: Tools, thread: Thread, step: EachStep): void {
  const elements = host.templates.value(elementsOf(step.in), variablesOf(world, thread));
  if (!Array.isArray(elements)) throw new StepFault("in is not an array");
  if (elements.length > limits.elements)
    throw new StepFault(`in has ${elements.length} elements: an each may have at most ${limits.elements}`);
  if (elements.length === 0) return finish(thread, { count: 0 });
  const list = `${++cursor.names}`;
  world.memory.lists[list] = elements;
  changed();
  const { as = "item", concurrency = 1 } = step;
  thread.frames.push({ kind: "each", list, as, concurrency, next: 0, lanes: [] });
}

async function call({ host, world, cursor, journal, changed }: Tools, thread: Thread, step: FlowStep): Promise<void> {
  if (callsOf(thread) >= limits.calls) throw new StepFault(`flows call each other more than ${limits.calls} deep`);
  const input = host.templates.value(step.input ?? {}, variablesOf(world, thread));
  if (!isObject(input)) throw new StepFault("input is not an object");
  journal.given(thread.frames.at(-1), { flow: step.flow, input });
  const flow = await host.flow(step.flow);
  if (!flow) throw new StepFault(`no active flow has the code "${step.flow}"`);
  const scope = `${++cursor.names}`;
  world.memory.scopes[scope] = { flow: step.flow, programId: flow.programId, input, vars: {}, set: [] };
  changed();
  thread.frames.push({ kind: "call", scope }, { kind: "block", place: "", at: 0 });
}

async function connect(tools: Tools, thread: Thread, frame: BlockFrame, step: ConnectorStep | HttpStep): Promise<void> {
  const { host, world } = tools;
  if (host.mode === "inline" || host.mode === "compute") throw new Suspended(host.now());
  const value = (template: unknown) => host.templates.value(template, variablesOf(world, thread));
  const what = step.type === "http" ? requestOf(step, value) : methodOf(step, value);
  const { connector } = what;
  tools.journal.given(
    thread.frames.at(-1),
    "asked" in what ? { ...what.asked, ...(connector !== undefined && { connector }) } : what,
  );
  await tools.flush();
  const deadline = deadlineOf(thread);
  const calling = host.callConnector({
    what,
    stepId: idOf(world, thread, thread.frames.length - 1),
    key: pathOf(thread),
    timeoutMs: deadline === undefined ? undefined : Math.max(1, deadline - host.now()),
  });
  const outcome = await shownWhileItLasts(tools, calling);
  if (!outcome)
    throw new StepFault(
      "asked" in what
        ? `no active connector "${connector}" takes requests`
        : `no active connector "${connector}" has a method "${what.method}"`,
    );
  const { ok, status, data, error, usage } = outcome;
  const running = frame.running;
  if (running && usage) running.usage = plus(running.usage, usage);
  const timedOut = deadline !== undefined && deadline <= host.now();
  if (!ok) throw new StepFault(error ?? "the call failed", { status, data, timedOut });
  keep(tools, thread, step.as ?? step.id, data);
  tools.finish(thread, data);
  // Stored with the following steps that only compute; at once if it took time (`isFull`) or others run beside it.
  if (thread.parent) await tools.save();
}

function methodOf({ connector, method, params }: ConnectorStep, value: (template: unknown) => unknown) {
  const given = value(params ?? {});
  return { connector, method, params: isObject(given) ? given : {} };
}

/** What a template made into nothing is left out. */
function requestOf({ connector, ...step }: HttpStep, value: (template: unknown) => unknown) {
  const { url = "", ...rest } = Object.fromEntries(
    (["method", "url", "query", "headers", "body"] as const).flatMap((key) => {
      const made = value(step[key] ?? null);
      return made === null ? [] : [[key, made]];
    }),
  );
  return { connector: connector ?? undefined, asked: { url: text(url), ...rest } };
}

/** A plugin's step runs like a call of a connector, but returns the result itself. */
async function own(tools: Tools, thread: Thread, step: OwnStep | FlatStep): Promise<void> {
  const { host, world } = tools;
  if (host.mode === "inline" || host.mode === "compute") throw new Suspended(host.now());
  const { plain, templates } = paramsOf(step);
  const filled = host.templates.value(templates, variablesOf(world, thread));
  const params = isObject(filled) ? { ...plain, ...filled } : filled;
  tools.journal.given(thread.frames.at(-1), params);
  await tools.flush();
  const deadline = deadlineOf(thread);
  const running = host.runOwn({
    type: step.type,
    params: isObject(params) ? params : {},
    stepId: idOf(world, thread, thread.frames.length - 1),
    key: pathOf(thread),
    timeoutMs: deadline === undefined ? undefined : Math.max(1, deadline - host.now()),
  });
  const result = await shownWhileItLasts(tools, running).catch((error: unknown) => {
    if (!(error instanceof Suspended)) throw error;
    tools.cursor.parked = true;
    throw new Suspended(Math.min(error.until, deadline ?? Infinity));
  });
  keep(tools, thread, step.as ?? step.id, result);
  tools.finish(thread, result);
  if (thread.parent) await tools.save();
}

/** Of a step whose parameters stand beside its type, those; the `timeout` of one that parks is one of them. */
function paramsOf(step: OwnStep | FlatStep): { plain: object; templates: unknown } {
  if (!isFlat(step.type)) return { plain: {}, templates: "params" in step ? (step.params ?? {}) : {} };
  const ownTimeout = !computes(step.type);
  const given = Object.entries(step).filter(
    ([key]) => (key === "timeout" && ownTimeout) || ![...commonKeys, "as"].includes(key),
  );
  const [plain, templates] = [true, false].map((is) => given.filter(([key]) => isPlain(step.type, key) === is));
  return { plain: Object.fromEntries(plain ?? []), templates: Object.fromEntries(templates ?? []) };
}

/** Stores a long call as under way, so that the API shows it; a short one is not worth a statement. */
async function shownWhileItLasts<T>(tools: Tools, calling: Promise<T>): Promise<T> {
  let saving: Promise<void> | undefined;
  const timer = setTimeout(() => {
    saving = tools.save();
    // A failure is thrown below.
    saving.catch(() => {});
  }, longCallMs);
  try {
    return await calling;
  } finally {
    clearTimeout(timer);
    await saving;
  }
}

async function database(tools: Tools, thread: Thread, step: DbStep): Promise<void> {
  const { host, world } = tools;
  if (host.mode === "inline") throw new Suspended(host.now());
  const value = (template: unknown) => host.templates.value(template, variablesOf(world, thread));
  const { op } = step;
  const named = op === "get" || op === "update" || op === "delete";
  const id = named ? value(step.id) : null;
  const isWritten = op === "create" || op === "update";
  const data = isWritten && step.data !== undefined ? value(step.data) : {};
  const params = op === "search" ? value(step.params ?? {}) : {};
  const expand = op === "get" || op === "search" ? expandPaths(step) : [];
  const dependent = op === "update" ? dependentOf(step, value) : {};
  const table = step.table_name === null ? null : tableOf(value(step.table_name));
  if (named && (typeof id !== "string" || id === "")) throw new StepFault("id is blank: it must be a record's id");
  if (!isObject(data)) throw new StepFault("data is not an object");
  tools.journal.given(thread.frames.at(-1), {
    db: step.db,
    op,
    ...(table !== undefined && { table_name: table }),
    ...(named ? { id } : {}),
    ...(isWritten ? { data } : { params }),
    ...dependent,
    ...(expand.length > 0 && { expand }),
  });
  const render = (one: string) => text(value(one));
  const given = { value: params, template: step.params ?? {} };
  const search = op === "search" ? readSearch(given, table, render) : undefined;
  refuse("params", search);
  // Keys that are there count, whatever their expressions give: without its condition an update would go through.
  const matched = "if" in dependent ? readCondition({ value: dependent.if, template: step.if }, render) : undefined;
  refuse("if", matched);
  const added = "increment" in dependent ? readIncrement(dependent.increment, data) : undefined;
  refuse("increment", added);
  await tools.flush();
  const effect = {
    op,
    db: step.db,
    table,
    id: id === null ? null : text(id),
    data,
    search,
    expand,
    conditions: matched?.conditions,
    increment: added?.amounts,
    stepId: idOf(world, thread, thread.frames.length - 1),
  };
  await host.db(effect, (result, warnings) => {
    keep(tools, thread, step.as ?? (named ? undefined : step.id), result);
    tools.finish(thread, result, warnings);
  });
}

/** The parts that make an update depend on the stored record. */
function dependentOf(step: DbStep, value: (template: unknown) => unknown): { if?: unknown; increment?: unknown } {
  return {
    ...(step.if !== undefined && { if: value(step.if) }),
    ...(step.increment !== undefined && { increment: value(step.increment) }),
  };
}

function refuse(key: string, read: { readonly mistakes: readonly string[] } | undefined): void {
  if (read?.mistakes.length) throw new StepFault(read.mistakes.map((one) => `${key}${one}`).join("; "));
}

/** An expression without a result names no table: the record must not leave its table because of it. */
function tableOf(given: unknown): string | undefined {
  return text(given) || undefined;
}

/** Ends the step of the frame on top whose branches have run. */
export function endBranches(tools: Tools, thread: Thread, result: unknown): void {
  const step = stepOf(tools.world, thread, thread.frames.length - 1);
  // The `as` of an `each` names its elements.
  if (step?.type === "try" || step?.type === "parallel") keep(tools, thread, step.as ?? step.id, result);
  tools.finish(thread, result);
}

function keep({ world, changed }: Tools, thread: Thread, name: string | undefined, value: unknown): void {
  if (name === undefined || name === null) return;
  scopeAt(world, thread).vars[name] = value;
  changed();
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  return value === null || value === undefined ? "" : JSON.stringify(value);
}
