import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../../tests/receiver.ts";

/** Two server processes on one database. */
let first: TestApp;
let second: TestApp;
let receiver: Receiver;

beforeAll(async () => {
  receiver = startReceiver();
  const env = { WEBHOOK_RETRY_SECONDS: "0.05,0.1,0.2", WEBHOOK_TIMEOUT_SECONDS: "20", LOG_LEVEL: "error" };
  first = await startTestApp({ env });
  second = await startTestApp({ env, target: first.target });
});
afterAll(async () => {
  await Promise.all([first.stop(), second.stop()]);
  await receiver.stop();
});

let made = 0;
async function thing(fields: object = {}) {
  const code = `lane${++made}`;
  await first.post("/core/dbs.json", { db: { name: code, code } });
  const path = `/${code}`;
  const hook = async (more: object) => {
    const webhook = {
      source_type: "Core::Record",
      kind: "update",
      url: receiver.url + path,
      filter: { db_code: code },
    };
    const answer = await first.post("/account/webhooks.json", { webhook: { ...webhook, ...fields, ...more } });
    expect(answer.status).toBe(201);
    return `/account/webhooks/${answer.json.id}`;
  };
  const at = await hook({});
  const record = async () =>
    (await first.post(`/core/dbs/${code}/records.json`, { record: { data: { n: -1 } } })).json.id as string;
  const update = (app: TestApp, id: string, n: number) =>
    app.patch(`/core/dbs/${code}/records/${id}.json`, { record: { data: { n } } });
  return { at, path, hook, record, update };
}
const numbers = (path: string) => receiver.at(path).map(({ body }) => JSON.parse(body).n);
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

describe("two processes", () => {
  test("know of a webhook when it is answered, and send each delivery once", async () => {
    for (let round = 0; round < 3; round++) {
      const { path, record, update } = await thing();
      const id = await record();
      const statuses = await Promise.all(upTo(40).map((n) => update(n % 2 ? first : second, id, n)));
      expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([200]));
      await eventually(() => receiver.at(path).length >= 40);
      expect(numbers(path).toSorted((a, b) => a - b)).toEqual(upTo(40));
      expect(new Set(receiver.at(path).map(({ headers }) => headers.get("webhook-id"))).size).toBe(40);
    }
  });

  test("stop with an inactive webhook at once", async () => {
    const { at, path, record, update } = await thing();
    const id = await record();
    for (let round = 0; round < 5; round++) {
      await first.patch(`${at}.json`, { webhook: { active: false } });
      await update(second, id, 0);
      // What is under way when it is switched on again may be sent.
      await eventually(async () => {
        const jobs = await first.sql`select from jobs where name = 'event:core.model.changed:webhooks'`;
        return jobs.length === 0;
      });
      await first.patch(`${at}.json`, { webhook: { active: true } });
      await update(second, id, 1);
      await eventually(() => receiver.at(path).length > round);
    }
    expect(numbers(path)).toEqual([1, 1, 1, 1, 1]);
  });

  test("keep a webhook's concurrency together", async () => {
    const { path, record, update } = await thing({ concurrency: 3 });
    let running = 0;
    let most = 0;
    const others = receiver.answer;
    const full = Promise.withResolvers<void>();
    receiver.answer = async (request) => {
      if (request.path !== path) return others(request);
      most = Math.max(most, ++running);
      if (running === 3) full.resolve();
      // The first wait until as many are under way as may; a fourth would come while they all wait.
      await full.promise;
      await Bun.sleep(15);
      running--;
      return new Response("ok");
    };
    const id = await record();
    await Promise.all(upTo(40).map((n) => update(n % 2 ? first : second, id, n)));
    await eventually(() => receiver.at(path).length >= 40);
    expect(most).toBe(3);
  });
});

