/** The health of webhooks, and long logs. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { otherAccount, startTestApp, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
let id: number;
beforeAll(async () => {
  app = await startTestApp();
  const webhook = { source_type: "Health::Thing", kind: "create", url: "http://127.0.0.1:1/" };
  id = Number((await app.post("/account/webhooks.json", { webhook })).json.id);
  // 120 old failures, then 90 delivered, 6 failed and 4 that wait.
  await app.sql`
    insert into webhook_deliveries (account_id, webhook_id, message_id, source_type, kind, body, status, attempts, error, attempted_at)
    select 1, ${id}, 'msg_' || n, 'Health::Thing', 'create', '{}',
      case when n <= 120 then 'failed' when n <= 210 then 'delivered' when n <= 216 then 'failed' else 'pending' end, 1,
      case when n <= 120 or n between 211 and 216 then 'status: the receiver answered 500' end,
      timestamptz '2026-01-01T00:00:00Z' + make_interval(mins => n)
    from generate_series(1, 220) n`;
});
afterAll(() => app.stop());

test("the health of a webhook is what became of its latest deliveries", async () => {
  const { json, headers } = await app.get("/account/webhooks/health.json");
  expect(json).toEqual([
    {
      id,
      recent: 100,
      delivered: 90,
      failed: 6,
      pending: 4,
      last_delivered_at: "2026-01-01T03:30:00.000Z",
      last_failed_at: "2026-01-01T03:36:00.000Z",
    },
  ]);
  expect(headers.get("x-total-count")).toBe("1");
  const other = await otherAccount(app);
  expect((await other.get("/account/webhooks/health.json")).json).toEqual([]);
});

test("a long log is read on from a delivery, without being counted", async () => {
  const path = `/account/webhooks/${id}/deliveries.json`;
  const first = await app.get(`${path}?limit=10&count=false`);
  expect([first.json.length, first.headers.get("x-total-count")]).toEqual([10, null]);
  const next = await app.get(`${path}?limit=2&before=${first.json[9].id}`);
  expect(next.json.map((one: { id: number }) => one.id)).toEqual([first.json[9].id - 1, first.json[9].id - 2]);
  const failed = await app.get(`${path}?limit=3&status=failed&before=${first.json[9].id}&count=false`);
  expect(failed.json.map((one: { status: string }) => one.status)).toEqual(["failed", "failed", "failed"]);
  // The four that wait and the six that failed are the newest.
  const near = await app.get(`${path}?status=failed&within=8&count=false`);
  const cursor = near.headers.get("x-next-cursor");
  expect([near.json.length, cursor]).toEqual([4, String(near.json[3].id)]);
  const further = await app.get(`${path}?status=failed&within=8&count=false&before=${cursor}`);
  expect([further.json.length, further.headers.get("x-next-cursor")]).toEqual([2, expect.any(String)]);
  const rest = await app.get(`${path}?status=failed&within=1000&limit=500&count=false&before=${cursor}`);
  expect([rest.json.length, rest.headers.get("x-next-cursor")]).toEqual([122, null]);
  for (const [query, field] of [
    ["within=0", "within"],
    ["within=100001", "within"],
    ["before=x", "before"],
    ["before=0", "before"],
    ["count=perhaps", "count"],
  ] as const) {
    const answer = await app.get(`${path}?${query}`);
    expect([query, answer.status, Object.keys(answer.json.errors ?? answer.json)]).toEqual([query, 422, [field]]);
  }
});
