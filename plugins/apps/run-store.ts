/** All SQL about runs of actions: which flow process belongs to which action and visitor. */
import type { Sql } from "platform";

export interface Run {
  readonly processId: string;
  readonly accountId: number;
  readonly appId: string;
  readonly action: string;
  readonly flowCode: string;
  /** Null = whoever knows the id. */
  readonly owner: string | null;
}

export type RunStore = ReturnType<typeof createRunStore>;

export function createRunStore(sql: Sql) {
  return {
    /** Nothing where the app was deleted meanwhile. */
    async insert({ processId, accountId, appId, action, flowCode, owner }: Run): Promise<void> {
      await sql`
        insert into app_runs (process_id, account_id, app_id, action, flow_code, owner)
        select ${processId}, account_id, id, ${action}, ${flowCode}, ${owner} from apps
        where account_id = ${accountId} and id = ${appId}`;
    },

    async find(accountId: number, processId: string): Promise<Run | undefined> {
      const [row] = await sql<Run[]>`
        select process_id, account_id, app_id, action, flow_code, owner from app_runs
        where account_id = ${accountId} and process_id = ${processId}`;
      return row;
    },

    async prune(days: number): Promise<void> {
      await sql`delete from app_runs where created_at < now() - make_interval(days => ${days})`;
    },
  };
}
