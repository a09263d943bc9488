/** Starting, driving, cancelling and retrying flow processes. The engine computes; here is what it takes to last. */
import { conflict, event, failpoint, job, modelChanged, notFound, on, onEvent, uuidv7 } from "platform";
import type { BaseContext, Handler, ModelChange, Tx } from "platform";
import type { Accounts } from "../accounts/api.ts";
import type { Connectors } from "../connectors/api.ts";
import { createBatch } from "./batch.ts";
import { Gone, isLoop, MemoryFull } from "./fault.ts";
import { createRun } from "./engine.ts";
import type { End } from "./host.ts";
import { createHost } from "./live-host.ts";
import type { FlowStore } from "./flow-store.ts";
import type { HeldProcess, NewProcess, ProcessRow, ProcessStore } from "./process-store.ts";
import type { FlowRecords } from "./records.ts";
import { toApi, toEvent } from "./show.ts";
import {
  forgetAttempts,
  memoryText,
  newState,
  programIdsOf,
  type Memory,
  type Programs,
  type StepRecord,
} from "./state.ts";
import type { Templates } from "./template.ts";
import type { Waiting } from "./waiting.ts";
import type { Program } from "./program.ts";

export interface CurrentFlow {
  readonly code: string;
  readonly programId: number;
  readonly program: Program;
}

export interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "changed" | "wanted" | "emit" | "enqueue" | "broadcast" | "log">;
  readonly store: ProcessStore;
  readonly flowStore: FlowStore;
  readonly accounts: Accounts;
  readonly connectors: Connectors;
  readonly templates: Templates;
  readonly waiting: Waiting;
  /** The active flow of this code. */
  readonly flowOf: (accountId: number, code: string) => Promise<CurrentFlow | undefined>;
  readonly records: FlowRecords;
  readonly leaseSeconds: number;
}

interface Named {
  readonly accountId: number;
  readonly id: string;
}

/** A new process has steps that reach outside: an event, so that flows that start each other are counted as a chain. */
const processStarted = event<Named>("connect.flow.started");
const driveProcess = job<Named>("flows.drive");
const cancelled = "flows.cancelled";
const maxAttempts = 10;
export const processModel = "Connect::FlowProcess";

export interface Started {
  readonly process: ProcessRow;
  readonly steps: readonly StepRecord[];
}

export type Processes = ReturnType<typeof createProcesses>;

