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
  const lines = instructions.text
    .replaceAll("\\\n", " ")
    .replaceAll("<id>", `${id}`)
    .replaceAll("<delivery_id>", `${tested.json.id}`)
    .split("\n")
    .filter((line) => line.startsWith("curl "));
  const statuses: [string, string, number][] = [];
  // Deleted and switched off last: the others need it.
  const last = (line: string) => Number(/-X DELETE/.test(line)) * 2 + Number(line.includes('"active": false'));
  for (const line of lines.toSorted((a, b) => last(a) - last(b))) {
    const method = /-X (\w+)/.exec(line)?.[1] ?? "GET";
    const url = /http:[^\s"]+/.exec(line)?.[0] ?? "";
    const token = /Authorization: Bearer (\S+)"/.exec(line)?.[1] ?? null;
    const body = /-d '([^']+)'/.exec(line)?.[1];
    const answer = await app.request(method, url.slice(app.origin.length), body && JSON.parse(body), { token });
    statuses.push([method, new URL(url).pathname.replaceAll(/\d+/g, "N"), answer.status]);
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
    ["PATCH", "/account/webhooks/N.json", 200],
    ["DELETE", "/account/webhooks/N.json", 204],
  ]);
});
