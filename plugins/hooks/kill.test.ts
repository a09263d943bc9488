import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { openPool } from "../../runtime/db/db.ts";
import { runningPostgres } from "../../runtime/operations/postgres/running-postgres.ts";
import { adminToken, eventually } from "../../tests/harness.ts";
import { cleanUp, folderWith, fromSource, startServer } from "../../tests/server-process.ts";

afterAll(cleanUp);

test.each(["hooks.written:kill:3", "hooks.starting:kill:1", "hooks.starting:kill:3"])(
  "what was answered with 200 starts its flow once, though the server is killed (-9) at %s",
  async (failpoint) => {
    const cwd = folderWith({});
    const env = { CORE_ADMIN_TOKEN: adminToken, LOG_LEVEL: "error" };
    const first = await startServer(fromSource, { cwd, env: { ...env, CORESTEAD_FAILPOINT: failpoint } });
    const program = [{ type: "return", value: "{{ input.body }}" }];
    await first.request("POST", "/connect/flows.json", {
      flow: { name: "Orders", code: "orders", fields: { program } },
    });
    const hook = { name: "Payments", flow_code: "orders", scheme: "none", id_header: "x-id" };
    const { url } = (await first.request("POST", "/connect/hooks.json", { hook })).json;
    const { pathname } = new URL(url);
    const send = (origin: string, id: number) =>
      fetch(`${origin}${pathname}`, {
        method: "POST",
        body: "{}",
        headers: { "x-id": `${id}`, "content-type": "application/json" },
      });
    const answered = new Set<number>();
    for (
      let id = 0;
      await send(first.origin, id).then(
        ({ ok }) => ok,
        () => false,
      );
      id++
    )
      answered.add(id);
    expect([failpoint, await first.exited]).toEqual([failpoint, 137]);

    const server = await startServer(fromSource, { cwd, env });
    const target = await runningPostgres(join(cwd, "data"));
    if (!target) throw new Error("no PostgreSQL runs in the data folder");
    const sql = openPool(target, { max: 1 });
    // As if the time had passed after which a dead process's work is taken over.
    await sql`update jobs set run_at = now() where state = 'running'`;
    for (const id of answered) expect(await (await send(server.origin, id)).json()).toMatchObject({ repeated: true });
    await eventually(async () => (await sql`select from hook_arrivals where status = 'waiting'`).length === 0);
    const started = await sql<{ id: string; processes: number }[]>`
      select a.message_id as id, (select count(*) from flow_processes p where p.input ->> 'id' = a.id::text)::integer as processes
      from hook_arrivals a`;
    await sql.end();
    expect(started.filter(({ processes }) => processes !== 1)).toEqual([]);
    expect([...answered].filter((id) => !started.some((one) => one.id === `${id}`))).toEqual([]);
    expect(answered.size).toBeGreaterThan(0);
    await server.stop();
  },
);
