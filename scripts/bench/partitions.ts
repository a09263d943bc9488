/**
 * Records in one table beside records in partitions: `bun scripts/bench/partitions.ts [--quick] [--write]
 * [--total 10000000]`. Fills 20 databases, asks the server for records, divides the table while the server goes on writing
 * (scripts/partition.ts), and asks the same again. Then it forgets the oldest tenth of a log, by deleting it and by
 * dropping its partition.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openPool } from "../../runtime/db.ts";
import { divide } from "../partition/divide.ts";
import { median } from "./compare.ts";
import { adminToken, postgresOf, startCorestead, temporaryFolder, type Server } from "./processes.ts";
import { measuredWith, number, publish, table, versionOf } from "./report.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    total: { type: "string" },
  },
});
const total = Number(options.total ?? (options.quick ? 200_000 : 10_000_000));
const databases = 20;
const partitions = 16;
const each = Math.floor(total / databases);
const perCity = 100;
const cities = Math.max(1, Math.floor(each / perCity));
const say = (text: string) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);

interface Times {
  readonly what: string;
  readonly middle: number;
  readonly worst: number;
  readonly plan: string;
}

const dataDir = await temporaryFolder();
let server = await startCorestead(dataDir);
const { target } = await postgresOf(dataDir);
const sql = openPool(target, { max: 3, statementTimeoutMs: 0 });
await sql`alter system set max_wal_size = '8GB'`;
await sql`select pg_reload_conf()`;
const codes = await makeDatabases();
say(`filling ${total} records`);
await fill();
const before = await measureAll();
say("dividing the table");
const written = writer(server);
const moved = await divide(sql, "records", { partitions });
const { writes, slowestMs, wrong } = await written();
if (wrong > 0) throw new Error(`${wrong} of ${writes} records are not as they were acknowledged`);
const [counts] = await sql<{ before: number; after: number }[]>`
  select (select count(*) from undivided.records) as before, (select count(*) from records) as after`;
say(`${counts?.before} records before, ${counts?.after} after`);
await sql`drop table undivided.records`;
await sql`vacuum analyze records`;
const after = await measureAll();
say("forgetting a tenth of a log");
const forgotten = await forget();
const version = await versionOf(sql);
await sql.end();
await server.stop();

const size = (count: number) => count.toLocaleString("en-US");
await publish(
  "partitions",
  [
    measuredWith(version),
    `${size(total)} records of ${databases} databases, in one table and in ${partitions} partitions; milliseconds of one request at a time through HTTP, other work on the machine.`,
    table(
      ["request", "median ms", "partitioned", "p99 ms", "partitioned"],
      before.map(({ what, middle, worst }, at) => [
        what,
        ...[middle, after[at]?.middle ?? Number.NaN, worst, after[at]?.worst ?? Number.NaN].map((ms) => number(ms, 2)),
      ]),
    ),
    table(
      ["request", "reads", "partitioned"],
      before.map(({ what, plan }, at) => [what, plan, after[at]?.plan ?? ""]),
    ),
    `Dividing the table, while a client wrote ${size(writes)} records: ${number(moved.copySeconds, 0)} s to copy, ${number(moved.indexSeconds, 0)} s to build the indexes, ${number(moved.lockMs, 0)} ms under the lock. The slowest write took ${number(slowestMs, 0)} ms, and all are as they were acknowledged.`,
    table(
      [`the oldest ${size(forgotten.rows)} of ${size(forgotten.rows * 10)} deliveries`, "seconds"],
      [
        ["deleted, 1,000 at a time, as the server does", number(forgotten.deleted, 2)],
        ["vacuum afterwards", number(forgotten.vacuumed, 2)],
        ["partition dropped", number(forgotten.dropped, 3)],
      ],
    ),
  ].join("\n\n"),
  options.write,
);

async function request(on: Server, method: string, path: string, body?: unknown) {
  const began = performance.now();
  const response = await fetch(`http://127.0.0.1:${on.port}${path}`, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const ms = performance.now() - began;
  if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return { ms, text };
}

async function makeDatabases(): Promise<readonly string[]> {
  const fields = { title: "string", city: "string", n: "integer" };
  const schema = { tables: { notes: { fields, indexed_fields: ["title", "city", "n"] } } };
  const made = Array.from({ length: databases }, (_, at) => `notes-${at}`);
  for (const code of made) await request(server, "POST", "/core/dbs.json", { db: { name: code, code, schema } });
  for (const code of made) await request(server, "POST", `/core/dbs/${code}/records.json`, recordOf(0));
  return made;
}

function recordOf(n: number) {
  return { record: { table_name: "notes", data: { title: `new ${n}`, city: "nowhere", n } } };
}

/** Rows as the server writes them; the indexes are built afterwards, which is faster. */
async function fill(): Promise<void> {
  const indexes = await sql<{ name: string; definition: string }[]>`
    select c.relname as name, pg_get_indexdef(c.oid) as definition
    from pg_index x join pg_class c on c.oid = x.indexrelid
    where x.indrelid = 'records'::regclass and not x.indisprimary`;
  for (const { name } of indexes) await sql`drop index ${sql(name)}`;
  for (const code of codes) {
    await sql`
      insert into records (db_id, id, account_id, created_at, updated_at, plan_version, rules_version, table_name,
        idx_str_1, idx_str_2, idx_int_1, data)
      select d.id, ('01980000-' || lpad(to_hex(n / 65536), 4, '0') || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
        d.account_id, at, at, d.plan_version, d.rules_version, 'notes', title, city, n,
        jsonb_build_object('title', title, 'city', city, 'n', n)
      from dbs d, generate_series(1, ${each}) as n,
        lateral (select 'note ' || substr(md5(n::text), 1, 10) as title, 'city ' || n % ${cities} as city,
          timestamptz '2026-01-01' + n * interval '1 second' as at) made
      where d.code = ${code}`;
  }
  say("building the indexes");
  const reserved = await sql.reserve();
  await reserved`set maintenance_work_mem = '512MB'`;
  for (const { definition } of indexes) await reserved.unsafe(definition);
  reserved.release();
  await sql`vacuum analyze records`;
}

