import { afterAll, beforeAll, expect, test } from "bun:test";
import { adminToken, eventually } from "../../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../../tests/receiver.ts";
import { cleanUp, folderWith, fromSource, startServer } from "../../../tests/server-process.ts";

let remote: Receiver;
beforeAll(() => {
  remote = startReceiver();
  remote.answer = ({ path }) => (path === "/healthy" ? Response.json({}) : new Promise<Response>(() => {}));
});
afterAll(async () => {
  await cleanUp();
  await remote.stop();
});

test("more requests hang than Bun sends at once by itself, and a healthy receiver hears all the same", async () => {
  const env = {
    DATA_DIR: "data",
    CORE_ADMIN_TOKEN: adminToken,
    OUTBOUND_ALLOW: "127.0.0.1",
    WEBHOOK_TIMEOUT_SECONDS: "60",
  };
  const server = await startServer(fromSource, { cwd: folderWith(), env });
  await server.request("POST", "/core/dbs.json", { db: { name: "Orders", code: "orders" } });
  const follow = (path: string) =>
    server.request("POST", "/account/webhooks.json", {
      webhook: { source_type: "Core::Record", kind: "create", url: `${remote.url}${path}`, concurrency: 10 },
    });
  const change = () => server.request("POST", "/core/dbs/orders/records.json", { record: { data: {} } });
  for (let n = 0; n < 30; n++) expect((await follow(`/hangs/${n}`)).status).toBe(201);
  for (let n = 0; n < 10; n++) await change();
  await eventually(() => remote.requests.length === 300, "three hundred requests at once", 30_000);
  await follow("/healthy");
  await change();
  await eventually(() => remote.at("/healthy").length === 1, "the healthy receiver's request");
  server.kill("SIGKILL");
}, 180_000);
