import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { eventually, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { startReceiver, type Received, type Receiver } from "../../../tests/receiver.ts";
import { modelChanged } from "../../../runtime/events/models.ts";
import { definePlugin } from "../../../runtime/plugin/plugin.ts";
import { plugins } from "../../index.ts";

let app: TestApp;
let receiver: Receiver;
/** Changes of a model of nobody's, as a plugin makes them. */
let change: (kind: string, data: Record<string, unknown>, accountId?: number) => Promise<void>;

const probe = definePlugin({
  name: "probe",
  setup(ctx) {
    change = async (kind, data, accountId = 1) => {
      const id = JSON.stringify(data["id"] ?? 1);
      await ctx.transaction((tx) =>
        ctx.emit(modelChanged, { accountId, sourceType: "Probe::Thing", kind, id, data }, tx),
      );
    };
    return {};
  },
});

const env = { WEBHOOK_RETRY_SECONDS: "0.05,0.05,0.05", LOG_LEVEL: "error" };

beforeAll(async () => {
  receiver = startReceiver();
  app = await startTestApp({ plugins: [...plugins, probe], env });
  await app.post("/core/dbs.json", { db: { name: "Orders", code: "orders" } });
});
afterAll(async () => {
  await app.stop();
  await receiver.stop();
});

let made = 0;
/** A webhook with an own path on the receiver, and an own kind of event. */
async function webhook(fields: object = {}) {
  const name = `w${++made}`;
  const given = { source_type: "Probe::Thing", kind: name, url: `${receiver.url}/${name}`, ...fields };
  const answer = await app.post("/account/webhooks.json", { webhook: given });
  expect(answer.status).toBe(201);
  const { id, signing_secret: secret } = answer.json;
  return { id, secret, kind: name, path: `/${name}`, at: `/account/webhooks/${id}` };
}
const deliveries = async (at: string, query = "") => (await app.get(`${at}/deliveries.json${query}`)).json;
const settled = (at: string, count = 1) =>
  eventually(async () => {
    const all = await deliveries(at);
    return all.length >= count && all.every((one: { status: string }) => one.status !== "pending") ? all : undefined;
  }, `the end of ${count} deliveries`);
/** No event waits to become deliveries: one that came while a webhook was off must not see it on again. */
const eventsDone = () =>
  eventually(async () => {
    const jobs = await app.sql`select from jobs where name = 'event:core.model.changed:webhooks'`;
    return jobs.length === 0;
  }, "the end of all events");
const ids = (requests: readonly Received[]) => requests.map(({ headers }) => headers.get("webhook-id"));
const answers = (path: string, answer: (nth: number) => Response | Promise<Response>) => {
  const others = receiver.answer;
  receiver.answer = (request) => (request.path === path ? answer(receiver.at(path).length) : others(request));
};

describe("a delivery", () => {
  test("is signed as Standard Webhooks says, and carries the record", async () => {
    const { secret, at, path } = await webhook({
      source_type: "Core::Record",
      kind: "create",
      api_token: "secret of the receiver",
      filter: { db_code: "orders" },
    });
    const record = await app.post("/core/dbs/orders/records.json", { record: { data: { total: 12, city: "Łódź" } } });
    const request = await eventually(() => receiver.at(path)[0]);
    const headers = Object.fromEntries(request.headers);
    const verified = new Webhook(secret).verify(request.body, headers);
    expect(verified).toMatchObject({ id: record.json.id, db_code: "orders", total: 12, city: "Łódź" });
    expect(headers).toMatchObject({
      authorization: "Bearer secret of the receiver",
      "content-type": "application/json; charset=utf-8",
      "x-core-source-type": "Core::Record",
      "x-core-event": "create",
    });
    const [delivery] = await settled(at);
    expect(delivery).toMatchObject({
      source_type: "Core::Record",
      event: "create",
      status: "delivered",
      attempts: 1,
      response_status: 200,
      response_body: "ok",
      error: null,
      next_attempt_at: null,
      message_id: headers["webhook-id"],
    });
    const shown = await app.get(`${at}/deliveries/${delivery.id}.json`);
    expect(shown.json).toEqual({ ...delivery, body: JSON.parse(request.body) });
  });

  test("comes of every kind of change, by whichever route", async () => {
    const [created, updated, destroyed] = await Promise.all(
      ["create", "update", "destroy"].map((kind) => webhook({ source_type: "Core::Prompt", kind })),
    );
    const prompt = { name: "P", code: "p-of-webhooks", content: "x", kind: "chat" };
    const { id } = (await app.post("/core/prompts.json", { prompt })).json;
    await app.patch(`/core/prompts/${id}.json`, { prompt: { name: "Q" } });
    await app.delete(`/core/prompts/${id}.json`);
    for (const [{ path = "" } = {}, name] of [
      [created, "P"],
      [updated, "Q"],
      [destroyed, "Q"],
    ] as const) {
      const request = await eventually(() => receiver.at(path)[0]);
      expect(JSON.parse(request.body)).toMatchObject({ id, name });
    }
  });

  test("goes to every webhook that follows, with one webhook-id", async () => {
    const one = await webhook();
    const two = await webhook({ kind: one.kind, filter: { id: 5 } });
    const none = await webhook({ kind: one.kind, filter: { id: 6 } });
    await change(one.kind, { id: 5 });
    await Promise.all([settled(one.at), settled(two.at)]);
    expect(new Set(ids([...receiver.at(one.path), ...receiver.at(two.path)])).size).toBe(1);
    expect(await deliveries(none.at)).toEqual([]);
  });

  test("is not made of a change that is rolled back", async () => {
    const { kind, at } = await webhook();
    const failing = app.sql.begin(async () => {
      throw new Error("rolled back");
    });
    expect(failing).rejects.toThrow("rolled back");
    await change(kind, { id: 1 });
    expect(await settled(at)).toHaveLength(1);
  });

  test("stays in its account", async () => {
    const { kind, at } = await webhook();
    await change(kind, { id: 1 }, 4711);
    await change(kind, { id: 2 });
    expect(await settled(at)).toHaveLength(1);
  });

  test("carries text of any kind byte for byte", async () => {
    const { kind, path, secret } = await webhook();
    const data = { id: 1, text: "a\0b \u2028 \ud83d\ude00 \\u0000 'quoted' \"double\"", big: "x".repeat(200_000) };
    await change(kind, data);
    const request = await eventually(() => receiver.at(path)[0]);
    expect(JSON.parse(request.body)).toEqual(data);
    new Webhook(secret).verify(request.body, Object.fromEntries(request.headers));
  });
});

describe("an inactive webhook", () => {
  test("sends nothing, and what waits for it is not sent either", async () => {
    const { kind, at, path } = await webhook();
    answers(path, () => new Response("", { status: 500, headers: { "retry-after": "300" } }));
    await change(kind, { id: 1 });
    await eventually(async () => (await deliveries(at))[0]?.attempts === 1);
    await app.patch(`${at}.json`, { webhook: { active: false } });
    const [delivery] = await settled(at);
    expect(delivery).toMatchObject({
      status: "failed",
      next_attempt_at: null,
      error: expect.stringContaining("switched off"),
    });
    await change(kind, { id: 2 });
    await eventsDone();
    const again = await app.patch(`${at}.json`, { webhook: { active: true } });
    expect(again.json).toMatchObject({ active: true, failing_since: null });
    answers(path, () => new Response("ok"));
    await change(kind, { id: 3 });
    await eventually(() => receiver.at(path).length === 2);
    expect(receiver.at(path).map(({ body }) => JSON.parse(body).id)).toEqual([1, 3]);
  });

  test("is neither tested nor redelivered to", async () => {
    const { kind, at } = await webhook();
    await change(kind, { id: 1 });
    const [{ id }] = await settled(at);
    await app.patch(`${at}.json`, { webhook: { active: false } });
    for (const action of ["test", `deliveries/${id}/redeliver`]) {
      const answer = await app.post(`${at}/${action}.json`);
      expect([answer.status, Object.keys(answer.json)]).toEqual([422, ["base"]]);
    }
  });
});

describe("a failure", () => {
  test("is tried again with the same webhook-id and body, and a new timestamp and signature", async () => {
    const { kind, at, path, secret } = await webhook();
    answers(path, (nth) => new Response(`try ${nth}`, { status: nth < 3 ? 503 : 200 }));
    await change(kind, { id: 1 });
    const [delivery] = await settled(at);
    expect(delivery).toMatchObject({
      status: "delivered",
      attempts: 3,
      response_status: 200,
      response_body: "try 3",
      error: null,
    });
    const requests = receiver.at(path);
    expect(new Set(ids(requests)).size).toBe(1);
    for (const request of requests) new Webhook(secret).verify(request.body, Object.fromEntries(request.headers));
    // Noted after the delivery itself.
    await eventually(async () => (await app.get(`${at}.json`)).json.failing_since === null, "the webhook to be well");
  });

  test("that stays is final after the last wait, and the log shows it", async () => {
    const { kind, at, path } = await webhook();
    answers(path, () => new Response("broken", { status: 500 }));
    await change(kind, { id: 1 });
    const [delivery] = await settled(at);
    expect(delivery).toMatchObject({
      status: "failed",
      attempts: 4,
      response_status: 500,
      response_body: "broken",
      error: "status: the receiver answered 500",
    });
    expect(receiver.at(path)).toHaveLength(4);
    const shown = await eventually(async () => {
      const { json } = await app.get(`${at}.json`);
      return json.failing_since ? json : undefined;
    });
    expect(shown).toMatchObject({ active: true, disabled_reason: null });
    expect(await deliveries(at, "?status=failed")).toHaveLength(1);
    expect(await deliveries(at, "?status=delivered")).toEqual([]);
  });

  test("with 410 switches the webhook off, with its reason", async () => {
    const { kind, at, path } = await webhook();
    answers(path, () => new Response("", { status: 410 }));
    await change(kind, { id: 1 });
    const [delivery] = await settled(at);
    expect(delivery).toMatchObject({
      status: "failed",
      attempts: 1,
      response_status: 410,
      error: "gone: the receiver answered 410",
    });
    const off = await eventually(async () => {
      const { json } = await app.get(`${at}.json`);
      return json.active ? undefined : json;
    });
    expect(off.disabled_reason).toContain("410");
    await change(kind, { id: 2 });
    await eventsDone();
    const on = await app.patch(`${at}.json`, { webhook: { active: true } });
    expect(on.json).toMatchObject({ active: true, disabled_reason: null });
    expect(receiver.at(path)).toHaveLength(1);
  });

  test("for five days switches the webhook off, with the last reason", async () => {
    const { kind, at, path, id } = await webhook();
    answers(path, () => new Response("", { status: 502 }));
    await app.sql`update webhooks set failing_since = now() - interval '5 days 1 minute' where id = ${id}`;
    await app.patch(`${at}.json`, { webhook: {} }); // every process reads it again
    await change(kind, { id: 1 });
    const off = await eventually(async () => {
      const { json } = await app.get(`${at}.json`);
      return json.active ? undefined : json;
    });
    expect(off.disabled_reason).toContain("answered 502");
    expect((await settled(at))[0].status).toBe("failed");
    const listed = (await app.get("/account/webhooks.json?limit=1000")).json;
    expect(listed.find((one: { id: number }) => one.id === id).disabled_reason).toBe(off.disabled_reason);
    // Another change of it keeps the reason; switched on again, it starts afresh.
    const renamed = await app.patch(`${at}.json`, { webhook: { concurrency: 2 } });
    expect(renamed.json).toMatchObject({ active: false, disabled_reason: off.disabled_reason });
    answers(path, () => new Response("ok"));
    const on = await app.patch(`${at}.json`, { webhook: { active: true } });
    expect(on.json).toMatchObject({ active: true, disabled_reason: null, failing_since: null });
    await change(kind, { id: 2 });
    await eventually(async () => (await deliveries(at, "?status=delivered")).length === 1);
  });

  test("that asks to wait is waited for", async () => {
    const { kind, at, path } = await webhook();
    answers(path, (nth) =>
      nth === 1 ? new Response("", { status: 429, headers: { "retry-after": "1" } }) : new Response("ok"),
    );
    await change(kind, { id: 1 });
    const [delivery] = await settled(at);
    expect(delivery).toMatchObject({ status: "delivered", attempts: 2 });
    const [first, second] = receiver.at(path);
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1000);
  });
});

