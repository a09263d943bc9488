/** Starts a flow: steps without effects run at once. If there are no others, the finished process is one statement. */
import { batched, failpoint, timeOfUuidv7, uuidv7, withCausation, type Tx } from "platform";
import type { StartFlow } from "../api.ts";
import { createRun } from "../engine/engine.ts";
import { MemoryFull } from "../engine/fault.ts";
import type { End } from "../engine/host.ts";
import { createHost } from "./live-host.ts";
import { driveProcess, kindsOf, placeOf, processStarted, type CurrentFlow, type Needed, type News } from "./needed.ts";
import type { NewProcess, ProcessRow, Started } from "./process-store.ts";
import { rootOf, starterNow, traceNow } from "./starter.ts";
import { memoryText, newState, type Memory } from "../engine/state.ts";

interface Prepared extends Started {
  readonly written: NewProcess;
  /** When to continue it; undefined if it has ended. */
  readonly until: number | undefined;
}

/** Never aborted: steps that only compute are not stopped. */
const never = new AbortController().signal;

export function createStarter(needed: Needed, news: News) {
  const { ctx, processStore } = needed;
  const insertTogether = batched(
    async (rows: readonly NewProcess[]) => {
      await processStore.insert(rows);
      return rows;
    },
    { most: 100, alone: true },
  );

  const insertWithNews = async ({ process, written, until }: Prepared, kinds: readonly string[], tx: Tx) => {
    const { accountId, id, flowCode } = process;
    await processStore.insert([written], tx);
    await news.tell(process, kinds, tx);
    if (until === undefined) return;
    if (until > Date.now())
      await ctx.enqueue(driveProcess, { accountId, id, flowCode }, { tx, ...placeOf(process), runAt: new Date(until) });
    else await ctx.emit(processStarted, { accountId, id, flowCode }, tx, placeOf(process));
  };

  /** All that follows from a process that nothing has led to can be found by its id. */
  const insert = (prepared: Prepared, kinds: readonly string[], tx: Tx): Promise<void> => {
    const run = () => insertWithNews(prepared, kinds, tx);
    return prepared.written.trace === null ? withCausation(rootOf(prepared.written), run) : run();
  };

  /** Undefined if no active flow has this code. */
  return async (start: StartFlow): Promise<Started | undefined> => {
    const { accountId, code, tx } = start;
    const flow = await needed.flowOf(accountId, code);
    if (!flow) return undefined;
    const prepared = await runAtOnce(needed, flow, start);
    const { process } = prepared;
    const kinds = news.wanted(process, ["create", ...kindsOf[process.status]]);
    if (tx) await insert(prepared, kinds, tx);
    else if (prepared.until === undefined && kinds.length === 0 && !ctx.keyed()) await insertTogether(prepared.written);
    else await ctx.transaction((own) => insert(prepared, kinds, own));
    failpoint("flows.started");
    return prepared;
  };
}

/** A new process, run up to its first effect. */
async function runAtOnce(
  needed: Needed,
  { code: flowCode, programId, program }: CurrentFlow,
  { accountId, input, scope, origin, by = starterNow() }: StartFlow,
): Promise<Prepared> {
  const id = uuidv7();
  const state = newState(flowCode, programId, input, scope);
  const programs = new Map([[programId, program]]);
  const save = async () => {};
  const host = await createHost(needed, { accountId, id, programs, mode: "inline", signal: never, save });
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
    trace: traceNow() ?? null,
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

type New = Pick<ProcessRow, "accountId" | "id" | "flowCode" | "input" | "createdAt">;

function processOf(process: New, end: End): ProcessRow {
  const status = end.kind === "suspended" ? "pending" : end.kind;
  return {
    ...process,
    status,
    data: end.kind === "finished" ? (end.data ?? null) : null,
    error: end.kind === "error" ? end.message : null,
    finishedAt: status === "pending" ? null : new Date(),
  };
}
