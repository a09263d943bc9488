/** The limits on what visitors store: bytes per address and day, and nothing more in a full database. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../../tests/harness.ts";

const env = {
  VISITOR_BYTES_PER_DATABASE: "60000",
  VISITOR_BYTES_PER_ADDRESS: "40000",
  RATE_LIMIT_REQUESTS: "10000",
  RATE_LIMIT_CREATES: "10000",
  TRUSTED_PROXIES: "127.0.0.1",
};

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env });
});
afterAll(() => app.stop());

let made = 0;
async function newDb(): Promise<string> {
  const public_methods = { create: true, update: true, list: true };
  const answer = await app.post("/core/dbs.json", { db: { name: `Room ${++made}`, public_methods } });
  expect(answer.status).toBe(201);
  return answer.json.code;
}

test("a change counts what its record's history takes", async () => {
  const db = await newDb();
  expect((await app.patch(`/core/dbs/${db}.json`, { db: { schema: { history: true } } })).status).toBe(200);
  const record = await leave(db, "192.0.2.77", 10_000);
  const change = async () =>
    (await app.post(`/core/db/${db}/update`, { id: record.json.id, data: { n: 1 } }, from("192.0.2.77"))).status;
  expect([await change(), await change(), await change()]).toEqual([200, 200, 429]);
});

/** Nothing that PostgreSQL can make smaller. */
const noise = (length: number) => crypto.getRandomValues(new Uint8Array(length)).toBase64().slice(0, length);
/** Runs a second server process on the same database. */
async function besideAnother(run: (other: TestApp) => Promise<void>): Promise<void> {
  const other = await startTestApp({ target: app.target, env });
  try {
    await run(other);
  } finally {
    await other.stop();
  }
}
const from = (ip: string, token: string | null = null) => ({ token, headers: { "x-forwarded-for": ip } });
const leave = (db: string, ip: string, length: number, at = app) =>
  at.post(`/core/db/${db}/create`, { data: { text: noise(length) } }, from(ip));
const kept = async (db: string) => (await app.get(`/core/dbs/${db}/records.json?limit=100`)).json.length;

