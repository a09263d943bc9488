import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../../tests/receiver.ts";
import { createLog } from "../../../runtime/system/log.ts";
import { parseAllow } from "../../../runtime/net/addresses.ts";
import { fetchOutside, type Fetch } from "../../../runtime/outbound/outbound.ts";
import { privateHosts } from "../../../tests/fixtures/outbound.ts";
import { plugins } from "../../index.ts";
import { attempt } from "./attempt.ts";
import type { Hook } from "../subscriptions/subscriptions.ts";

const nobody = { role: "manager", privileges: new Set<string>() } as const;

/** No webhook reaches what OUTBOUND_ALLOW does not name. */
let app: TestApp;
let receiver: Receiver;
let port = "";
beforeAll(async () => {
  app = await startTestApp({ plugins, env: { OUTBOUND_ALLOW: "" } });
  receiver = startReceiver();
  ({ port } = new URL(receiver.url));
});
afterAll(async () => {
  await app.stop();
  await receiver.stop();
});

test.each(privateHosts)("http://%s is refused, and the log says why", async (host) => {
  const webhook = { source_type: "Core::Record", kind: "create", url: `http://${host}:${port}/` };
  const made = await app.post("/account/webhooks.json", { webhook });
  expect(made.status).toBe(201);
  const { json } = await app.post(`/account/webhooks/${made.json.id}/test.json`);
  expect(json).toMatchObject({ response_status: null, error: expect.stringMatching(/^refused-address: /) });
  expect(receiver.requests).toHaveLength(0);
});

test("a name that changes its answer between check and connect leads to the checked address alone", async () => {
  const answers = ["127.0.0.1", "10.0.0.1"];
  let asked = 0;
  const outside = {
    allow: parseAllow("127.0.0.1"),
    log: createLog("error", () => {}),
    lookup: async () => [answers[asked++] ?? "10.0.0.1"],
  };
  const fetch: Fetch = (url, request) => fetchOutside(outside, url, request);
  const targets = { callForEvent: async () => undefined, startFlow: async () => undefined, wake: async () => {} };
  const rights = {
    models: new Map(),
    accounts: { access: async () => undefined },
    names: { opens: async () => true },
    nobody,
  };
  const webhooks = { fetch, targets, timeoutMs: 5000, rights };
  const row = { accountId: 1, id: 1, sourceType: "A::B", targetKind: "url", url: `http://rebind.example:${port}/` };
  // An attempt reads nothing else of it.
  const hook = { row, keys: [], apiToken: null, fault: null } as unknown as Hook;
  const parcel = { messageId: "m", sourceType: "A::B", kind: "create", body: "{}", causation: null };
  const send = () => attempt(webhooks, hook, parcel, new AbortController().signal);
  expect(await send()).toMatchObject({ ok: true, status: 200 });
  expect([asked, receiver.requests.length]).toEqual([1, 1]);
  expect(await send()).toMatchObject({ ok: false, error: expect.stringMatching(/^refused-address: /) });
  expect(receiver.requests).toHaveLength(1);
});
