/**
 * The first page of long logs: `bun scripts/bench/logs.ts [--quick] [--write] [--total 1000000]`. Fills so many flow
 * processes of a month and so many deliveries of webhooks, and asks for the first rows as the Studio does, by the
 * filters that people use. Asked one after the other: a time is that of the request alone.
 */
import { parseArgs } from "node:util";
import { openPool, type Sql } from "../../runtime/db.ts";
import { median } from "./compare.ts";
import { adminToken, postgresOf, startCorestead, temporaryFolder, type Server } from "./processes.ts";
import { measuredWith, number, publish, table, verdict, verdictTable, versionOf } from "./report.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    total: { type: "string" },
  },
});
const total = Number(options.total ?? (options.quick ? 100_000 : 1_000_000));
const rounds = 15;
const batch = 50_000;
const mostMs = 300;
const day = 86_400_000;
const end = Date.UTC(2026, 10, 1);
const begin = end - 30 * day;

const dataDir = await temporaryFolder();
const first = await startCorestead(dataDir);
const { target } = await postgresOf(dataDir);
const sql = openPool(target, { max: 2, statementTimeoutMs: 0 });
const hooks = await makeHooks(first);
await fillProcesses(sql);
await fillDeliveries(sql, hooks);
const version = await versionOf(sql);
await sql.end();
await first.stop();

// Another one, which has nothing at hand yet.
const server = await startCorestead(dataDir);
const at = (days: number) => new Date(end - days * day).toISOString();
const process = (query: string) =>
  `/connect/flow_processes.json?limit=50&count=false&steps=false&include=started_by&${query}`;
const deliveries = (hook: number, query: string) => `/account/webhooks/${hook}/deliveries.json?limit=50&${query}`;
const [busy = 0, quiet = 0] = hooks;
const asked: readonly (readonly [string, string])[] = [
  ["processes", process("")],
  ["of one state, finished", process("status=finished")],
  ["of one state, error", process("status=error")],
  ["of one state, pending", process("status=pending")],
  ["of a flow with half of them", process("flow_code=flow-0")],
  ["of a flow with 20", process("flow_code=rare")],
  ["of a flow with half of them, error", process("flow_code=flow-0&status=error")],
  ["of a flow that never fails, error", process("flow_code=flow-1&status=error")],
  ["started by webhooks", process("started_by=webhook")],
  ["started by apps, one in 1,000", process("started_by=app")],
  ["started by commands, none", process("started_by=command")],
  ["started by one cron", process("started_by=cron:8")],
  ["started by one cron, error", process("started_by=cron:8&status=error")],
  ["of one day, two weeks ago", process(`from=${at(15)}&to=${at(14)}`)],
  ["of one day, error", process(`from=${at(15)}&to=${at(14)}&status=error`)],
  ["of one change", process("trace_id=trace-77")],
  ["deliveries of a webhook", deliveries(busy, "count=false&within=50")],
  ["deliveries, failed among the newest 20,000", deliveries(busy, "count=false&within=20000&status=failed")],
  ["deliveries, pending among the newest 20,000", deliveries(busy, "count=false&within=20000&status=pending")],
  ["deliveries of a quiet webhook, failed", deliveries(quiet, "count=false&within=20000&status=failed")],
  ["all processes, counted", "/connect/flow_processes.json?limit=1&steps=false"],
  ["all deliveries of the webhook, counted", deliveries(busy, "")],
];
const results: { what: string; first: number; middle: number; worst: number }[] = [];
for (const [what, path] of asked) {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) times.push(await timeOf(server, path));
  const [cold = Number.NaN, ...warm] = times;
  results.push({ what, first: cold, middle: median(warm), worst: Math.max(...warm) });
}
await server.stop();

const rows = results.map(({ what, ...times }) => [what, ...Object.values(times).map((ms) => number(ms, 1))]);
const uncounted = results.filter(({ what }) => !what.endsWith("counted"));
const slowest = (names: RegExp) =>
  Math.max(...uncounted.filter(({ what }) => names.test(what)).map(({ first: cold, worst }) => Math.max(cold, worst)));
const size = total.toLocaleString("en-US");
await publish(
  "logs",
  [
    measuredWith(version),
    `${size} processes of a month and ${size} deliveries; milliseconds of one request for 50 rows: the first one after a start, and the ${rounds - 1} after it.`,
    table(["first rows", "first ms", "median ms", "worst ms"], rows),
    verdictTable([
      verdict("any list of processes, the slowest request", slowest(/^(?!deliver)/), { most: mostMs }, "ms"),
      verdict("any list of deliveries, the slowest request", slowest(/^deliver/), { most: mostMs }, "ms"),
    ]),
  ].join("\n\n"),
  options.write,
);

