/** Runs a program without any effect: the caller gives the answers of connectors and databases. */
import type { CallOutcome } from "../api.ts";
import { isObject } from "platform";
import { createRun } from "./engine.ts";
import { named, recorded, StepFault } from "./fault.ts";
import type { DbEffect, EffectCall, End, Host, OwnEffect } from "./host.ts";
import type { Program } from "../program/program.ts";
import { newState, type Cursor, type Programs, type StepRecord } from "./state.ts";
import type { StepTypes } from "../program/step-types.ts";
import type { Templates } from "../program/template.ts";

export interface DryRun {
  readonly code: string;
  readonly program: Program;
  readonly input: Readonly<Record<string, unknown>>;
  /** The person behind the process; null = nobody. */
  readonly app: Readonly<Record<string, unknown>> | null;
  /** By step id, `<connector code>.<method>`, `<database code>.<op>` `http` or the type of a plugin's own step. */
  readonly answers: Readonly<Record<string, unknown>>;
  readonly accountUrl: string;
  readonly templates: Templates;
  readonly stepTypes: StepTypes;
  /** What a write would store; throws the 422 of data that does not fit. Undefined if there is no such database. */
  readonly asWritten: (effect: DbEffect) => Promise<Readonly<Record<string, unknown>> | undefined>;
  readonly flowOf: (code: string) => Promise<{ programId: number; program: Program } | undefined>;
}

const ownProgram = 0;
// No caller waits longer than this for a test.
const timeLimitMs = 10_000;

export async function dryRun({
  code,
  program,
  input,
  app,
  answers,
  flowOf,
  asWritten,
  stepTypes,
  ...world
}: DryRun): Promise<{ end: End; steps: StepRecord[]; cursor: Cursor }> {
  const programs: Programs = new Map([[ownProgram, program]]);
  const steps: StepRecord[] = [];
  const stopAt = performance.now() + timeLimitMs;
  const host: Host = {
    ...world,
    programs,
    mode: "dry",
    signal: new AbortController().signal,
    now: () => Date.now(),
    callConnector: async (call) => connectorAnswer(answers, call),
    runOwn: async (effect) => pureResult(effect, stepTypes) ?? ownAnswer(answers, effect, stepTypes),
    db: async (effect, done) => done(await databaseAnswer(answers, effect, asWritten)),
    async flow(called) {
      const flow = await flowOf(called);
      if (flow) programs.set(flow.programId, flow.program);
      return flow;
    },
    async save() {
      steps.push(...run.take().records);
      // Lets other requests run.
      await new Promise((resolve) => setTimeout(resolve));
      if (performance.now() > stopAt) throw new StepFault("the test took too long");
    },
  };
  const state = newState(code, ownProgram, input, { app });
  const run = createRun(state, host);
  const end = await run.run();
  steps.push(...run.take().records);
  return { end, steps, cursor: state.cursor };
}

/** The result of a step without effects; undefined for others. */
function pureResult({ type, params }: OwnEffect, types: StepTypes): Promise<unknown> | undefined {
  const own = types.get(type);
  if (!own?.isPure) return undefined;
  const process = { accountId: 0, id: "", flowCode: "" };
  const call = { accountId: 0, process, key: "", authors: async () => [], timeoutMs: timeLimitMs };
  return recorded(() => own.run({ ...call, params, signal: AbortSignal.timeout(timeLimitMs) }));
}

function ownAnswer(answers: DryRun["answers"], { stepId, type, params }: OwnEffect, types: StepTypes): unknown {
  const answer = answerFor(answers, [stepId, type]) ?? types.get(type)?.sample?.(params);
  if (answer === undefined) throw new StepFault(`no answer was given for "${type}"`);
  return resultOf(answer);
}

/** Throws a StepFault if the answer is a failure. */
function resultOf(answer: unknown): unknown {
  const { status = 200, data = null, error } = envelopeOf(answer) ?? { data: answer };
  if (error === undefined && status >= 200 && status < 300) return data;
  throw new StepFault(error ?? `the step failed with ${status}`, { status: error === undefined ? status : null, data });
}

function connectorAnswer(answers: DryRun["answers"], { stepId, what }: EffectCall): CallOutcome {
  const name = "asked" in what ? "http" : `${what.connector}.${what.method}`;
  const answer = answerFor(answers, [stepId, name]);
  if (answer === undefined) throw new StepFault(`no answer was given for "${name}"`);
  const envelope = envelopeOf(answer);
  const { status = 200, data = null, error } = envelope ?? { data: answer };
  const ok = error === undefined && status >= 200 && status < 300;
  const told = ok ? null : (error ?? `the remote answered ${status}`);
  return {
    ok,
    status: ok || error === undefined ? status : null,
    data,
    error: told,
    retryAfterSeconds: null,
    durationMs: 0,
  };
}

/** `{ status, data }` or `{ error }`; any other answer is the data itself. */
function envelopeOf(answer: unknown): { status?: number; data?: unknown; error?: string } | undefined {
  if (!isObject(answer)) return undefined;
  const names = Object.keys(answer);
  const isEnvelope = names.length > 0 && names.every((name) => ["status", "data", "error"].includes(name));
  const { status, data, error } = answer;
  if (!isEnvelope || (typeof status !== "number" && typeof error !== "string")) return undefined;
  return { data, ...(typeof status === "number" && { status }), ...(typeof error === "string" && { error }) };
}

async function databaseAnswer(
  answers: DryRun["answers"],
  effect: DbEffect,
  asWritten: DryRun["asWritten"],
): Promise<unknown> {
  const { stepId, op, db, table, id, data, increment } = effect;
  const answer = answerFor(answers, [stepId, `${db}.${op}`]);
  if (answer !== undefined) return resultOf(answer);
  if (op === "get") throw new StepFault(`no answer was given for "${db}.get"`);
  if (op === "search") return [];
  if (op === "delete") return { id: named(id), deleted: true };
  const at = new Date().toJSON();
  const written = await recorded(() => asWritten(effect));
  const whole = { ...(written ?? data), ...increment };
  return {
    id: op === "create" ? crypto.randomUUID() : named(id),
    data: whole,
    table_name: table ?? null,
    created_at: at,
    updated_at: at,
  };
}

function answerFor(answers: DryRun["answers"], names: readonly string[]): unknown {
  const name = names.find((one) => Object.hasOwn(answers, one));
  return name === undefined ? undefined : answers[name];
}
