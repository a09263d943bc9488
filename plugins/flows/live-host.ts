/** The host of a real process: connectors, databases and other flows as they are. */
import { failpoint, HttpError, sentenceOf, sha256, ValidationError, type Tx } from "platform";
import { isLoop, StepFault } from "./fault.ts";
import type { Host } from "./host.ts";
import type { Needed } from "./needed.ts";
import type { RecordsRequest } from "./records.ts";
import type { Programs } from "./state.ts";

export interface LiveProcess {
  readonly accountId: number;
  readonly id: string;
  readonly programs: Programs;
  readonly mode: "drive" | "inline";
  readonly signal: AbortSignal;
  readonly save: () => Promise<void>;
  /** Runs writes of the state one after another. */
  readonly exclusive?: (write: () => Promise<void>) => Promise<void>;
  /** Stores the state, in this transaction where there is one. */
  readonly write?: (tx?: Tx) => Promise<void>;
}

type Parts = Pick<Needed, "ctx" | "accounts" | "connectors" | "templates" | "flowOf" | "records">;

export async function createHost(
  { ctx, accounts, connectors, templates, flowOf, records }: Parts,
  process: LiveProcess,
): Promise<Host> {
  const { accountId, id, programs, mode, signal, save, exclusive, write } = process;
  const account = await accounts.accountById(accountId);
  return {
    templates: account ? templates.at(account) : templates,
    programs,
    mode,
    signal,
    save,
    accountUrl: account?.baseUrl ?? "",
    now: () => Date.now(),
    async callConnector({ connector, method, params, key, timeoutMs }) {
      failpoint("flows.calling");
      const idempotencyKey = `${id}-${sha256(key).slice(0, 16)}`;
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
    async db({ op, db, table, id: recordId, data, params }, done) {
      if (!exclusive || !write) throw new Error("an effect needs a process that is driven");
      const request: RecordsRequest = { accountId, op, db, table, id: recordId, data, params };
      if (op === "get" || op === "search") {
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
