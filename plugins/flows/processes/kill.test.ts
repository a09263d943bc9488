import { afterAll, beforeAll, expect, test } from "bun:test";
import { adminToken, eventually } from "../../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../../tests/receiver.ts";
import { cleanUp, folderWith, fromSource, startServer } from "../../../tests/server-process.ts";

let remote: Receiver;
beforeAll(() => {
  remote = startReceiver();
  remote.answer = () => Response.json({ ok: true });
});
afterAll(async () => {
  await cleanUp();
  await remote.stop();
});

const program = [
  { type: "connector", id: "first", connector: "remote", method: "first", as: "first" },
  { type: "mutation", id: "note", set: { note: "{{ first.ok }}" } },
  { type: "db", op: "create", db: "orders", data: { note: "{{ note }}" }, as: "order" },
  { type: "connector", id: "second", connector: "remote", method: "second" },
  { type: "wait", id: "wait", seconds: 0.01 },
  { type: "return", id: "return", value: "{{ order.data.note }}" },
];

const serverOn = (folder: string, failpoint = "") =>
  startServer(fromSource, {
    cwd: folder,
    env: {
      DATA_DIR: "data",
      CORE_ADMIN_TOKEN: adminToken,
      OUTBOUND_ALLOW: "127.0.0.1",
      CORESTEAD_FAILPOINT: failpoint,
    },
  });

/** Each place where the server dies, and how often the remote may hear of each call. */
const places: [failpoint: string, first: number, second: number][] = [
  ["flows.started:kill", 1, 1],
  ["flows.driving:kill", 1, 1],
  ["flows.calling:kill", 1, 1],
  // After the answer and before its recording: nobody can know that it was heard, so it is told again.
  ["flows.answered:kill", 2, 1],
  ["flows.stored:kill", 1, 1],
  ["flows.committing:kill", 1, 1],
  ["flows.stored:kill:2", 1, 1],
  ["flows.answered:kill:2", 1, 2],
  ["flows.stored:kill:3", 1, 1],
  ["flows.ending:kill", 1, 1],
  ["flows.ended:kill", 1, 1],
];

test("a process survives kill -9 at every boundary: nothing is lost, and no finished step runs again", async () => {
  const folder = folderWith();
  const first = await serverOn(folder);
  const made = await Promise.all([
    first.request("POST", "/connect/connectors.json", {
      connector: {
        name: "Remote",
        code: "remote",
        url: remote.url,
        fields: { methods: { first: { method: "POST", path: "/first" }, second: { method: "POST", path: "/second" } } },
      },
    }),
    first.request("POST", "/core/dbs.json", { db: { name: "Orders", code: "orders" } }),
    first.request("POST", "/connect/flows.json", { flow: { name: "Order", code: "order", fields: { program } } }),
  ]);
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
  await first.stop();

  for (const [at, [failpoint, firsts, seconds]] of places.entries()) {
    remote.requests.length = 0;
    const victim = await serverOn(folder, failpoint);
    await victim.request("POST", "/connect/flows/order/run.json", {}).catch(() => undefined);
    expect([failpoint, await victim.exited]).toEqual([failpoint, 137]);
    const server = await serverOn(folder);
    const processes = await eventually(async () => {
      const { json } = await server.request("GET", "/connect/flow_processes.json");
      return json.every(({ status }: { status: string }) => status !== "pending") && json;
    }, `the end of the process that died at ${failpoint}`);
    expect([failpoint, processes.length]).toEqual([failpoint, at + 1]);
    const { json } = await server.request("GET", `/connect/flow_processes/${processes[0].id}.json`);
    expect([failpoint, json.status, json.data]).toEqual([failpoint, "finished", true]);
    const steps = json.steps.map(({ id, status }: Record<string, string>) => `${id} ${status}`);
    const ids = ["first", "note", "2", "second", "wait", "return"];
    expect([failpoint, ...steps]).toEqual([failpoint, ...ids.map((id) => `${id} finished`)]);
    const counts = [remote.at("/first").length, remote.at("/second").length];
    expect([failpoint, ...counts]).toEqual([failpoint, firsts, seconds]);
    const keys = new Set(remote.requests.map(({ path, headers }) => `${path} ${headers.get("idempotency-key")}`));
    expect([failpoint, keys.size]).toEqual([failpoint, 2]);
    const records = await server.request("GET", "/core/dbs/orders/records.json?limit=100");
    expect([failpoint, records.json.length]).toEqual([failpoint, at + 1]);
    await server.stop();
  }
}, 180_000);
