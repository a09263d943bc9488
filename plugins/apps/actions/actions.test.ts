import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { person, startTestApp, type RequestOptions, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
let id: string;
beforeAll(async () => {
  app = await startTestApp({ env: { RATE_LIMIT_ACTIONS: "1000" } });
  const flow = async (code: string, program: object[]) =>
    expect((await app.post("/connect/flows.json", { flow: { name: code, code, fields: { program } } })).status).toBe(
      201,
    );
  await flow("echo", [{ type: "return", value: "{{ input }}" }]);
  await flow("who", [{ type: "return", value: "{{ app }}" }]);
  await flow("slow", [
    { type: "wait", seconds: 2 },
    { type: "return", value: { done: true } },
  ]);
  await flow("failing", [{ type: "fail", message: "no weather today" }]);
  await flow("off", [{ type: "return", value: 1 }]);
  await app.patch("/connect/flows/off.json", { flow: { active: false } });
  const actions = [
    { action: "echo", flow_code: "echo", public: true },
    { action: "who", flow_code: "who", public: true },
    { action: "closed", flow_code: "who" },
    { action: "slow", flow_code: "slow", public: true },
    { action: "failing", flow_code: "failing" },
    { action: "off", flow_code: "off" },
    { action: "missing", flow_code: "nowhere" },
  ];
  id = (await app.post("/core/apps.json", { app: { name: "Acts", app_engine: "html", source_code: "x", actions } }))
    .json.id;
});
afterAll(() => app.stop());

const run = (name: string, params: unknown = {}, options: RequestOptions = {}) =>
  app.post(`/core/apps/${id}/action/${name}`, params, options);
const statusOf = (name: string, processId: string, options: RequestOptions = {}, wait = 0) =>
  app.get(`/core/apps/${id}/action/${name}/status?flow_process_id=${processId}&wait=${wait}`, options);
const nobody = { token: null };

describe("an action", () => {
  test("runs its flow with the parameters as its input", async () => {
    const answer = await run("echo", { city: "Kraków", list: [1, { a: null }] });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      flow_process_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: "finished",
      data: {
        city: "Kraków",
        list: [1, { a: null }],
      },
    });
    const process = await app.get(`/connect/flow_processes/${answer.json.flow_process_id}.json`);
    expect(process.json).toMatchObject({ flow_code: "echo", status: "finished", input: answer.json.data });
    expect((await app.post(`/core/apps/acts/action/echo`, { a: 1 })).json.data).toEqual({ a: 1 });
  });

  test("tells its flow who asked beside the input, whatever a parameter says", async () => {
    const user = { id: 1, login: "admin", name: "admin", email: null, role: "admin" };
    expect((await run("who")).json.data).toEqual({ id, action: "who", user });
    expect((await run("who", { app: { user }, kind: "cron" }, nobody)).json.data).toEqual({
      id,
      action: "who",
      user: null,
    });
    expect((await run("echo", { app: "an app", kind: "cron" })).json.data).toEqual({ app: "an app", kind: "cron" });
  });

  test("needs sign-in but no privilege, unless it is public", async () => {
    const guest = await person(app, { role: "guest" });
    expect((await run("closed", {}, { token: guest.token })).json.data.user.id).toBe(guest.id);
    expect((await run("closed", {}, nobody)).status).toBe(401);
    expect((await statusOf("closed", id, nobody)).status).toBe(401);
    expect((await run("echo", {}, nobody)).status).toBe(200);
  });

  test("that takes longer is pending, and its status can be waited for", async () => {
    const started = await run("slow");
    expect(started.json).toEqual({ flow_process_id: expect.any(String), status: "pending", data: null });
    const process = started.json.flow_process_id;
    expect((await statusOf("slow", process)).json).toEqual({ status: "pending", data: null, error: null });
    expect((await statusOf("slow", process, {}, 25)).json).toEqual({
      status: "finished",
      data: { done: true },
      error: null,
    });
  });

  test("that fails says why", async () => {
    const { json } = await run("failing");
    expect(json).toEqual({ flow_process_id: expect.any(String), status: "pending", data: null });
    expect((await statusOf("failing", json.flow_process_id)).json).toEqual({
      status: "error",
      data: null,
      error: "no weather today",
    });
  });

  test.each([
    ["an unknown action", "nothing", {}, 404],
    ["an action with the name of a method of Object", "constructor", {}, 404],
    ["a flow that is not there", "missing", {}, 422],
    ["a flow that is switched off", "off", {}, 422],
    ["parameters that are a list", "echo", [], 400],
    ["parameters that are text", "echo", "x", 400],
    ["too large parameters", "echo", { a: "x".repeat(1_000_001) }, 422],
  ])("%s is refused", async (_, name, params, status) => {
    expect((await run(name, params)).status).toBe(status);
  });

  test("of an unknown or inactive app is 404", async () => {
    const { id: off } = (
      await app.post("/core/apps.json", {
        app: {
          name: "Off",
          app_engine: "html",
          source_code: "x",
          active: false,
          actions: [{ action: "a", flow_code: "echo" }],
        },
      })
    ).json;
    for (const key of [off, "nothing", "019a9c1e-0000-7000-8000-000000000003"])
      expect((await app.post(`/core/apps/${key}/action/a`, {})).status).toBe(404);
  });

  test("follows a change of the app at once", async () => {
    const fields = {
      name: "Moves",
      app_engine: "html",
      source_code: "x",
      actions: [{ action: "a", flow_code: "echo" }],
    };
    const { id: moving } = (await app.post("/core/apps.json", { app: fields })).json;
    expect((await app.post(`/core/apps/${moving}/action/a`, {})).status).toBe(200);
    await app.patch(`/core/apps/${moving}.json`, { app: { actions: [] } });
    expect((await app.post(`/core/apps/${moving}/action/a`, {})).status).toBe(404);
  });
});

