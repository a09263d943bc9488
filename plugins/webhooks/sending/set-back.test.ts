import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createDatabase, eventually, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { startReceiver } from "../../../tests/receiver.ts";
import { openPool, type Sql } from "../../../runtime/db/db.ts";
import { requeueDeliveries } from "../deliveries/delivery-store.ts";
import * as leaseStore from "./queue-store.ts";
import * as queueStore from "./queue-store.ts";

const receiver = startReceiver();
const apps: TestApp[] = [];
afterAll(async () => {
  for (const app of apps) await app.stop();
  await receiver.stop();
});

const webhook = { source_type: "Clock::Thing", kind: "create" };

/** Moves everything that the queue knows of times: the database's clock showed so much more when it was written. */
const shift = (sql: Sql, by: string) =>
  sql.begin(async (tx) => {
    await tx`
    update webhook_queue set due_at = due_at + ${by}::text::interval, waits_since = waits_since + ${by}::text::interval`;
    await tx`update webhook_deliveries set next_attempt_at = next_attempt_at + ${by}::text::interval`;
  });

describe("a delivery", () => {
  const leaseSeconds = 30;
  let sql: Sql;
  let mine: leaseStore.DeliveryQueue;
  let webhookId = 0;
  let events = 0;

  // No server runs on this database by then: nobody else claims.
  beforeAll(async () => {
    const server = await startTestApp();
    const answer = await server.post("/account/webhooks.json", { webhook: { ...webhook, url: `${receiver.url}/x` } });
    webhookId = answer.json.id;
    await server.stop();
    sql = openPool(server.target, { max: 2 });
    mine = { sql, worker: crypto.randomUUID() };
  });
  afterAll(() => sql.end({ timeout: 5 }));
  beforeEach(async () => {
    await sql`truncate webhook_queue, webhook_deliveries`;
  });

  const add = async (orderKey: string | null = null) => {
    const eventId = ++events;
    const what = { sourceType: "Clock::Thing", kind: "create", orderKey, body: "{}", causation: undefined };
    await queueStore.insertDeliveries(sql, [
      { accountId: 1, webhookId, eventId, messageId: `msg_${eventId}`, ...what },
    ]);
    // It waits for an hour by then: what it does next must not count from its beginning.
    await shift(sql, "-1 hour");
  };
  const claim = async () => {
    const [row] = await leaseStore.claim(mine, [{ webhookId, most: 1, since: new Date(0) }], leaseSeconds);
    if (!row) throw new Error("nothing was claimed");
    return row.id;
  };
  const fail = async (delaySeconds: number) => {
    const answered = { responseStatus: 500, responseBody: null, error: "500", durationMs: 1, attemptedAt: new Date() };
    await leaseStore.settle(mine, [{ id: await claim(), status: "pending", delaySeconds, ...answered, counted: null }]);
  };
  const redeliver = async () => {
    const [row] = await sql<{ id: number }[]>`select id from webhook_deliveries`;
    await sql.begin((tx) => requeueDeliveries(tx, 1, [row?.id ?? 0]));
  };
  // As text: a date of JavaScript cannot be infinite.
  const rows = async () => [
    ...(await sql<{ queued: string; told: string }[]>`
      select to_json(q)::text as queued, d.next_attempt_at::text as told
      from webhook_queue q join webhook_deliveries d on d.id = q.delivery_id`),
  ];
  /** In how many seconds it is due, and what the log says of that. */
  const times = async () => {
    const [row] = await sql<{ due: number; told: number; later: boolean }[]>`
      select extract(epoch from q.due_at - now())::float8 as due, q.due_at = 'infinity' as later,
        extract(epoch from d.next_attempt_at - now())::float8 as told
      from webhook_queue q join webhook_deliveries d on d.id = q.delivery_id`;
    return row ?? { due: NaN, told: NaN, later: false };
  };

  /** What was done with it, and in how many seconds it is due and said to be due. */
  const cases: [what: string, make: () => Promise<unknown>, due: number, told: number][] = [
    ["that is due", async () => add(), -3600, -3600],
    ["that waits for another attempt", async () => (await add(), fail(600)), 600, 600],
    ["that a person redelivers", async () => (await add(), await fail(600), redeliver()), 0, 0],
    [
      "that is the first of its order key",
      async () => (await add("a"), queueStore.promote(sql, [{ webhookId, orderKey: "a" }])),
      0,
      -3600,
    ],
    ["that was given back unsent", async () => (await add(), leaseStore.release(mine, [await claim()])), 0, -3600],
    ["of a process that died", async () => (await add(), claim()), leaseSeconds, -3600],
    ["behind another of its order key", async () => add("a"), Infinity, -3600],
  ];

  test.each(cases)("%s keeps its times if the clock was right", async (_, make) => {
    await make();
    const before = await rows();
    await queueStore.setBack(sql, leaseSeconds);
    const after = await rows();
    expect(after).toEqual(before);
    expect(after).toHaveLength(1);
  });

  test.each(cases)("%s waits only for its own time if the clock was a day ahead", async (_, make, due, told) => {
    await make();
    await shift(sql, "1 day");
    await queueStore.setBack(sql, leaseSeconds);
    const now = await times();
    expect(now.later).toBe(due === Infinity);
    // What has passed of its wait by the wrong clock is waited again; a minute is what a slow machine may take.
    const least = Math.max(due, 0);
    if (!now.later) expect(now.due).toBeWithin(least - 60, least + 1);
    expect(now.told).toBeWithin(Math.max(told, 0) - 60, Math.max(told, 0) + 1);
  });

  test("of an earlier version keeps its time, which may be right", async () => {
    await add();
    await sql`update webhook_queue set due_at = now() + interval '10 hours', waits_since = null`;
    await queueStore.setBack(sql, leaseSeconds);
    expect((await times()).due).toBeWithin(35_000, 36_001);
  });
});

test("a retry that was set while the clock was a day ahead is sent when its own wait is over", async () => {
  const target = await createDatabase();
  const env = { WEBHOOK_RETRY_SECONDS: "3600", LOG_LEVEL: "error" };
  const first = await startTestApp({ target, env });
  receiver.answer = () => new Response("", { status: 500 });
  const url = `${receiver.url}/retried`;
  const { id } = (
    await first.post("/account/webhooks.json", { webhook: { source_type: "Core::Record", kind: "create", url } })
  ).json;
  expect((await first.post("/core/dbs.json", { db: { name: "Clock", code: "clock" } })).status).toBe(201);
  expect((await first.post("/core/dbs/clock/records.json", { record: { data: {} } })).status).toBe(201);
  const delivery = async (by: TestApp) => (await by.get(`/account/webhooks/${id}/deliveries.json`)).json[0];
  await eventually(async () => (await delivery(first))?.attempts === 1, "the first attempt");
  await first.stop();

  // As a clock that was a day ahead would have stored it, and so that nobody has to wait an hour: a wait of 100 ms.
  const sql = openPool(target, { max: 1 });
  await sql`
    update webhook_queue set waits_since = now() + interval '1 day', due_at = now() + interval '1 day 0.1 seconds'`;
  await sql.end();
  receiver.answer = () => new Response("");

  const second = await startTestApp({ target, env });
  apps.push(second);
  await eventually(async () => (await delivery(second)).status === "delivered", "the second attempt");
  expect(await delivery(second)).toMatchObject({ attempts: 2, next_attempt_at: null });
});
