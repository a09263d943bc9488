import { afterAll, beforeAll, expect, test } from "bun:test";
import { databaseFault, openPool, transaction, type SocketTarget } from "../runtime/db/db.ts";
import * as limitStore from "../runtime/http/limits/limit-store.ts";
import { isPooled } from "../runtime/db/connections.ts";
import { createDatabase, eventually, person, startTestApp, type TestApp } from "./harness.ts";
import { startPooler, type Pooler } from "./pooler.ts";
import { startProxy, type Proxy } from "./standby.ts";

let target: SocketTarget;
let pooler: Pooler;
let direct: Proxy;
let directUrl: string;
const apps: TestApp[] = [];

beforeAll(async () => {
  const made = await createDatabase();
  if ("url" in made) throw new Error("tests run on the embedded PostgreSQL");
  target = made;
  pooler = await startPooler(target);
  direct = await startProxy(`${target.socketDir}/.s.PGSQL.${target.port}`);
  directUrl = `postgres://${target.user}@127.0.0.1:${direct.port}/${target.database}`;
});
afterAll(async () => {
  await Promise.all(apps.map((app) => app.stop()));
  await pooler.close();
  await direct.close();
});

test("a pooler is recognised, and a server is not taken for one", async () => {
  expect(await isPooled({ url: pooler.url }, 5000)).toBe(true);
  expect(await isPooled({ url: directUrl }, 5000)).toBe(false);
  expect(await isPooled(target, 5000)).toBe(false);
});

test("behind a pooler that loses LISTEN the start is refused, and says which setting is missing", async () => {
  const refused = startTestApp({ target: { url: pooler.url } });
  expect(refused).rejects.toThrow("set DATABASE_LISTEN_URL to the address of the database itself");
  await refused.catch(() => {});
  // Nor is its key that of the database: the next start may have the right one.
  const sql = openPool({ url: directUrl }, { max: 1 });
  expect(await sql`select value from runtime_state where key in ('secret_key', 'lineage')`).toHaveLength(0);
  await sql.end();
});

test("DATABASE_LISTEN_URL of another database, or of the pooler, is refused", async () => {
  const { database } = { ...target, ...(await createDatabase()) };
  const other = directUrl.replace(/[^/]*$/, database);
  for (const url of [pooler.url, other]) {
    const refused = startTestApp({ target: { url: pooler.url }, env: { DATABASE_LISTEN_URL: url } });
    expect(refused).rejects.toThrow(/DATABASE_LISTEN_URL/);
    await refused.catch(() => {});
  }
});

test.each(["true", "false"])(
  "with DATABASE_LISTEN_URL two servers hear of each other's changes at once, DATABASE_PREPARE=%s",
  async (prepare) => {
    const env = { DATABASE_LISTEN_URL: directUrl, DATABASE_PREPARE: prepare };
    const a = await startTestApp({ target: { url: pooler.url }, env });
    const b = await startTestApp({ target: { url: pooler.url }, env });
    apps.push(a, b);
    const prompt = { name: "Hello", code: `hello-${prepare}`, kind: "chat", content: "one" };
    const made = await a.post("/core/prompts.json", { prompt });
    expect(made.status).toBe(201);
    const read = (app: TestApp) => app.get(`/core/prompt/hello-${prepare}.md`);
    expect((await read(b)).text).toBe("one");
    const { id, token } = await person(a);
    expect((await b.get("/core/prompts.json", { token })).status).toBe(200);

    expect((await a.patch(`/core/prompts/${made.json.id}.json`, { prompt: { content: "two" } })).status).toBe(200);
    expect((await read(b)).text).toBe("two");
    expect((await a.patch(`/account/users/${id}.json`, { user: { active: false } })).status).toBe(200);
    expect((await b.get("/core/prompts.json", { token })).status).toBe(401);
    const limited = (await a.post("/account/api_tokens.json", { api_token: { name: "limited" } })).json;
    expect((await a.patch(`/core/tokens/${limited.id}.json`, { token: { rate_limit: 100 } })).status).toBe(200);
    const me = (app: TestApp) => app.get("/account/me.json", { token: limited.token });
    for (let n = 0; n < 60; n++) expect((await me(a)).status).toBe(200);
    let asked = 0;
    await eventually(async () => {
      asked += 1;
      const [, left] = /r=(\d+)/.exec((await me(b)).headers.get("ratelimit") ?? "") ?? [];
      return asked + Number(left) <= 45;
    }, "the other server's requests in the limit of a token");
    const exact = { name: "exact", key: prepare, n: 1, limit: 10, windowSeconds: 600 };
    const takes = Array.from({ length: 30 }, (_, n) => limitStore.take((n % 2 ? a : b).sql, exact));
    expect((await Promise.all(takes)).filter(({ allowed }) => allowed)).toHaveLength(10);

    // No wait was in vain: that would be logged as a connection that does not answer.
    expect([...a.logged, ...b.logged].filter((line) => line.includes("listening"))).toEqual([]);
    expect((await a.get("/ready", { token: null })).json).toMatchObject({ writable: true, listening: true });
  },
);

test("each transaction has its time limit, which nobody else's session keeps", async () => {
  const sql = openPool({ url: pooler.url }, { max: 2, pooled: true, statementTimeoutMs: 200 });
  try {
    const slow = transaction(sql, (tx) => tx`select pg_sleep(60)`);
    expect(await slow.catch((error: unknown) => databaseFault(error))).toBe("unavailable");
    const settings = await Promise.all(Array.from({ length: 20 }, () => sql`show statement_timeout`));
    expect(new Set(settings.map(([row]) => row?.["statementTimeout"]))).toEqual(new Set(["0"]));
  } finally {
    await sql.end();
  }
});