describe("sending again", () => {
  test("one delivery has the same webhook-id, and counts on", async () => {
    const { kind, at, path } = await webhook();
    await change(kind, { id: 1 });
    const [first] = await settled(at);
    const again = await app.post(`${at}/deliveries/${first.id}/redeliver.json`);
    expect([again.status, again.json.id]).toEqual([200, first.id]);
    await eventually(() => receiver.at(path).length === 2);
    expect((await eventually(async () => (await settled(at))[0].attempts === 2 && settled(at)))[0]).toMatchObject({
      status: "delivered",
      attempts: 2,
    });
    expect(new Set(ids(receiver.at(path))).size).toBe(1);
  });

  test("one that failed for good has all its attempts again", async () => {
    const { kind, at, path } = await webhook();
    answers(path, (nth) => new Response("", { status: nth <= 6 ? 500 : 200 }));
    await change(kind, { id: 1 });
    const [{ id, attempts }] = await settled(at);
    expect(attempts).toBe(4);
    await app.post(`${at}/deliveries/${id}/redeliver.json`);
    await eventually(() => receiver.at(path).length === 7);
    expect((await settled(at))[0]).toMatchObject({ status: "delivered", attempts: 7 });
  });

  test("one that waits for its next attempt is sent at once", async () => {
    const { kind, at, path } = await webhook();
    answers(path, (nth) => new Response("", nth === 1 ? { status: 503, headers: { "retry-after": "600" } } : {}));
    await change(kind, { id: 1 });
    const [{ id }] = await eventually(async () => {
      const all = await deliveries(at);
      return all[0]?.attempts === 1 ? all : undefined;
    });
    // A person overrules what the receiver has asked for.
    await Promise.all([1, 2, 3].map(() => app.post(`${at}/deliveries/${id}/redeliver.json`)));
    expect((await settled(at))[0]).toMatchObject({ id, status: "delivered" });
    expect(new Set(ids(receiver.at(path))).size).toBe(1);
  });

  test("a time range takes those that wait for their next attempt, each once", async () => {
    const { kind, at, path } = await webhook();
    answers(path, (nth) => new Response("", nth === 1 ? { status: 503, headers: { "retry-after": "600" } } : {}));
    await change(kind, { id: 1 });
    await eventually(async () => (await deliveries(at))[0]?.attempts === 1);
    const range = { from: "2020-01-01T00:00:00Z", status: "pending" };
    expect((await app.post(`${at}/redeliver.json`, range)).json).toEqual({ redelivered: 1, more: false });
    expect((await app.post(`${at}/redeliver.json`, range)).json).toEqual({ redelivered: 0, more: false });
    expect((await settled(at))[0]).toMatchObject({ status: "delivered", attempts: 2 });
  });

  test("a time range takes those that failed, in it, of this webhook", async () => {
    const { kind, at, path } = await webhook();
    answers(path, (nth) => new Response("", { status: nth <= 12 ? 500 : 200 }));
    for (const id of [1, 2, 3]) await change(kind, { id });
    const failed = await settled(at, 3);
    const times = failed.map((one: { created_at: string }) => one.created_at).toSorted();
    const past = await app.post(`${at}/redeliver.json`, {
      from: "2020-01-01 00:00:00z",
      to: "2020-01-02T00:00:00+0100",
    });
    expect(past.json).toEqual({ redelivered: 0, more: false });
    for (const from of ["2026-02-31T10:00:00Z", "2025-02-29T00:00:00+01:00", "2026-01-31T10:00:00", "soon"]) {
      const wrong = await app.post(`${at}/redeliver.json`, { from });
      expect([from, wrong.status, Object.keys(wrong.json)]).toEqual([from, 422, ["from"]]);
    }
    const none = await app.post(`${at}/redeliver.json`, { from: times[0], status: "delivered" });
    expect(none.json).toEqual({ redelivered: 0, more: false });
    const all = await app.post(`${at}/redeliver.json`, { from: times[0] });
    expect([all.status, all.json]).toEqual([200, { redelivered: 3, more: false }]);
    await eventually(() => receiver.at(path).length === 15);
    const after = await settled(at, 3);
    expect(after.map((one: { status: string }) => one.status)).toEqual(["delivered", "delivered", "delivered"]);
  });

  test("a test sends the sample once and answers with the delivery", async () => {
    const { at, path, secret } = await webhook({ source_type: "Core::Record", kind: "update" });
    const sent = await app.post(`${at}/test.json`);
    expect(sent.status).toBe(200);
    expect(sent.json).toMatchObject({ status: "delivered", attempts: 1, response_status: 200, response_body: "ok" });
    const [request] = receiver.at(path);
    expect(request?.headers.get("x-core-test")).toBe("true");
    expect(JSON.parse(request?.body ?? "")).toHaveProperty("db_code");
    new Webhook(secret).verify(request?.body ?? "", Object.fromEntries(request?.headers ?? []));
    answers(path, () => new Response("no", { status: 418 }));
    expect((await app.post(`${at}/test.json`)).json).toMatchObject({
      status: "failed",
      response_status: 418,
      next_attempt_at: null,
    });
    expect(await deliveries(at)).toHaveLength(2);
  });
});

