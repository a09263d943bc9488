/** Waits at startup for a database server that is not up yet: after a reboot both start at the same time. */
import { setTimeout as sleep } from "node:timers/promises";
import { databaseFault, openPool, type DatabaseTarget, type Sql } from "../../db/db.ts";
import type { Log } from "../../system/log.ts";

interface WaitOptions {
  readonly seconds: number;
  readonly log: Log;
}

const pauseMs = 250;

/** Resolves when the server answers. Throws if it does not in time, and at once if waiting cannot help. */
export async function waitForDatabase(target: DatabaseTarget, { seconds, log }: WaitOptions): Promise<void> {
  // Works through any pooler, because it prepares no statements and begins without settings that a pooler may not know.
  const sql = openPool(target, { max: 1, prepare: false, pooled: true, applicationName: "corestead start" });
  const end = Date.now() + seconds * 1000;
  try {
    for (let isFirst = true; ; isFirst = false) {
      const fault = await faultOf(sql, end);
      if (fault === undefined) return;
      if (Date.now() >= end || !isPassing(fault)) throw fault;
      if (isFirst)
        log.warn("the database does not answer yet, waiting for it", {
          seconds,
          reason: fault instanceof Error ? fault.message : fault,
        });
      await sleep(pauseMs);
    }
  } catch (cause) {
    if (!isPassing(cause)) throw cause;
    const waited = `it was waited for ${seconds} s (DATABASE_WAIT_SECONDS)`;
    throw new Error(`the database of DATABASE_URL does not answer, ${waited}`, { cause });
  } finally {
    await sql.end({ timeout: 0 });
  }
}

/** A server that accepts the connection but does not answer does not count as up. */
async function faultOf(sql: Sql, end: number): Promise<unknown> {
  const late = new AbortController();
  const silence = new Promise<Error>((resolve) => {
    const timer = setTimeout(() => resolve(new Error("no answer")), Math.max(1_000, end - Date.now()));
    late.signal.addEventListener("abort", () => clearTimeout(timer));
  });
  const answer = sql`select 1`.then(
    () => undefined,
    (error: unknown) => error,
  );
  const fault = await Promise.race([answer, silence]);
  late.abort();
  return fault;
}

/** Anything but a final answer of the server, such as a wrong password or an unknown database. */
function isPassing(fault: unknown): boolean {
  const isAnswer = fault instanceof Error && fault.name === "PostgresError";
  return !isAnswer || databaseFault(fault) === "unavailable";
}
