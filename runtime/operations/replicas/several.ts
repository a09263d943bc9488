/**
 * Reads at an address that leads to several servers: how far one of them is says nothing of another. So each read is a
 * transaction, which asks its own server first.
 */
import { serverName, type Sql, type Tx } from "../../db/db.ts";
import { wordKey } from "./primary.ts";
import { longestPauseMs } from "./progress.ts";

/** A server that is asked where it is answers at once, or it stands still. */
const silenceMs = 2_000;

export interface Wanted {
  readonly lsn: number;
  /** Of the primary that the server must follow. */
  readonly word: string;
  readonly withinMs: number;
  /** Called once, if it is not there yet. */
  readonly onWait: () => void;
}

interface Found {
  readonly isStandby: boolean;
  readonly lsn: number;
  readonly word: string | null;
  readonly server: string;
}

export function createSeveral() {
  /** What was waited for in vain, by server: nobody waits there again before it is there. */
  const missed = new Map<string, number>();

  const isThere = async (tx: Tx, { lsn, word, withinMs, onWait }: Wanted): Promise<boolean> => {
    const until = performance.now() + withinMs;
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const found = await look(tx);
      if (!found.isStandby) return false;
      if (found.lsn >= lsn) return found.word === word;
      if (pauseMs === 1) onWait();
      const isInVain = (missed.get(found.server) ?? -1) > found.lsn;
      if (isInVain || performance.now() >= until) {
        if (missed.size >= 100) missed.clear();
        missed.set(found.server, lsn);
        return false;
      }
      await new Promise((resolve) => void setTimeout(resolve, pauseMs));
    }
  };

  return {
    /** Why, if the server that it came to is not up to date in time, is no replica, or does not answer. */
    async read<T>(sql: Sql, wanted: Wanted, run: (tx: Tx) => Promise<T>) {
      const silence = Promise.withResolvers<"failed">();
      const timer = setTimeout(() => silence.resolve("failed"), wanted.withinMs + silenceMs);
      // Each statement must see what has been replayed before it.
      const read = sql.begin("isolation level read committed read only", async (tx) => {
        if (!(await isThere(tx, wanted))) return "behind" as const;
        clearTimeout(timer);
        return { value: await run(tx) };
      });
      return Promise.race([read, silence.promise]).finally(() => clearTimeout(timer));
    },
  };
}

async function look(tx: Tx): Promise<Found> {
  const [found] = await tx<Found[]>`
    select pg_is_in_recovery() as is_standby, coalesce(pg_last_wal_replay_lsn() - '0/0', 0)::bigint as lsn,
      (select value from runtime_state where key = ${wordKey}) as word, ${tx.unsafe(serverName)} as server`;
  if (!found) throw new Error("the server does not say how far it is");
  return found;
}