describe("one address", () => {
  test("stores its share of a day, by creates and updates, and is told when it may go on", async () => {
    const db = await newDb();
    const { json } = await leave(db, "192.0.2.1", 10_000);
    const more = { id: json.id, data: { text: noise(10_000) } };
    expect((await app.post(`/core/db/${db}/update`, more, from("192.0.2.1"))).status).toBe(200);
    expect((await leave(db, "192.0.2.1", 10_000)).status).toBe(201);
    const refused = await leave(db, "192.0.2.1", 10_000);
    expect([refused.status, Number(refused.headers.get("retry-after")) > 60]).toEqual([429, true]);
    expect(await kept(db)).toBe(2);
    expect((await leave(db, "192.0.2.2", 10_000)).status).toBe(201);
  });

  test("stores as much after refusals", async () => {
    const public_methods = { create: { required_fields: ["name"] } };
    const { code } = (await app.post("/core/dbs.json", { db: { name: "Strict", public_methods } })).json;
    const ip = "192.0.2.6";
    for (let n = 0; n < 6; n++) expect((await leave(code, ip, 10_000)).status).toBe(422);
    const data = { name: "a", text: noise(20_000) };
    expect((await app.post(`/core/db/${code}/create`, { data }, from(ip))).status).toBe(201);
    expect((await app.post(`/core/db/${code}/create`, { data }, from(ip))).status).toBe(429);
  });

  test("is a whole network of IPv6, and stores elsewhere what is left", async () => {
    expect((await leave(await newDb(), "2001:db8::1", 30_000)).status).toBe(201);
    expect((await leave(await newDb(), "2001:db8::2", 20_000)).status).toBe(429);
    expect((await leave(await newDb(), "2001:db8:0:1::2", 20_000)).status).toBe(201);
  });

  test("is refused at once what it could never store", async () => {
    expect((await leave(await newDb(), "192.0.2.3", 40_001)).status).toBe(413);
  });

  test("is not charged for a refused update, nor twice for what it sends again", async () => {
    const public_methods = { create: true, update: true };
    const schema = { fields: { text: "text", mail: { type: "string", required: true } } };
    const strict = await app.post("/core/dbs.json", { db: { name: "Strict", public_methods, schema } });
    const { code } = strict.json;
    const ip = "192.0.2.8";
    for (let tries = 0; tries < 3; tries++) expect((await leave(code, ip, 20_000)).status).toBe(422);
    const gone = { id: crypto.randomUUID(), data: { text: noise(20_000) } };
    expect((await app.post(`/core/db/${code}/update`, gone, from(ip))).status).toBe(404);
    const body = { data: { text: noise(30_000), mail: "a@b.example" } };
    const headers = { "x-forwarded-for": ip, "idempotency-key": "again" };
    const first = await app.post(`/core/db/${code}/create`, body, { token: null, headers });
    expect(first.status).toBe(201);
    const cookie = first.headers.get("set-cookie")?.split(";")[0] ?? "";
    const again = await app.post(`/core/db/${code}/create`, body, { token: null, headers: { ...headers, cookie } });
    expect(again.json.id).toBe(first.json.id);
    expect((await leave(await newDb(), ip, 11_000)).status).toBe(429);
    expect((await leave(await newDb(), ip, 9_000)).status).toBe(201);
  });

  test("is not charged for what an action refuses", async () => {
    const actions = [{ action: "go", flow_code: "nothing-here", public: true }];
    const given = { name: "Strict", app_engine: "html", css_engine: "none", source_code: "x", public: true, actions };
    const { id } = (await app.post("/core/apps.json", { app: given })).json;
    const ip = "192.0.2.7";
    for (let tries = 0; tries < 3; tries++)
      expect((await app.post(`/core/apps/${id}/action/go`, { text: noise(30_000) }, from(ip))).status).toBe(422);
    expect((await leave(await newDb(), ip, 39_000)).status).toBe(201);
  });

  test("stores no more in an app, where it counts as well", async () => {
    const given = { name: "Open", app_engine: "html", css_engine: "none", source_code: "x", public: true };
    const { id } = (await app.post("/core/apps.json", { app: given })).json;
    const put = (ip: string) => app.request("PUT", `/core/apps/${id}/storage/a`, { value: noise(30_000) }, from(ip));
    expect((await put("192.0.2.4")).status).toBe(200);
    expect((await put("192.0.2.4")).status).toBe(429);
    expect((await put("192.0.2.5")).status).toBe(200);
  });
});

describe("a full database", () => {
  test("takes nothing more from visitors, whoever they are, and all from those who are signed in", async () => {
    const db = await newDb();
    expect((await leave(db, "192.0.2.11", 30_000)).status).toBe(201);
    expect((await leave(db, "192.0.2.12", 25_000)).status).toBe(201);
    const refused = await leave(db, "192.0.2.13", 25_000);
    expect([refused.status, refused.json.error]).toEqual([413, expect.stringContaining("60000 bytes")]);
    expect((await leave(db, "192.0.2.13", 1_000)).status).toBe(201);
    const data = { text: noise(50_000) };
    expect((await app.post(`/core/db/${db}/create`, { data })).status).toBe(201);
    expect((await app.post(`/core/dbs/${db}/records.json`, { record: { data } })).status).toBe(201);
  });

  test("is noticed by a process that has measured it before others filled it, after a tenth more", async () => {
    const db = await newDb();
    await besideAnother(async (other) => {
      expect((await leave(db, "192.0.2.15", 100, other)).status).toBe(201);
      expect((await leave(db, "192.0.2.16", 30_000)).status).toBe(201);
      expect((await leave(db, "192.0.2.17", 29_000)).status).toBe(201);
      expect((await leave(db, "192.0.2.18", 6_500, other)).status).toBe(201);
      expect((await leave(db, "192.0.2.18", 100, other)).status).toBe(413);
      expect(await kept(db)).toBe(4);
    });
  });

  test("is known for what it already holds", async () => {
    const db = await newDb();
    for (let part = 0; part < 2; part++)
      await app.post(`/core/dbs/${db}/records.json`, { record: { data: { text: noise(35_000) } } });
    expect((await leave(db, "192.0.2.14", 100)).status).toBe(413);
  });
});
