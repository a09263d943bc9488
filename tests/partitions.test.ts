/** `scripts/partition.ts`: tables are divided while the server writes, and everything goes on as before. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { openPool, type Sql } from "../runtime/db.ts";
import { createLog } from "../runtime/log.ts";
import { backup, restore } from "../runtime/postgres/backup.ts";
import { makeAhead } from "../scripts/partition/ahead.ts";
import { divide } from "../scripts/partition/divide.ts";
import { databaseSettings, eventually, startTestApp, type TestApp } from "./harness.ts";
import { startReceiver, type Receiver } from "./receiver.ts";
import { cleanUp, folderWith, fromSource, run } from "./server-process.ts";

const tables = [
  "records",
  "webhook_deliveries",
  "activity",
  "job_history",
  "flow_processes",
  "flow_process_steps",
  "flow_programs",
  "app_versions",
  "prompt_versions",
];
let app: TestApp;
let receiver: Receiver;
let sql: Sql;
let still: Ids;

beforeAll(async () => {
  receiver = startReceiver();
  app = await startTestApp();
  sql = openPool(app.target, { max: 2, statementTimeoutMs: 0 });
});
afterAll(async () => {
  await sql.end();
  await app.stop();
  await receiver.stop();
  await cleanUp();
});

test("each table is divided while the server writes, and what the API gives is the same", async () => {
  still = await make("still");
  const busy = await make("busy");
  await use("still", still);
  await settled();
  const before = await answers("still", still);
  const described = await Promise.all(tables.map(descriptionOf));

  expect(await refusal(divide(sql, "flow_process_steps"))).toContain("flow_processes, which has to be divided first");
  const written = writer(busy);
  // Nothing of what comes is written twice, and nothing is lost: from the first table to the last.
  for (const table of tables) await divide(sql, table, { partitions: 4, rows: 1000 });
  const rounds = await written();
  expect(rounds).toBeGreaterThan(0);
  await settled();

  expect(before.map((list) => list.length > 0)).toEqual(before.map(() => true));
  expect(await answers("still", still)).toEqual(before);
  expect(await Promise.all(tables.map(descriptionOf))).toEqual(described);
  await complete(busy, rounds);
  // It throws if an entry is missing, or is not what it was.
  await app.command("activity", "verify");
  expect(await refusal(divide(sql, "records"))).toBe("records is divided already");
  expect(await refusal(divide(sql, "users"))).toStartWith("users cannot be divided");
});

test("a migration of the index for fragments reaches every partition's", async () => {
  const limits = async () => {
    const rows = await sql<{ options: string[] }[]>`
      select c.reloptions as options from pg_partition_tree('records_fragments') i join pg_class c on c.oid = i.relid
      where i.isleaf`;
    return rows.map(({ options }) => options.find((option) => option.startsWith("gin_pending_list_limit")));
  };
  const [leaf] = await sql<{ name: string }[]>`
    select relid::regclass::text as name from pg_partition_tree('records_fragments') where isleaf limit 1`;
  await sql`alter index ${sql(leaf?.name ?? "")} set (gin_pending_list_limit = 4096)`;
  expect(new Set(await limits()).size).toBe(2);
  await sql.unsafe(await Bun.file("plugins/jsondb/migrations/012_pending_list.sql").text());
  expect(await limits()).toEqual(Array(4).fill("gin_pending_list_limit=32768"));
});

test("the next start, the doctor, and backups take it as it is", async () => {
  const { target } = app;
  await app.stop();
  app = await startTestApp({ target });
  const entries = async () => (await sql`select count(*)::integer as n from activity`)[0]?.["n"];
  const count = await entries();
  await ok(app.post("/core/dbs/still/records.json", { record: { table_name: "notes", data: { title: "later" } } }));
  expect(await entries()).toBe(count);
  await settled();
  await app.command("activity", "verify");

  const env = { ...(await databaseSettings(target)), SECRET_KEY: "another secret key, of 32 characters or more" };
  const { stdout } = await run([...fromSource, "doctor"], { cwd: folderWith(), env });
  // Its tests run without autovacuum, which it says instead of "answers".
  expect(stdout).toContain("agrees with that of the database");
  expect(stdout).not.toContain("migration");

  const log = createLog("error");
  const file = join(folderWith(), "divided.backup");
  await backup(sql, file, log);
  const fresh = await databaseSettings();
  const place = { socketDir: `${fresh["PGHOST"]}`, port: Number(fresh["PGPORT"]), user: `${fresh["PGUSER"]}` };
  const into = openPool({ ...place, database: `${fresh["DATABASE_URL"]}`.slice("postgres:///".length) }, { max: 1 });
  const whole = await restore(into, file, log, { force: true });
  await into.end();
  const { records, activity, flow_processes: processes } = Object.fromEntries(whole);
  expect(Math.min(records ?? 0, activity ?? 0, processes ?? 0)).toBeGreaterThan(0);
  expect(await restore(sql, file, log, { force: true })).toEqual(whole);
});

test("partitions are made ahead, empty old ones are dropped, and no write ever fails for want of one", async () => {
  const change = () => ok(app.patch(`/core/prompts/${still.prompt}.json`, { prompt: { name: crypto.randomUUID() } }));
  const placeOfLast = async () => {
    // Whoever reads the log has all entries made.
    await ok(app.get("/core/activity.json?limit=1"));
    return (await sql`select tableoid::regclass::text as place from activity order by id desc limit 1`)[0]?.["place"];
  };
  await sql`select setval(pg_get_serial_sequence('activity', 'id'), 10500)`;
  await change();
  expect(await placeOfLast()).toBe("activity_default");
  expect((await makeAhead(sql)).filter((line) => line.includes("activity"))).toEqual([
    ...[11000, 12000, 13000].map((from) => `made activity_${from}`),
    "activity_default has rows: run this more often",
    ...[1000, 2000, 3000].map((from) => `dropped activity_${from}`),
  ]);
  await sql`select setval(pg_get_serial_sequence('activity', 'id'), 11500)`;
  await change();
  expect(await placeOfLast()).toBe("activity_11000");
  expect(await refusal(sql`delete from activity where id > 11000`)).toContain("entries of activity are never changed");
  // An event makes one delivery for a webhook in a partition that was made ahead, too.
  await sql`select setval(pg_get_serial_sequence('webhook_deliveries', 'id'), 4500)`;
  await makeAhead(sql);
  await sql`select setval(pg_get_serial_sequence('webhook_deliveries', 'id'), 5000)`;
  const again = sql`
    insert into webhook_deliveries (account_id, webhook_id, event_id, message_id, source_type, kind, body, status)
    select 1, 1, 99, 'm', 'Core::Record', 'create', '{}', 'failed' from generate_series(1, 2)`;
  expect(await refusal(again)).toContain('unique constraint "webhook_deliveries_5000_');
});

async function refusal(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "nothing was refused",
    (error: Error) => error.message,
  );
}

interface Ids {
  readonly hook: number;
  readonly flow: string;
  readonly prompt: string;
  readonly app: string;
}

/** A database whose records make deliveries, a flow, a prompt and an app. */
async function make(code: string): Promise<Ids> {
  const schema = { tables: { notes: { fields: { title: "string" }, indexed_fields: ["title"] } } };
  await ok(app.post("/core/dbs.json", { db: { name: code, code, schema } }));
  const url = `${receiver.url}/${code}`;
  const webhook = { source_type: "Core::Record", kind: "create", url, filter: { db_code: code } };
  const hook = (await ok(app.post("/account/webhooks.json", { webhook }))).json;
  const flow = (await ok(app.post("/connect/flows.json", { flow: flowOf(code, 0) }))).json;
  const prompt = (await ok(app.post("/core/prompts.json", { prompt: { code, name: code, content: "0" } }))).json;
  const made = (await ok(app.post("/core/apps.json", { app: appOf(code, 0) }))).json;
  return { hook: hook.id, flow: flow.id, prompt: prompt.id, app: made.id };
}

