/**
 * Records in one table beside records in partitions: `bun scripts/bench/partitions.ts [--quick] [--write]
 * [--total 10000000]`. Fills 20 databases, asks the server for records, divides the table while the server goes on writing
 * (scripts/partition.ts), and asks the same again.
 */
import { parseArgs } from "node:util";
import { divide } from "../partition/divide.ts";
import { openAsking, plansText, say, timeHead, timeRows, type Ask } from "./asking.ts";
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

const asking = await openAsking();
const { sql, request } = asking;
const codes = await makeDatabases();
say(`filling ${total} records`);
await fill();
const before = await measureAll();
say("dividing the table");
const written = writer();
const moved = await divide(sql, "records", { partitions });
const { writes, slowestMs, wrong } = await written();
if (wrong > 0) throw new Error(`${wrong} of ${writes} records are not as they were acknowledged`);
const [counts] = await sql<{ before: number; after: number }[]>`
  select (select count(*) from undivided.records) as before, (select count(*) from records) as after`;
say(`${counts?.before} records before, ${counts?.after} after`);
await sql`drop table undivided.records`;
await sql`vacuum analyze records`;
const after = await measureAll();
const version = await versionOf(sql);
await asking.end();

const size = (count: number) => count.toLocaleString("en-US");
await publish(
  "partitions",
  [
    measuredWith(version),
    `${size(total)} records of ${databases} databases, in one table and in ${partitions} partitions; milliseconds of one request at a time through HTTP, other work on the machine.`,
    table(timeHead, timeRows(before, after)),
    plansText(before, after),
    `Dividing the table, while a client wrote ${size(writes)} records: ${number(moved.copySeconds, 0)} s to copy, ${number(moved.indexSeconds, 0)} s to build the indexes, ${number(moved.lockMs, 0)} ms under the lock. The slowest write took ${number(slowestMs, 0)} ms, and all are as they were acknowledged.`,
  ].join("\n\n"),
  options.write,
);

async function makeDatabases(): Promise<readonly string[]> {
  const fields = { title: "string", city: "string", n: "integer" };
  const schema = { tables: { notes: { fields, indexed_fields: ["title", "city", "n"] } } };
  const made = Array.from({ length: databases }, (_, at) => `notes-${at}`);
  for (const code of made) await request("POST", "/core/dbs.json", { db: { name: code, code, schema } });
  for (const code of made) await request("POST", `/core/dbs/${code}/records.json`, recordOf(0));
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

async function measureAll() {
  let seed = 7;
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const path = () => `/core/dbs/${codes[random(databases)]}`;
  const idOf = (n: number) => {
    const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");
    return `01980000-${hex(Math.floor(n / 65_536), 4)}-7000-8000-${hex(n, 12)}`;
  };
  const md5 = (n: number) => new Bun.CryptoHasher("md5").update(`${n}`).digest("hex").slice(0, 10);
  const anyOne = () => 1 + random(each);
  const get = (rest: string) => request("GET", `${path()}/${rest}`);
  const asks: readonly Ask[] = [
    { what: "get by id", count: 400, send: () => get(`records/${idOf(anyOne())}.json`) },
    {
      what: "list by filter and sort",
      count: 200,
      send: () => get(`search.json?table_name=notes&filter[city]=city ${random(cities)}&sort=-n`),
    },
    { what: "list, newest first", count: 200, send: () => get("search.json?table_name=notes&limit=20") },
    {
      what: "search by fragment",
      count: 200,
      send: () => get(`search.json?table_name=notes&q=${md5(anyOne()).slice(1, 9)}&in=title`),
    },
    { what: "create", count: 400, send: () => request("POST", `${path()}/records.json`, recordOf(anyOne())) },
    {
      what: "change",
      count: 400,
      send: () => {
        const record = { table_name: "notes", data: { n: anyOne() } };
        return request("PATCH", `${path()}/records/${idOf(anyOne())}.json`, { record });
      },
    },
  ];
  return asking.measure(asks, /\brecords/);
}

/** A client that writes until it is told to stop; then each of its records must be there. */
function writer() {
  const ids: string[] = [];
  const over = new AbortController();
  let worstMs = 0;
  const done = (async () => {
    while (!over.signal.aborted) {
      const code = codes[ids.length % databases];
      const { ms, text } = await request("POST", `/core/dbs/${code}/records.json`, recordOf(ids.length));
      worstMs = Math.max(worstMs, ms);
      const { id }: { id: string } = JSON.parse(text);
      ids.push(id);
      // Every tenth one is changed, and every twentieth deleted.
      const own = `/core/dbs/${code}/records/${id}.json`;
      if (ids.length % 10 === 0) await request("PATCH", own, { record: { table_name: "notes", data: { n: -1 } } });
      if (ids.length % 20 === 0) await request("DELETE", own);
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
