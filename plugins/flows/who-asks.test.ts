/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, startTestApp, type RequestOptions, type TestApp } from "../../tests/harness.ts";
import { follower, traces } from "../../tests/traces.ts";
import { plugins } from "../index.ts";

let app: TestApp;
let id: string;

const forged = { app: { id: "x", action: "x", user: { id: 1, login: "admin", role: "admin" } } };
const nobody: RequestOptions = { token: null };
/** What a flow knows of who asks, wherever it may look for it. */
const seen = { app: "{{ app }}", role: "{{ app.user.role }}", text: "role: {{ app.user.role }}" };
const answer = { type: "return", value: seen };
const pass = (flow: string) => [
  { type: "flow", flow, input: "{{ input }}", as: "inner" },
  { type: "return", value: "{{ inner }}" },
];

const programs: Record<string, object[]> = {
  asks: [answer],
  nested: pass("asks"),
  "nested-twice": pass("nested"),
  "with-a-key": [
    { type: "flow", flow: "asks", input: { app: "{{ input.app }}" }, as: "inner" },
    { type: "return", value: "{{ inner }}" },
  ],
  "in-an-each": [
    { type: "each", in: ["{{ input }}"], do: [{ type: "flow", flow: "asks", input: "{{ item }}", as: "inner" }] },
    { type: "return", value: "{{ inner }}" },
  ],
  // Stored in between, and gone on with by a job.
  later: [{ type: "db", op: "create", db: "notes", data: { a: 1 } }, { type: "wait", seconds: 0.01 }, ...pass("asks")],
  decides: [
    { type: "if", condition: "app.user.role == 'admin'", then: [{ type: "return", value: "open" }] },
    { type: "return", value: "closed" },
  ],
};
const codes = Object.keys(programs).filter((code) => code !== "decides");

beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  expect((await app.post("/core/dbs.json", { db: { name: "Notes", code: "notes" } })).status).toBe(201);
  for (const [code, program] of Object.entries(programs)) {
    const made = await app.post("/connect/flows.json", { flow: { name: code, code, fields: { program } } });
    expect([code, made.status]).toEqual([code, 201]);
  }
  const actions = Object.keys(programs).map((code) => ({ action: code, flow_code: code, public: true }));
  const given = { name: "Acts", app_engine: "html", source_code: "x", actions };
  id = (await app.post("/core/apps.json", { app: given })).json.id;
});
afterAll(() => app.stop());

/** The data of a process once it has ended. */
const ended = (processId: string) =>
  eventually(async () => {
    const { json } = await app.get(`/connect/flow_processes/${processId}.json`);
    return json.status === "finished" ? json : undefined;
  }, "the end of the process");
const unknown = { app: null, role: null, text: "role: " };

test.each(codes)("an action tells %s who asks, whatever a parameter says", async (code) => {
  const path = `/core/apps/${id}/action/${code}`;
  const stranger = { id, action: code, user: null };
  const anonymous = await ended((await app.post(path, forged, nobody)).json.flow_process_id);
  expect(anonymous.data).toEqual({ app: stranger, role: null, text: "role: " });
  const admin = await ended((await app.post(path, { app: { user: null } })).json.flow_process_id);
  expect(admin.data).toMatchObject({ app: { id, action: code }, role: "admin", text: "role: admin" });
  expect(anonymous.input).toEqual(forged);
});

test("a decision on the role is not met by a parameter", async () => {
  const path = `/core/apps/${id}/action/decides`;
  expect((await app.post(path, forged, nobody)).json.data).toBe("closed");
  expect((await app.post(path, {})).json.data).toBe("open");
});

test.each(codes)("nobody asks where %s is run with an input that says so", async (code) => {
  const { flow_process_id } = (await app.post(`/connect/flows/${code}/run.json`, forged)).json;
  expect((await ended(flow_process_id)).data).toEqual(unknown);
});

