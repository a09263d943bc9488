import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openPool } from "../runtime/db/db.ts";
import { eventually, startTestApp, type TestApp } from "./harness.ts";
import { startPair, type Pair } from "./standby.ts";

let pair: Pair;

beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair.stop());

const db = { name: "Failover", code: "failover", schema: { fields: { n: "integer" } } };

async function write(app: TestApp, n: number): Promise<number> {
  return (await app.post("/core/dbs/failover/records.json", { record: { data: { n } } })).status;
}

async function numbers(app: TestApp): Promise<number[]> {
  const page = await app.get("/core/dbs/failover/records.json?limit=100");
  expect(page.status).toBe(200);
  return page.json.map((record: { data: { n: number } }) => record.data.n).toSorted((a: number, b: number) => a - b);
}

describe("several hosts in DATABASE_URL", () => {
  test("the standby may stand first: every connection is to the primary, a new one in place of a lost one too", async () => {
    const { url, standby, primary } = pair;
    const app = await startTestApp({ target: { url: url(standby, primary) } });
    const direct = openPool(primary.server.target, { max: 1 });
    try {
      expect((await app.post("/core/dbs.json", { db })).status).toBe(201);
      for (let n = 0; n < 30; n++) {
        if (n % 5 === 0) await endSessions();
        await eventually(async () => (await write(app, n)) === 201, "a write");
      }
      expect(await numbers(app)).toEqual(Array.from({ length: 30 }, (_, n) => n));
      const followed = openPool(standby.server.target, { max: 1 });
      const others = async () =>
        followed`select 1 from pg_stat_activity where application_name like 'corestead%' and pid <> pg_backend_pid()`;
      await eventually(async () => (await others()).length === 0, "a standby that nobody uses");
      await followed.end();
    } finally {
      await direct.end();
      await app.stop();
    }

    async function endSessions(): Promise<void> {
      await direct`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name like 'corestead%' and backend_type = 'client backend' and pid <> pg_backend_pid()`;
    }
  });

  test("what the address says of the session it wants is taken as it is", async () => {
    const { url, standby, primary } = pair;
    const sql = openPool({ url: `${url(primary, standby)}?target_session_attrs=standby` }, { max: 1 });
    const [row] = await sql`select pg_is_in_recovery() as standby`;
    await sql.end();
    expect(row).toEqual({ standby: true });
  });

  test("read-write is the primary, and never a standby", async () => {
    const { url, standby, primary } = pair;
    const sql = openPool({ url: `${url(standby, primary)}?target_session_attrs=read-write` }, { max: 1 });
    const [row] = await sql`select pg_is_in_recovery() as standby`;
    await sql.end();
    expect(row).toEqual({ standby: false });
  });

  test("a primary that is gone costs 503 until the standby is promoted, and no write that was acknowledged", async () => {
    const { url, standby, primary } = pair;
    const app = await startTestApp({ target: { url: url(primary, standby) } });
    try {
      const before = await numbers(app);
      await primary.server.stop();
      const away = await app.post("/core/dbs/failover/records.json", { record: { data: { n: -1 } } });
      expect([away.status, away.headers.get("retry-after")]).toEqual([503, "1"]);
      await pair.promote();
      await eventually(async () => (await write(app, 100)) === 201, "a write at the new primary");
      expect(await numbers(app)).toEqual([...before, 100]);
    } finally {
      await app.stop();
    }
  });

  test("a host that accepts connections and says nothing is passed over for the next", async () => {
    const { url, standby, primary } = pair;
    primary.proxy.silence();
    const target = { url: url(primary, standby) };
    const app = await startTestApp({ target, env: { DATABASE_CONNECT_SECONDS: "1" } });
    try {
      expect(await write(app, 200)).toBe(201);
    } finally {
      await app.stop();
    }
  });
});