/** The times first; then the plans, by a server whose PostgreSQL explains what it does. */
async function measureAll(): Promise<Times[]> {
  let seed = 7;
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const path = () => `/core/dbs/${codes[random(databases)]}`;
  const idOf = (n: number) => {
    const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");
    return `01980000-${hex(Math.floor(n / 65_536), 4)}-7000-8000-${hex(n, 12)}`;
  };
  const md5 = (n: number) => new Bun.CryptoHasher("md5").update(`${n}`).digest("hex").slice(0, 10);
  const anyOne = () => 1 + random(each);
  const asked: readonly (readonly [string, number, () => ReturnType<typeof request>])[] = [
    ["get by id", 400, () => request(server, "GET", `${path()}/records/${idOf(anyOne())}.json`)],
    [
      "list by filter and sort",
      200,
      () =>
        request(server, "GET", `${path()}/search.json?table_name=notes&filter[city]=city ${random(cities)}&sort=-n`),
    ],
    ["list, newest first", 200, () => request(server, "GET", `${path()}/search.json?table_name=notes&limit=20`)],
    [
      "search by fragment",
      200,
      () => request(server, "GET", `${path()}/search.json?table_name=notes&q=${md5(anyOne()).slice(1, 9)}&in=title`),
    ],
    ["create", 400, () => request(server, "POST", `${path()}/records.json`, recordOf(anyOne()))],
    [
      "change",
      400,
      () => request(server, "PATCH", `${path()}/records/${idOf(anyOne())}.json`, { record: { data: { n: anyOne() } } }),
    ],
  ];
  const measured: Omit<Times, "plan">[] = [];
  for (const [what, count, ask] of asked) {
    for (let i = 0; i < count / 4; i++) await ask();
    const times: number[] = [];
    for (let i = 0; i < count; i++) times.push((await ask()).ms);
    const worst = times.toSorted((a, b) => a - b)[Math.ceil(count * 0.99) - 1] ?? Number.NaN;
    measured.push({ what, middle: median(times), worst });
    say(`${what}: ${number(median(times), 2)} ms`);
  }
  await explaining(true);
  const plans: string[] = [];
  for (const [, , ask] of asked) plans.push(await planOf(ask));
  await explaining(false);
  return measured.map((times, at) => ({ ...times, plan: plans[at] ?? "" }));
}

async function explaining(isOn: boolean): Promise<void> {
  await server.stop();
  server = await startCorestead(dataDir);
  const settings = { session_preload_libraries: "auto_explain", "auto_explain.log_min_duration": "0" };
  const more = { "auto_explain.log_analyze": "on", "auto_explain.log_nested_statements": "on" };
  for (const [name, value] of Object.entries({ ...settings, ...more }))
    await sql.unsafe(`alter role corestead ${isOn ? `set ${name} = '${value}'` : `reset ${name}`}`);
  await server.stop();
  server = await startCorestead(dataDir);
}

