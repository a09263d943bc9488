/** Remembers where a database's server can be reached, for commands that run beside it and print addresses. */
import type { Sql } from "../../db/db.ts";

const key = "served_at";
const answersWithinMs = 1_000;

/** Call it when the server listens. */
export async function rememberOrigin(sql: Sql, origin: string): Promise<void> {
  await sql`
    insert into runtime_state (key, value) values (${key}, ${origin})
    on conflict (key) do update set value = excluded.value where runtime_state.value <> excluded.value`;
}

/** The address of the server that runs on this database, if it can be reached from here. */
export async function runningOrigin(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ value: string }[]>`select value from runtime_state where key = ${key}`;
  if (!row) return undefined;
  const health = fetch(`${row.value}/health`, { signal: AbortSignal.timeout(answersWithinMs) });
  const isThere = await health.then(
    ({ ok }) => ok,
    () => false,
  );
  return isThere ? row.value : undefined;
}
