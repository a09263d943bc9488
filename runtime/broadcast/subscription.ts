import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "../db/db.ts";
import type { Log } from "../system/log.ts";

export type Subscription = Awaited<ReturnType<typeof openSubscription>>;

/**
 * One listening connection that comes back by itself and says when it was away. Resolves when it listens. `open` gives a
 * pool that only this subscription uses; `onReset` is called when the connection was lost and is back.
 */
export async function openSubscription(
  open: () => Sql,
  channel: string,
  onMessage: (text: string) => void,
  onReset: () => void,
  log: Log,
) {
  let healthy = false;
  let begun = false;
  let current: Sql | undefined;
  let closed = false;

  const connect = async () => {
    const pool = open();
    current = pool;
    onLoss(pool, () => {
      if (pool !== current || closed || !healthy) return;
      healthy = false;
      log.warn("the listening connection was lost");
    });
    const onListening = () => {
      if (pool !== current || closed) return;
      healthy = true;
      if (begun) {
        log.info("the listening connection is back");
        onReset();
      }
      begun = true;
    };
    await pool.listen(channel, (text) => pool === current && onMessage(text), onListening);
  };
  const connectUntilDone = async () => {
    for (;;) {
      if (closed) return;
      try {
        return await connect();
      } catch (error) {
        log.warn("listening failed, trying again", { error });
        await current?.end({ timeout: 0 });
        await sleep(500);
      }
    }
  };

  await connect();
  return {
    healthy: () => healthy,
    /** Gives the connection up for a new one, for when it is open but silent. */
    reopen(): void {
      healthy = false;
      void current?.end({ timeout: 0 });
      void connectUntilDone();
    },
    async close(): Promise<void> {
      closed = true;
      healthy = false;
      await current?.end({ timeout: 0 });
    },
  };
}

/**
 * Calls `run` when the connection that `pool.listen` makes is lost. That connection has the pool's options but an
 * `onclose` of its own, so what is asked for the delay before reconnecting is the only option that still hears of it.
 */
function onLoss(pool: Sql, run: () => void): void {
  const { backoff } = pool.options;
  pool.options.backoff = (attempt) => {
    run();
    return typeof backoff === "function" ? backoff(attempt) : 0.1;
  };
}
