import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { openPool, type Sql } from "../../runtime/db/db.ts";
import { runningPostgres } from "../../runtime/operations/postgres/running-postgres.ts";
import { adminToken, eventually } from "../../tests/harness.ts";
import { cleanUp, folderWith, fromSource, startServer, type ServerProcess } from "../../tests/server-process.ts";

afterAll(cleanUp);

/** Looks for what is due when it is asked to, as the clock does once a minute. */
const minutePlugin = `
  import { created, definePlugin, job, route } from "platform";
  export default definePlugin({
    name: "minute",
    setup: (ctx) => ({
      routes: [
        route("POST", "/test/minute", { summary: "", access: { open: "a test" }, responses: {} }, async () => {
          await ctx.enqueue(job("schedule:crons.check"), { dueAt: new Date().toJSON() });
          return created({});
        }),
      ],
    }),
  });`;
const serverOn = (cwd: string, failpoint = "") =>
  startServer(fromSource, {
    cwd,
    env: { PLUGINS_DIR: "plugins", CORE_ADMIN_TOKEN: adminToken, CORESTEAD_FAILPOINT: failpoint, LOG_LEVEL: "error" },
  });
const minute = (server: ServerProcess) => server.request("POST", "/test/minute", {}).catch(() => undefined);

async function withDatabase<T>(folder: string, run: (sql: Sql) => Promise<T>): Promise<T> {
  const target = await runningPostgres(join(folder, "data"));
  if (!target) throw new Error("no PostgreSQL runs in the data folder");
  const sql = openPool(target, { max: 1 });
  try {
    return await run(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** What each cron has fired: its due times, and how many processes it has started. */
const firedBy = (sql: Sql) => sql<{ id: number; dueTimes: number; processes: number }[]>`
  select c.id, (select count(*) from cron_runs r where r.cron_id = c.id) as due_times,
    (select count(*) from flow_processes p where (p.input->>'cron_id')::bigint = c.id) as processes
  from crons c order by c.id`;

test("each due time is fired once though the server is killed (-9) while it fires", async () => {
  const folder = folderWith({ "plugins/minute.ts": minutePlugin });
  const first = await serverOn(folder);
  const program = [{ type: "return", value: "{{ input }}" }];
  await first.request("POST", "/connect/flows.json", { flow: { name: "Report", code: "report", fields: { program } } });
  for (let n = 0; n < 6; n++) {
    const cron = { target_code: "report", schedule: "0 0 1 1 *" };
    expect((await first.request("POST", "/account/crons.json", { cron })).status).toBe(201);
  }
  await first.stop();

  let rounds = 0;
  for (const failpoint of ["crons.firing:kill", "crons.firing:kill:4", "crons.fired:kill", "crons.fired:kill:5"]) {
    rounds += 1;
    const victim = await serverOn(folder, failpoint);
    await withDatabase(folder, (sql) => sql`update crons set next_run_at = now() - interval '1 second'`);
    await minute(victim);
    expect([failpoint, await victim.exited]).toEqual([failpoint, 137]);

    const server = await serverOn(folder);
    await withDatabase(folder, async (sql) => {
      // As if the time had passed after which a dead process's work is taken over.
      await sql`update jobs set run_at = now() where state = 'running'`;
      await minute(server);
      const fired = await eventually(async () => {
        const rows = await firedBy(sql);
        return rows.every(({ dueTimes }) => dueTimes === rounds) ? rows : undefined;
      }, `every due time after the death at ${failpoint}`);
      expect([failpoint, ...fired.map(({ processes }) => processes)]).toEqual([failpoint, ...fired.map(() => rounds)]);
      await minute(server);
      await eventually(async () => (await sql`select from jobs where name = 'schedule:crons.check'`).length === 0);
      expect(await firedBy(sql)).toEqual(fired);
    });
    expect(await server.stop()).toBe(0);
  }
}, 600_000);
