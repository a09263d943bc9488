import { afterAll, expect, test } from "bun:test";
import { createDatabase, eventually, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { startReceiver } from "../../../tests/receiver.ts";
import { openPool } from "../../../runtime/db/db.ts";
import { cutToLength, type BlockFrame, type Frame } from "./state.ts";

const remote = startReceiver();
const apps: TestApp[] = [];
afterAll(async () => {
  for (const app of apps) await app.stop();
  await remote.stop();
});

const now = 1_000_000;
const block = (given: Partial<BlockFrame>): BlockFrame => ({ kind: "block", place: "", at: 0, ...given });
const dayMs = 86_400_000;
const frames: [what: string, before: Partial<BlockFrame>, after: Partial<BlockFrame>][] = [
  ["a wait that is over stays over", { wake: now - 5, wakeMs: 10 }, { wake: now - 5 }],
  ["a wait that is under way keeps its end", { wake: now + 5, wakeMs: 10 }, { wake: now + 5 }],
  ["a wait that began just now keeps its end", { wake: now + 10, wakeMs: 10 }, { wake: now + 10 }],
  ["a wait of a clock ahead is as long from now", { wake: now + dayMs + 10, wakeMs: 10 }, { wake: now + 10 }],
  ["a wait of an earlier version stays", { wake: now + dayMs }, { wake: now + dayMs }],
  [
    "a time limit of a clock ahead is as long from now",
    { deadline: now + dayMs, deadlineMs: 7 },
    { deadline: now + 7 },
  ],
  ["a time limit that is over stays over", { deadline: now - 1, deadlineMs: 7 }, { deadline: now - 1 }],
  ["without either nothing is set", {}, {}],
];
test.each(frames)("%s", (_, before, after) => {
  const [alone, inside] = [block(before), block(before)];
  const each: Frame = {
    kind: "each",
    list: "1",
    as: "item",
    concurrency: 1,
    next: 1,
    lanes: [{ index: 0, frames: [{ kind: "call", scope: "2" }, inside] }],
  };
  cutToLength([alone, each], now);
  expect(alone).toEqual(block({ ...before, ...after }));
  expect(inside).toEqual(block({ ...before, ...after }));
});

const steps: [what: string, step: object][] = [
  ["a wait", { type: "wait", seconds: 3600 }],
  ["waits of elements", { type: "each", in: [1, 2], concurrency: 2, do: [{ type: "wait", seconds: 3600 }] }],
  [
    "the pause before another attempt",
    { type: "connector", connector: "remote", method: "go", retry: { times: 1, delay: 3600 } },
  ],
];
test.each(steps)("%s that began while the clock was a day ahead ends when its own time is over", async (_, step) => {
  const target = await createDatabase();
  const first = await startTestApp({ target });
  let answered = 0;
  remote.answer = () => new Response("{}", { status: answered++ === 0 ? 500 : 200 });
  const connector = { name: "Remote", code: "remote", url: remote.url, fields: { methods: { go: { path: "/go" } } } };
  const flow = { name: "Wait", code: "wait", fields: { program: [step, { type: "return", value: "over" }] } };
  expect((await first.post("/connect/connectors.json", { connector })).status).toBe(201);
  expect((await first.post("/connect/flows.json", { flow })).status).toBe(201);
  const { id } = (await first.post("/connect/flows/wait/run.json?wait=0", {})).json;
  const waits = () => first.sql`select from jobs where payload->>'id' = ${id} and run_at > now()`;
  await eventually(async () => (await waits()).length === 1, "the job of the wait");
  await first.stop();

  // As a clock that was a day ahead would have stored it, and so that nobody has to wait an hour: a wait of 100 ms.
  const sql = openPool(target, { max: 1 });
  await sql`
    update jobs set created_at = now() + interval '1 day', run_at = now() + interval '1 day 0.1 seconds'
    where payload->>'id' = ${id}`;
  const [row] = await sql<{ cursor: string }[]>`select cursor::text as cursor from flow_processes`;
  const cursor = (row?.cursor ?? "")
    .replaceAll(/"wake":\d+/g, `"wake":${Date.now() + dayMs}`)
    .replaceAll(/"wakeMs":\d+/g, '"wakeMs":100');
  expect(cursor).toContain('"wakeMs":100');
  await sql`update flow_processes set cursor = ${cursor}::text::json`;
  await sql.end();

  const second = await startTestApp({ target });
  apps.push(second);
  const ended = async () => {
    const { json } = await second.get(`/connect/flow_processes/${id}.json`);
    return json.status !== "pending" && json;
  };
  expect(await eventually(ended, "the end of the process")).toMatchObject({ status: "finished", data: "over" });
});
