/**
 * The tables can be distributed over several PostgreSQL servers, as Citus does it by the hash of a column: the catalogue
 * says that each key holds the column, and the statements that the server runs say that each of them asks one server.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { capture } from "./distribution/captured.ts";
import { distributed, layoutOf, local, reference, replaced } from "./distribution/classes.ts";
import { unexpected } from "./distribution/crossings.ts";
import { problemsOf } from "./distribution/statements.ts";
import { adminPassword, createDatabase, eventually, startTestApp, type TestApp } from "./harness.ts";
import { startReceiver, type Receiver } from "./receiver.ts";
import { siteMaker } from "./sites.ts";

let app: TestApp;
let receiver: Receiver;
let statements: () => Set<string>;

beforeAll(async () => {
  receiver = startReceiver();
  const target = await createDatabase();
  statements = await capture(target);
  app = await startTestApp({ target });
  statements(); // Those of the start: migrations, and what the server looks up for all accounts.
});
afterAll(async () => {
  await app.stop();
  await receiver.stop();
});

const classes = { ...Object.fromEntries(distributed), ...reference, ...local };

describe("the catalogue", () => {
  test("has each table in one class", async () => {
    const tables = await app.sql<{ name: string }[]>`
      select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
        and not relispartition`;
    const names = tables.map(({ name }) => name);
    const advice =
      "is not in tests/distribution/classes.ts: begin its keys with account_id and add it to byAccount, or give a reason in reference or local";
    expect(names.filter((name) => !Object.hasOwn(classes, name)).map((name) => `${name} ${advice}`)).toEqual([]);
    const all = [...distributed.keys(), ...Object.keys(reference), ...Object.keys(local)];
    expect(all.toSorted()).toEqual(names.toSorted());
  });

  test("has the column in each distributed table, never null and of one type", async () => {
    const columns = await app.sql<{ table: string; column: string; type: string; isRequired: boolean }[]>`
      select c.relname as table, a.attname as column, a.atttypid::regtype::text as type, a.attnotnull as is_required
      from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped`;
    for (const [table, column] of distributed)
      expect(columns.find((one) => one.table === table && one.column === column)).toEqual({
        table,
        column,
        type: column === "db_id" ? "uuid" : "bigint",
        isRequired: true,
      });
  });

  test("begins each primary key with it, and holds it in whatever else is unique", async () => {
    const keys = await app.sql<{ table: string; name: string; isPrimary: boolean; columns: string[] }[]>`
      select c.relname as table, i.relname as name, x.indisprimary as is_primary, array(
        select coalesce(a.attname, pg_get_indexdef(x.indexrelid, k.n::integer, true))
        from unnest(x.indkey[0:x.indnkeyatts - 1]) with ordinality as k (attnum, n)
        left join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum and k.attnum > 0
        order by k.n) as columns
      from pg_index x join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
      where c.relnamespace = 'public'::regnamespace and (x.indisunique or x.indisexclusion)`;
    const wrong = keys.filter(({ table, name, isPrimary, columns }) => {
      const column = distributed.get(table);
      if (column === undefined || replaced.includes(name)) return false;
      return isPrimary ? columns[0] !== column : !columns.includes(column);
    });
    expect(wrong).toEqual([]);
    // What stays for servers of the version before has its like among the keys that hold the column.
    for (const name of replaced) {
      const old = keys.find((key) => key.name === name);
      const wanted = old && [distributed.get(old.table) ?? "", ...old.columns].toSorted();
      const like = keys.some((key) => key.table === old?.table && Bun.deepEquals(key.columns.toSorted(), wanted));
      expect([name, like]).toEqual([name, true]);
    }
  });

  test("refers to rows on the same server, or to tables that are on each", async () => {
    const all = await app.sql<{ from: string; to: string; columns: string[]; others: string[] }[]>`
      select k.conrelid::regclass::text as from, k.confrelid::regclass::text as to,
        array(select attname::text from unnest(k.conkey) with ordinality as u (n, at)
          join pg_attribute on attrelid = k.conrelid and attnum = u.n order by at) as columns,
        array(select attname::text from unnest(k.confkey) with ordinality as u (n, at)
          join pg_attribute on attrelid = k.confrelid and attnum = u.n order by at) as others
      from pg_constraint k where k.contype = 'f' and k.connamespace = 'public'::regnamespace`;
    const wrong = all.filter(({ from, to, columns, others }) => {
      if (Object.hasOwn(reference, to)) return false;
      const column = distributed.get(from);
      if (column === undefined) return !(Object.hasOwn(local, from) && Object.hasOwn(local, to));
      const at = columns.indexOf(column);
      return distributed.get(to) !== column || at === -1 || others[at] !== column;
    });
    expect(wrong).toEqual([]);
  });

  test("has no trigger on a distributed table that writes elsewhere", async () => {
    const triggers = await app.sql<{ table: string; runs: string; facts: string }[]>`
      select t.tgrelid::regclass::text as table, p.proname as runs, encode(t.tgargs, 'escape') as facts
      from pg_trigger t join pg_proc p on p.oid = t.tgfoid where not t.tgisinternal`;
    // `activity_note` writes the account's own log, unless its facts say that the account stands in another table.
    const writes = ({ runs, facts }: { runs: string; facts: string }) =>
      runs === "activity_note" ? facts.includes('"account":') : !harmless.includes(runs);
    const wrong = triggers.filter((trigger) => distributed.has(trigger.table) && writes(trigger));
    expect(wrong).toEqual([]);
    expect(triggers.filter(({ table }) => distributed.get(table) === "db_id")).toEqual([]);
  });

  test("counts in numbers of 64 bits, of which each server may have its own range", async () => {
    const small = await app.sql`
      select table_name from information_schema.columns
      where table_schema = 'public' and is_identity = 'YES' and data_type <> 'bigint'`;
    expect([...small]).toEqual([]);
  });
});

/** Functions of triggers that refuse a change, or look up the account of a row that an earlier version writes. */
const harmless = ["activity_only_adds", "app_storage_account", "cron_runs_account"];

