/** The reads under way at a replica, each in the lane of its plugin. */
import { laneOf, type Sql } from "../../db/db.ts";

const stopSeconds = 2;

export function createReads(open: () => Sql) {
  const lanes = new Map<string, Sql>();
  let pool = open();
  const underWay = new Set<(reason: Error) => void>();
  return {
    async run<T>(lane: string, run: (sql: Sql) => Promise<T>): Promise<T> {
      const sql = lanes.get(lane) ?? laneOf(pool, lane);
      lanes.set(lane, sql);
      const abandoned = Promise.withResolvers<never>();
      underWay.add(abandoned.reject);
      try {
        return await Promise.race([run(sql), abandoned.promise]);
      } finally {
        underWay.delete(abandoned.reject);
      }
    },
    /** A server that stands still would keep them waiting. */
    abandon(): void {
      for (const reject of underWay) reject(new Error("the replica does not answer"));
    },
    /** Gives up its connections: nobody may need them for long, and a primary counts them. */
    async renew(): Promise<void> {
      const old = pool;
      pool = open();
      lanes.clear();
      await old.end({ timeout: stopSeconds });
    },
    stop: () => pool.end({ timeout: stopSeconds }),
  };
}
