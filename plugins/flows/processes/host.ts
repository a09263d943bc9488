/** The host of a real process, with real connectors, databases and flows. */
import { levelOf } from "../program/takes.ts";
import { authorsOf } from "../manage/store.ts";
import {
  databaseFault,
  failpoint,
  forbidden,
  HttpError,
  parseJson,
  sentenceOf,
  sha256,
  ValidationError,
  type Tx,
} from "platform";
import type { FlowContext } from "../context.ts";
import { named, recorded, StepFault } from "../engine/fault.ts";
import { Parked } from "../api.ts";
import { Suspended, type DbEffect, type Host, type OwnEffect } from "../engine/host.ts";
import type { Programs } from "../engine/state.ts";
import { searchLimits } from "../program/records.ts";
import { namesOf } from "../program/warnings.ts";

interface LiveProcess {
  readonly accountId: number;
  readonly id: string;
  readonly flowCode: string;
  readonly programs: Programs;
  readonly mode: "drive" | "inline" | "compute";
  readonly yields?: NonNullable<Host["yields"]>;
  readonly signal: AbortSignal;
  /** It is started in this transaction. */
  readonly tx?: Tx | undefined;
  readonly save: () => Promise<void>;
  /** Runs writes of the state one after another. */
  readonly exclusive?: (write: () => Promise<void>) => Promise<void>;
  /** Stores the state, in this transaction if one is given. */
  readonly write?: (tx?: Tx) => Promise<void>;
}

export async function hostOf(ctx: FlowContext, process: LiveProcess): Promise<Host> {
  const { accountId, id, programs, mode, signal, save, exclusive, write, yields } = process;
  const account = await ctx.accounts.accountById(accountId, process.tx);
  return {
    templates: account ? ctx.templates.at(account) : ctx.templates,
    programs,
    mode,
    signal,
    save,
    ...(yields && { yields }),
    accountUrl: account?.baseUrl ?? "",
    now: () => Date.now(),
    async callConnector({ what, key, timeoutMs }) {
      failpoint("flows.calling");
      const call = { accountId, idempotencyKey: keyOf(id, key), timeoutMs, signal };
      try {
        const outcome = await ("asked" in what
          ? ctx.connectors.request({ ...call, code: what.connector, asked: what.asked })
          : ctx.connectors.call({ ...call, code: what.connector, method: what.method, params: what.params }));
        failpoint("flows.answered");
        return outcome;
      } catch (error) {
        if (error instanceof ValidationError)
          throw new StepFault(sentenceOf(error.fields), { status: 422, data: error.fields });
        throw error;
      }
    },
    runOwn: (effect) => runOwn(ctx, process, effect),
    async db(effect, done) {
      if (!exclusive || !write) throw new Error("an effect needs a process that is driven");
      await recorded(() => mustReach(ctx, accountId, effect, [...programs.keys()]));
      if (effect.op === "get" || effect.op === "search") {
        const reads = (db: string) => reachedBy(ctx, accountId, db, [...programs.keys()]);
        const result = await recorded(() => readRecords(ctx, accountId, effect, reads));
        await exclusive(() => {
          done(result);
          return write();
        });
        return;
      }
      // The transaction of a write may hold the last connection of the pool.
      await recorded(() => ctx.databases.find(accountId, effect.db));
      await exclusive(() =>
        ctx.transaction(async (tx) => {
          const { result, warnings } = await recorded(() => writeRecord(ctx, accountId, effect, tx));
          done(result, warnings);
          await write(tx);
          failpoint("flows.committing");
        }),
      );
      failpoint("flows.stored");
    },
    async flow(code) {
      const flow = await ctx.flowLookup.current(accountId, code);
      if (flow) programs.set(flow.programId, flow.program);
      return flow;
    },
  };
}

const ownTimeoutMs = 60_000;

async function runOwn(
  ctx: FlowContext,
  { accountId, id, flowCode, programs, signal }: LiveProcess,
  { type, params, key, timeoutMs = ownTimeoutMs }: OwnEffect,
): Promise<unknown> {
  const own = ctx.stepTypes.get(type);
  if (!own) throw new StepFault(`no plugin here has the step type "${type}"`);
  const time = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any([signal, time]);
  failpoint("flows.calling");
  try {
    const process = { accountId, id, flowCode };
    const authors = () => authorsOf(ctx.sql, accountId, [...programs.keys()]);
    const run = own.run({ accountId, process, params, key: keyOf(id, key), authors, timeoutMs, signal: either });
    const result = jsonOf(await Promise.race([run, aborted(either)]));
    failpoint("flows.answered");
    return result;
  } catch (error) {
    if (error instanceof Parked) throw new Suspended(error.until.getTime());
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

/** 403 if an author of the programs that run may no longer use all records of the database. */
async function mustReach(
  { databases, sql }: FlowContext,
  accountId: number,
  { db, op, expand }: DbEffect,
  ids: readonly number[],
) {
  const authors = () => authorsOf(sql, accountId, ids);
  const who = "whoever saved this flow, or one that it calls, does not hold";
  if (!(await databases.reaches(accountId, db, levelOf[op], authors)))
    throw forbidden(`${who} the level \`${levelOf[op]}\` for all records of the database \`${db.slice(0, 100)}\``);
  for (const end of await databases.databasesAlong(accountId, db, expand))
    if (!(await databases.reaches(accountId, end, "read", authors)))
      throw forbidden(`${who} the level \`read\` for all records of each database that \`expand\` leads to`);
}

/** Whether all authors of the programs may read all records of a database, which rollups are of. */
function reachedBy({ databases, sql }: FlowContext, accountId: number, db: string, ids: readonly number[]) {
  return databases.reaches(accountId, db, "read", () => authorsOf(sql, accountId, ids));
}

/** Records as the private API shows them; a search returns the flat array. Throws an HttpError (404, 400). */
async function readRecords(
  { databases }: FlowContext,
  accountId: number,
  { db, id, search, expand }: DbEffect,
  reads: (db: string) => Promise<boolean>,
) {
  if (!search) return databases.get(accountId, db, named(id), { expand, reads });
  const found = await databases.search(accountId, db, { ...search.search, expand, reads });
  if (search.mostFound !== undefined && found.length > search.mostFound) throw new StepFault(tooMany(search.mostFound));
  return found;
}

/** Writes the record and its events, in the transaction that stores the step. Throws an HttpError (404, 412, 422). */
async function writeRecord({ databases }: FlowContext, accountId: number, effect: DbEffect, tx: Tx) {
  const { op, db, table, id, data, conditions, increment } = effect;
  const writes = databases.within(tx);
  if (op === "delete") {
    await writes.delete(accountId, db, named(id));
    return { result: { id, deleted: true }, warnings: [] };
  }
  const record = { tableName: table, data };
  const result =
    op === "create"
      ? await writes.create(accountId, db, record)
      : await writes.update(accountId, db, named(id), { ...record, conditions, increment });
  const tables = result.table_name === null ? (await databases.find(accountId, db))?.tables : null;
  const warnings = tables ? [`the record is in no table, so no search finds it: ${namesOf(tables)}`] : [];
  return { result, warnings };
}

function tooMany(most: number): string {
  const remedy =
    most < searchLimits.all ? "give a `limit`, or `all: true` for up to 10,000" : "narrow it, or give a `limit`";
  return `the search finds more than ${most} records: ${remedy}`;
}
