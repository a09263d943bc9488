/** What one flow or account does, computing or hanging in calls, keeps nobody else's flow waiting. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, otherAccount, startTestApp, type OtherAccount, type TestApp } from "../../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../../tests/receiver.ts";
import { createLoad } from "./drive.ts";

let app: TestApp;
let remote: Receiver;
let other: OtherAccount;
beforeAll(async () => {
  app = await startTestApp();
  remote = startReceiver();
  other = await otherAccount(app);
});
afterAll(async () => {
  await app.stop();
  await remote.stop();
});

const count = { type: "each", in: "{{ (1..1000) }}", do: [{ type: "mutation", set: { n: "{{ item }}" } }] };
const read = { type: "db", op: "search", db: "notes", params: { limit: 1 } };
const programs = {
  heavy: [read, ...Array.from({ length: 9 }, () => count)],
  small: [read, read, { type: "return", value: 1 }],
};
const heavies = 110;

test("while many processes of a heavy flow go on, small flows of the same and of another account end", async () => {
  for (const client of [app, other]) {
    await client.post("/core/dbs.json", { db: { name: "Notes", code: "notes" } });
    for (const [code, program] of Object.entries(programs))
      await client.post("/connect/flows.json", { flow: { name: code, code, fields: { program } } });
  }
  await Promise.all(Array.from({ length: heavies }, () => app.post("/connect/flows/heavy/run.json?wait=0", {})));
  const pending = async () =>
    (await app.sql`select from flow_processes where flow_code = 'heavy' and status = 'pending'`).length;
  await eventually(
    async () => (await app.sql`select from jobs where name = 'flows.compute'`).length > 0,
    "a heavy process that takes turns",
  );
  for (const client of [app, other]) {
    const { json } = await client.post("/connect/flows/small/run.json?wait=25", {});
    expect([json.status, json.data]).toEqual(["finished", 1]);
  }
  expect(await pending()).toBeGreaterThan(heavies / 2);
  // Each turn continues where the last one ended.
  const ended = await eventually(
    async () => {
      const [row] =
        await app.sql`select id from flow_processes where flow_code = 'heavy' and status = 'finished' limit 1`;
      return row?.["id"] as string | undefined;
    },
    "the end of a heavy process",
    150_000,
  );
  expect((await app.get(`/connect/flow_processes/${ended}.json`)).json.data).toEqual({ n: 1000 });
}, 600_000);

test("while hundreds of processes hang in calls, flows of the same and of another account end at once", async () => {
  const release = Promise.withResolvers<void>();
  remote.answer = async () => {
    await release.promise;
    return Response.json({});
  };
  const methods = { go: { method: "POST", path: "/go", timeout: 60 } };
  const call = { type: "connector", connector: "slow", method: "go" };
  await app.post("/connect/connectors.json", {
    connector: { name: "Slow", code: "slow", url: remote.url, fields: { methods } },
  });
  for (const code of ["hangs", "hangs-too"])
    await app.post("/connect/flows.json", { flow: { name: code, code, fields: { program: [call] } } });
  const started = await Promise.all(
    Array.from({ length: 500 }, (_, n) =>
      app.post(`/connect/flows/${n % 5 === 0 ? "hangs-too" : "hangs"}/run.json?wait=0`, {}),
    ),
  );
  await eventually(() => remote.requests.length === 100, "the calls that a connector makes at once");
  for (const client of [app, other]) {
    const { json } = await client.post("/connect/flows/small/run.json?wait=25", {});
    expect([json.status, json.data]).toEqual(["finished", 1]);
  }
  expect(remote.requests).toHaveLength(100);
  release.resolve();
  await eventually(
    async () =>
      (await app.sql`select from flow_processes where flow_code like 'hangs%' and status = 'pending'`).length === 0,
    "the end of all of them",
    150_000,
  );
  expect(started.map(({ status }) => status)).toEqual(Array(500).fill(201));
}, 600_000);

test("what a flow has computed is forgotten by and by", () => {
  let now = 0;
  const load = createLoad(() => now);
  const flow = { accountId: 1, flowCode: "a" };
  load.computed(flow, 200);
  expect(load.isHeavy(flow)).toBe(false);
  load.computed(flow, 200);
  expect([load.isHeavy(flow), load.isHeavy({ ...flow, accountId: 2 })]).toEqual([true, false]);
  now = 2000;
  expect(load.isHeavy(flow)).toBe(false);
});