describe("an ordered webhook", () => {
  test("sends the changes of one record in their order, though some fail first", async () => {
    const { at, path, record, update } = await thing({ ordered: true });
    const accepted: Record<string, number[]> = {};
    const others = receiver.answer;
    const failures = new Set([3, 7, 8, 15]);
    receiver.answer = (request) => {
      if (request.path !== path) return others(request);
      const { id, n } = JSON.parse(request.body);
      if (failures.has(n) && receiver.at(path).filter(({ body }) => body === request.body).length === 1)
        return new Response("", { status: 500 });
      (accepted[id] ??= []).push(n);
      return new Response("ok");
    };
    const records = await Promise.all([record(), record(), record()]);
    await Promise.all(
      records.map(async (id) => {
        for (const n of upTo(20)) await update(n % 2 ? first : second, id, n);
      }),
    );
    await eventually(() => records.every((id) => accepted[id]?.length === 20), "all deliveries in order", 30_000);
    for (const id of records) expect(accepted[id]).toEqual(upTo(20));
    await eventually(async () => {
      const list = (await first.get(`${at}/deliveries.json?status=delivered`)).json;
      return list.length === 60;
    });
  });

  test("goes on with a record after a delivery has failed for good", async () => {
    const { path, record, update } = await thing({ ordered: true });
    const others = receiver.answer;
    receiver.answer = (request) => {
      if (request.path !== path) return others(request);
      return new Response("", { status: JSON.parse(request.body).n === 0 ? 500 : 200 });
    };
    const id = await record();
    for (const n of upTo(3)) await update(first, id, n);
    await eventually(() => numbers(path).includes(2));
    expect(numbers(path)).toEqual([0, 0, 0, 0, 1, 2]);
  });
});

test("a rate limit is kept over all processes, and holds back no other webhook", async () => {
  const { at, path, hook, record, update } = await thing({ rate_limit: 1, rate_period: "minute" });
  const unlimited = `${path}/unlimited`;
  await hook({ url: receiver.url + unlimited, rate_limit: null });
  const id = await record();
  await Promise.all(upTo(30).map((n) => update(n % 2 ? first : second, id, n)));
  await eventually(() => receiver.at(unlimited).length >= 30);
  await eventually(async () => (await first.get(`${at}/deliveries.json?status=delivered`)).json.length === 1);
  expect(receiver.at(path)).toHaveLength(1);
  expect((await first.get(`${at}/deliveries.json?status=pending`)).headers.get("x-total-count")).toBe("29");
  await first.patch(`${at}.json`, { webhook: { active: false } });
});

test("receivers that hang hold their own slots only", async () => {
  const { path, hook, record, update } = await thing();
  const hanging: (() => void)[] = [];
  const others = receiver.answer;
  receiver.answer = (request) => {
    if (!request.path.startsWith("/hang")) return others(request);
    const { promise, resolve } = Promise.withResolvers<Response>();
    hanging.push(() => resolve(new Response("ok")));
    return promise;
  };
  const hooks = await Promise.all(upTo(8).map((n) => hook({ url: `${receiver.url}/hang${made}/${n}` })));
  const id = await record();
  await Promise.all(upTo(60).map((n) => update(n % 2 ? first : second, id, n)));
  await eventually(() => receiver.at(path).length === 60 && hanging.length >= 80, "every request that may be sent");
  expect(hanging).toHaveLength(80);
  for (const at of hooks) await first.patch(`${at}.json`, { webhook: { active: false } });
  for (const end of hanging) end();
});