test("a rotated secret signs beside the new one, until its time is over", async () => {
  const { kind, at, path, id, secret } = await webhook();
  const rotated = await app.post(`${at}/rotate_secret.json`);
  expect(rotated.status).toBe(200);
  const next = rotated.json.signing_secret;
  expect(next).toMatch(/^whsec_/);
  expect(next).not.toBe(secret);
  await change(kind, { id: 1 });
  const both = await eventually(() => receiver.at(path)[0]);
  for (const valid of [secret, next]) new Webhook(valid).verify(both.body, Object.fromEntries(both.headers));
  await app.sql`update webhooks set previous_secret_until = now() - interval '1 second' where id = ${id}`;
  await app.patch(`${at}.json`, { webhook: {} });
  await change(kind, { id: 2 });
  const one = await eventually(() => receiver.at(path)[1]);
  new Webhook(next).verify(one.body, Object.fromEntries(one.headers));
  expect(() => new Webhook(secret).verify(one.body, Object.fromEntries(one.headers))).toThrow();
});

test("the log is pruned of what is old and not waiting", async () => {
  const { kind, at, id } = await webhook();
  for (const one of [1, 2]) await change(kind, { id: one });
  const [newest] = await settled(at, 2);
  await app.sql`update webhook_deliveries set created_at = now() - interval '31 days' where webhook_id = ${id} and id <> ${newest.id}`;
  await app.sql`insert into jobs (name, run_at, created_at, payload) values ('schedule:webhooks.tidy', now(), now(), ${app.sql.json({ dueAt: new Date().toISOString() })})`;
  await eventually(async () => (await deliveries(at)).length === 1);
  expect((await deliveries(at))[0].id).toBe(newest.id);
});

