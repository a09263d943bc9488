import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { adminToken, eventually } from "../../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../../tests/receiver.ts";
import { cleanUp, folderWith, fromSource, startServer, type ServerProcess } from "../../../tests/server-process.ts";
import { openPool } from "../../../runtime/db/db.ts";
import { runningPostgres } from "../../../runtime/operations/postgres/running-postgres.ts";

/** A server is killed (-9) at each boundary of a delivery, and started again on the same data: nothing is lost. */
let receiver: Receiver;
beforeAll(() => {
  receiver = startReceiver();
});
afterAll(async () => {
  await cleanUp();
  await receiver.stop();
});

const timeoutMs = 120_000;
const records = 8;

/** Dies when the process has committed a change and told nobody yet: its job is claimed in a later turn of the loop. */
const dyingPlugin = `
  import { definePlugin, failpoint, modelChanged } from "platform";
  export default definePlugin({
    name: "dying",
    setup(ctx) {
      ctx.listen(modelChanged, () => failpoint("test.committed"));
      return {};
    },
  });`;

const env = {
  PLUGINS_DIR: "plugins",
  OUTBOUND_ALLOW: "127.0.0.1",
  CORE_ADMIN_PASSWORD: "correct horse battery staple",
  CORE_ADMIN_TOKEN: adminToken,
  SECRET_KEY: "a secret key of the tests, 32 characters or more",
  LOG_LEVEL: "error",
};

describe.each([
  ["after the commit", "test.committed:kill:3"],
  ["after the event is claimed", "webhooks.event-claimed:kill:3"],
  ["after the deliveries are written, before the event is done", "webhooks.deliveries-written:kill:2"],
  ["after a delivery is claimed", "webhooks.delivery-claimed:kill:2"],
  ["during the request", "the receiver's own"],
  ["after the answer, before it is written down", "webhooks.answered:kill:3"],
])("kill -9 %s", (_, failpoint) => {
  test(
    "loses nothing, and what comes twice has the same webhook-id",
    async () => {
      const name = failpoint.replaceAll(/\W/g, "");
      const cwd = folderWith({ "plugins/dying.ts": dyingPlugin });
      const first = await startServer(fromSource, { cwd, env: { ...env, CORESTEAD_FAILPOINT: failpoint } });
      const others = receiver.answer;
      let killed = false;
      receiver.answer = (request) => {
        if (request.path !== `/${name}` || killed || failpoint.includes(":")) return others(request);
        killed = true;
        first.kill("SIGKILL");
        return new Promise<Response>(() => {});
      };

      const acknowledged = await changesUntilDeath(first, name);
      await first.exited;
      const second = await startServer(fromSource, { cwd, env });
      await endLeases(join(cwd, "data"));

      const received = () => receiver.at(`/${name}`).map(({ headers, body }) => ({ headers, id: JSON.parse(body).id }));
      await eventually(() => {
        const ids = new Set(received().map(({ id }) => id));
        return acknowledged.every((id) => ids.has(id));
      }, "the delivery of every acknowledged change");
      // A change that was committed and not answered any more is delivered too, perhaps a little later.
      const log = await eventually(async () => {
        const { json } = await second.request("GET", "/account/webhooks/1/deliveries.json");
        const done = json.every((one: { status: string }) => one.status === "delivered");
        return done && json.length === new Set(received().map(({ id }) => id)).size ? json : undefined;
      }, "the log of every delivery");
      const sent = received().map(({ headers, id }) => `${id} ${headers.get("webhook-id")}`);
      expect(new Set(sent).size).toBe(log.length);
      expect(await second.stop()).toBe(0);
    },
    timeoutMs,
  );
});

/** Creates records one after another; the ids of those that were answered. */
async function changesUntilDeath(server: ServerProcess, name: string): Promise<string[]> {
  await server.request("POST", "/core/dbs.json", { db: { name: "Orders", code: "orders" } });
  const url = `${receiver.url}/${name}`;
  const webhook = { source_type: "Core::Record", kind: "create", url };
  expect((await server.request("POST", "/account/webhooks.json", { webhook })).status).toBe(201);
  const acknowledged: string[] = [];
  for (let n = 0; n < records; n++) {
    const answer = await server
      .request("POST", "/core/dbs/orders/records.json", { record: { data: { n } } })
      .catch(() => undefined); // it has just died
    if (answer?.status === 201) acknowledged.push(answer.json.id);
  }
  return acknowledged;
}

/** As if the time had passed after which what a dead process held is taken over. */
async function endLeases(dataDir: string): Promise<void> {
  const target = await runningPostgres(dataDir);
  if (!target) throw new Error("no PostgreSQL runs in the data folder");
  const sql = openPool(target, { max: 1 });
  await sql`update jobs set run_at = now() where state = 'running'`;
  await sql`update webhook_queue set due_at = now() where worker is not null`;
  await sql.end({ timeout: 5 });
}
