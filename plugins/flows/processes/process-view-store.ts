/** SQL that shows flow processes. */
import type { Page, Queryable, Sql } from "platform";
import type { Origin } from "../api.ts";
import { processColumns, type ProcessRow } from "./process-store.ts";
import type { Cursor, StepRecord } from "../engine/state.ts";

/** A process with its steps and its position. */
export interface WholeProcess extends ProcessRow {
  readonly cursor: Cursor | null;
  readonly steps: readonly StepRecord[];
  readonly further: readonly (readonly StepRecord[])[] | null;
}

export interface ProcessFilter {
  readonly flowCode: string | undefined;
  readonly status: string | undefined;
}

const listedStepsBytes = 20_000;
const listedBatches = 20;

export type ProcessViewStore = ReturnType<typeof createProcessViewStore>;

export function createProcessViewStore(sql: Sql) {
  const columns = processColumns(sql);

  return {
    async show(accountId: number, id: string, on: Queryable = sql): Promise<WholeProcess | undefined> {
      const [row] = await on<WholeProcess[]>`
        select ${columns}, p.cursor, p.steps,
          (select json_agg(s.steps order by s.number) from flow_process_steps s
            where s.account_id = p.account_id and s.process_id = p.id) as further
        from flow_processes p where p.account_id = ${accountId} and p.id = ${id}`;
      return row;
    },

    async origin(accountId: number, id: string): Promise<{ flowCode: string; origin: Origin } | undefined> {
      const [row] = await sql<{ flowCode: string; origin: Origin | null }[]>`
        select flow_code, origin from flow_processes where account_id = ${accountId} and id = ${id}`;
      return row && { flowCode: row.flowCode, origin: row.origin ?? {} };
    },

    async state(accountId: number, id: string, on: Queryable = sql): Promise<ProcessRow | undefined> {
      const [row] = await on<ProcessRow[]>`
        select ${columns} from flow_processes p where p.account_id = ${accountId} and p.id = ${id}`;
      return row;
    },

    /** The latest first; large batches of steps are left out. */
    async list(accountId: number, { flowCode, status }: ProcessFilter, { limit, offset }: Page) {
      const where = sql`p.account_id = ${accountId}
        ${flowCode === undefined ? sql`` : sql`and p.flow_code = ${flowCode}`}
        ${status === undefined ? sql`` : sql`and p.status = ${status}`}`;
      const rows = await sql<WholeProcess[]>`
        select ${columns}, p.cursor,
          case when pg_column_size(p.steps) <= ${listedStepsBytes} then p.steps else '[]' end as steps,
          (select json_agg(s.steps order by s.number) from flow_process_steps s
            where s.account_id = p.account_id and s.process_id = p.id and s.number <= ${listedBatches}
              and pg_column_size(s.steps) <= ${listedStepsBytes}) as further
        from flow_processes p where ${where} order by p.id desc limit ${limit} offset ${offset}`;
      const [count] = await sql<{ total: number }[]>`select count(*) as total from flow_processes p where ${where}`;
      return { rows, total: count?.total ?? 0 };
    },
  };
}