export function createProcesses(needed: Needed) {
  const { ctx, store, waiting, flowOf } = needed;
  const insertTogether = createBatch<NewProcess>((rows) => store.insert(rows));
  const running = new Map<string, AbortController>();
  ctx.broadcast.on(cancelled, (id) => running.get(id)?.abort(new Error("the process was cancelled")));

  const kinds = { pending: [], finished: ["update", "finished"], error: ["update", "error"] } as const;
  const wanted = (row: ProcessRow, kindsOfChange: readonly string[]) =>
    kindsOfChange.filter((kind) => ctx.wanted(modelChanged, changeOf(row, kind)));
  const tell = async (row: ProcessRow, kindsOfChange: readonly string[], tx: Tx) => {
    for (const kind of kindsOfChange) await ctx.changed(changeOf(row, kind), tx);
  };

  /** Runs what has no effect at once; where that is all, the process is one statement, and finished. */
  const start = async ({
    accountId,
    code,
    input,
    tx,
  }: {
    accountId: number;
    code: string;
    input: Readonly<Record<string, unknown>>;
    tx?: Tx | undefined;
  }): Promise<Started | undefined> => {
    const flow = await flowOf(accountId, code);
    if (!flow) return undefined;
    const id = uuidv7();
    const createdAt = new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
    const state = newState(code, flow.programId, input);
    const programs: Programs = new Map([[flow.programId, flow.program]]);
    const host = await createHost(needed, {
      accountId,
      id,
      programs,
      mode: "inline",
      signal: never,
      save: async () => {},
    });
    const run = createRun(state, host);
    const { end, memory } = keepable(await run.run(), state.memory);
    const row = processOf({ accountId, id, flowCode: code, input, createdAt }, end);
    const records = run.take().records.toSorted((a, b) => a.n - b.n);
    const ended = end.kind !== "suspended";
    const written: NewProcess = {
      ...row,
      programId: flow.programId,
      input: JSON.stringify(input),
      data: end.kind === "finished" ? JSON.stringify(row.data) : null,
      cursor: memory === null ? null : JSON.stringify(state.cursor),
      memory,
      steps: JSON.stringify(records),
    };
    const told = wanted(row, ["create", ...kinds[row.status]]);
    if (ended && told.length === 0 && !tx) await insertTogether(written);
    else {
      const write = async (inner: Tx) => {
        await store.insert([written], inner);
        await tell(row, told, inner);
        if (end.kind !== "suspended") return;
        const wait = end.until - Date.now();
        if (wait > 0)
          await ctx.enqueue(driveProcess, { accountId, id }, { tx: inner, accountId, runAt: new Date(end.until) });
        else await ctx.emit(processStarted, { accountId, id }, inner, { accountId });
      };
      await (tx ? write(tx) : ctx.transaction(write));
    }
    failpoint("flows.started");
    return { process: row, steps: records };
  };

  /** Takes the process over and runs it to its end, or until it waits. */
  const drive = async ({ accountId, id }: Named, { attempt, signal }: { attempt: number; signal: AbortSignal }) => {
    const held = await store.take(accountId, id);
    if (!held) return;
    const controller = new AbortController();
    running.set(id, controller);
    try {
      await goOn(needed, held, AbortSignal.any([signal, controller.signal]), end);
    } catch (error) {
      if (controller.signal.aborted || error instanceof Gone) return;
      const tooLarge = error instanceof MemoryFull;
      if (signal.aborted || (!tooLarge && attempt < maxAttempts)) throw error;
      if (!tooLarge) ctx.log.error("a flow process failed for reasons of our own", { flow_process_id: id, error });
      await end(held, held.stored, { kind: "error", message: tooLarge ? error.message : "internal error" });
    } finally {
      running.delete(id);
    }
  };

  /** Writes how it ended, with its events, and wakes those who wait for it. */
  const end = async (
    held: HeldProcess,
    stored: number,
    outcome: Exclude<End, { kind: "suspended" }>,
    last: { steps?: string; cursor?: string; memory?: string } = {},
  ): Promise<void> => {
    const { accountId, id, fence } = held;
    const isFinished = outcome.kind === "finished";
    const status = outcome.kind;
    const row: ProcessRow = {
      ...held,
      status,
      data: isFinished ? outcome.data : null,
      error: isFinished ? null : outcome.message,
      finishedAt: new Date(),
    };
    const progress = {
      ...{ accountId, id, fence, stored, steps: last.steps },
      cursor: isFinished ? null : last.cursor,
      memory: isFinished ? null : last.memory,
      end: { status, data: isFinished ? JSON.stringify(row.data ?? null) : null, error: row.error },
    };
    const told = wanted(row, kinds[status]);
    const write = async (tx?: Tx) => {
      if (!(await store.progress(progress, tx))) throw new Gone();
      if (tx) await tell(row, told, tx);
    };
    try {
      await (told.length > 0 ? ctx.transaction(write) : write());
    } catch (error) {
      // Its webhook led here again and again: it ends all the same, and leads nowhere any more.
      if (!isLoop(error)) throw error;
      await store.progress({ ...progress, end: { status: "error", data: null, error: error.message } });
    }
    waiting.tell(row);
  };

  return {
    start,

    /** The object of CONTRACT 9. */
    async show(accountId: number, id: string) {
      const row = await store.show(accountId, id);
      return row && toApi(row);
    },

    handlers: [
      onEvent(processStarted, "drive", drive, { concurrency: 100, leaseSeconds: needed.leaseSeconds, maxAttempts }),
      on(driveProcess, drive, { concurrency: 100, leaseSeconds: needed.leaseSeconds, maxAttempts }),
    ] satisfies Handler[],

    async cancel(accountId: number, id: string): Promise<void> {
      const row = await ctx.transaction(async (tx) => {
        const gone = await store.cancel(tx, accountId, id);
        if (!gone) throw (await store.state(accountId, id)) ? conflict("the process has ended already") : notFound();
        await tell(gone, kinds.error, tx);
        return gone;
      });
      ctx.broadcast.publish(cancelled, id);
      waiting.tell(row);
    },

    /** Goes on from the step that failed, with the program it started with. */
    async retry(accountId: number, id: string): Promise<void> {
      await ctx.transaction(async (tx) => {
        const found = await store.lock(tx, accountId, id);
        if (!found) throw notFound();
        if (found.status !== "error" || !found.cursor)
          throw conflict("only a process with an error can be tried again");
        forgetAttempts(found.cursor.frames);
        const row = await store.resume(tx, accountId, id, found.cursor);
        await tell(row, ["update"], tx);
        await ctx.enqueue(driveProcess, { accountId, id }, { tx, accountId });
      });
    },
  };

  /** Runs a held process on. */
  async function goOn({ flowStore }: Needed, held: HeldProcess, signal: AbortSignal, ended: typeof end): Promise<void> {
    const { accountId, id, fence, cursor, memory } = held;
    const programs: Programs = await flowStore.programs(accountId, programIdsOf(memory));
    let stored = held.stored;
    /** One save at a time: an older state must never be written over a newer one. */
    let saving: Promise<void> = Promise.resolve();
    const exclusive = (write: () => Promise<void>): Promise<void> => {
      const next = saving.then(write);
      saving = next.catch(() => {});
      return next;
    };
    const taken = () => {
      const { records, memoryChanged } = run.take();
      return {
        ...(records.length > 0 && { steps: JSON.stringify(records) }),
        ...(memoryChanged && { memory: memoryText(memory) }),
        cursor: JSON.stringify(cursor),
      };
    };
    const write = async (tx?: Tx) => {
      const last = taken();
      const progress = {
        accountId,
        id,
        fence,
        stored,
        steps: last.steps,
        cursor: last.cursor,
        memory: last.memory,
        end: undefined,
      };
      if (!(await store.progress(progress, tx))) throw new Gone();
      if (last.steps !== undefined) stored += 1;
    };
    const save = () => exclusive(() => write()).then(() => failpoint("flows.stored"));
    const host = await createHost(needed, { accountId, id, programs, mode: "drive", signal, save, exclusive, write });
    const run = createRun({ cursor, memory }, host);
    failpoint("flows.driving");
    const outcome = await run.run();
    await saving;
    if (outcome.kind !== "suspended") {
      failpoint("flows.ending");
      await ended(held, stored, outcome, taken());
      return failpoint("flows.ended");
    }
    await ctx.transaction(async (tx) => {
      await write(tx);
      await ctx.enqueue(driveProcess, { accountId, id }, { tx, accountId, runAt: new Date(outcome.until) });
    });
  }
}

/** The memory as text where there is something to go on with; an end where it is too large to be kept. */
function keepable(end: End, memory: Memory): { end: End; memory: string | null } {
  if (end.kind === "finished") return { end, memory: null };
  try {
    return { end, memory: memoryText(memory) };
  } catch (error) {
    if (!(error instanceof MemoryFull)) throw error;
    return { end: { kind: "error", message: error.message }, memory: null };
  }
}

/** Never aborted: what is computed at once is not stopped. */
const never = new AbortController().signal;

function processOf(
  process: Pick<ProcessRow, "accountId" | "id" | "flowCode" | "input" | "createdAt">,
  end: End,
): ProcessRow {
  const status = end.kind === "suspended" ? "pending" : end.kind;
  return {
    ...process,
    status,
    data: end.kind === "finished" ? (end.data ?? null) : null,
    error: end.kind === "error" ? end.message : null,
    finishedAt: status === "pending" ? null : new Date(),
  };
}

function changeOf(row: ProcessRow, kind: string): ModelChange {
  return { accountId: row.accountId, sourceType: processModel, kind, id: row.id, data: toEvent(row) };
}
