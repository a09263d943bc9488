/**
 * Logs and versions in one table beside the same in partitions: `bun scripts/bench/partition-tables.ts [--quick] [--write]
 * [--total 10000000]`. Fills so many deliveries, processes and entries of the log of activity, and a fifth of versions and
 * finished jobs, asks the server, divides each table while it goes on writing (scripts/partition.ts), and asks the same
 * again. Then what it costs to forget, and whether the queue of jobs would gain anything.
 */
import { parseArgs } from "node:util";
import { makeAhead } from "../partition/ahead.ts";
import { divide, type Moved } from "../partition/divide.ts";
import { openAsking, plansText, say, timeHead, timeRows, type Ask } from "./asking.ts";
import { median } from "./compare.ts";
import { measuredWith, number, publish, table, versionOf } from "./report.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    total: { type: "string" },
  },
});
const total = Number(options.total ?? (options.quick ? 100_000 : 10_000_000));
const rows = Math.floor(total / 10);
const fifth = Math.floor(total / 5);
const begin = Date.UTC(2026, 0, 1);
const stepMs = Math.floor((300 * 86_400_000) / total);
const processId = (n: number) => {
  const hex = (begin + n * stepMs).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${n.toString(16).padStart(12, "0")}`;
};

const asking = await openAsking();
const { sql, request } = asking;
const tables = /webhook_deliveries|flow_processes|prompt_versions|activity(?!_sealed)/;
const ids = await make();
const divided = await fill();
const before = await asking.measure(asks(), tables);
const forgotten = await forget();
const written = writer();
const moves: (readonly [string, number, Moved])[] = [];
for (const name of divided) {
  say(`dividing ${name}`);
  const moved = await divide(sql, name, { rows });
  // Retention may have taken some of those that were filled in.
  const [counted] = await sql<{ count: number }[]>`select count(*) as count from undivided.${sql(name)}`;
  moves.push([name, counted?.count ?? 0, moved]);
}
const changes = await written();
const left = await sql<{ name: string }[]>`
  select relname as name from pg_class where relnamespace = 'undivided'::regnamespace and relkind = 'r'`;
for (const { name } of left) await sql`drop table undivided.${sql(name)}`;
for (const name of divided) await sql`vacuum analyze ${sql(name)}`;
const after = await asking.measure(asks(), tables);
const dropped = await seconds(() => sql`drop table webhook_deliveries_${sql.unsafe(`${rows}`)}`);
const ahead = await seconds(() => makeAhead(sql));
const queue = { plain: await queueTimes(), divided: await divideQueue().then(queueTimes) };
const version = await versionOf(sql);
await asking.end();

const size = (count: number) => count.toLocaleString("en-US");
await publish(
  "partition-tables",
  [
    measuredWith(version),
    `Milliseconds of one request at a time through HTTP, other work on the machine; in ten partitions by id or month, versions in 16 by the hash of the account.`,
    table(timeHead, timeRows(before, after)),
    plansText(before, after),
    `Dividing them, while a client made ${size(changes.writes)} changes and runs of a flow; the slowest took ${number(changes.slowestMs, 0)} ms:`,
    table(
      ["table", "rows", "copy s", "indexes s", "locked ms"],
      moves.map(([name, count, { copySeconds, indexSeconds, lockMs }]) => [
        name,
        size(count),
        ...[copySeconds, indexSeconds, lockMs].map((value) => number(value, 0)),
      ]),
    ),
    table(
      [`forgetting ${size(rows)} of ${size(total)} deliveries`, "seconds"],
      [
        ["deleted, 1,000 at a time, as the server does", number(forgotten.deleted, 1)],
        ["vacuum afterwards", number(forgotten.vacuumed, 1)],
        ["partition dropped", number(dropped, 3)],
        ["`--ahead`: all tables looked after and analysed", number(ahead, 1)],
      ],
    ),
    `The queue of jobs with 100,000 waiting, in one table and in 8 partitions by the hash of the name; milliseconds for 50 jobs:`,
    table(
      ["statement", "one table", "partitioned"],
      Object.entries(queue.plain).map(([what, ms]) => [what, number(ms, 2), number(queue.divided[what] ?? 0, 2)]),
    ),
  ].join("\n\n"),
  options.write,
);

async function make() {
  const made = async (path: string, body: object) => {
    const { id }: { id: string } = JSON.parse((await request("POST", path, body)).text);
    return id;
  };
  const url = "https://example.com/busy";
  return {
    hook: await made("/account/webhooks.json", { webhook: { source_type: "Core::DB", kind: "create", url } }),
    prompt: await made("/core/prompts.json", { prompt: { code: "one", name: "One", content: "0" } }),
    flow: await made("/connect/flows.json", {
      flow: { name: "One", code: "one", fields: { program: [{ type: "return", value: 1 }] } },
    }),
  };
}

/** The tables that are divided, in the order in which they can be. */
async function fill(): Promise<readonly string[]> {
  const at = `to_timestamp((${begin} + n * ${stepMs}::bigint) / 1000.0)`;
  const id = `(substr(hex, 1, 8) || '-' || substr(hex, 9) || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`;
  const hex = `lateral (select lpad(to_hex(${begin} + n * ${stepMs}::bigint), 12, '0') as hex) h`;
  const filled: readonly (readonly [string, number, string])[] = [
    [
      "webhook_deliveries",
      total,
      `(account_id, webhook_id, event_id, message_id, source_type, kind, body, status, attempts, created_at)
        select 1, ${ids.hook}, n, 'msg_' || n, 'Core::DB', 'create', '{"text":"' || repeat('x', 300) || '"}',
          case when n % 200 = 0 then 'failed' else 'delivered' end, 1, ${at} from generate_series(1, ${total}) n`,
    ],
    [
      "flow_processes",
      total,
      `(account_id, id, flow_code, program_id, status, input, data, steps, starter_kind, created_at, finished_at)
        select 1, ${id}, 'flow-' || n % 50, 1, case when n % 33 = 0 then 'error' else 'finished' end, '{}', '{}', '[]',
          'cron', ${at}, ${at} from generate_series(1, ${total}) n, ${hex}`,
    ],
    [
      "flow_process_steps",
      fifth,
      `(account_id, process_id, number, steps)
        select 1, ${id}, 1, '[]' from generate_series(5, ${fifth * 5}, 5) n, ${hex}`,
    ],
    [
      "activity",
      total,
      `(account_id, at, action, model, record_id, name, actor, user_id, changes)
        select n % 10 + 1, ${at}, 'update', 'Core::Prompt', n % 1000, 'One', 'person', 1,
          '{"content":{"old":"one","new":"two"}}' from generate_series(1, ${total}) n`,
    ],
    [
      "prompt_versions",
      fifth,
      `(prompt_id, version, account_id, scope, code, name, content, kind, fields, created_by_id)
        select id, v + 1, account_id, scope, code, name, repeat('y', 200), kind, fields, 1
        from prompts, generate_series(1, ${Math.max(1, fifth / 1000)}) v`,
    ],
    [
      "job_history",
      fifth,
      `(id, name, outcome, attempt, account_id, created_at, finished_at)
        select n + 1000, 'mail.send', 'done', 1, 1, now(), now() from generate_series(1, ${fifth}) n`,
    ],
  ];
  await sql`insert into accounts (name) select 'Account ' || n from generate_series(2, 100) n`;
  await sql`
    insert into prompts (id, account_id, code, name, content, token, created_by_id)
    select gen_random_uuid(), n % 100 + 1, 'code-' || n, 'One', '0', n::text, 1 from generate_series(1, 999) n`;
  await sql`select setval(pg_get_serial_sequence('jobs', 'id'), ${fifth + 1000})`;
  for (const [name, count, values] of filled) {
    say(`filling ${count} ${name}`);
    await sql.unsafe(`insert into ${name} ${values}`);
    await sql.unsafe(`vacuum analyze ${name}`);
  }
  await sql`update prompts set version = (select max(version) from prompt_versions)`;
  // Filled by hand: the server would begin to seal them.
  await sql`update activity_sealed set up_to = (select max(id) from activity)`;
  return filled.map(([name]) => name);
}

function asks(): readonly Ask[] {
  let seed = 7;
  const anyOne = () => 1 + rows + ((seed = (seed * 48_271) % 2_147_483_647) % (total - rows));
  const get = (what: string, path: () => string): Ask => ({ what, count: 200, send: () => request("GET", path()) });
  const processes = "/connect/flow_processes.json?limit=50&count=false&steps=false";
  const deliveries = `/account/webhooks/${ids.hook}/deliveries`;
  return [
    get("deliveries, newest", () => `${deliveries}.json?limit=50&count=false`),
    get("deliveries, failed", () => `${deliveries}.json?limit=50&count=false&within=20000&status=failed`),
    get("delivery by id", () => `${deliveries}/${anyOne()}.json`),
    get("processes, newest", () => processes),
    get("processes of a flow, failed", () => `${processes}&flow_code=flow-${anyOne() % 50}&status=error`),
    get("process by id", () => `/connect/flow_processes/${processId(anyOne())}.json`),
    get("activity, newest", () => "/core/activity.json?limit=50"),
    get("versions of a prompt", () => `/core/prompts/${ids.prompt}/versions.json`),
  ];
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

/** The oldest tenth, which is then no longer there to be divided. */
async function forget() {
  say("forgetting a tenth of the deliveries");
  const deleted = await seconds(async () => {
    for (let count = 1; count > 0;)
      ({ count } = await sql`
        delete from webhook_deliveries where (account_id, id) in (
          select d.account_id, d.id from webhook_deliveries d where d.id < ${rows}
          order by d.created_at limit 1000 for update skip locked)`);
  });
  return { deleted, vacuumed: await seconds(() => sql`vacuum webhook_deliveries`) };
}

function writer() {
  const over = new AbortController();
  let [writes, slowestMs] = [0, 0];
  const done = (async () => {
    while (!over.signal.aborted) {
      const prompt = { content: `${++writes}` };
      const changed = await request("PATCH", `/core/prompts/${ids.prompt}.json`, { prompt });
      const ran = await request("POST", "/connect/flows/one/run.json?wait=0", {});
      slowestMs = Math.max(slowestMs, changed.ms, ran.ms);
      await Bun.sleep(50);
    }
  })();
  return async () => {
    over.abort();
    await done;
    return { writes, slowestMs };
  };
}

async function divideQueue(): Promise<void> {
  await sql.begin((tx) =>
    tx.unsafe(`
    alter table jobs rename to jobs_whole;
    create table jobs (like jobs_whole including all excluding indexes) partition by hash (name);
    alter table jobs add primary key (name, id);
    ${Array.from({ length: 8 }, (_, at) => `create table jobs_p${at} partition of jobs for values with (modulus 8, remainder ${at}) with (fillfactor = 70);`).join("")}
    create index on jobs (name, run_at, id) where state <> 'parked';
    create unique index on jobs (name, key) where key is not null and state <> 'running';
    create index on jobs (name, order_key, id) where order_key is not null;
    create unique index on jobs (name, order_key) where order_key is not null and state <> 'parked';
    insert into jobs overriding system value select * from jobs_whole;
    select setval(pg_get_serial_sequence('jobs', 'id'), (select max(id) from jobs));`),
  );
  await sql`vacuum analyze jobs`;
}

/** Jobs of names that no server knows, as the queue's own functions hand them out. */
async function queueTimes(): Promise<Readonly<Record<string, number>>> {
  say("the queue of jobs");
  await sql`delete from jobs where name like 'bench.%'`;
  await sql`
    insert into jobs (name, run_at, payload, created_at)
    select 'bench.' || n % 10, now() - interval '1 hour', '{}', now() from generate_series(1, 100000) n`;
  await sql`vacuum analyze jobs`;
  const times: Record<string, number[]> = { enqueue: [], claim: [], finish: [] };
  const timed = async (what: string, work: () => Promise<unknown>) => times[what]?.push(1000 * (await seconds(work)));
  for (let round = 0; round < 400; round++) {
    await timed(
      "enqueue",
      () => sql`
      insert into jobs (name, run_at, payload, created_at)
      select 'bench.' || n % 10, now(), '{}', now() from generate_series(1, 50) n`,
    );
    const names = [`bench.${round % 10}`];
    let claimed: { id: number; attempt: number }[] = [];
    await timed("claim", async () => {
      claimed = await sql<{ id: number; attempt: number }[]>`
        select id, attempt from claim_jobs(${names}, array[50], array[60], array['-infinity'::timestamptz], 'bench', null)`;
    });
    await timed(
      "finish",
      () => sql`
      select finish_jobs(${claimed.map(({ id }) => id)}::bigint[], ${claimed.map(({ attempt }) => attempt)}::integer[],
        ${claimed.map(() => "done")}::text[], ${claimed.map(() => null)}::text[], 'bench', null)`,
    );
    if (claimed.length !== 50) throw new Error(`${claimed.length} jobs were claimed`);
  }
  return Object.fromEntries(Object.entries(times).map(([what, all]) => [what, median(all)]));
}