describe("a statement", () => {
  const cases: [string, boolean][] = [
    ["select * from records where db_id = $1 and id = $2", true],
    ["select * from records r join dbs d on d.id = r.db_id where d.account_id = $1", true],
    ["select * from records where id = $1", false],
    ["select * from records where db_id = $1 or id = $2", false],
    ["select * from records where (db_id = $1 and id = $2) or (db_id = $3 and id = $4)", true],
    ["select * from records where db_id <> $1", false],
    ["select * from dbs d where exists (select from records r where r.db_id = d.id)", true],
    ["select * from dbs d where exists (select from records r where r.id = d.id)", false],
    ["with f as (select * from flows where id = $1) select * from f", false],
    ["with flows as (select 1 as id) select * from flows where id = $1", true],
    ["update flows f set name = $1 from unnest($2::bigint[]) as u (id) where f.id = u.id", false],
    ["update flows f set name = $1 from users u where f.account_id = u.account_id and f.id = $2", true],
    ["delete from mails where (account_id, id) in (select account_id, id from mails where account_id = $1)", true],
    ["delete from mails where id in (select id from mails where account_id = $1)", false],
    ["select * from apps a join app_versions v on v.app_id = a.id where a.account_id = $1", false],
    ["select * from apps a join app_versions v using (account_id) where a.account_id = $1", true],
    ["insert into flows (account_id, id) values ($1, $2) on conflict (account_id, code) do nothing", true],
    ["insert into flows (account_id, id) values ($1, $2) on conflict (id) do nothing", false],
    ["insert into flows (id) values ($1)", false],
    ["select 1 union all select count(*) from flows", false],
  ];
  test.each(cases)("%s: %p", async (statement, holds) => {
    expect((await problemsOf(statement, await layoutOf(app.sql))).length === 0).toBe(holds);
  });
});

