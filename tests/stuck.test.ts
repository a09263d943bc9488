import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { openPool, type Sql } from "../runtime/db/db.ts";
import { createDatabase, eventually, startTestApp, type Answer, type TestApp, type TestOptions } from "./harness.ts";
import { startProxy, type Proxy } from "./standby.ts";

const db = { name: "Stuck", code: "stuck", schema: { fields: { n: "integer" } } };

async function appWithDb(options: TestOptions): Promise<TestApp> {
  const app = await startTestApp(options);
  expect((await app.post("/core/dbs.json", { db })).status).toBe(201);
  return app;
}

const create = (app: TestApp, n: number) => app.post("/core/dbs/stuck/records.json", { record: { data: { n } } });

/** With a statement of its own: others of the same time share one. */
const createAlone = (app: TestApp, n: number) =>
  app.post("/core/dbs/stuck/records.json", { record: { data: { n } } }, { headers: { "idempotency-key": `k${n}` } });

describe("a table that somebody has locked", () => {
  let direct: Sql;
  const lock = Promise.withResolvers<void>();
  let target: Awaited<ReturnType<typeof createDatabase>>;
  let app: TestApp;
  let holding: Promise<unknown>;

  beforeAll(async () => {
    target = await createDatabase();
    // One plugin may use four connections; three of its statements may wait for one.
    app = await appWithDb({ target, env: { DATABASE_POOL: "4", DATABASE_QUEUE: "3", DATABASE_QUEUE_SECONDS: "1" } });
    direct = openPool(target, { max: 2 });
    const locked = Promise.withResolvers<void>();
    holding = direct.begin(async (tx) => {
      await tx`lock table records in access exclusive mode`;
      locked.resolve();
      await lock.promise;
    });
    await locked.promise;
  });
  afterAll(async () => {
    await direct.end();
    await app.stop();
  });

  const blocked = async () =>
    (await direct`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`)
      .length;

  test("stops its own plugin, but neither the others nor /ready; who waits in vain is told 503", async () => {
    const writers = Array.from({ length: 16 }, (_, n) => createAlone(app, n));
    const answers: Answer[] = [];
    for (const writer of writers) void writer.then((answer) => answers.push(answer));
    await eventually(async () => (await blocked()) === 4, "four writers at the lock");
    // Lists do not come from a cache.
    const prompts = await app.get("/core/prompts.json");
    expect(prompts.status).toBe(200);
    const ready = await app.get("/ready", { token: null });
    expect([ready.status, ready.json]).toEqual([
      200,
      { status: "ready", role: "primary", writable: true, listening: true, disk: "ok" },
    ]);
    await eventually(() => answers.length === 12, "an answer to those who wait for a connection");
    expect(answers.map(({ status, headers }) => `${status} ${headers.get("retry-after")}`)).toEqual(
      Array(12).fill("503 1"),
    );
    expect(await blocked()).toBe(4);
    lock.resolve();
    await holding;
    const statuses = (await Promise.all(writers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(4);
    expect((await app.get("/core/dbs/stuck/records.json")).json).toHaveLength(4);
  });

  test("is forgotten when it is free: as many as before are served at once", async () => {
    const seven = await Promise.all(Array.from({ length: 7 }, (_, n) => createAlone(app, 20 + n)));
    expect(seven.map(({ status }) => status)).toEqual(Array(7).fill(201));
  });
});

describe("a database that falls silent", () => {
  let proxy: Proxy;
  let app: TestApp;

  beforeAll(async () => {
    const target = await createDatabase();
    if ("url" in target) throw new Error("tests run on the embedded PostgreSQL");
    proxy = await startProxy(`${target.socketDir}/.s.PGSQL.${target.port}`);
    const url = `postgres://${target.user}@127.0.0.1:${proxy.port}/${target.database}`;
    const env = { DATABASE_ANSWER_SECONDS: "1", DATABASE_QUEUE_SECONDS: "1", DATABASE_CONNECT_SECONDS: "1" };
    app = await appWithDb({ target: { url }, env });
  });
  afterAll(async () => {
    await app.stop();
    await proxy.close();
  });

  test("is told as 503 by requests and by /ready, and service resumes when it speaks again", async () => {
    expect((await create(app, 1)).status).toBe(201);
    expect((await app.get("/ready", { token: null })).status).toBe(200);
    proxy.silence();
    const ready = app.get("/ready", { token: null });
    const answers = await Promise.all(Array.from({ length: 16 }, (_, n) => create(app, n)));
    expect(answers.map(({ status, headers }) => `${status} ${headers.get("retry-after")}`)).toEqual(
      Array(16).fill("503 1"),
    );
    const { status, json } = await ready;
    expect(status).toBe(503);
    expect(json).toMatchObject({ error: "the database does not answer, try again", writable: false });
    // New connections fail too.
    expect((await create(app, 2)).status).toBe(503);
    proxy.speak();
    await eventually(async () => (await create(app, 3)).status === 201, "a write");
    await eventually(async () => (await app.get("/ready", { token: null })).status === 200, "readiness");
  });
});

test("a database that takes no writes is not ready", async () => {
  const target = await createDatabase();
  const app = await startTestApp({ target });
  const direct = openPool(target, { max: 1 });
  const [row] = await direct`select current_database() as name`;
  try {
    await direct.unsafe(`alter database ${row?.["name"]} set default_transaction_read_only = on`);
    const { status, json } = await app.get("/ready", { token: null });
    expect(status).toBe(503);
    expect(json).toMatchObject({ error: "the database takes no writes", role: "standby", writable: false });
  } finally {
    await direct.end();
    await app.stop();
  }
});

describe("a disk that takes no more", () => {
  test("is told as 503, and writes go on when there is room again", async () => {
    const target = await createDatabase();
    const app = await appWithDb({ target });
    const direct = openPool(target, { max: 1 });
    const fill = () =>
      app.post("/core/dbs/stuck/records.json", { record: { data: { text: randomText(600_000), n: 1 } } });
    /** A file at its size limit is refused like an exhausted quota: without the error code of a full disk. */
    const limitFiles = async (limit: string) => {
      const backends = await direct`select pid from pg_stat_activity where backend_type = 'client backend'`;
      const pids = backends.map(({ pid }) => String(pid));
      const parent = await output(["ps", "-o", "ppid=", "-p", pids[0] ?? ""]);
      for (const pid of [parent.trim(), ...pids]) {
        const { uid, gid } = statSync(`/proc/${pid}`);
        await output(["prlimit", "--pid", pid, `--fsize=${limit}:`], uid === process.getuid?.() ? {} : { uid, gid });
      }
    };
    try {
      await limitFiles(`${16 * 1024 * 1024}`); // as large as a WAL file
      const refused = await eventually(async () => {
        const answer = await fill();
        return answer.status === 201 ? undefined : answer;
      }, "a refusal");
      expect([refused.status, refused.headers.get("retry-after"), refused.json.error]).toEqual([
        503,
        "1",
        "the database does not answer, try again",
      ]);
      expect((await app.get("/core/dbs/stuck/records.json?limit=1")).status).toBe(200);
      await limitFiles("unlimited");
      expect((await fill()).status).toBe(201);
    } finally {
      await direct.end();
      await app.stop();
    }
  });
});

function randomText(length: number): string {
  return Buffer.from(new Uint8Array(length).map(() => Math.random() * 256)).toString("base64");
}

async function output(command: string[], user: { uid?: number; gid?: number } = {}): Promise<string> {
  const child = Bun.spawn(command, { cwd: "/", stdout: "pipe", stderr: "pipe", ...user });
  const [text, said] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${said}`);
  return text;
}
