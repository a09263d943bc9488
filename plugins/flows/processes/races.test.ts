/** Cancelling, trying again and ending at the same time: one of them wins, and the others change nothing. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { eventually, otherAccount, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../../tests/receiver.ts";
import { follower, traces } from "../../../tests/traces.ts";
import { plugins } from "../../index.ts";

let app: TestApp;
let remote: Receiver;
const tables = ["flow_processes", "flow_process_steps"] as const;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  remote = startReceiver();
  const connector = {
    name: "R",
    code: "r",
    url: remote.url,
    fields: { methods: { go: { method: "POST", path: "/go" } } },
  };
  expect((await app.post("/connect/connectors.json", { connector })).status).toBe(201);
  const programs = {
    call: [
      { type: "connector", connector: "r", method: "go" },
      { type: "return", value: "done" },
    ],
    wait: [{ type: "wait", seconds: 3600 }],
    fails: [{ type: "fail", message: "no" }],
  };
  for (const [code, program] of Object.entries(programs)) {
    const flow = { name: code, code, fields: { program } };
    expect((await app.post("/connect/flows.json", { flow })).status).toBe(201);
  }
});
beforeEach(() => {
  remote.requests.length = 0;
  remote.answer = () => Response.json({ ok: true });
});
afterAll(async () => {
  await app.stop();
  await remote.stop();
});

const start = async (code: string): Promise<string> =>
  (await app.post(`/connect/flows/${code}/run.json?wait=0`, {})).json.id;
const show = async (id: string) => (await app.get(`/connect/flow_processes/${id}.json`)).json;
const ended = (id: string) =>
  eventually(async () => {
    const process = await show(id);
    return process.status !== "pending" && process;
  }, "the end of the process");
const many = (id: string, what: "cancel" | "retry") =>
  Promise.all(Array.from({ length: 6 }, () => app.post(`/connect/flow_processes/${id}/${what}.json`, {})));
const statusesOf = (answers: { status: number }[]) => answers.map(({ status }) => status).toSorted((a, b) => a - b);
const once = [200, 409, 409, 409, 409, 409];
const noJobs = async (id: string) => (await app.sql`select from jobs where payload->>'id' = ${id}`).length === 0;

test("of several who cancel one process, one does", async () => {
  const id = await start("wait");
  expect(statusesOf(await many(id, "cancel"))).toEqual(once);
  expect(await show(id)).toMatchObject({ status: "error", error: "cancelled" });
  const before = await traces(app, ...tables);
  expect((await app.post(`/connect/flow_processes/${id}/cancel.json`, {})).status).toBe(409);
  expect(await traces(app, ...tables)).toEqual(before);
});

test("of several who try one process again, one does, and the failed step runs once more", async () => {
  remote.answer = () => new Response("", { status: 400 });
  const id = await start("call");
  expect(await ended(id)).toMatchObject({ status: "error" });
  remote.answer = () => Response.json({ ok: true });
  expect(statusesOf(await many(id, "retry"))).toEqual(once);
  expect(await ended(id)).toMatchObject({ status: "finished", data: "done" });
  await eventually(() => noJobs(id), "the end of the job");
  expect(remote.requests).toHaveLength(2);
});

test("a process that is cancelled while its call is answered stays cancelled, and leaves no job", async () => {
  const reached = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  remote.answer = async () => {
    reached.resolve();
    await go.promise;
    return Response.json({ ok: true });
  };
  const id = await start("call");
  await reached.promise;
  const cancelling = app.post(`/connect/flow_processes/${id}/cancel.json`, {});
  go.resolve();
  const { status } = await cancelling;
  const process = await ended(id);
  // Whichever came first: the answer and the row agree, also afterwards.
  expect([status, process.status, process.error]).toEqual(
    status === 200 ? [200, "error", "cancelled"] : [409, "finished", null],
  );
  await eventually(() => noJobs(id), "the end of the job");
  expect(await show(id)).toEqual(process);
});

test("a cancelled process that waited goes on from its wait when it is tried again", async () => {
  const id = await start("wait");
  await app.post(`/connect/flow_processes/${id}/cancel.json`, {});
  const again = await app.post(`/connect/flow_processes/${id}/retry.json`, {});
  expect([again.status, again.json]).toMatchObject([200, { status: "pending", error: null, finished_at: null }]);
  expect((await app.post(`/connect/flow_processes/${id}/retry.json`, {})).status).toBe(409);
  expect((await app.post(`/connect/flow_processes/${id}/cancel.json`, {})).status).toBe(200);
});

test("each way to end a process is told once", async () => {
  const told = async () => Number((await traces(app)).events);
  const before = await told();
  const finished = await start("call");
  expect(await ended(finished)).toMatchObject({ status: "finished" });
  expect((await told()) - before).toBe(3); // create, update, finished
  const failed = await start("fails");
  expect(await ended(failed)).toMatchObject({ status: "error", error: "no" });
  expect((await told()) - before).toBe(6); // create, update, error
  const waiting = await start("wait");
  await many(waiting, "cancel");
  expect((await told()) - before).toBe(9);
});

const lists: [query: string, codes: string[]][] = [
  ["flow_code=fails", ["fails"]],
  ["flow_code=nowhere", []],
  ["status=finished&flow_code=call", ["call"]],
  ["status=pending&flow_code=fails", []],
];
test.each(lists)("processes listed by %s are those of %j", async (query, codes) => {
  const ids = await Promise.all(["fails", "call", "wait"].map(start));
  await Promise.all(ids.slice(0, 2).map(ended));
  await eventually(async () => {
    const { json } = await app.get(`/connect/flow_processes.json?${query}&limit=1000`);
    return (
      JSON.stringify([...new Set(json.map((one: { flow_code: string }) => one.flow_code))]) === JSON.stringify(codes)
    );
  }, "the list");
});

test("a list has pages and a total, and another account sees nothing of it", async () => {
  const all = await app.get("/connect/flow_processes.json?limit=1000");
  const page = await app.get("/connect/flow_processes.json?limit=2&offset=1");
  expect(page.json.map(({ id }: { id: string }) => id)).toEqual([all.json[1].id, all.json[2].id]);
  expect(page.headers.get("x-total-count")).toBe(String(all.json.length));
  const other = await otherAccount(app);
  expect((await other.get("/connect/flow_processes.json")).json).toEqual([]);
  const id = await start("wait");
  const before = await traces(app, ...tables);
  for (const [method, path] of [
    ["GET", ""],
    ["POST", "/cancel"],
    ["POST", "/retry"],
  ] as const)
    expect((await other.request(method, `/connect/flow_processes/${id}${path}.json`)).status).toBe(404);
  expect(await traces(app, ...tables)).toEqual(before);
});