test("of a deleted webhook nothing is kept", async () => {
  const { kind, at, path, id } = await webhook();
  answers(path, () => new Response("", { status: 500, headers: { "retry-after": "300" } }));
  for (const one of [1, 2, 3]) await change(kind, { id: one });
  await eventually(() => receiver.at(path).length > 0);
  await app.delete(`${at}.json`);
  await eventually(async () => {
    const [row] = await app.sql`
      select (select count(*) from webhook_deliveries where webhook_id = ${id}) +
        (select count(*) from webhook_queue where webhook_id = ${id}) as count`;
    return row?.["count"] === 0;
  });
});

describe("a loop", () => {
  test("of webhook and change ends with an error, over HTTP too", async () => {
    const { path } = await webhook({ source_type: "Core::Record", kind: "update", filter: { db_code: "loop" } });
    await app.post("/core/dbs.json", { db: { name: "Loop", code: "loop" } });
    const { id } = (await app.post("/core/dbs/loop/records.json", { record: { data: { n: 0 } } })).json;
    const statuses: number[] = [];
    answers(path, async (nth) => {
      const cause = receiver.at(path)[nth - 1]?.headers.get("x-core-causation") ?? "";
      const headers = { "x-core-causation": cause };
      const answer = await app.patch(
        `/core/dbs/loop/records/${id}.json`,
        { record: { data: { n: nth } } },
        { headers },
      );
      statuses.push(answer.status);
      return new Response("ok");
    });
    await app.patch(`/core/dbs/loop/records/${id}.json`, { record: { data: { n: -1 } } });
    await eventually(() => statuses.includes(508), "the end of the loop");
    expect(statuses).toEqual([...Array.from({ length: 15 }, () => 200), 508]);
  });

  // A visitor could keep an order from what follows it, and anybody their change from those who follow the log.
  test.each(["somebody;16;else", "somebody;15;else", "somebody;1;core.activity"])(
    "that a stranger claims to be in (%s) is none: all that follows from their change does",
    async (forged) => {
      const code = `forged-${crypto.randomUUID().slice(0, 8)}`;
      await app.post("/core/dbs.json", { db: { name: code, code, public_methods: { create: true } } });
      const orders = await webhook({ source_type: "Core::Record", kind: "create", filter: { db_code: code } });
      const log = await webhook({ source_type: "Core::Activity", kind: "create" });
      const headers = { "x-core-causation": forged };
      const order = await app.post(`/core/db/${code}/create`, { data: { n: 1 } }, { headers, token: null });
      const team = await app.post("/account/teams.json", { team: { name: code } }, { headers });
      expect([order.status, team.status]).toEqual([201, 201]);
      await eventually(() => receiver.at(orders.path).length > 0, "the order's delivery");
      await eventually(() => receiver.at(log.path).some(({ body }) => body.includes(code)), "the team's entry");
    },
  );
});