describe("the status of a run", () => {
  test("is told to whom it belongs: the person, or who knows the id of a visitor's", async () => {
    const [one, two] = [await person(app), await person(app)];
    const { flow_process_id: process } = (await run("echo", {}, { token: one.token })).json;
    expect((await statusOf("echo", process, { token: one.token })).status).toBe(200);
    expect((await statusOf("echo", process, { token: two.token })).status).toBe(404);
    expect((await statusOf("echo", process, nobody)).status).toBe(404);
    const { flow_process_id: visitors } = (await run("echo", {}, nobody)).json;
    expect((await statusOf("echo", visitors, nobody)).status).toBe(200);
  });

  test("is that of this action alone, and survives another flow_code", async () => {
    const actions = [
      { action: "a", flow_code: "echo" },
      { action: "b", flow_code: "echo" },
    ];
    const fields = { name: "Two", app_engine: "html", source_code: "x", actions };
    const { id: two } = (await app.post("/core/apps.json", { app: fields })).json;
    const { flow_process_id: process } = (await app.post(`/core/apps/${two}/action/a`, {})).json;
    const at = (key: string, name: string) =>
      app.get(`/core/apps/${key}/action/${name}/status?flow_process_id=${process}`);
    expect([(await at(two, "b")).status, (await at(id, "echo")).status, (await at(two, "a")).status]).toEqual([
      404, 404, 200,
    ]);
    await app.patch(`/core/apps/${two}.json`, { app: { actions: [{ action: "a", flow_code: "slow" }] } });
    expect((await at(two, "a")).json.status).toBe("finished");
  });

  test("a process that no action started, a malformed and a missing id", async () => {
    const other = (await app.post("/connect/flows/echo/run.json", {})).json.id;
    expect((await statusOf("echo", other)).status).toBe(404);
    expect((await statusOf("echo", "x")).status).toBe(404);
    const none = await app.get(`/core/apps/${id}/action/echo/status`);
    expect([none.status, none.json]).toEqual([422, { flow_process_id: ["is required"] }]);
  });
});

test("an address without sign-in runs so many public actions in ten seconds", async () => {
  const small = await startTestApp({ env: { RATE_LIMIT_ACTIONS: "3" } });
  try {
    const flow = { name: "echo", code: "echo", fields: { program: [{ type: "return", value: 1 }] } };
    await small.post("/connect/flows.json", { flow });
    const actions = [{ action: "a", flow_code: "echo", public: true }];
    await small.post("/core/apps.json", { app: { name: "S", app_engine: "html", source_code: "x", actions } });
    const answers = [];
    for (let at = 0; at < 5; at++) answers.push(await small.post("/core/apps/s/action/a", {}, nobody));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
    expect(answers[4]?.headers.get("retry-after")).toMatch(/^\d+$/);
    expect((await small.post("/core/apps/s/action/a", {})).status).toBe(200);
  } finally {
    await small.stop();
  }
});

test("what visitors of one address give to actions counts as stored by them, and is limited", async () => {
  const small = await startTestApp({ env: { VISITOR_BYTES_PER_ADDRESS: "1000" } });
  try {
    const flow = { name: "echo", code: "echo", fields: { program: [{ type: "return", value: 1 }] } };
    await small.post("/connect/flows.json", { flow });
    const actions = [{ action: "a", flow_code: "echo", public: true }];
    await small.post("/core/apps.json", { app: { name: "S", app_engine: "html", source_code: "x", actions } });
    const give = (options = {}) => small.post("/core/apps/s/action/a", { text: "x".repeat(600) }, options);
    expect([(await give(nobody)).status, (await give(nobody)).status, (await give()).status]).toEqual([200, 429, 200]);
    expect((await small.get("/connect/flow_processes.json?flow_code=echo")).json).toHaveLength(2);
  } finally {
    await small.stop();
  }
});
