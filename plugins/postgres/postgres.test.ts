import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { eventually, startTestApp, type TestApp } from "../../tests/harness.ts";
import { follower, traces } from "../../tests/traces.ts";
import { openPool, type Sql } from "../../runtime/db/db.ts";
import { startEmbeddedPostgres } from "../../runtime/operations/postgres/embedded-postgres.ts";
import { createLog } from "../../runtime/system/log.ts";
import { parseAllow } from "../../runtime/net/addresses.ts";
import { certificate, otherPrivateHosts } from "../../tests/fixtures/outbound.ts";
import { connectors } from "../connectors/api.ts";
import { connectOutside as connectTo, type Connect } from "../../runtime/outbound/outbound-socket.ts";
import { plugins } from "../index.ts";
import { serverOf } from "./definition.ts";
import { createPools, poolLimits } from "./pools.ts";
import { createClient } from "./remote-store.ts";
import { parseStatement } from "./statement.ts";

const password = "pass word ŻÓŁĆ 0123456789";
const stops: (() => unknown)[] = [];
let app: TestApp;
let remote: Sql;
let socketPath = "";
let open: Set<Socket> = new Set();
let port = 0;
let tlsPort = 0;

beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  // Another PostgreSQL, one that asks for passwords.
  const dataDir = mkdtempSync(join(tmpdir(), "corestead-remote-"));
  const server = await startEmbeddedPostgres({ dataDir, log: createLog("error") });
  if ("url" in server.target) throw new Error("it has a socket");
  socketPath = join(server.target.socketDir, `.s.PGSQL.${server.target.port}`);
  remote = openPool(server.target, { max: 2 });
  await remote`create table customers (id int primary key, name text, city text, tags text[], info jsonb, born date)`;
  await remote`insert into customers values
    (1, 'Ewa', 'Łódź', '{a,b}', '{"vip":true}', '1990-05-06'), (2, 'Jan', 'Kraków', null, null, null)`;
  await remote.unsafe(`create role reader login password '${password}'`);
  await remote`grant all on customers to reader`;
  await remote`create function sneaky() returns int language plpgsql as $$
    begin perform set_config('transaction_read_only', 'off', true); delete from customers; return 1; end $$`;
  const [row] = await remote<{ hbaFile: string }[]>`show hba_file`;
  const hba = row?.hbaFile ?? "";
  writeFileSync(hba, `local all corestead trust\nlocal all all scram-sha-256\n${readFileSync(hba, "utf8")}`);
  appendFileSync(hba, "");
  await remote`select pg_reload_conf()`;
  port = await proxy();
  tlsPort = await proxy({ tls: true });
  stops.push(async () => {
    await remote.end();
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
});
beforeEach(async () => {
  await remote`update customers set name = 'Ewa' where id = 1`;
});
afterAll(async () => {
  await app.stop();
  for (const socket of open) socket.destroy();
  for (const stop of stops) await stop();
});

