/** Starts a flow: steps without effects run at once. If there are no others, the finished process is one statement. */
import {
  conflict,
  currentActor,
  currentCausation,
  failpoint,
  notFound,
  timeOfUuidv7,
  uuidv7,
  withCausation,
} from "platform";
import type { Caller, Causation, Tx } from "platform";
import type { StartFlow, Starter } from "../api.ts";
import type { FlowContext } from "../context.ts";
import { createRun } from "../engine/engine.ts";
import { MemoryFull } from "../engine/fault.ts";
import type { End } from "../engine/host.ts";
import { fits, forgetAttempts, memoryText, newState, standsAt, type Cursor, type Memory } from "../engine/state.ts";
import type { CurrentFlow } from "../manage/lookup.ts";
import { hostOf } from "./host.ts";
import { shownTo } from "./show.ts";
import { driveProcess, emitChanges, kindsOf, shareOf, processStarted, runHasFailed, wantedKinds } from "./signals.ts";
import * as processStore from "./store.ts";
import type { NewProcess, ProcessRow, Started } from "./store.ts";

interface PreparedProcess extends Started {
  readonly written: NewProcess;
  /** When to continue it; undefined if it has ended. */
  readonly until: number | undefined;
}

/** Never aborted: steps that only compute are not stopped. */
const never = new AbortController().signal;

/** Undefined if no active flow has this code. */
export async function startProcess(ctx: FlowContext, start: StartFlow): Promise<Started | undefined> {
  const { accountId, code, tx } = start;
  const flow = await ctx.flowLookup.current(accountId, code, tx);
  if (!flow) return undefined;
  const prepared = await runAtOnce(ctx, flow, start);
  const { process } = prepared;
  const kinds = wantedKinds(ctx, process, ["create", ...kindsOf[process.status]]);
  if (tx) await insert(ctx, prepared, kinds, tx);
  else if (prepared.until === undefined && kinds.length === 0 && !ctx.keyed())
    await ctx.insertTogether(prepared.written);
  else await ctx.transaction((own) => insert(ctx, prepared, kinds, own));
  if (process.status === "error") await runHasFailed(ctx, process, tx);
  failpoint("flows.started");
  return prepared;
}

/**
 * Continues from the failed step: with the programs that it started with, or with those of the flows as they are now. Throws
 * 404 if unknown, 409 without an error, or where the steps so far are others now.
 */
export async function retryProcess(ctx: FlowContext, caller: Caller, id: string, isCurrent: boolean) {
  const accountId = caller.account.id;
  return ctx.transaction(async (tx) => {
    const found = await processStore.lock(tx, accountId, id);
    if (!found) throw notFound();
    if (found.status !== "error" || !found.cursor) throw conflict("only a process with an error can be retried");
    const memory = isCurrent ? await renewed(ctx, tx, accountId, found.cursor, found.memory) : undefined;
    forgetAttempts(found.cursor.frames);
    const row = await processStore.resume(tx, found, found.cursor, memory);
    await emitChanges(ctx, row, ["update"], tx);
    const process = { accountId, id, flowCode: found.flowCode };
    await withCausation(rootOf(found), () => ctx.enqueue(driveProcess, process, { tx, ...shareOf(process) }));
    return shownTo(ctx, tx, caller, id);
  });
}

/** The memory with the programs as they are now. */
async function renewed(
  { flowLookup }: FlowContext,
  tx: Tx,
  accountId: number,
  { frames }: Cursor,
  memory: Memory | null,
): Promise<Memory> {
  if (!memory) throw conflict("it has no memory to go on with");
  const scopes = { ...memory.scopes };
  for (const [name, scope] of Object.entries(scopes)) {
    const now = await flowLookup.current(accountId, scope.flow, tx);
    if (!now) throw conflict(`the flow "${scope.flow}" is off or gone`);
    const before = (await flowLookup.programs(accountId, [scope.programId], tx)).get(scope.programId) ?? [];
    if (![...standsAt(frames, name)].every((frame) => fits(before, now.program, frame)))
      throw conflict(`the steps of "${scope.flow}" so far are others now: start it anew`);
    scopes[name] = { ...scope, programId: now.programId };
  }
  return { ...memory, scopes };
}

