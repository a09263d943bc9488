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
  { type: "try", do: [{ type: "mutation", id: "note", set: { note: "{{ first.ok }}" } }, { type: "fail" }], catch: [] },
  { type: "db", op: "create", db: "orders", data: { note: "{{ note }}" }, as: "order" },
  { type: "parallel", branches: [[{ type: "connector", id: "second", connector: "remote", method: "second" }], []] },
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

let folder = "";
beforeAll(async () => {
  folder = folderWith();
  const server = await serverOn(folder);
  const made = await Promise.all([
    server.request("POST", "/connect/connectors.json", {
      connector: {
        name: "Remote",
        code: "remote",
        url: remote.url,
        fields: { methods: { first: { method: "POST", path: "/first" }, second: { method: "POST", path: "/second" } } },
      },
    }),
    server.request("POST", "/core/dbs.json", { db: { name: "Orders", code: "orders" } }),
    server.request("POST", "/connect/flows.json", { flow: { name: "Order", code: "order", fields: { program } } }),
  ]);
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
  await server.stop();
});

let runs = 0;
test.each(places)(
  "a process survives kill -9 at %s: nothing is lost, and no finished step runs again",
  async (failpoint, firsts, seconds) => {
    remote.requests.length = 0;
    const victim = await serverOn(folder, failpoint);
    await victim.request("POST", "/connect/flows/order/run.json", {}).catch(() => undefined);
    runs++;
    expect(await victim.exited).toBe(137);
    const server = await serverOn(folder);
    const processes = await eventually(async () => {
      const { json } = await server.request("GET", "/connect/flow_processes.json");
      return json.every(({ status }: { status: string }) => status !== "pending") && json;
    }, `the end of the process that died at ${failpoint}`);
    expect(processes).toHaveLength(runs);
    const { json } = await server.request("GET", `/connect/flow_processes/${processes[0].id}.json`);
    expect([json.status, json.data]).toEqual(["finished", true]);
    const steps = json.steps.map(({ id, status }: Record<string, string>) => `${id} ${status}`);
    expect(steps).toEqual([
      "first finished",
      "1 finished",
      "note finished",
      "1.do.1 error",
      ...["2", "3", "second", "wait", "return"].map((id) => `${id} finished`),
    ]);
    expect([remote.at("/first").length, remote.at("/second").length]).toEqual([firsts, seconds]);
    const keys = new Set(remote.requests.map(({ path, headers }) => `${path} ${headers.get("idempotency-key")}`));
    expect(keys.size).toBe(2);
    const records = await server.request("GET", "/core/dbs/orders/records.json?limit=100");
    expect(records.json).toHaveLength(runs);
    await server.stop();
  },
);
