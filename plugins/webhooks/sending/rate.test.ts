import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../../tests/receiver.ts";
import { openPool, type Sql } from "../../../runtime/db/db.ts";
import * as leaseStore from "./queue-store.ts";
import { insertDeliveries, type ClaimedDelivery, type DeliveryQueue } from "./queue-store.ts";

/** The rate of a webhook belongs to the webhook, not to the process that happens to send for it. */
let app: TestApp;
let receiver: Receiver;
const env = { LOG_LEVEL: "error", WEBHOOK_RETRY_SECONDS: "600" };

beforeAll(async () => {
  receiver = startReceiver();
  app = await startTestApp({ env });
});
afterAll(async () => {
  await app.stop();
  await receiver.stop();
});

let made = 0;
/** A webhook with this rate and, for the same events, one without: what that has received is over and done. */
async function place(on: TestApp, fields: object) {
  const code = `rate${++made}`;
  expect((await on.post("/core/dbs.json", { db: { name: code, code } })).status).toBe(201);
  const hook = async (path: string, more: object) => {
    const common = { source_type: "Core::Record", kind: "create", filter: { db_code: code } };
    const webhook = { ...common, url: `${receiver.url}${path}`, ...more };
    const answer = await on.post("/account/webhooks.json", { webhook });
    expect(answer.status).toBe(201);
    return answer.json.id as number;
  };
  const path = `/${code}`;
  const id = await hook(path, fields);
  await hook(`${path}/free`, {});
  const create = async (by: TestApp) =>
    expect((await by.post(`/core/dbs/${code}/records.json`, { record: { data: {} } })).status).toBe(201);
  return { id, path, create, sent: () => receiver.at(path).length, free: () => receiver.at(`${path}/free`).length };
}

const statuses = async (on: TestApp, id: number) =>
  (await on.get(`/account/webhooks/${id}/deliveries.json`)).json.map(({ status }: { status: string }) => status);
const settled = (on: TestApp, id: number, count: number) =>
  eventually(async () => {
    const found = await statuses(on, id);
    return found.length === count && found.every((status: string) => status === "delivered");
  }, "every delivery");

describe("a process that goes on with a webhook", () => {
  /** Whether a process has taken the webhook's next delivery: it would send it at once if the rate allowed that. */
  const taken = ({ sql }: TestApp, id: number) =>
    eventually(async () => {
      const rows = await sql`select from webhook_queue where webhook_id = ${id} and worker is not null`;
      return rows.length > 0;
    }, "the claim of the next delivery");

  test("waits for the rate after the one before has stopped", async () => {
    const first = await startTestApp({ env });
    const { id, create, sent, free } = await place(first, { rate_limit: 1, rate_period: "minute" });
    await create(first);
    await settled(first, id, 1);
    const second = await startTestApp({ env, target: first.target });
    await first.stop();
    await create(second);
    await taken(second, id);
    await create(second);
    await eventually(() => free() === 3);
    expect(sent()).toBe(1);

    // The webhook's new rate holds for the next request.
    const waiting = { webhook: { rate_limit: 1000, rate_period: "second" } };
    expect((await second.patch(`/account/webhooks/${id}.json`, waiting)).status).toBe(200);
    await settled(second, id, 3);
    expect(sent()).toBe(3);
    await second.stop();
  });

  test("waits for the rate also if the one before cut its request off", async () => {
    const first = await startTestApp({ env });
    const { id, path, create, sent, free } = await place(first, { rate_limit: 1, rate_period: "minute" });
    const others = receiver.answer;
    receiver.answer = (request) => (request.path === path ? new Promise(() => {}) : others(request));
    await create(first);
    await eventually(() => sent() === 1);
    await first.stop();
    receiver.answer = others;
    const second = await startTestApp({ env, target: first.target });
    await taken(second, id);
    await create(second);
    await eventually(() => free() === 2);
    expect(sent()).toBe(1);
    expect(await statuses(second, id)).toEqual(["pending", "pending"]);
    await second.stop();
  });

  test("keeps the rate of a webhook that was switched off and on", async () => {
    const { id, create, sent, free } = await place(app, { rate_limit: 1, rate_period: "minute" });
    await create(app);
    await settled(app, id, 1);
    for (const active of [false, true]) {
      const answer = await app.patch(`/account/webhooks/${id}.json`, { webhook: { active } });
      expect(answer.json).toMatchObject({ active });
    }
    await create(app);
    await taken(app, id);
    await create(app);
    await eventually(() => free() === 3);
    expect(sent()).toBe(1);
  });

  test("sends on at a rate that allows it", async () => {
    const { id, create, sent } = await place(app, { rate_limit: 100, rate_period: "second" });
    for (let n = 0; n < 30; n++) await create(app);
    await settled(app, id, 30);
    expect(sent()).toBe(30);
  });
});