/** All that follows from a process that nothing has led to can be found by its id. */
async function insert(ctx: FlowContext, prepared: PreparedProcess, kinds: readonly string[], tx: Tx): Promise<void> {
  const { process, written, until } = prepared;
  const run = async () => {
    const { accountId, id, flowCode } = process;
    await processStore.insert(tx, [written]);
    await emitChanges(ctx, process, kinds, tx);
    if (until === undefined) return;
    if (until > Date.now())
      await ctx.enqueue(driveProcess, { accountId, id, flowCode }, { tx, ...shareOf(process), runAt: new Date(until) });
    else await ctx.emit(processStarted, { accountId, id, flowCode }, tx, shareOf(process));
  };
  await (written.trace === null ? withCausation(rootOf(written), run) : run());
}

/** A new process, run up to its first effect. */
async function runAtOnce(
  ctx: FlowContext,
  { code: flowCode, programId, program }: CurrentFlow,
  { accountId, input, scope, origin, by = starterNow(), tx }: StartFlow,
): Promise<PreparedProcess> {
  const id = uuidv7();
  const state = newState(flowCode, programId, input, scope);
  const programs = new Map([[programId, program]]);
  const save = async () => {};
  const host = await hostOf(ctx, { accountId, id, flowCode, programs, mode: "inline", signal: never, save, tx });
  const run = createRun(state, host);
  const { end, memory } = keepable(await run.run(), state.memory);
  const process = processOf({ accountId, id, flowCode, input, createdAt: timeOfUuidv7(id) }, end);
  const steps = run.take().records.toSorted((a, b) => a.n - b.n);
  const cursor = memory === null ? null : state.cursor;
  const written: NewProcess = {
    ...process,
    programId,
    input: JSON.stringify(input),
    data: end.kind === "finished" ? JSON.stringify(process.data) : null,
    cursor: cursor && JSON.stringify(cursor),
    memory,
    steps: JSON.stringify(steps),
    origin: origin ? JSON.stringify(origin) : null,
    starterKind: by?.kind ?? null,
    starterId: by?.id ?? null,
    starter: by?.details ? JSON.stringify(by.details) : null,
    trace: currentCausation()?.id ?? null,
  };
  return { process, steps, cursor, written, until: end.kind === "suspended" ? end.until : undefined };
}

/** The memory as text if the process goes on; an error if it is too large to be stored. */
function keepable(end: End, memory: Memory): { end: End; memory: string | null } {
  if (end.kind === "finished") return { end, memory: null };
  try {
    return { end, memory: memoryText(memory) };
  } catch (error) {
    if (!(error instanceof MemoryFull)) throw error;
    return { end: { kind: "error", message: error.message }, memory: null };
  }
}

type NewProcessRow = Pick<ProcessRow, "accountId" | "id" | "flowCode" | "input" | "createdAt">;

function processOf(process: NewProcessRow, end: End): ProcessRow {
  const status = end.kind === "suspended" ? "pending" : end.kind;
  return {
    ...process,
    status,
    data: end.kind === "finished" ? (end.data ?? null) : null,
    error: end.kind === "error" ? end.message : null,
    finishedAt: status === "pending" ? null : new Date(),
  };
}

/** The person who makes the request, or the command that runs. */
function starterNow(): Starter | undefined {
  const actor = currentActor();
  if (!actor) return undefined;
  const { kind, user, login, token, app, process, command } = actor;
  const id = { person: user, app, flow: process, command }[kind];
  const details = { ...(login !== undefined && { name: login }), ...(token !== undefined && { token_id: token }) };
  return { kind, id: id === undefined ? null : String(id), details: { ...details, ...asUser(kind, user) } };
}

function asUser(kind: string, user: number | undefined) {
  return kind !== "person" && user !== undefined ? { user_id: user } : {};
}

/** The causation of what follows from a process. */
function rootOf({ id, trace }: { readonly id: string; readonly trace: string | null }): Causation {
  return { id: trace ?? id, depth: 0, chain: [] };
}