/** What must have run for a hot path to have been looked at. */
const hotPaths: Readonly<Record<string, RegExp>> = {
  "authenticate a token": /from api_tokens where token_hash/,
  "authenticate a session": /insert into api_tokens/,
  "get records": /from records r .*where .*db_id/,
  "create a record": /insert into records/,
  "change a record": /update records/,
  "delete a record": /delete from records/,
  "get a prompt": /from prompts/,
  "get an app's page": /from apps where/,
  "get a site's page": /from cms_pages p/,
  "write deliveries": /insert into webhook_deliveries/,
  "claim deliveries": /held join webhook_deliveries d/,
  "settle deliveries": /update webhook_deliveries d set status/,
  "start a flow": /insert into flow_processes/,
  "write a step": /update flow_processes/,
  "claim a job": /from claim_jobs_by_turns/,
  "fire a cron": /from crons where account_id/,
  "keep an answer for its Idempotency-Key": /insert into idempotency_keys/,
  "note a change for the log of activity": /insert into activity_inbox \(/,
  "append to the log of activity": /insert into activity \(/,
};

test("every statement of the hot paths asks one server", async () => {
  await tour();
  const seen = new Set<string>();
  await eventually(
    () => {
      for (const statement of statements()) seen.add(statement);
      const flat = [...seen].map((one) => one.replace(/\s+/g, " "));
      return Object.values(hotPaths).every((path) => flat.some((one) => path.test(one)));
    },
    "a statement of each hot path",
    4000,
  );
  expect(await unexpected(seen, await layoutOf(app.sql))).toEqual([]);
});

async function tour(): Promise<void> {
  await records();
  await flowsAndHooks();
  await app.get("/core/prompt/dbs_api.md");
  // Looked for as one that there is, and nothing has to be compiled.
  await app.get("/a/tour", { token: null });
  const make = siteMaker(app);
  const site = await make.site({ code: "tour", locale: "en" });
  await make.domain({ name: "tour.test", site_id: site.id });
  await make.page({ code: "home", path: "", site_id: site.id, content: "<h1>{{ page.name }}</h1>" });
  expect((await make.at("tour.test", "/")).status).toBe(200);
  await make.at("tour.test", "/nothing");
  const { headers } = await ok(app.post("/account/session.json", { login: "admin", password: adminPassword }));
  const cookie = (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  await app.get("/account/me", { token: null, headers: { cookie } });
}

async function records(): Promise<void> {
  const schema = { tables: { notes: { fields: { title: "string", n: "integer" }, indexed_fields: ["title", "n"] } } };
  const db = { name: "Tour", code: "tour", schema, public_methods: { list: true, create: true } };
  await ok(app.post("/core/dbs.json", { db }));
  const record = (n: number) => ({ record: { table_name: "notes", data: { title: `Note ${n}`, n } } });
  const path = "/core/dbs/tour/records";
  const key = { headers: { "idempotency-key": "tour-1" } };
  const { json } = await ok(app.post(`${path}.json`, record(1), key));
  await app.post(`${path}.json`, record(1), key);
  await ok(app.post(`${path}.json`, record(2)));
  await ok(app.get(`${path}/${json.id}.json`));
  await ok(app.get(`${path}.json?table_name=notes&sort=-n&title=Note 1`));
  await ok(app.get(`${path}.json?table_name=notes&q=ote`));
  await ok(app.patch(`${path}/${json.id}.json`, { record: { data: { n: 3 } } }));
  const operations = [
    { op: "create", data: { title: "x" }, table_name: "notes" },
    { op: "delete", id: json.id },
  ];
  await ok(app.post("/core/dbs/tour/batch.json", { operations }));
  await ok(app.get("/core/db/tour/list", { token: null }));
  await ok(app.post("/core/db/tour/create", { data: { title: "y" } }, { token: null }));
}

async function flowsAndHooks(): Promise<void> {
  const hook = { source_type: "Core::Record", kind: "create", url: receiver.url };
  await ok(app.post("/account/webhooks.json", { webhook: { ...hook, rate_limit: 100 } }));
  await ok(app.post("/core/dbs/tour/records.json", { record: { data: { title: "hook" } } }));
  await eventually(() => receiver.requests.length > 0, "the webhook");
  const flow = { name: "Tour", code: "tour", fields: { program: [{ type: "wait", seconds: 1 }] } };
  await ok(app.post("/connect/flows.json", { flow }));
  await ok(app.post("/connect/flows/tour/run.json", {}));
  const cron = { name: "Tour", kind: "flow", target_code: "tour", schedule: "0 3 * * *" };
  const { json } = await ok(app.post("/account/crons.json", { cron }));
  await ok(app.post(`/account/crons/${json.id}/run.json`, {}));
}

async function ok<A extends { readonly status: number; readonly text: string }>(asked: Promise<A>): Promise<A> {
  const answer = await asked;
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  return answer;
}