describe("the queue tells a process that claims", () => {
  const leaseSeconds = 30;
  const workers = ["00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"] as const;
  let sql: Sql;
  let a: DeliveryQueue;
  let b: DeliveryQueue;
  const webhooks = { slow: 0, free: 0, gone: 0 };
  let events = 0;

  // No server runs on this database by then: nobody else claims.
  beforeAll(async () => {
    const server = await startTestApp({ env });
    for (const name of ["slow", "free", "gone"] as const) {
      const url = `${receiver.url}/${name}`;
      const rate = name === "free" ? {} : { rate_limit: 1, rate_period: "minute" };
      const webhook = { source_type: "Rated::Thing", kind: "create", url, ...rate };
      webhooks[name] = (await server.post("/account/webhooks.json", { webhook })).json.id;
    }
    await server.stop();
    sql = openPool(server.target, { max: 2 });
    a = { sql, worker: workers[0] };
    b = { sql, worker: workers[1] };
  });
  afterAll(() => sql.end({ timeout: 5 }));
  beforeEach(async () => {
    await sql`truncate webhook_queue, webhook_rates`;
  });

  async function add(webhookId: number, count = 1, body = "{}"): Promise<void> {
    const what = { sourceType: "Rated::Thing", kind: "create", orderKey: null, body, causation: undefined };
    for (let n = 0; n < count; n++) {
      const eventId = ++events;
      await insertDeliveries(sql, [{ accountId: 1, webhookId, eventId, messageId: `msg_${eventId}`, ...what }]);
    }
  }
  const claim = async (by: DeliveryQueue, webhookId: number, most = 1) =>
    leaseStore.claim(by, [{ webhookId, most, since: new Date(0) }], leaseSeconds);
  /** The first of `rows` was sent so many milliseconds ago, and so on; null: its webhook has no rate. */
  const settle = (by: DeliveryQueue, rows: readonly ClaimedDelivery[], ...sentMsAgo: (number | null)[]) =>
    leaseStore.settle(
      by,
      rows.map(({ id, webhookId }, at) => {
        const ago = sentMsAgo[at] ?? null;
        const counted = ago === null ? null : { accountId: 1, webhookId, slot: performance.now() - ago };
        const answered = {
          responseStatus: 200,
          responseBody: null,
          error: null,
          durationMs: 1,
          attemptedAt: new Date(),
        };
        return { id, status: "delivered" as const, delaySeconds: 0, ...answered, counted };
      }),
    );
  /** What a claim says of the last request. */
  const told = async (by: DeliveryQueue, webhookId: number) => {
    const [row] = await claim(by, webhookId);
    if (!row) throw new Error("nothing was claimed");
    return row;
  };

  test("nothing of a webhook that has sent nothing", async () => {
    await add(webhooks.slow);
    expect(await told(a, webhooks.slow)).toMatchObject({ sentMsAgo: null, sentHere: null });
  });

  test.each([
    ["its own", () => a, true],
    ["another's", () => b, false],
  ] as const)("how long ago the last request was, and whether it was %s", async (_, next, sentHere) => {
    await add(webhooks.slow, 3);
    // The batch writes the later one down, in whatever order they ended.
    await settle(a, await claim(a, webhooks.slow, 2), 5000, 9000);
    const last = await told(next(), webhooks.slow);
    expect(last.sentHere).toBe(sentHere);
    expect(last.sentMsAgo).toBeGreaterThanOrEqual(5000);
    expect(last.sentMsAgo).toBeLessThan(9000);
  });

  test("the last request, though an earlier one is written down after it", async () => {
    await add(webhooks.slow, 3);
    const [first, second] = await claim(a, webhooks.slow, 2);
    if (!first || !second) throw new Error("two were not claimed");
    await settle(a, [second], 1_000_000);
    await settle(a, [first], 2_000_000);
    expect((await told(b, webhooks.slow)).sentMsAgo).toBeLessThan(2_000_000);
  });

  test("nothing of a webhook without a rate, and writes nothing down for it", async () => {
    await add(webhooks.free, 2);
    await settle(a, await claim(a, webhooks.free), null);
    expect(await told(b, webhooks.free)).toMatchObject({ sentMsAgo: null, sentHere: null });
    expect(await sql`select from webhook_rates`).toHaveLength(0);
  });

  test("of a process that died that it may have sent until its lease ended", async () => {
    await add(webhooks.slow, 2);
    await settle(a, await claim(a, webhooks.slow), 1_000_000);
    await claim(a, webhooks.slow);
    expect(await claim(b, webhooks.slow)).toHaveLength(0);
    await sql`update webhook_queue set due_at = now() - interval '500 seconds'`;
    const last = await told(b, webhooks.slow);
    expect(last.sentHere).toBe(false);
    expect(last.sentMsAgo).toBeGreaterThanOrEqual(500_000);
    expect(last.sentMsAgo).toBeLessThan(1_000_000);
  });

  test("of a request that was cut off, if it is given back as counted", async () => {
    await add(webhooks.slow);
    const [row] = await claim(a, webhooks.slow);
    await leaseStore.release(
      a,
      [row?.id ?? 0],
      [{ accountId: 1, webhookId: webhooks.slow, slot: performance.now() - 7000 }],
    );
    const last = await told(b, webhooks.slow);
    expect(last.sentMsAgo).toBeGreaterThanOrEqual(7000);
  });

  test("no request in the future for long: a clock that was set back is overwritten", async () => {
    await sql`insert into webhook_rates values (${webhooks.slow}, now() + interval '1 day', ${workers[0]})`;
    await add(webhooks.slow, 2);
    const [row] = await claim(b, webhooks.slow);
    expect(row?.sentMsAgo).toBeLessThan(0);
    await settle(b, row ? [row] : [], 3000);
    expect((await told(a, webhooks.slow)).sentMsAgo).toBeGreaterThanOrEqual(3000);
  });

  test("nothing of a webhook that was deleted meanwhile, whose outcome is written all the same", async () => {
    await add(webhooks.gone);
    const rows = await claim(a, webhooks.gone);
    await sql`delete from webhooks where id = ${webhooks.gone}`;
    expect((await settle(a, rows, 10)).size).toBe(1);
    expect(await sql`select from webhook_rates`).toHaveLength(0);
  });

  test("and no more than so many bytes, of the webhooks in their order", async () => {
    const large = "x".repeat(1_500_000);
    await add(webhooks.free, 3, large);
    await add(webhooks.slow, 3, large);
    const both = [webhooks.slow, webhooks.free].map((webhookId) => ({ webhookId, most: 100, since: new Date(0) }));
    const first = await leaseStore.claim(a, both, leaseSeconds);
    expect(first.map(({ webhookId, bytes }) => [webhookId, bytes])).toEqual([
      [webhooks.slow, large.length],
      [webhooks.slow, large.length],
    ]);
    const rest = await leaseStore.claim(a, both, leaseSeconds);
    expect(rest.map(({ webhookId }) => webhookId)).toEqual([webhooks.free, webhooks.slow].toSorted((x, y) => x - y));
    expect(await sql`select from webhook_queue where worker is null`).toHaveLength(2);
  });
});
