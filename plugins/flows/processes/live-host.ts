/** The host of a real process, with real connectors, databases and flows. */
import { databaseFault, failpoint, HttpError, parseJson, sentenceOf, sha256, ValidationError, type Tx } from "platform";
import { isLoop, StepFault } from "../engine/fault.ts";
import type { Host, OwnEffect } from "../engine/host.ts";
import type { Needed } from "./needed.ts";
import type { RecordsRequest } from "./records.ts";
import type { Programs } from "../engine/state.ts";

export interface LiveProcess {
  readonly accountId: number;
  readonly id: string;
  readonly programs: Programs;
  readonly mode: "drive" | "inline" | "compute";
  readonly yields?: NonNullable<Host["yields"]>;
  readonly signal: AbortSignal;
  readonly save: () => Promise<void>;
  /** Runs writes of the state one after another. */
  readonly exclusive?: (write: () => Promise<void>) => Promise<void>;
  /** Stores the state, in this transaction if one is given. */
  readonly write?: (tx?: Tx) => Promise<void>;
}

type Parts = Pick<Needed, "ctx" | "accounts" | "connectors" | "templates" | "flowOf" | "records" | "stepTypes">;

export async function createHost(parts: Parts, process: LiveProcess): Promise<Host> {
  const { ctx, accounts, connectors, templates, flowOf, records } = parts;
  const { accountId, id, programs, mode, signal, save, exclusive, write, yields } = process;
  const account = await accounts.accountById(accountId);
  return {
    templates: account ? templates.at(account) : templates,
    programs,
    mode,
    signal,
    save,
    ...(yields && { yields }),
    accountUrl: account?.baseUrl ?? "",
    now: () => Date.now(),
    async callConnector({ connector, method, params, key, timeoutMs }) {
      failpoint("flows.calling");
      const idempotencyKey = keyOf(id, key);
      try {
        const outcome = await connectors.call({
          accountId,
          code: connector,
          method,
          params,
          idempotencyKey,
          timeoutMs,
          signal,
        });
        failpoint("flows.answered");
        return outcome;
      } catch (error) {
        if (error instanceof ValidationError)
          throw new StepFault(sentenceOf(error.fields), { status: 422, data: error.fields });
        throw error;
      }
    },
    runOwn: (effect) => runOwn(parts, process, effect),
    async db(effect, done) {
      if (!exclusive || !write) throw new Error("an effect needs a process that is driven");
      const request: RecordsRequest = { accountId, ...effect };
      if (effect.op === "get" || effect.op === "search") {
        const result = await recorded(() => records.read(request));
        await exclusive(() => {
          done(result);
          return write();
        });
        return;
      }
      await recorded(() => records.prepare(request));
      await exclusive(() =>
        ctx.transaction(async (tx) => {
          const { result, warnings } = await recorded(() => records.write(request, tx));
          done(result, warnings);
          await write(tx);
          failpoint("flows.committing");
        }),
      );
      failpoint("flows.stored");
    },
    async flow(code) {
      const flow = await flowOf(accountId, code);
      if (flow) programs.set(flow.programId, flow.program);
      return flow;
    },
  };
}

const ownTimeoutMs = 60_000;

async function runOwn(
  { ctx, stepTypes }: Parts,
  { accountId, id, signal }: LiveProcess,
  { type, params, key, timeoutMs = ownTimeoutMs }: OwnEffect,
): Promise<unknown> {
  const own = stepTypes.get(type);
  if (!own) throw new StepFault(`no plugin here has the step type "${type}"`);
  const time = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any([signal, time]);
  failpoint("flows.calling");
  try {
    const run = own.run({ accountId, params, key: keyOf(id, key), timeoutMs, signal: either });
    const result = jsonOf(await Promise.race([run, aborted(either)]));
    failpoint("flows.answered");
    return result;
  } catch (error) {
    // Not the step's fault: another server, or the next attempt of the job, continues.
    if (signal.aborted) throw signal.reason;
    if (time.aborted) throw new StepFault("timed out", { timedOut: true });
    if (databaseFault(error) === "unavailable") throw error;
    const status = error instanceof HttpError ? error.status : 500;
    if (status >= 500) ctx.log.warn("a step of a plugin's own failed", { flow_process_id: id, type, error });
    return recorded(() => Promise.reject(status < 500 ? error : new StepFault(messageOf(error))));
  }
}

/** Rejects when the signal is aborted, even if the plugin's code ignores it. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** The result as it is stored. Throws a ValidationError for what PostgreSQL cannot store. */
function jsonOf(result: unknown): unknown {
  const text = JSON.stringify(result, (_, value: unknown) => (typeof value === "bigint" ? exact(value) : value));
  return parseJson(text ?? "null");
}

/** Beyond 2^53 a JSON number would lose digits: it becomes text. */
function exact(value: bigint): number | string {
  return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`;
}

function messageOf(error: unknown): string {
  return (error instanceof Error && error.message) || "the step failed";
}

/** The same for every attempt of this step of this process, and for no other step. */
function keyOf(processId: string, step: string): string {
  return `${processId}-${sha256(step).slice(0, 16)}`;
}

async function recorded<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ValidationError)
      throw new StepFault(sentenceOf(error.fields), { status: 422, data: error.fields });
    if (error instanceof HttpError && error.status < 500)
      throw new StepFault(error.message, { status: error.status, data: error.body });
    if (isLoop(error)) throw new StepFault(error.message);
    throw error;
  }
}
