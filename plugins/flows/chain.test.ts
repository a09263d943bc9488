import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, startTestApp, type TestApp } from "../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../tests/receiver.ts";

let app: TestApp;
let remote: Receiver;
beforeAll(async () => {
  app = await startTestApp();
  remote = startReceiver();
  remote.answer = () => Response.json({ number: "FV/1" });
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
const invoices = async () => (await app.get("/core/dbs/invoices/records.json")).json;

test("a record made by a visitor starts a flow that calls a connector and writes a second record; so does a cron", async () => {
  await made("/core/dbs.json", { db: { name: "Orders", code: "orders", public_methods: { create: true } } });
  await made("/core/dbs.json", { db: { name: "Invoices", code: "invoices" } });
  const methods = { issue: { method: "POST", path: "/invoices", body: { order: "{order}" } } };
  await made("/connect/connectors.json", {
    connector: { name: "Billing", code: "billing", url: remote.url, fields: { methods } },
  });
  const program = [
    { type: "mutation", set: { order: "{{ data.id | default: input.kind }}" } },
    { type: "connector", connector: "billing", method: "issue", params: { order: "{{ order }}" }, as: "invoice" },
    { type: "db", op: "create", db: "invoices", data: { order: "{{ order }}", number: "{{ invoice.number }}" } },
  ];
  await made("/connect/flows.json", { flow: { name: "Invoice", code: "invoice", fields: { program } } });
  const target = { target_kind: "flow", target_code: "invoice", filter: { db_code: "orders" } };
  await made("/account/webhooks.json", { webhook: { source_type: "Core::Record", kind: "create", ...target } });

  const order = await app.post("/core/db/orders/create", { data: { item: "tea" } }, { token: null });
  expect(order.status).toBe(201);
  await eventually(async () => (await invoices()).length === 1, "the invoice of the order");
  expect((await invoices())[0].data).toEqual({ order: order.json.id, number: "FV/1" });
  expect(remote.at("/invoices").map(({ body }) => JSON.parse(body))).toEqual([{ order: order.json.id }]);

  const cron = await made("/account/crons.json", { cron: { target_code: "invoice", schedule: "0 7 * * *" } });
  await made(`/account/crons/${cron.id}/run.json`, {});
  await eventually(async () => (await invoices()).length === 2, "the invoice of the cron");
  expect(remote.at("/invoices")).toHaveLength(2);
});

test("a webhook on the processes of the flow it starts is stopped by depth", async () => {
  const program = [{ type: "wait", seconds: 0.01 }];
  await made("/connect/flows.json", { flow: { name: "Loop", code: "loop", fields: { program } } });
  const target = { target_kind: "flow", target_code: "loop", filter: { flow_code: "loop" } };
  await made("/account/webhooks.json", {
    webhook: { source_type: "Connect::FlowProcess", kind: "finished", ...target },
  });
  await made("/connect/flows/loop/run.json?wait=0", {});
  const processes = async () => (await app.get("/connect/flow_processes.json?flow_code=loop")).json;
  let last = -1;
  const all = await eventually(async () => {
    const found = await processes();
    const still = found.length === last && found.every(({ status }: { status: string }) => status !== "pending");
    last = found.length;
    await Bun.sleep(300);
    return still && found;
  }, "the end of the loop");
  expect(all.length).toBeGreaterThan(1);
  expect(all.length).toBeLessThanOrEqual(17);
});
