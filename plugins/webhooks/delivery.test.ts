import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { eventually, startTestApp, type TestApp } from "../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../tests/receiver.ts";

let app: TestApp;
let receiver: Receiver;

beforeAll(async () => {
  receiver = startReceiver();
  app = await startTestApp({ env: { WEBHOOK_RETRY_SECONDS: "0.05,0.05,0.05", WEBHOOK_TIMEOUT_SECONDS: "1" } });
  await app.post("/core/dbs.json", { db: { name: "Orders", code: "orders" } });
});
afterAll(async () => {
  await app.stop();
  await receiver.stop();
});

test("a delivery is signed as Standard Webhooks says, and carries the record", async () => {
  const made = await app.post("/account/webhooks.json", {
    webhook: { source_type: "Core::Record", kind: "create", url: `${receiver.url}/signed`, api_token: "secret of the receiver", filter: { db_code: "orders" } },
  });
  expect(made.status).toBe(201);
  const record = await app.post("/core/dbs/orders/records.json", { record: { data: { total: 12, city: "Łódź" } } });
  const request = await eventually(() => receiver.at("/signed")[0]);
  const headers = Object.fromEntries(request.headers);
  const verified = new Webhook(made.json.signing_secret).verify(request.body, headers);
  expect(verified).toMatchObject({ id: record.json.id, db_code: "orders", total: 12, city: "Łódź" });
  expect(headers).toMatchObject({
    authorization: "Bearer secret of the receiver",
    "content-type": "application/json; charset=utf-8",
    "x-core-source-type": "Core::Record",
    "x-core-event": "create",
  });
  const list = await eventually(async () => {
    const answer = await app.get(`/account/webhooks/${made.json.id}/deliveries.json`);
    return answer.json[0]?.status === "delivered" ? answer : undefined;
  });
  expect(list.json[0]).toMatchObject({ status: "delivered", attempts: 1, response_status: 200, response_body: "ok", message_id: headers["webhook-id"] });
});