function flowOf(code: string, n: number) {
  return { name: code, code, fields: { program: [{ type: "return", value: n }] } };
}

function appOf(code: string, n: number) {
  return { name: code, url_code: code, app_engine: "html", css_engine: "none", source_code: `<p>${n}</p>` };
}

/** A row for each table. */
async function use(code: string, ids: Ids, n = 1): Promise<void> {
  const made = await ok(
    app.post(`/core/dbs/${code}/records.json`, { record: { table_name: "notes", data: { title: `${n}` } } }),
  );
  const path = `/core/dbs/${code}/records/${made.json.id}.json`;
  await ok(app.patch(path, { record: { table_name: "notes", data: { title: `${n}!` } } }));
  if (n % 3 === 0) await ok(app.delete(path));
  await ok(app.post(`/connect/flows/${code}/run.json?wait=10`, {}));
  await ok(app.patch(`/connect/flows/${ids.flow}.json`, { flow: flowOf(code, n) }));
  await ok(app.patch(`/core/prompts/${ids.prompt}.json`, { prompt: { content: `${n}` } }));
  await ok(app.patch(`/core/apps/${ids.app}.json`, { app: appOf(code, n) }));
}

/** Uses them until it is told to stop; gives how often. */
function writer(ids: Ids): () => Promise<number> {
  const over = new AbortController();
  const done = (async () => {
    let n = 0;
    while (!over.signal.aborted) await use("busy", ids, ++n);
    return n;
  })();
  return () => {
    over.abort();
    return done;
  };
}

