import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../tests/receiver.ts";

let app: TestApp;
let receiver: Receiver;
beforeAll(async () => {
  receiver = startReceiver();
  app = await startTestApp({ env: { LOG_LEVEL: "error" } });
});
afterAll(async () => {
  await app.stop();
  await receiver.stop();
});

test("every command of the instructions does what they say", async () => {
  const instructions = await app.get("/core/prompt/webhooks_api.md");
  expect(instructions.status).toBe(200);
  const { id } = (
    await app.post("/account/webhooks.json", {
      webhook: { source_type: "Core::Db", kind: "create", url: `${receiver.url}/instructions` },
    })
  ).json;
  const tested = await app.post(`/account/webhooks/${id}/test.json`);
  const text = instructions.text.replaceAll("<id>", `${id}`).replaceAll("<delivery_id>", `${tested.json.id}`);
  const requests = [...text.matchAll(/^(GET|POST|PATCH|DELETE) (\/\S+)\s?(\{.*\})?$/gm)];
  const statuses: [string, string, number][] = [];
  // Deleted and switched off last: the others need it.
  const last = (line: string) => Number(line.startsWith("DELETE")) * 2 + Number(line.includes('"active": false'));
  for (const [, method = "", path = "", body] of requests.toSorted(([a], [b]) => last(a) - last(b))) {
    const answer = await app.request(method, path, body && JSON.parse(body));
    statuses.push([method, (path.split("?")[0] ?? "").replaceAll(/\d+/g, "N"), answer.status]);
  }
  expect(statuses).toEqual([
    ["GET", "/account/webhooks/source_types.json", 200],
    ["POST", "/account/webhooks.json", 201],
    ["GET", "/account/webhooks.json", 200],
    ["GET", "/account/webhooks/N.json", 200],
    ["GET", "/account/webhooks/N/preview.json", 200],
    ["POST", "/account/webhooks/N/test.json", 200],
    ["GET", "/account/webhooks/N/deliveries.json", 200],
    ["GET", "/account/webhooks/N/deliveries/N.json", 200],
    ["POST", "/account/webhooks/N/deliveries/N/redeliver.json", 200],
    ["POST", "/account/webhooks/N/redeliver.json", 200],
    ["POST", "/account/webhooks/N/rotate_secret.json", 200],
    ["GET", "/account/webhooks/health.json", 200],
    ["PATCH", "/account/webhooks/N.json", 200],
    ["DELETE", "/account/webhooks/N.json", 204],
  ]);
});
