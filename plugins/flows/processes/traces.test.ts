/** What started a process, what its steps were given, and finding it again by both. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { followStream } from "../../../tests/event-stream.ts";
import { eventually, person, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../../tests/receiver.ts";

let app: TestApp;
let remote: Receiver;
beforeAll(async () => {
  app = await startTestApp();
  remote = startReceiver();
  let asked = 0;
  remote.answer = () => (++asked === 1 ? new Response("busy", { status: 503 }) : Response.json({ number: 7 }));
  await made("/core/dbs.json", { db: { name: "Orders", code: "orders" } });
  await made("/core/dbs.json", { db: { name: "Bills", code: "bills" } });
  const methods = { issue: { method: "POST", path: "/bills", body: { order: "{order}" } } };
  await made("/connect/connectors.json", {
    connector: { name: "Billing", code: "billing", url: remote.url, fields: { methods } },
  });
  const retry = { times: 2, delay: 0.01 };
  const params = { order: "{{ data.id | default: input.kind }}" };
  await flow("bill", [
    { type: "connector", connector: "billing", method: "issue", params, retry, as: "bill" },
    { type: "db", op: "create", db: "bills", data: { number: "{{ bill.number }}" } },
  ]);
  await flow("note", [{ type: "return", value: "noted" }]);
  await flow("waits", [{ type: "wait", seconds: 3600 }]);
  const target_kind = "flow";
  for (const [db_code, target_code] of [
    ["orders", "bill"],
    ["bills", "note"],
  ])
    await made("/account/webhooks.json", {
      webhook: { source_type: "Core::Record", kind: "create", target_kind, target_code, filter: { db_code } },
    });
});
afterAll(async () => {
  await app.stop();
  await remote.stop();
});

async function made(path: string, body: object) {
  const answer = await app.post(path, body);
  expect(`${path} ${answer.status} ${answer.text}`).toStartWith(`${path} 201`);
  return answer.json;
}
const flow = (code: string, program: unknown) =>
  made("/connect/flows.json", { flow: { name: code, code, fields: { program } } });
const list = async (query: string) => (await app.get(`/connect/flow_processes.json?${query}`)).json;
const one = async (id: string) => (await app.get(`/connect/flow_processes/${id}.json?include=started_by,inputs`)).json;

test("a record leads by webhooks to two processes, which say so, and can be found by each other", async () => {
  const order = await made("/core/dbs/orders/records.json", { record: { data: { item: "tea" } } });
  const [listed] = await eventually(async () => {
    const found = await list("flow_code=note&status=finished");
    return found.length === 1 && found;
  }, "the process of the bill");
  const [bill] = await list("flow_code=bill");
  const [first, second] = [await one(bill.id), await one(listed.id)];
  expect(first.started_by).toMatchObject({
    kind: "webhook",
    name: "Core::Record create",
    delivery_id: expect.any(Number),
    record_id: order.id,
    db_code: "orders",
  });
  expect(first.steps).toMatchObject([
    { type: "connector", attempts: 2, input: { connector: "billing", method: "issue", params: { order: order.id } } },
    { type: "db", attempts: 1, input: { db: "bills", op: "create", data: { number: 7 } } },
  ]);
  expect(second.trace_id).toBe(first.trace_id);
  const related = await list(`trace_id=${first.trace_id}`);
  expect(related.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id]);
  const hook = `webhook:${first.started_by.id}`;
  expect((await list(`started_by=${hook}`)).map(({ id }: { id: string }) => id)).toEqual([first.id]);
  expect((await list(`record_id=${order.id}`)).map(({ id }: { id: string }) => id)).toEqual([first.id]);
  // The bill leads back to the process that has made it.
  const [made_bill] = (await app.get("/core/dbs/bills/records.json")).json;
  expect((await list(`made_record_id=${made_bill.id}`)).map(({ id }: { id: string }) => id)).toEqual([first.id]);
  expect(await list(`made_record_id=${order.id}`)).toEqual([]);
  expect((await app.get("/connect/flow_processes.json?made_record_id=7")).status).toBe(400);
  // Unasked, a process is what it always was.
  expect(Object.keys(bill)).toEqual(Object.keys(listed));
  expect([bill.started_by, bill.trace_id, bill.steps[0].input, bill.steps[0].attempts]).toEqual(
    Array(4).fill(undefined),
  );
});

test("what follows from a process that a person started is found by its id", async () => {
  const run = await made("/connect/flows/bill/run.json", { kind: "mine" });
  const after = await eventually(async () => {
    const found = await list(`trace_id=${run.id}`);
    return found.length === 2 && found;
  }, "the process of the bill's record");
  expect(after.map(({ flow_code }: { flow_code: string }) => flow_code)).toEqual(["note", "bill"]);
  const { started_by, trace_id } = await one(run.id);
  expect([started_by, trace_id]).toEqual([
    { kind: "person", id: "1", name: "admin", token_id: expect.any(Number) },
    null,
  ]);
});

test("a cron's processes are found by it, whoever fired it", async () => {
  const cron = await made("/account/crons.json", {
    cron: { name: "Nightly", target_code: "note", schedule: "0 0 29 2 *" },
  });
  const { flow_process_id: id } = await made(`/account/crons/${cron.id}/run.json`, {});
  expect((await one(id)).started_by).toEqual({ kind: "cron", id: String(cron.id), name: "Nightly", user_id: 1 });
  for (const query of [`started_by=cron:${cron.id}`, "started_by=cron"])
    expect((await list(query)).map((process: { id: string }) => process.id)).toEqual([id]);
  expect(await list("started_by=app")).toEqual([]);
});

test("a list is read page by page, without a count, without steps, and by time", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.unshift((await made("/connect/flows/waits/run.json?wait=0", { n })).id);
  const get = (query: string) => app.get(`/connect/flow_processes.json?flow_code=waits&${query}`);
  const idsOf = ({ json }: { json: { id: string }[] }) => json.map(({ id }) => id);
  const first = await get("limit=2&count=false&steps=false");
  expect([idsOf(first), first.headers.get("x-total-count")]).toEqual([ids.slice(0, 2), null]);
  expect(first.json[0].steps).toEqual([]);
  const cursor = first.headers.get("x-next-cursor");
  const second = await get(`limit=2&before=${cursor}`);
  expect([idsOf(second), second.headers.get("x-next-cursor"), second.headers.get("x-total-count")]).toEqual([
    ids.slice(2),
    null,
    "3",
  ]);
  await app.sql`
    update flow_processes set input = json_build_object('large', repeat('x', 5000000)) where id = any(${ids}::uuid[])`;
  const large = await get("limit=3&count=false");
  expect([idsOf(large), large.headers.get("x-next-cursor")]).toEqual([ids.slice(0, 2), ids[1] ?? ""]);
  const soon = new Date(Date.now() + 60_000).toISOString();
  expect(idsOf(await get(`from=${soon}`))).toEqual([]);
  expect(idsOf(await get(`from=2020-01-01&to=${soon}&status=pending&before=${ids[0]}`))).toEqual(ids.slice(1));
});

test.each([
  ["started_by=nobody", "started_by"],
  ["from=yesterday", "from"],
  ["to=1", "to"],
  ["before=7", "before"],
  ["include=secrets", "include"],
  ["steps=no", "steps"],
  ["count=1", "count"],
  [`trace_id=${"x".repeat(300)}`, "trace_id"],
])("a list is refused with %s", async (query, field) => {
  const { status, json } = await app.get(`/connect/flow_processes.json?${query}`);
  expect([status, json.error]).toEqual([400, expect.stringContaining(`\`${field}\``)]);
});

test("followers are told of processes that begin and end, and only of their own account's", async () => {
  const follower = await followStream(`${app.origin}/connect/flow_processes/events`);
  expect(follower.status).toBe(200);
  const states = (id: string) => follower.events.filter(({ data }) => data.id === id).map(({ data }) => data.status);
  // What was there before is no news: the first look is over once this one is told.
  const waiting = await eventually(async () => {
    const { id } = await made("/connect/flows/waits/run.json?wait=0", {});
    await Bun.sleep(300);
    return follower.events.length > 0 && id;
  }, "the first event");
  await eventually(() => states(waiting).length === 1, "the process");
  await app.post(`/connect/flow_processes/${waiting}/cancel.json`, {});
  await eventually(() => states(waiting).length === 2, "its end");
  expect(states(waiting)).toEqual(["pending", "error"]);
  const told = follower.events.find(({ data }) => data.id === waiting);
  expect([told?.event, told?.data]).toMatchObject([
    "process",
    { flow_code: "waits", error: null, started_by: { kind: "person" } },
  ]);
  expect(told?.data.input).toBeUndefined();
  await follower.close();
  const { token } = await person(app, { role: "guest" });
  const refused = await app.get("/connect/flow_processes/events", { token });
  expect(refused.status).toBe(403);
});

test("a flow says how it has run lately", async () => {
  const bad = [{ type: "fail", message: "no" }];
  const program = [{ type: "each", in: "{{ input.all }}", do: bad }];
  await app.post("/connect/flows.json", { flow: { name: "counted", code: "counted", fields: { program } } });
  for (const all of [[1], [], []]) await app.post("/connect/flows/counted/run.json", { all });
  await app.sql`
    update flow_processes set created_at = now() - interval '20 days'
    where id = (select max(id::text)::uuid from flow_processes where flow_code = 'counted')`;
  const { json } = await app.get("/connect/flows/counted/stats.json");
  expect(json).toEqual([
    { from: expect.any(String), runs: 2, failed: 1, p50_ms: expect.any(Number), p99_ms: expect.any(Number) },
  ]);
  expect((await app.get("/connect/flows/counted/stats.json?days=30")).json).toHaveLength(2);
  expect((await app.get("/connect/flows/counted/stats.json?days=91")).status).toBe(422);
  expect((await app.get("/connect/flows/nothing/stats.json")).status).toBe(404);
});