/** Everything that the server does by itself after a request has been done. */
async function settled(): Promise<void> {
  await eventually(async () => {
    const [row] = await sql`
      select (select count(*) from webhook_queue) + (select count(*) from jobs where name not like 'schedule:%')
        + (select count(*) from flow_processes where status = 'pending') as left`;
    return row?.["left"] === 0;
  }, "the end of what was begun");
}

async function answers(code: string, { hook, flow, prompt, app: id }: Ids) {
  const paths = [
    `/core/dbs/${code}/search.json?table_name=notes&sort=title&limit=500`,
    `/account/webhooks/${hook}/deliveries.json?limit=500`,
    `/connect/flow_processes.json?flow_code=${code}&limit=500`,
    `/connect/flows/${flow}/versions.json?limit=500`,
    `/core/prompts/${prompt}/versions.json?limit=500`,
    `/core/apps/${id}/versions.json?limit=500`,
    `/core/activity.json?record_id=${prompt}&limit=500`,
  ];
  // Entries are sealed meanwhile.
  const shown = paths.map(async (path) =>
    JSON.parse((await ok(app.get(path))).text.replaceAll('"sealed":true', '"sealed":false')),
  );
  return Promise.all(shown);
}

/** Each round has left what it had to, once. */
async function complete(ids: Ids, rounds: number): Promise<void> {
  const [records, deliveries, processes, programs, contents, versions, entries] = await answers("busy", ids);
  const kept = Array.from({ length: rounds }, (_, at) => at + 1).filter((n) => n % 3 !== 0);
  expect(records.map((one: { title: string }) => one.title).toSorted()).toEqual(kept.map((n) => `${n}!`).toSorted());
  const all = { deliveries, processes, programs, contents, versions, entries };
  const lengths = Object.entries(all).map(([name, list]) => [name, list.length]);
  expect(Object.fromEntries(lengths)).toEqual({
    deliveries: rounds,
    processes: rounds,
    programs: rounds + 1,
    contents: rounds + 1,
    versions: rounds + 1,
    entries: rounds + 1,
  });
}

/** What a table is, but for its partitions and for unique indexes that they have by themselves. */
async function descriptionOf(table: string) {
  const [row] = await sql`
    select array(select format('%s %s %s %s %s', attname, format_type(atttypid, atttypmod), attnotnull, attidentity,
          (select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = attrelid and adnum = attnum))
        from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped order by attnum) as columns,
      -- A rule of rows that was added without a look at them is proven by the division: it writes each of them anew.
      array(select format('%s %s %s', conname, convalidated or contype = 'c',
          replace(pg_get_constraintdef(oid), ' NOT VALID', '')) from pg_constraint
        where conparentid = 0 and conrelid = c.oid order by 1) as constraints,
      array(select format('%s %s', conrelid::regclass, pg_get_constraintdef(oid)) from pg_constraint
        where conparentid = 0 and confrelid = c.oid order by 1) as referred,
      array(select format('%s %s', pg_get_triggerdef(oid), obj_description(oid, 'pg_trigger')) from pg_trigger
        where not tgisinternal and tgrelid = c.oid order by 1) as triggers,
      array(select replace(pg_get_indexdef(indexrelid), 'ON ONLY', 'ON') from pg_index
        where indrelid = c.oid and indrelid::regclass::text || '.' || indexrelid::regclass not in (
          'webhook_deliveries.webhook_deliveries_event', 'webhook_deliveries.webhook_deliveries_before') order by 1) as indexes,
      pg_get_serial_sequence(c.relname, (select attname from pg_attribute where attrelid = c.oid and attidentity <> '')) as counter
    from pg_class c where c.oid = ${table}::regclass`;
  return row;
}

async function ok<A extends { readonly status: number; readonly text: string }>(asked: Promise<A>): Promise<A> {
  const answer = await asked;
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  return answer;
}
