import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { eventually, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../../tests/receiver.ts";
import type { Queryable } from "../../../runtime/db/db.ts";
import { modelChanged } from "../../../runtime/events/models.ts";
import { definePlugin } from "../../../runtime/plugin/plugin.ts";
import { plugins } from "../../index.ts";

/** What a webhook that is switched off or deleted leaves behind, whatever is being written at that moment. */
let app: TestApp;
let receiver: Receiver;
let change: (kind: string) => Promise<void>;

const probe = definePlugin({
  name: "probe",
  setup(ctx) {
    change = (kind) =>
      ctx.transaction((tx) =>
        ctx.emit(modelChanged, { accountId: 1, sourceType: "Probe::Thing", kind, id: "1", data: { id: 1 } }, tx),
      );
    return {};
  },
});

beforeAll(async () => {
  receiver = startReceiver();
  app = await startTestApp({ plugins: [...plugins, probe], env: { LOG_LEVEL: "error" } });
});
afterAll(async () => {
  await app.stop();
  await receiver.stop();
});
afterEach(() => {
  receiver.answer = () => new Response("ok");
});

let made = 0;
async function webhook() {
  const kind = `g${++made}`;
  const fields = { source_type: "Probe::Thing", kind, url: `${receiver.url}/${kind}` };
  const { status, json } = await app.post("/account/webhooks.json", { webhook: fields });
  expect(status).toBe(201);
  return { id: Number(json.id), kind, path: `/${kind}`, at: `/account/webhooks/${json.id}` };
}
const statuses = async (id: number) => {
  const rows = await app.sql<{ status: string }[]>`select status from webhook_deliveries where webhook_id = ${id}`;
  return rows.map(({ status }) => status);
};
const queued = async (id: number) => (await app.sql`select from webhook_queue where webhook_id = ${id}`).count;
const cleared = () =>
  eventually(
    async () => (await app.sql`select from jobs where name = 'webhooks.clear-queue' and run_at <= now()`).count === 0,
    "the end of the clearing",
  );
/** How many connections to this database wait for another one's lock. */
const blocked = async () => {
  const rows = await app.sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return rows.count;
};
/** Holds what `lock` locks until the answer is called. */
async function held(lock: (tx: Queryable) => Promise<unknown>): Promise<() => Promise<void>> {
  const locked = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const done = app.sql.begin(async (tx) => {
    await lock(tx);
    locked.resolve();
    await over.promise;
  });
  await locked.promise;
  return async () => {
    over.resolve();
    await done;
  };
}
/** A delivery that has failed once and waits for its next attempt. */
async function waiting() {
  const hook = await webhook();
  receiver.answer = () => new Response("", { status: 500, headers: { "retry-after": "300" } });
  await change(hook.kind);
  await eventually(async () => {
    const rows = await app.sql`
      select from webhook_deliveries d join webhook_queue q on q.delivery_id = d.id
      where d.webhook_id = ${hook.id} and d.attempts = 1 and q.worker is null`;
    return rows.count === 1;
  }, "the first attempt to be written");
  return hook;
}
const switchOff = (at: string) => app.patch(`${at}.json`, { webhook: { active: false } });

describe("a delivery that is being written when its webhook", () => {
  test("is deleted is cleared away afterwards: its row of the queue", async () => {
    const { id, at } = await waiting();
    const letGo = await held((tx) => tx`select from webhook_queue where webhook_id = ${id} for update`);
    expect((await app.delete(`${at}.json`)).status).toBe(204);
    await cleared();
    expect(await queued(id)).toBe(1);
    await letGo();
    await eventually(async () => (await queued(id)) === 0 && (await statuses(id)).length === 0, "nothing to be left");
  });

  test("is deleted is cleared away afterwards: its row of the log", async () => {
    const { id, at } = await waiting();
    const letGo = await held((tx) => tx`update webhook_deliveries set attempts = 2 where webhook_id = ${id}`);
    expect((await app.delete(`${at}.json`)).status).toBe(204);
    await eventually(async () => (await blocked()) > 0, "the clearing to wait");
    await letGo();
    await eventually(async () => (await queued(id)) === 0 && (await statuses(id)).length === 0, "nothing to be left");
  });

  test("is switched off does not stay pending", async () => {
    const { id, at } = await waiting();
    const letGo = await held((tx) => tx`select from webhook_queue where webhook_id = ${id} for update`);
    expect((await switchOff(at)).status).toBe(200);
    await cleared();
    expect([await queued(id), await statuses(id)]).toEqual([1, ["pending"]]);
    await letGo();
    await eventually(async () => (await queued(id)) === 0, "the queue to be empty");
    expect(await statuses(id)).toEqual(["failed"]);
  });
});

test("a test that is under way when its webhook is deleted is 404, and not kept", async () => {
  const { id, at, path } = await webhook();
  const answer = Promise.withResolvers<Response>();
  receiver.answer = () => answer.promise;
  const tested = app.post(`${at}/test.json`);
  await eventually(() => receiver.at(path).length === 1);
  expect((await app.delete(`${at}.json`)).status).toBe(204);
  await cleared();
  answer.resolve(new Response("ok"));
  expect((await tested).status).toBe(404);
  expect(await statuses(id)).toEqual([]);
});

describe("what is sent again while its webhook", () => {
  const remove = (at: string) => app.delete(`${at}.json`);
  test.each([
    ["one", "is switched off", switchOff, ["failed"]],
    ["one", "is deleted", remove, []],
    ["a range", "is switched off", switchOff, ["failed"]],
    ["a range", "is deleted", remove, []],
  ] as const)("(%s) %s leaves nothing in the queue", async (what, _, end, left) => {
    const { id, kind, at, path } = await webhook();
    await change(kind);
    await eventually(async () => (await statuses(id))[0] === "delivered");
    const [{ id: delivery } = { id: 0 }] = await app.sql<{ id: number }[]>`
      select id from webhook_deliveries where webhook_id = ${id}`;
    receiver.answer = () => new Response("", { status: 500, headers: { "retry-after": "300" } });
    // The redelivery stops in the middle of its transaction.
    const letGo = await held((tx) => tx`select from webhook_deliveries where webhook_id = ${id} for update`);
    const again =
      what === "one"
        ? app.post(`${at}/deliveries/${delivery}/redeliver.json`)
        : app.post(`${at}/redeliver.json`, { from: "2020-01-01T00:00:00Z", status: "delivered" });
    await eventually(async () => (await blocked()) === 1, "the redelivery to wait");
    let ended = false;
    const ending = end(at).finally(() => (ended = true));
    await eventually(async () => ended || (await blocked()) === 2, "the end of the webhook, or its wait");
    if (ended) await eventually(async () => (await blocked()) === 2 || (await cleared()));
    await letGo();
    expect((await ending).status).toBeLessThan(300);
    expect((await again).status).toBe(200);
    await eventually(async () => (await queued(id)) === 0, "the queue to be empty");
    await eventually(async () => (await statuses(id)).join() === left.join(), `the log to hold [${left.join()}]`);
    expect(receiver.at(path).length).toBeLessThanOrEqual(2);
  });
});
