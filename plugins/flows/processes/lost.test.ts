import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../../tests/receiver.ts";
import { job } from "../../../runtime/base/references.ts";
import { definePlugin } from "../../../runtime/plugin/plugin.ts";
import { plugins } from "../../index.ts";

let app: TestApp;
let remote: Receiver;
/** Looks for lost processes when it is asked to, as the clock does every five minutes. */
let sweep: () => Promise<void>;

const sweeper = definePlugin({
  name: "sweeper",
  setup: (ctx) => {
    sweep = () => ctx.enqueue(job("schedule:flows.sweep"), { dueAt: new Date().toJSON() });
    return {};
  },
});

beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, sweeper] });
  remote = startReceiver();
  const methods = { send: { method: "POST", path: "/send" } };
  await made("/connect/connectors.json", {
    connector: { name: "Remote", code: "remote", url: remote.url, fields: { methods } },
  });
  const program = [
    { type: "connector", connector: "remote", method: "send", as: "sent" },
    { type: "return", value: "{{ sent.ok }}" },
  ];
  await made("/connect/flows.json", { flow: { name: "Send", code: "send", fields: { program } } });
});
afterAll(async () => {
  await app.stop();
  await remote.stop();
});

async function made(path: string, body: object): Promise<void> {
  expect((await app.post(path, body)).status).toBe(201);
}
const run = async (): Promise<string> => (await app.post("/connect/flows/send/run.json?wait=0", {})).json.id;
const ended = (id: string) =>
  eventually(async () => {
    const { json } = await app.get(`/connect/flow_processes/${id}.json`);
    return json.status !== "pending" && json;
  }, "the end of the process");

/** Starts one, and holds its call until the returned function lets it go. */
async function started(): Promise<{ id: string; answer: () => void }> {
  const reached = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  remote.answer = async () => {
    reached.resolve();
    await go.promise;
    return Response.json({ ok: true });
  };
  const id = await run();
  await reached.promise;
  return { id, answer: () => go.resolve() };
}

test("a process goes on where a crash of PostgreSQL took back that it was taken over", async () => {
  const { id, answer } = await started();
  await app.sql`update flow_processes set fence = 0 where id = ${id}`;
  answer();
  expect(await ended(id)).toMatchObject({ status: "finished", data: true });
});

test("a process that was taken over by another driver is left to that one", async () => {
  const { id, answer } = await started();
  await app.sql`update flow_processes set fence = fence + 5000 where id = ${id}`;
  answer();
  // The job ends without an error: it does not come again.
  await eventually(
    async () => (await app.sql`select from jobs where payload->>'id' = ${id}`).length === 0,
    "the end of the job",
  );
  expect((await app.get(`/connect/flow_processes/${id}.json`)).json.status).toBe("pending");
  await sweep();
  expect(await ended(id)).toMatchObject({ status: "finished" });
});

test("a process without a job is found and goes on; one whose job was given up ends with an error", async () => {
  const lost: string[] = [];
  for (const outcome of ["gone", "failed"]) {
    const { id, answer } = await started();
    const [gone] = await app.sql<{ id: number; name: string }[]>`
      delete from jobs where payload->>'id' = ${id} returning id, name`;
    // Whoever drove it is dead: nothing that it does is written.
    await app.sql`update flow_processes set fence = fence + 5000 where id = ${id}`;
    answer();
    if (outcome === "failed")
      await app.sql`
        insert into job_history (id, name, outcome, attempt, payload, created_at, finished_at)
        values (${gone?.id ?? 0}, ${gone?.name ?? ""}, 'failed', 11, ${app.sql.json({ id })}, now(), now())`;
    lost.push(id);
  }
  remote.answer = () => Response.json({ ok: true });
  // This one is not lost: its job waits.
  const waits = [{ type: "wait", seconds: 3600 }];
  await made("/connect/flows.json", { flow: { name: "Wait", code: "wait", fields: { program: waits } } });
  const waiting: string = (await app.post("/connect/flows/wait/run.json?wait=0", {})).json.id;
  await sweep();
  const [found, failed] = await Promise.all(lost.map(ended));
  expect(found).toMatchObject({ status: "finished", data: true });
  expect(failed).toMatchObject({ status: "error", error: "internal error" });
  expect((await app.get(`/connect/flow_processes/${waiting}.json`)).json.status).toBe("pending");
  expect(await app.sql`select from jobs where payload->>'id' = ${waiting}`).toHaveLength(1);
});