describe("other targets", () => {
  test("a flow is started with the event", async () => {
    const program = [{ type: "return", value: "{{ input }}" }];
    const flow = await first.post("/connect/flows.json", {
      flow: { name: "On update", code: "on_update", fields: { program } },
    });
    expect(flow.status).toBe(201);
    const { at, record, update } = await thing({ target_kind: "flow", target_code: "on_update" });
    const id = await record();
    await update(first, id, 5);
    const delivery = await eventually(async () => {
      const [one] = (await first.get(`${at}/deliveries.json`)).json;
      return one?.status === "delivered" ? one : undefined;
    });
    const processId = JSON.parse(delivery.response_body).flow_process_id;
    const process = await eventually(async () => {
      const { json } = await first.get(`/connect/flow_processes/${processId}.json`);
      return json.status === "finished" ? json : undefined;
    });
    expect(process.input).toMatchObject({
      kind: "webhook",
      source_type: "Core::Record",
      event: "update",
      data: { id, n: 5 },
    });
    expect((await first.post(`${at}/test.json`)).json.status).toBe("delivered");
  });

  test("a connector's method gets the record", async () => {
    const methods = {
      update: { method: "POST", path: "/connected/{id}" },
      default: { method: "POST", path: "/wrong" },
    };
    const connector = {
      name: "Receiver",
      code: "receiver",
      url: receiver.url,
      secret_token: "of the connector",
      fields: { methods },
    };
    expect((await first.post("/connect/connectors.json", { connector })).status).toBe(201);
    const { record, update } = await thing({ target_kind: "connector", target_code: "receiver" });
    const id = await record();
    await update(first, id, 6);
    const request = await eventually(() => receiver.at(`/connected/${id}`)[0]);
    expect(JSON.parse(request.body)).toMatchObject({ id, n: 6 });
    expect(request.headers.get("authorization")).toBe("Bearer of the connector");
  });

  test.each([
    ["flow", 'no active flow has the code "nobody"'],
    ["connector", 'no active connector "nobody" has a method'],
  ])("a delivery to a missing %s says so, and looks for it again", async (target_kind, error) => {
    const { at, record, update } = await thing({ target_kind, target_code: "nobody" });
    await update(first, await record(), 1);
    const delivery = await eventually(async () => {
      const [one] = (await first.get(`${at}/deliveries.json`)).json;
      return one?.status === "failed" ? one : undefined;
    });
    expect(delivery).toMatchObject({ attempts: 4, error });
  });
});

describe("a process that stops", () => {
  test("lets a delivery end, and gives back what does not", async () => {
    const own = await startTestApp({ env: { LOG_LEVEL: "error", WEBHOOK_CONCURRENCY: "2" } });
    const requests = new Map<string, (string | null)[]>();
    const started = Promise.withResolvers<void>();
    const others = receiver.answer;
    receiver.answer = async (request) => {
      if (!request.path.startsWith("/stop")) return others(request);
      const ids = requests.get(request.path) ?? [];
      requests.set(request.path, ids.concat(request.headers.get("webhook-id")));
      if (requests.has("/stop/ends") && requests.has("/stop/hangs")) started.resolve();
      if (ids.length > 0 || request.path === "/stop/third") return new Response("ok");
      await (request.path === "/stop/hangs" ? new Promise(() => {}) : started.promise);
      return new Response("ok");
    };
    for (const path of ["/stop/ends", "/stop/hangs", "/stop/third"]) {
      const webhook = { source_type: "Core::Db", kind: "create", url: receiver.url + path };
      expect((await own.post("/account/webhooks.json", { webhook })).status).toBe(201);
    }
    await own.post("/core/dbs.json", { db: { name: "Stop" } });
    await started.promise;
    await own.stop();
    const statuses = async (app: TestApp) =>
      Promise.all(
        [1, 2, 3].map(async (id) => (await app.get(`/account/webhooks/${id}/deliveries.json`)).json[0].status),
      );

    const next = await startTestApp({ target: own.target, env: { LOG_LEVEL: "error" } });
    await eventually(async () => (await statuses(next)).every((status) => status === "delivered"));
    expect(requests.get("/stop/ends")).toHaveLength(1);
    expect(requests.get("/stop/hangs")).toHaveLength(2);
    expect(new Set(requests.get("/stop/hangs")).size).toBe(1);
    await next.stop();
  }, 600_000);
});