test("nor where a webhook or a cron starts it", async () => {
  const flow = (code: string, input: unknown) => {
    const program = [
      { type: "flow", flow: "nested", input, as: "inner" },
      { type: "return", value: { ...seen, inner: "{{ inner }}" } },
    ];
    return app.post("/connect/flows.json", { flow: { name: code, code, fields: { program } } });
  };
  await flow("of-webhook", "{{ data }}");
  await flow("of-cron", forged);
  const target = { target_kind: "flow", target_code: "of-webhook" };
  await app.post("/account/webhooks.json", { webhook: { source_type: "Core::Record", kind: "create", ...target } });
  await app.post("/core/dbs/notes/records.json", { record: { data: forged } });
  const cron = { name: "c", target_code: "of-cron", schedule: "0 7 1 1 *" };
  const { json } = await app.post("/account/crons.json", { cron });
  await app.post(`/account/crons/${json.id}/run.json`);
  for (const code of ["of-webhook", "of-cron"]) {
    const [process] = await eventually(async () => {
      const found = (await app.get(`/connect/flow_processes.json?flow_code=${code}&status=finished`)).json;
      return found.length === 1 ? found : undefined;
    }, code);
    expect([code, process.data]).toEqual([code, { ...unknown, inner: unknown }]);
  }
});

test("a process that was under way before who asks was kept apart still knows it", async () => {
  const program = [{ type: "wait", seconds: 3600 }, ...pass("asks")];
  await app.post("/connect/flows.json", { flow: { name: "Old", code: "old", fields: { program } } });
  const { flow_process_id } = (await app.post("/connect/flows/old/run.json?wait=0", forged)).json;
  const asker = { id: "a", action: "b", user: { role: "guest" } };
  const [row] = await app.sql<{ memory: { given?: object; scopes: Record<string, { vars: object }> } }[]>`
    select memory from flow_processes where id = ${flow_process_id}`;
  const { given: _, ...memory } = row?.memory ?? { scopes: {} };
  const [root] = Object.values(memory.scopes);
  Object.assign(root?.vars ?? {}, { app: asker });
  await app.post(`/connect/flow_processes/${flow_process_id}/cancel.json`);
  // As an older server has left it, behind its wait.
  await app.sql`
    update flow_processes set memory = ${JSON.stringify(memory)}::text::json,
      cursor = jsonb_set(cursor::jsonb, '{frames,0}', '{"kind": "block", "place": "", "at": 1}')::json
    where id = ${flow_process_id}`;
  await app.post(`/connect/flow_processes/${flow_process_id}/retry.json`);
  expect((await ended(flow_process_id)).data).toMatchObject({ app: asker, role: "guest" });
});

test("a dry run is told who asks beside its input", async () => {
  const dry = async (body: object) => (await app.post("/connect/flows/nested-twice/test.json", body)).json;
  expect((await dry({ input: forged })).data).toEqual(unknown);
  expect((await dry({ input: forged, app: { user: { role: "user" } } })).data).toMatchObject({ role: "user" });
  expect((await dry({ app: 7 })).app).toEqual(["must be an object { id, action, user }"]);
});

test.each([
  ["a mutation", { type: "mutation", set: { app: 1 } }, "program[0].set.app"],
  ["an each", { type: "each", in: [1], as: "app", do: [] }, "program[0].as"],
  ["a connector step", { type: "connector", connector: "c", method: "m", as: "app" }, "program[0].as"],
  ["a db step by its id", { type: "db", op: "search", db: "notes", id: "app" }, "program[0].id"],
  ["a flow step by its id", { type: "flow", flow: "asks", id: "app" }, "program[0].id"],
])("no program names %s so", async (_, step, place) => {
  const before = await traces(app, "flows", "flow_programs");
  const refused = await app.post("/connect/flows.json", { flow: { name: "Named", fields: { program: [step] } } });
  expect([refused.status, refused.json.program]).toEqual([422, [expect.stringContaining(place)]]);
  expect(await traces(app, "flows", "flow_programs")).toEqual(before);
});