/** Which indexes and tables of records a request reads, of those that it really reads. */
async function planOf(ask: () => Promise<unknown>): Promise<string> {
  const log = () => Bun.file(join(dataDir, "postgres.log")).text();
  for (let i = 0; i < 20; i++) await ask();
  const { length } = await log();
  await ask();
  await Bun.sleep(500);
  const lines = (await log()).slice(length).split("\n");
  const scans = lines.flatMap((line) => {
    const [, scan, name] =
      /((?:Bitmap |Index |Index Only |Seq |Tid )+Scan)(?: Backward)?(?: using| on) (records\w*)/.exec(line) ?? [];
    return scan && name && !line.includes("never executed") ? [`${scan} ${name}`] : [];
  });
  const inserts = lines.flatMap(
    (line) => /(Insert|Update) on (?:public\.)?(records\w*)/.exec(line)?.slice(1).join(" ") ?? [],
  );
  const found = [...new Set([...scans, ...inserts])];
  return found.length > 6 ? `${found.slice(0, 6).join(", ")} and ${found.length - 6} more` : found.join(", ");
}

/** A client that writes until it is told to stop; then each of its records must be there. */
function writer(on: Server) {
  const ids: string[] = [];
  const over = new AbortController();
  let worstMs = 0;
  const done = (async () => {
    while (!over.signal.aborted) {
      const code = codes[ids.length % databases];
      const { ms, text } = await request(on, "POST", `/core/dbs/${code}/records.json`, recordOf(ids.length));
      worstMs = Math.max(worstMs, ms);
      const { id }: { id: string } = JSON.parse(text);
      ids.push(id);
      // Every tenth one is changed, and every twentieth deleted.
      const own = `/core/dbs/${code}/records/${id}.json`;
      if (ids.length % 10 === 0) await request(on, "PATCH", own, { record: { data: { n: -1 } } });
      if (ids.length % 20 === 0) await request(on, "DELETE", own);
      await Bun.sleep(20);
    }
  })();
  return async () => {
    over.abort();
    await done;
    const [row] = await sql<{ missing: number; stale: number; back: number }[]>`
      select count(*) filter (where r.id is null and w.n % 20 <> 0)::int as missing,
        count(*) filter (where r.id is not null and w.n % 20 = 0)::int as back,
        count(*) filter (where r.idx_int_1 <> -1 and w.n % 10 = 0 and w.n % 20 <> 0)::int as stale
      from unnest(${ids}::uuid[]) with ordinality as w (id, n) left join records r on r.id = w.id`;
    const { missing = 0, stale = 0, back = 0 } = row ?? {};
    return { writes: ids.length, slowestMs: worstMs, wrong: missing + stale + back };
  };
}

/** Logs by month: an id grows with time, so a month is a range of ids. */
async function forget() {
  const rows = Math.floor(total / 100);
  const columns = `account_id, webhook_id, event_id, message_id, source_type, kind, body, status, created_at`;
  const fillLog = (name: string) =>
    sql.unsafe(`
    insert into ${name} (id, ${columns}) overriding system value
    select n, 1, n % 10, n, 'msg_' || n, 'Core::Record', 'create', repeat('x', 300), 'delivered', timestamptz '2026-01-01' + n * interval '10 seconds'
    from generate_series(1, ${rows * 10}) n`);
  await sql`create table log_plain (like webhook_deliveries including all)`;
  await sql`create table log_months (like webhook_deliveries including all excluding indexes) partition by range (id)`;
  await sql`alter table log_months add primary key (account_id, id)`;
  await sql`create index on log_months (webhook_id, id)`;
  await sql`create index on log_months (created_at)`;
  for (let month = 0; month < 10; month++) {
    const name = `log_month_${month}`;
    await sql.unsafe(
      `create table ${name} partition of log_months for values from (${month * rows + 1}) to (${(month + 1) * rows + 1})`,
    );
    await sql.unsafe(`create unique index on ${name} (account_id, webhook_id, event_id) where event_id is not null`);
  }
  await fillLog("log_plain");
  await fillLog("log_months");
  const seconds = async (work: () => Promise<unknown>) => {
    const began = performance.now();
    await work();
    return (performance.now() - began) / 1000;
  };
  const deleted = await seconds(async () => {
    for (let count = 1; count > 0;)
      ({ count } = await sql`
        delete from log_plain where (account_id, id) in (
          select d.account_id, d.id from log_plain d where d.id <= ${rows}
          order by d.created_at limit 1000 for update skip locked)`);
  });
  const vacuumed = await seconds(() => sql`vacuum log_plain`);
  const dropped = await seconds(() => sql`drop table log_month_0`);
  return { rows, deleted, vacuumed, dropped };
}
