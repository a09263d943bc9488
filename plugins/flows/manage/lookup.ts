/** Finds flows: for the routes by id or code, and for runs by code from memory. */
import { cacheKey, find, notFound, parseCacheKey, refOf, type BaseContext, type Queryable, type Tx } from "platform";
import { isCode } from "../../connectors/api.ts";
import { Flow, type FlowRow } from "./flow.ts";
import { readPrograms } from "./store.ts";
import type { Program } from "../program/program.ts";

export interface CurrentFlow {
  readonly code: string;
  readonly programId: number;
  readonly fields: FlowRow["fields"];
  readonly program: Program;
}

const programsKept = 500;

export type FlowLookup = ReturnType<typeof createFlowLookup>;

export function createFlowLookup(ctx: Pick<BaseContext, "cache" | "sql">) {
  /** A stored program never changes, so those used last are kept in memory. */
  const kept = new Map<number, Program>();
  const programs = async (
    accountId: number,
    ids: readonly number[],
    on: Queryable = ctx.sql,
  ): Promise<Map<number, Program>> => {
    const missing = ids.filter((id) => !kept.has(id));
    const found = missing.length === 0 ? new Map<number, Program>() : await readPrograms(on, accountId, missing);
    for (const id of ids) {
      const program = found.get(id) ?? kept.get(id);
      if (program) found.set(id, program);
    }
    for (const [id, program] of found) {
      kept.delete(id);
      kept.set(id, program);
    }
    for (const id of kept.keys()) {
      if (kept.size <= programsKept) break;
      kept.delete(id);
    }
    return found;
  };
  const cache = ctx.cache<FlowRow & CurrentFlow>({
    name: "flows",
    max: 1000,
    load: (key) => {
      const { accountId, name: code } = parseCacheKey(key);
      return load(accountId, code);
    },
  });
  const load = async (accountId: number, code: string, on: Queryable = ctx.sql) => {
    const row = await find(Flow, on, accountId, { code });
    const program = row && (await programs(accountId, [row.programId], on)).get(row.programId);
    return row && program && { ...row, program };
  };
  const cached = async (accountId: number, code: string, tx?: Tx) => {
    if (!isCode(code)) return undefined;
    const key = cacheKey(accountId, code);
    // In a transaction the cache would load by a second connection, for which all that hold one could wait.
    return cache.peek(key) ?? (await (tx ? load(accountId, code, tx) : cache.get(key)));
  };

  return {
    /** By their ids; a process goes on with the program that it has started with. */
    programs,

    /** By id or code; a code never has the form of an id. Throws the 404. */
    async find(accountId: number, key: string): Promise<FlowRow> {
      const row = await find(Flow, ctx.sql, accountId, refOf(Flow, key));
      if (!row) throw notFound();
      return row;
    },

    exists: async (accountId: number, code: string): Promise<boolean> => (await cached(accountId, code)) !== undefined,

    /** The active flow of this code. */
    async current(accountId: number, code: string, tx?: Tx): Promise<CurrentFlow | undefined> {
      const flow = await cached(accountId, code, tx);
      return flow?.active ? flow : undefined;
    },

    /** After a change has committed, before it is answered. */
    async forget(accountId: number, codes: readonly string[]): Promise<void> {
      await Promise.all([...new Set(codes)].map((code) => cache.invalidate(cacheKey(accountId, code))));
    },
  };
}