async function timeOf({ port }: Server, path: string): Promise<number> {
  const began = performance.now();
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { authorization: `Bearer ${adminToken}` },
  });
  const text = await response.text();
  const ms = performance.now() - began;
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
  return ms;
}

async function makeHooks({ port }: Server): Promise<number[]> {
  const ids: number[] = [];
  for (const path of ["busy", "quiet"]) {
    const response = await fetch(`http://127.0.0.1:${port}/account/webhooks.json`, {
      method: "POST",
      headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
      body: JSON.stringify({
        webhook: { source_type: "Core::Prompt", kind: "create", url: `https://example.com/${path}` },
      }),
    });
    const { id }: { id: number } = await response.json();
    ids.push(id);
  }
  return ids;
}

/** Half of one flow, a tenth of one that never fails, 20 of a rare one; three of a hundred have failed. */
async function fillProcesses(on: Sql): Promise<void> {
  const step = (id: string) => ({ id, type: "connector", status: "finished", output: { text: "x".repeat(200) } });
  const steps = JSON.stringify([step("0"), step("1"), step("2")]);
  for (let from = 0; from < total; from += batch)
    await on`
      insert into flow_processes (account_id, id, flow_code, program_id, status, input, data, error, steps,
        starter_kind, starter_id, starter, trace, created_at, finished_at)
      select 1, (substr(t.hex, 1, 8) || '-' || substr(t.hex, 9) || '-7000-8000-' || lpad(to_hex(t.n), 12, '0'))::uuid,
        t.flow, 1, t.status, json_build_object('n', t.n, 'text', repeat('y', 300)), '{"done":true}',
        case when t.status = 'error' then 'the remote answered 503' end, ${steps}::text::json,
        t.kind, case when t.kind = 'cron' then (t.n % 50)::text else (t.n % 20)::text end, '{"name":"Something"}',
        case when t.kind = 'webhook' then 'trace-' || t.n / 3 end, t.at, case when t.status <> 'pending' then t.at end
      from (
        select n, to_timestamp(at / 1000.0) as at, lpad(to_hex(at), 12, '0') as hex, flow,
          case when flow = 'flow-1' then 'finished' when n % 10000 = 1 then 'pending' when n % 33 = 0 then 'error'
            else 'finished' end as status,
          case when n % 1000 = 0 then 'app' when n % 10 < 6 then 'webhook' when n % 10 < 8 then 'person' else 'cron'
            end as kind
        from (
          select n, ${begin}::bigint + n * ${30 * day}::bigint / ${total} as at,
            case when n % (${total} / 20) = 5 then 'rare' when n % 2 = 0 then 'flow-0' when n % 10 = 1 then 'flow-1'
              else 'flow-' || n % 48 + 2 end as flow
          from generate_series(${from}::bigint, ${Math.min(from + batch, total) - 1}::bigint) n
        ) one
      ) t`;
  await on`analyze flow_processes`;
}

/** Nearly all of one webhook; one of two hundred has failed. */
async function fillDeliveries(on: Sql, [busyHook = 0, quietHook = 0]: readonly number[]): Promise<void> {
  for (let from = 0; from < total; from += batch)
    await on`
      insert into webhook_deliveries (account_id, webhook_id, message_id, source_type, kind, body, status, attempts,
        response_status, response_body, duration_ms, attempted_at, created_at)
      select 1, case when n % 1000 = 7 then ${quietHook}::bigint else ${busyHook}::bigint end, 'msg_' || n,
        'Core::Prompt', 'create', json_build_object('id', n, 'text', repeat('z', 500))::text,
        case when n % 200 = 0 then 'failed' when n = 77 then 'pending' else 'delivered' end, 1, 200, 'ok', 12,
        t.at, t.at
      from generate_series(${from}::bigint, ${Math.min(from + batch, total) - 1}::bigint) n,
        lateral (select to_timestamp((${begin}::bigint + n * ${30 * day}::bigint / ${total}) / 1000.0) as at) t`;
  await on`
    insert into webhook_queue (delivery_id, account_id, webhook_id, due_at)
    select id, account_id, webhook_id, 'infinity' from webhook_deliveries where status = 'pending'`;
  await on`analyze webhook_deliveries`;
}
