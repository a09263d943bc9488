/** Whether requests would be served now. Uses a connection of its own, because the pool may be full or stuck. */
import type { Sql } from "../../db/db.ts";
import { HttpError } from "../../base/errors.ts";
import { orLate } from "../../base/values.ts";

export type Readiness = ReturnType<typeof createReadiness>;

interface ReadinessOptions {
  /** Opens a pool for this purpose only. */
  readonly open: () => Sql;
  readonly listening: () => boolean;
  readonly disk: () => Promise<"ok" | "short" | "full">;
  /** Whether the database is on that disk. */
  readonly isHere: boolean;
  readonly replicas?: () => readonly { readonly state: string }[];
  readonly rehearses: () => boolean;
  readonly withinMs?: number;
}

export function createReadiness(options: ReadinessOptions) {
  const { open, listening, disk, isHere, replicas, rehearses, withinMs = 2_000 } = options;
  let pool: Sql | undefined;
  let asking: Promise<"primary" | "standby" | undefined> | undefined;

  const drop = (): Promise<void> => {
    const dropped = pool;
    pool = undefined;
    return dropped?.end({ timeout: 0 }) ?? Promise.resolve();
  };
  /** Concurrent probes share one query. */
  const ask = () =>
    (asking ??= orLate(roleOf((pool ??= open())), withinMs, undefined).finally(() => (asking = undefined)));

  const ofReplicas = () => {
    const all = replicas?.();
    return all && { replicas: { ready: all.filter(({ state }) => state === "ready").length, of: all.length } };
  };

  return {
    /** The content of `/ready`. Throws a 503 with the same content if the database accepts no writes or does not answer. */
    async check() {
      const [role, room] = await Promise.all([ask().catch(() => undefined), disk()]);
      const isFull = isHere && room === "full";
      const writable = role === "primary" && !isFull;
      const facts = {
        ...(role && { role }),
        writable,
        listening: listening(),
        disk: room,
        ...ofReplicas(),
        ...(rehearses() && { rehearsal: true as const }),
      };
      if (writable) return { status: "ready" as const, ...facts };
      if (isFull) throw new HttpError(503, { error: "no space left in DATA_DIR", ...facts }, { "retry-after": "60" });
      // A connection that does not answer never recovers, and one to a standby may be for another host than the primary.
      void drop();
      const error = role ? "the database takes no writes" : "the database does not answer, try again";
      throw new HttpError(503, { error, ...facts }, { "retry-after": "1" });
    },
    close: drop,
  };
}

async function roleOf(sql: Sql): Promise<"primary" | "standby"> {
  const [row] = await sql`
    select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as refuses_writes`;
  return row?.["refusesWrites"] === false ? "primary" : "standby";
}