/** A port that leads to the database's socket: the embedded server listens on no port. */
async function proxy({ tls = false } = {}): Promise<number> {
  const server = createServer((client) => {
    open.add(client);
    const forward = (from: Socket) => {
      const to = connect(socketPath);
      from.pipe(to).pipe(from);
      to.on("error", () => from.destroy()).on("close", () => from.destroy());
      from.on("error", () => {}).on("close", () => (to.destroy(), open.delete(client)));
    };
    client.on("error", () => {});
    if (!tls) return forward(client);
    client.once("data", () => {
      client.write("S");
      forward(new TLSSocket(client, { isServer: true, ...certificate }));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  stops.push(() => server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

let made = 0;
const given = (fields: object = {}, rest: object = {}) => ({
  name: "Shop",
  kind: "core/postgres",
  url: `postgres://reader@127.0.0.1:${port}/corestead`,
  secret_token: password,
  fields,
  ...rest,
});
async function connector(fields: object = {}, rest: object = {}): Promise<string> {
  const code = `db-${++made}`;
  const answer = await app.post("/connect/connectors.json", { connector: { ...given(fields, rest), code } });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return code;
}
const query = (code: string, sql: unknown, params?: unknown) =>
  app.post(`/connect/connectors/${code}/query`, { sql, ...(params === undefined ? {} : { params }) });

describe("query", () => {
  test("answers with rows and their count", async () => {
    const code = await connector();
    const answer = await query(code, "select id, name from customers where city = $1 or id = $2 order by id;", [
      "Łódź",
      2,
    ]);
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        status: null,
        data: {
          rows: [
            { id: 1, name: "Ewa" },
            { id: 2, name: "Jan" },
          ],
          count: 2,
        },
      },
    ]);
    const named = await query(code, "select name from customers where city = {city} and {city} <> '{city}'", {
      city: "Kraków",
    });
    expect(named.json.data).toEqual({ rows: [{ name: "Jan" }], count: 1 });
    expect((await query(code, "select 1 as one where false")).json.data).toEqual({ rows: [], count: 0 });
    expect((await query(code, "show server_encoding")).json.data.rows).toEqual([{ server_encoding: "UTF8" }]);
  });

  test("gives values as JSON has them, and takes them as the server reads them", async () => {
    const code = await connector();
    const { json } = await query(
      code,
      `select 1::int2 a, 9007199254740993 b, 12.50::numeric c, 12345678901234567890.1::numeric d, 'NaN'::float8 e, true f,
        null g, '2026-01-31'::date h, '2026-01-31 10:00:00.000001+02'::timestamptz at time zone 'UTC' i, '{"a":[1]}'::jsonb j,
        '{1,2}'::int[] k, '\\x00ff'::bytea l, '2026-01-31 10:00+00'::timestamptz = $1 m, $2::jsonb n, $3::text[] o, $4::bool p,
        $5::int8 q, $6::jsonb->>'a' r, $7::bool[] s, $8::jsonb t`,
      ["2026-01-31T10:00:00Z", { x: [1, "ł"] }, ["a", 'b"c'], "true", 7, '{"a":"text"}', [true, false], [1, { a: 2 }]],
    );
    expect(json.data?.rows).toEqual([
      {
        a: 1,
        b: "9007199254740993",
        c: 12.5,
        d: "12345678901234567890.1",
        e: "NaN",
        f: true,
        g: null,
        h: "2026-01-31",
        i: "2026-01-31T08:00:00.000001",
        j: { a: [1] },
        k: [1, 2],
        l: "\\x00ff",
        m: true,
        n: { x: [1, "ł"] },
        o: ["a", 'b"c'],
        p: true,
        q: 7,
        r: "text",
        s: [true, false],
        t: [1, { a: 2 }],
      },
    ]);
    await remote`alter role reader set datestyle = 'SQL, DMY'`;
    await remote`alter role reader set standard_conforming_strings = off`;
    const other = await query(await connector(), "select '2026-01-31'::date as day, '\\' as slash, {a} as a", {
      a: "b",
    });
    expect(other.json.data.rows).toEqual([{ day: "2026-01-31", slash: "\\", a: "b" }]);
    await remote`alter role reader reset all`;
    const zone = await query(code, "select '2026-01-31 10:00+00'::timestamptz at");
    expect(Date.parse(zone.json.data.rows[0].at)).toBe(Date.parse("2026-01-31T10:00:00Z"));
    expect((await query(code, `select 1 as "__proto__", 2 as b`)).text).toContain('"__proto__":1');
  });

  const writes = [
    "insert into customers (id) values (9)",
    "update customers set name = 'x'",
    "delete from customers",
    "with gone as (delete from customers returning *) select * from gone",
    "select sneaky()",
    "select set_config('transaction_read_only', 'off', false), nextval('pg_toast.x')",
    "select * into copied from customers",
    "explain analyze delete from customers",
    "commit; delete from customers",
    "select 1; delete from customers",
    "select 1;;delete from customers",
    "commit",
    "begin read write",
    "set transaction read write",
    "set default_transaction_read_only = off",
    "do $$ begin delete from customers; end $$",
    "do $$ begin commit; delete from customers; end $$",
    "call sneaky()",
    "copy customers to program 'cat'",
    "copy customers from stdin",
    "create table x (a int)",
    "drop table customers",
    "truncate customers",
    "prepare p as delete from customers",
    "execute p",
    "listen x",
    "vacuum",
    "lock table customers",
    "/* select */ delete from customers",
    "-- select\ndelete from customers",
    "/* /* */ select */ delete from customers",
    "(delete from customers)",
    "",
    ";",
    "$$select$$ delete from customers",
  ];
  test("cannot write if writes are not allowed, in whatever form", async () => {
    const code = await connector();
    const before = await remote`select * from customers order by id`;
    for (const sql of writes) {
      const answer = await query(code, sql);
      expect([sql, [422, 502].includes(answer.status)]).toEqual([sql, true]);
      if (answer.status === 422) expect(Object.keys(answer.json)).toEqual(["sql"]);
    }
    // What one call changed for its session is not there for the next one.
    for (const sql of [
      "select set_config('default_transaction_read_only', 'off', false)",
      "select set_config('search_path', 'nowhere', false)",
    ])
      expect((await query(code, sql)).status).toBe(200);
    expect((await query(code, "select name from customers where id = 1")).json.data.rows).toEqual([{ name: "Ewa" }]);
    expect((await query(code, "with x as (delete from customers returning 1) select * from x")).json.error).toContain(
      "read-only",
    );
    expect(await remote`select * from customers order by id`).toEqual(before);
  });

  test("writes if that is allowed: one statement, whole or not at all", async () => {
    const code = await connector({ allow_writes: true });
    expect((await query(code, "update customers set name = $1 where id = 1", ["Ewa Nowa"])).json.data).toEqual({
      rows: [],
      count: 1,
    });
    const answer = await query(code, "insert into customers (id, name) values (3, {name}) returning id", {
      name: "Ola",
    });
    expect(answer.json.data).toEqual({ rows: [{ id: 3 }], count: 1 });
    const many = "insert into customers select n from generate_series(100, 2000) n returning id";
    expect((await query(code, many)).json.error).toContain("1000 rows");
    expect((await query(code, "delete from customers where id = 3")).json.data.count).toBe(1);
    for (const sql of ["drop table customers", "commit", "select 1; delete from customers", "set role postgres"])
      expect((await query(code, sql)).status).toBe(422);
    expect((await remote`select name from customers order by id`).map(({ name }) => name)).toEqual(["Ewa Nowa", "Jan"]);
  });

  const wrong: [sql: unknown, params: unknown, field: string][] = [
    [undefined, undefined, "sql"],
    [7, undefined, "sql"],
    ["select 1\0", undefined, "sql"],
    [`select '${"x".repeat(100_000)}'`, undefined, "sql"],
    ["select $1", "x", "params"],
    ["select $1", 7, "params"],
    ["select $1", Array(1001).fill(1), "params"],
    ["select {a}", ["x"], "params"],
    ["select {a}, {b}", { a: 1 }, "b"],
  ];
  test("names the wrong field: 422, no row and no event", async () => {
    const code = await connector();
    const before = await traces(app, "connectors");
    for (const value of ["a\0", { deep: ["\0"] }, { "\0": 1 }]) {
      const call = { accountId: 1, code, method: "query", params: { sql: "select $1", params: [value] } };
      expect(app.service(connectors).call(call)).rejects.toMatchObject({
        fields: { params: ["must not have a NUL character"] },
      });
    }
    expect((await query(code, "select $1 as text", ["\\u0000"])).json.data.rows).toEqual([{ text: "\\u0000" }]);
    for (const [sql, params, field] of wrong) {
      const answer = await query(code, sql, params);
      expect([field, answer.status, Object.keys(answer.json)]).toEqual([field, 422, [field]]);
    }
    expect(await traces(app, "connectors")).toEqual(before);
  });

  test("is 502 with what the database says, and the next one works", async () => {
    const code = await connector();
    const cases: [sql: string, params: unknown[], error: string, sqlstate: string | null][] = [
      ["select * from nowhere", [], "nowhere", "42P01"],
      ["select nothing at all", [], "syntax error", "42601"],
      ["select 1 / 0", [], "division by zero", "22012"],
      ["select $1::int", ["x"], "invalid input syntax", "22P02"],
      ["select $1, $2", ["x"], "2", "08P01"],
      ["select 1 as a, 2 as a", [], 'two columns are called "a"', null],
      ["select generate_series(1, 1001)", [], "more than 1000 rows", null],
      ["select repeat('x', 6000000)", [], "more than 5000000 bytes", null],
      ["select repeat('x', 60000) from generate_series(1, 999)", [], "more than 5000000 bytes", null],
    ];
    for (const [sql, params, error, sqlstate] of cases) {
      const answer = await query(code, sql, params);
      expect([sql, answer.status, answer.json]).toEqual([
        sql,
        502,
        { error: expect.stringContaining(error), status: null, data: sqlstate === null ? null : { code: sqlstate } },
      ]);
      expect((await query(code, "select generate_series(1, 1000)")).json.data.count).toBe(1000);
    }
  });

  test("with a wrong password, database or port is 502, and tells no secret", async () => {
    const wrongOnes = [
      given({}, { secret_token: "wrong wrong wrong" }),
      given({}, { secret_token: null }),
      given({}, { url: `postgres://reader@127.0.0.1:${port}/nowhere` }),
      given({}, { url: "postgres://reader@127.0.0.1:1/corestead" }),
    ];
    process.env["PGPASSWORD"] = password;
    for (const one of wrongOnes) {
      const code = await connector({}, one);
      const answer = await query(code, "select 1");
      expect([one.url, answer.status, answer.json.error]).toEqual([one.url, 502, expect.any(String)]);
      expect(answer.text).not.toMatch(/wrong wrong|0123456789/);
    }
    delete process.env["PGPASSWORD"];
    expect(app.logged.join()).not.toMatch(/wrong wrong|0123456789/);
  });

  test("ends at its time limit, on the server too", async () => {
    const code = await connector({ methods: { slow: { sql: "select pg_sleep({n})", timeout: 0.2 } } });
    const answer = await app.post(`/connect/connectors/${code}/slow`, { n: 100 });
    expect([answer.status, answer.json.error]).toEqual([502, expect.stringContaining("timeout")]);
    await eventually(async () => {
      const [row] =
        await remote`select count(*) as n from pg_stat_activity where query like '%pg_sleep%' and state = 'active' and pid <> pg_backend_pid()`;
      return Number(row?.["n"]) === 0;
    });
  });

  test("to a server that hangs or speaks otherwise ends too", async () => {
    const service = app.service(connectors);
    for (const [greet, error] of [
      [undefined, "within"],
      ["HTTP/1.1 400\r\n\r\n", "not one of this protocol"],
    ] as const) {
      const server = createServer((socket) => void (socket.on("error", () => {}), greet && socket.write(greet)));
      await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
      const address = server.address();
      const url = `postgres://reader@127.0.0.1:${typeof address === "object" ? address?.port : 0}/x`;
      const code = await connector({}, { url });
      const call = { accountId: 1, code, method: "query", params: { sql: "select 1" }, timeoutMs: 200 };
      expect(await service.call(call)).toMatchObject({ ok: false, error: expect.stringContaining(error) });
      server.close();
    }
  });

  test("reaches no address that is not public, however it is written", async () => {
    for (const host of otherPrivateHosts) {
      const answer = await query(
        await connector({}, { url: `postgres://reader@${host}:${port}/corestead` }),
        "select 1",
      );
      expect([host, answer.status, answer.json.error]).toEqual([
        host,
        502,
        expect.stringContaining("not a public address"),
      ]);
    }
  });
});

test("TLS is used if it is offered, and the certificate is checked; if it is required, nothing is sent without it", async () => {
  const url = `postgres://reader@127.0.0.1:${tlsPort}/corestead`;
  const ca = certificate.cert;
  const trusted = await connector({ ca, servername: "good.example" }, { url });
  expect((await query(trusted, "select 1 as one")).json.data?.rows).toEqual([{ one: 1 }]);
  for (const fields of [{}, { ca }, { ca, servername: "other.example" }, { servername: "good.example" }]) {
    const answer = await query(await connector(fields, { url }), "select 1");
    expect([answer.status, answer.json.error]).toEqual([502, expect.stringContaining("no secure connection")]);
  }
  const plain = await query(await connector({ tls: "required" }), "select 1");
  expect([plain.status, plain.json.error]).toEqual([502, expect.stringContaining("does not offer TLS")]);
});

test("declared methods take parameters by name, and may be public; `query` may not", async () => {
  const methods = {
    by_city: { sql: "select name from customers where city = {city}", public: true },
    create: { sql: "select {id}::text as id, {event.kind} as kind" },
  };
  const code = await connector({ methods });
  const call = (params: object, token: null | undefined = null) =>
    app.post(`/connect/connectors/${code}/by_city`, params, token === null ? { token } : {});
  expect((await call({ city: "Łódź" })).json.data).toEqual({ rows: [{ name: "Ewa" }], count: 1 });
  expect((await call({ city: "' or true --" })).json.data.count).toBe(0);
  expect((await call({})).json).toEqual({ city: ["is required"] });
  expect((await call({ city: "a\0" })).json).toEqual({ city: [expect.any(String)] });
  const raw = { sql: "select 1" };
  expect((await app.post(`/connect/connectors/${code}/query`, raw, { token: null })).status).toBe(401);
  const service = app.service(connectors);
  // A record may have a field `sql`: it is never taken for one.
  const event = { source_type: "Core::Record", kind: "create", data: { id: "7", sql: "select 2" } };
  expect(await service.callForEvent({ accountId: 1, code, event })).toMatchObject({
    data: { rows: [{ id: "7", kind: "create" }] },
  });
  expect(await service.callForEvent({ accountId: 1, code: await connector(), event })).toBeUndefined();
});

test("a flow takes rows of another database into its own", async () => {
  const code = await connector({
    methods: { all: { sql: "select id, name from customers where id < {below} order by id" } },
  });
  await app.post("/core/dbs.json", { db: { name: "People", code: "people" } });
  const program = [
    { type: "connector", connector: code, method: "all", params: { below: 10 }, as: "found" },
    {
      type: "each",
      in: "{{ found.rows }}",
      as: "row",
      do: [{ type: "db", op: "create", db: "people", data: { name: "{{ row.name }}", number: "{{ row.id }}" } }],
    },
    {
      type: "connector",
      connector: code,
      method: "query",
      params: { sql: "select nothing" },
      on_error: [{ type: "return", value: "{{ error.data.code }}" }],
    },
  ];
  await app.post("/connect/flows.json", { flow: { name: "Take", code: "take", fields: { program } } });
  const { json } = await app.post("/connect/flows/take/run.json?wait=20", {});
  expect(json).toMatchObject({ status: "finished", data: "42703" });
  const people = (await app.get("/core/dbs/people/search.json?sort=number&fields=name,number")).json;
  expect(people.map(({ name, number }: Record<string, unknown>) => [name, number])).toEqual([
    ["Ewa", 1],
    ["Jan", 2],
  ]);
  expect(JSON.stringify(json)).not.toContain("0123456789");
});

test("a value that is the same as the password stays what it is", async () => {
  const code = await connector();
  const { json } = await query(code, `select '${password}' as same, 'x' as "${password}"`);
  expect(json.data.rows).toEqual([{ same: password, [password]: "x" }]);
});

test("connections are few, and a changed connector gets new ones", async () => {
  const code = await connector({ methods: { sleep: { sql: "select pg_sleep(0.05)" } } });
  await eventually(() => true);
  const before = open.size;
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => app.post(`/connect/connectors/${code}/sleep`, {})),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(open.size - before).toBeLessThanOrEqual(4);
  const path = `/connect/connectors/${code}.json`;
  expect((await app.patch(path, { connector: { secret_token: "wrong wrong wrong" } })).status).toBe(200);
  expect((await app.post(`/connect/connectors/${code}/sleep`, {})).status).toBe(502);
  await eventually(() => open.size <= before, "the old connections to be closed");
  await app.patch(path, { connector: { secret_token: password } });
  expect((await app.post(`/connect/connectors/${code}/sleep`, {})).status).toBe(200);
});

test.each(["plain", "encrypted"])(
  "a connection that is idle is closed, and reopened when it is needed: %s",
  async (kind) => {
    const isPlain = kind === "plain";
    const outside = { allow: parseAllow("127.0.0.1"), log: createLog("error") };
    const connectOutside: Connect = (to) => connectTo(outside, to);
    const tls = isPlain ? {} : { ca: certificate.cert, servername: "good.example" };
    const url = `postgres://reader@127.0.0.1:${isPlain ? port : tlsPort}/corestead`;
    const client = createClient(connectOutside, serverOf(url, tls, password), 0.1);
    const one = () =>
      client.run({ text: "select 1 as one", values: [], mayWrite: false }, { timeoutMs: 5000, signal: undefined });
    const before = open.size;
    for (let n = 0; n < 2; n++) {
      expect(await one()).toEqual({ rows: [{ one: 1 }], count: 1 });
      expect(open.size).toBe(before + 1);
      await eventually(() => open.size === before, "the connection to be closed");
    }
    expect(client.isBroken()).toBe(false);
    await client.close();
  },
);

test("a broken connection is replaced", async () => {
  const code = await connector();
  expect((await query(code, "select 1")).status).toBe(200);
  await remote`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'reader'`;
  await eventually(async () => (await query(code, "select 1")).status === 200, "a new connection");
});

test("a wrong definition is 422 that names what is wrong", async () => {
  const wrong: [connector: object, field: string, text: string][] = [
    [{ url: "" }, "url", "blank"],
    [{ url: "https://example.com" }, "url", "postgres://"],
    [{ url: "postgres:example.com/x" }, "url", "postgres://"],
    [{ url: "postgres://reader:secret@example.com/x" }, "url", "password"],
    [{ url: "postgres://example.com/x" }, "url", "user"],
    [{ url: "postgres://reader@example.com" }, "url", "database"],
    [{ url: "postgres://reader@example.com/a/b" }, "url", "database"],
    [{ url: "postgres://reader@a.example,b.example/x" }, "url", "postgres://"],
    [{ url: "postgres://reader@example.com/x?sslmode=disable" }, "url", "end after"],
    [{ url: "postgres://reader@example.com/%00" }, "url", "%"],
    [{ url: "postgres://reader@example.com/%zz" }, "url", "%"],
    [{ kind: "core/mysql" }, "kind", "core/postgres"],
    ...(
      [
        [{ allow_writes: "yes" }, "allow_writes"],
        [{ tls: "verify" }, "tls"],
        [{ ca: "x" }, "ca"],
        [{ servername: "a b" }, "servername"],
        [{ methods: [] }, "methods must be"],
        [{ methods: { m: 7 } }, "methods.m must be"],
        [{ methods: { "a b": { sql: "select 1" } } }, "methods.a b"],
        [{ methods: { query: { sql: "select 1" } } }, "methods.query"],
        [{ methods: { m: {} } }, "methods.m.sql is required"],
        [{ methods: { m: { sql: 7 } } }, "methods.m.sql"],
        [{ methods: { m: { sql: "delete from x" } } }, "methods.m.sql may not begin with delete"],
        [{ methods: { m: { sql: "drop table x" } } }, "methods.m.sql must begin with"],
        [{ methods: { m: { sql: "select 1; select 2" } } }, "methods.m.sql must be one statement"],
        [{ methods: { m: { sql: "select 1", public: 1 } } }, "methods.m.public"],
        [{ methods: { m: { sql: "select 1", timeout: 61 } } }, "methods.m.timeout"],
        [{ methods: { m: { sql: "select 1", description: 7 } } }, "methods.m.description"],
      ] as [object, string][]
    ).map(([fields, text]): [object, string, string] => [{ fields }, "fields", text]),
  ];
  const before = await traces(app, "connectors");
  for (const [one, field, text] of wrong) {
    const answer = await app.post("/connect/connectors.json", { connector: { ...given(), ...one } });
    expect([one, answer.status, Object.keys(answer.json)]).toEqual([one, 422, [field]]);
    expect(answer.json[field].join("; ")).toContain(text);
  }
  expect(await traces(app, "connectors")).toEqual(before);
});

test.each([
  ["select {a}, '{b}', \"{c}\", $$ {d} $$, $x$ {e} $x$, /* {f} /* {g} */ */ {h} -- {i}", ["a", "h"]],
  ["select E'\\'{a}', {b}", ["b"]],
  ["select '\\', {b}", ["b"]],
  ["select '{1,2}'::int[], {b.c}, {b.c}, {b}", ["b.c", "b"]],
  ["table x; -- {a}\n /* {b} */", []],
  ["  ( select {a} )", ["a"]],
])("the parameters of %p are those outside of strings and comments", (sql, names) => {
  expect(parseStatement(sql, false)).toMatchObject({ names });
});

test.each([
  ["dollar quotes without an end", `select ${Array.from({ length: 12_000 }, (_, at) => `$a${at}$`).join(" ")}`, 0],
  ["names", `select ${Array.from({ length: 11_000 }, (_, at) => `{a${at}}`).join()}`, 11_000],
  ["quotes", `select ${"'".repeat(90_001)}`, 0],
])("a statement of nothing but %s is looked through once", (_what, sql, count) => {
  const statement = parseStatement(sql, false);
  expect("mistake" in statement ? statement.mistake : statement.names.length).toBe(count);
});

test("only so many calls of one connector may wait, and a call that was given up does not wait", async () => {
  const pools = createPools(() => new Promise(() => {}));
  const server = serverOf("postgres://reader@127.0.0.1/x", {}, null);
  const one = { text: "select 1", values: [], mayWrite: false };
  const run = (signal?: AbortSignal) => pools.run("1/x", server, one, { timeoutMs: 60_000, signal });
  const end = new AbortController();
  const { connections, waiting } = poolLimits;
  const runs = Array.from({ length: connections + waiting }, () => run(end.signal));
  expect(run()).rejects.toThrow("calls are waiting");
  expect(run(AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
  end.abort(new Error("stopped"));
  const results = await Promise.allSettled(runs);
  expect(results.map((result) => result.status)).toEqual(runs.map(() => "rejected"));
  pools.stop();
});
