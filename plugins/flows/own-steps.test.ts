/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
/** Step types that other plugins register. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { definePlugin, invalid, Type } from "platform";
import { eventually, person, startTestApp, type Answer, type TestApp } from "../../tests/harness.ts";
import { follower, traces } from "../../tests/traces.ts";
import { plugins } from "../index.ts";
import { flows, type StepRun } from "./api.ts";

interface Notice {
  readonly text: string;
  readonly to?: readonly string[];
  readonly copies?: number;
}
const runs: StepRun<Notice>[] = [];
/** What the next runs do; the last one goes on. */
let answers: ((run: StepRun<Notice>) => unknown)[] = [];

const Notify = Type.Object({
  text: Type.String({ minLength: 1 }),
  to: Type.Optional(Type.Array(Type.String())),
  copies: Type.Optional(Type.Integer({ maximum: 9 })),
  options: Type.Optional(Type.Object({ loud: Type.Boolean() }, { additionalProperties: false })),
});

const shoppingList = definePlugin({
  name: "shopping-list",
  needs: { flows },
  privileges: [{ name: "shopping_list", doc: "keep items", roles: ["manager"] }],
  setup: (ctx) => {
    const { registerStep } = ctx.services.flows;
    registerStep({
      type: "shopping-list.notify",
      doc: "tells everybody",
      params: Notify,
      privilege: "shopping_list",
      run: async (run) => {
        runs.push(run);
        const next = answers.length > 1 ? answers.shift() : answers[0];
        return next?.(run);
      },
    });
    registerStep({ type: "shopping-list.ping", doc: "does nothing", params: Type.Object({}), run: async () => "pong" });
    return {};
  },
});

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, shoppingList, follower] });
});
afterAll(() => app.stop());
beforeEach(() => {
  runs.length = 0;
  answers = [({ params }) => ({ told: params.text })];
});

const notify = (params: object, more: object = {}) => ({ type: "shopping-list.notify", params, ...more });
let made = 0;
const save = (program: unknown[], token?: string): Promise<Answer> =>
  app.post(
    "/connect/flows.json",
    { flow: { name: "Own", code: `own-${++made}`, fields: { program } } },
    token ? { token } : {},
  );
async function ended(program: unknown[], input: object = {}) {
  const flow = await save(program);
  expect([flow.status, flow.text]).toEqual([201, expect.any(String)]);
  const { id } = (await app.post(`/connect/flows/${flow.json.code}/run.json?wait=0`, input)).json;
  return eventually(async () => {
    const { json } = await app.get(`/connect/flow_processes/${id}.json`);
    return json.status !== "pending" && json;
  }, "the end of the process");
}
const notices = () => runs.map(({ params }) => params);

describe("a step of a plugin's own", () => {
  test("runs with filled params, and its result stands under `as` or `id`", async () => {
    const process = await ended(
      [
        notify({ text: "{{ name }} bought", to: "{{ input.people }}", copies: "{{ nothing }}" }, { as: "notice" }),
        notify({ text: "again" }, { id: "second" }),
        { type: "return", value: ["{{ notice.told }}", "{{ second.told }}"] },
      ],
      { name: "Tea", people: ["ada", "eve"] },
    );
    expect(process).toMatchObject({ status: "finished", data: ["Tea bought", "again"] });
    expect(process.steps[0]).toMatchObject({ id: "0", type: "shopping-list.notify", output: { told: "Tea bought" } });
    expect(notices()).toEqual([{ text: "Tea bought", to: ["ada", "eve"] }, { text: "again" }]);
    expect(runs[0]).toMatchObject({ accountId: 1, timeoutMs: 60_000, signal: expect.any(AbortSignal) });
    expect(new Set(runs.map(({ key }) => key)).size).toBe(2);
  });

  test("has one key for all its attempts, and another one in each element and process", async () => {
    const failing = () => Promise.reject(new Error("the printer is out of paper"));
    answers = [failing, failing, () => "printed"];
    const process = await ended([notify({ text: "x" }, { as: "sheet", retry: { times: 2, delay: 0 } })]);
    expect(process.steps).toMatchObject([{ status: "finished", output: "printed" }]);
    expect(runs).toHaveLength(3);
    expect(new Set(runs.map(({ key }) => key)).size).toBe(1);
    const elements = { type: "each", in: [1, 2], do: [notify({ text: "n {{ item }}" })] };
    await ended([elements]);
    await ended([notify({ text: "x" })]);
    expect(new Set(runs.map(({ key }) => key)).size).toBe(4);
  });

  const failures: [what: string, answer: (run: StepRun<Notice>) => unknown, error: object][] = [
    [
      "an error of the plugin",
      () => Promise.reject(new Error("the printer is out of paper")),
      { message: "the printer is out of paper", status: null },
    ],
    [
      "a refusal by field",
      () => Promise.reject(invalid({ to: ["is nobody here"] })),
      { message: "to is nobody here", status: 422, data: { to: ["is nobody here"] } },
    ],
    [
      "a result that PostgreSQL cannot store",
      () => ({ note: "a\0b" }),
      { message: "note has a character that cannot be stored", status: 422 },
    ],
  ];
  test.each(failures)("fails with %s, and `on_error` sees it", async (_, answer, error) => {
    answers = [answer];
    const on_error = [{ type: "return", value: "{{ error }}" }];
    const process = await ended([notify({ text: "x" }, { id: "told", on_error })]);
    expect(process).toMatchObject({ status: "finished", data: { step: "told", ...error } });
  });

  test("ends with its `timeout`, also when its code does not listen to the signal", async () => {
    answers = [() => new Promise(() => {})];
    const process = await ended([notify({ text: "x" }, { timeout: 3 })]);
    expect(process).toMatchObject({ status: "error", error: "timed out" });
    expect(runs[0]?.signal.aborted).toBe(true);
    expect(runs[0]?.timeoutMs).toBeLessThanOrEqual(3000);
  });

  test("is broken off when its process is cancelled", async () => {
    answers = [() => new Promise(() => {})];
    const { code } = (await save([notify({ text: "x" })])).json;
    const { id } = (await app.post(`/connect/flows/${code}/run.json?wait=0`, {})).json;
    await eventually(async () => runs.length === 1, "the step");
    expect((await app.post(`/connect/flow_processes/${id}/cancel.json`, {})).status).toBe(200);
    await eventually(async () => runs[0]?.signal.aborted, "its signal");
    expect((await app.get(`/connect/flow_processes/${id}.json`)).json.error).toBe("cancelled");
  });

  const results: [result: unknown, kept: unknown][] = [
    [undefined, null],
    [new Date("2026-01-31T10:00:00Z"), "2026-01-31T10:00:00.000Z"],
    [
      { count: 5n, id: 9007199254740993n },
      { count: 5, id: "9007199254740993" },
    ],
    [[Number.NaN], [null]],
  ];
  test.each(results)("gives what it comes to as JSON", async (result, kept) => {
    answers = [() => result];
    expect(
      (await ended([notify({ text: "x" }, { as: "given" }), { type: "return", value: "{{ given }}" }])).data,
    ).toEqual(kept);
  });

  const filled: [params: object, field: string, message: string][] = [
    [{ text: "{{ nothing }}" }, "text", "must be a string"],
    [{ text: "x", to: "{{ name }}" }, "to", "must be an array"],
    [{ text: "x", to: ["{{ n }}"] }, "to", "0 must be a string"],
    [{ text: "x", copies: "{{ n }}" }, "copies", "must be at most 9"],
    [{ text: "{{ nothing | default: '' }}" }, "text", "can't be blank"],
  ];
  test.each(filled)("fails by field where %j comes to what the schema refuses", async (params, name, message) => {
    const on_error = [{ type: "return", value: "{{ error }}" }];
    const process = await ended([notify(params, { on_error })], { name: "Tea", n: 10 });
    expect(process.data).toMatchObject({ status: 422, message: `${name} ${message}`, data: { [name]: [message] } });
    expect(runs).toEqual([]);
  });
});

describe("saving a flow with such a step", () => {
  const wrong: [step: object, mistake: string][] = [
    [{ type: "shopping-list.shout" }, "program[0].type must be one of connector, http, mutation"],
    [
      { type: "shopping-list.shout" },
      "wait, mail.send, script, wait_for, ask, shopping-list.notify, shopping-list.ping",
    ],
    [notify({}), "program[0].params.text is required"],
    [{ type: "shopping-list.notify" }, "program[0].params.text is required"],
    [notify({ text: "" }), "program[0].params.text can't be blank"],
    [notify({ text: 7 }), "program[0].params.text must be a string"],
    [notify({ text: null }), "program[0].params.text must be a string"],
    [notify({ text: "x", who: "ada" }), "program[0].params.who is unknown; the params are text, to, copies, options"],
    [notify({ text: "{{ x }}", who: "{{ y }}" }), "program[0].params.who is unknown"],
    [notify({ text: "x", copies: 10 }), "program[0].params.copies must be at most 9"],
    [notify({ text: "x", to: ["{{ ada }}", 7] }), "program[0].params.to[1] must be a string"],
    [notify({ text: "x", options: { loud: "{{ x }}", soft: 1 } }), "program[0].params.options.soft is unknown"],
    [notify({ text: "x", options: { soft: "{{ x }}" } }), "program[0].params.options.loud is required"],
    [notify({ text: "{{ x | }}{{" }), "program[0].params.text is not valid Liquid"],
    [notify([]), "program[0].params must be an object of name to value"],
    [{ type: "shopping-list.ping", params: { a: 1 } }, "program[0].params.a is unknown: the step takes no params"],
    [notify({ text: "x" }, { as: "input" }), 'program[0].as must not be "input"'],
    [notify({ text: "x" }, { id: "app" }), 'program[0].id must not be "app" without `as`'],
    [notify({ text: "x" }, { retry: { times: 11 } }), "program[0].retry.times"],
    [notify({ text: "x" }, { lang: "pl" }), "program[0].lang is unknown: known are type"],
    [{ type: "if", condition: true, then: [notify({ text: 1 })] }, "program[0].then[0].params.text must be a string"],
  ];
  test.each(wrong)("%j is refused: %s", async (step, mistake) => {
    const before = await traces(app, "flows", "flow_programs");
    const answer = await save([step]);
    expect(answer.status).toBe(422);
    expect(answer.json.program.join("\n")).toContain(mistake);
    expect(await traces(app, "flows", "flow_programs")).toEqual(before);
  });

  test("what a template comes to is not known yet, and a null leaves an optional parameter out", async () => {
    const params = { text: "{{ a }}", to: "{{ b }}", copies: null, options: { loud: "{{ c }}" } };
    expect((await save([notify(params)])).json.warnings).toEqual([]);
  });

  test("takes the step's privilege of who saves it, also in a flow that is called", async () => {
    const { token } = await person(app, { role: "admin", narrowedTo: ["flows"] });
    const both = await person(app, { role: "admin", narrowedTo: ["flows", "shopping_list"] });
    const inner = (await save([notify({ text: "x" })], both.token)).json.code;
    for (const [step, place] of [
      [notify({ text: "x" }), "`program[0]`"],
      [{ type: "flow", flow: inner }, `\`flow "${inner}": program[0]\``],
    ] as const) {
      const before = await traces(app, "flows", "flow_programs");
      const answer = await save([step], token);
      expect([answer.status, answer.json.error]).toEqual([403, expect.stringContaining("`shopping_list`")]);
      expect(answer.json.error).toContain(place);
      expect(await traces(app, "flows", "flow_programs")).toEqual(before);
    }
    expect((await save([{ type: "shopping-list.ping" }], token)).status).toBe(201);
  });
});

describe("a test without effects", () => {
  const dry = async (body: object) => {
    const { code } = (
      await save([notify({ text: "x" }, { id: "told", as: "notice" }), { type: "return", value: "{{ notice }}" }])
    ).json;
    return app.post(`/connect/flows/${code}/test.json`, body);
  };
  const given: [answers: object, outcome: object][] = [
    [{ "shopping-list.notify": { told: "Tea" } }, { status: "finished", data: { told: "Tea" } }],
    [{ told: "by id" }, { status: "finished", data: "by id" }],
    [{ told: { error: "no paper" } }, { status: "error", error: "no paper" }],
    [{ told: { status: 200, data: [1] } }, { status: "finished", data: [1] }],
    [{ told: { status: 404, data: null } }, { status: "error", error: "the step failed with 404" }],
    [{}, { status: "error", error: 'no answer was given for "shopping-list.notify"' }],
  ];
  test.each(given)("takes %j by step id or type", async (given_, outcome) => {
    expect((await dry({ answers: given_ })).json).toMatchObject(outcome);
    expect(runs).toEqual([]);
  });

  test("names what can be answered", async () => {
    const { status, json } = await dry({ answers: { "shopping-list.notfy": 1 } });
    expect([status, json.answers]).toEqual([422, [expect.stringContaining('"told", "shopping-list.notify"')]]);
  });
});

test("the types are listed with their schemas, for who may keep flows", async () => {
  const listed = await app.get("/connect/flow_steps.json");
  expect(listed.headers.get("x-total-count")).toBe("6");
  expect(listed.json).toMatchObject([
    { type: "ask", privilege: null, params: { required: ["to", "title"] } },
    { type: "mail.send", privilege: "mails", params: { required: ["to", "subject", "text"] } },
    { type: "script", privilege: null },
    {
      type: "shopping-list.notify",
      doc: "tells everybody",
      privilege: "shopping_list",
      params: { type: "object", required: ["text"], properties: { copies: { type: "integer", maximum: 9 } } },
    },
    { type: "shopping-list.ping", privilege: null },
    { type: "wait_for", params: { required: ["source_type", "kind", "filter"] } },
  ]);
  expect((await app.get("/connect/flow_steps.json?limit=1&offset=4")).json).toMatchObject([
    { type: "shopping-list.ping" },
  ]);
  const { token } = await person(app, { role: "user" });
  expect((await app.get("/connect/flow_steps.json", { token })).status).toBe(403);
});

test("a flow whose plugin is gone says so, ends with an error, and can still be switched off", async () => {
  const { id, code } = (await save([notify({ text: "x" })])).json;
  const program = [{ type: "gone.notify" }];
  await app.sql`update flow_programs set program = ${app.sql.json(program)} where flow_id = ${id}`;
  await app.sql`update flows set fields = ${app.sql.json({ program })} where id = ${id}`;
  const path = `/connect/flows/${id}.json`;
  expect((await app.get(path)).json.warnings).toEqual([expect.stringContaining("program[0].type must be one of")]);
  const { id: process } = (await app.post(`/connect/flows/${code}/run.json`, {})).json;
  const end = await eventually(async () => {
    const { json } = await app.get(`/connect/flow_processes/${process}.json`);
    return json.status !== "pending" && json;
  }, "the end");
  expect(end).toMatchObject({ status: "error", error: 'no plugin here has the step type "gone.notify"' });
  expect((await app.patch(path, { flow: { name: "Other" } })).status).toBe(422);
  expect((await app.patch(path, { flow: { active: false } })).json).toMatchObject({ active: false });
});

describe("a plugin that registers a step wrongly does not start", () => {
  const wrong: [type: string, params: unknown, message: string][] = [
    ["notify", Type.Object({}), 'the step type "notify" must be <plugin>.<name>'],
    ["Shop.Notify", Type.Object({}), "in lower case"],
    ["shop.a.b", Type.Object({}), "must be <plugin>.<name>"],
    ["shop.notify", Type.String(), 'the params of the step type "shop.notify" must be a Type.Object'],
  ];
  test.each(wrong)("%s", (type, params, message) => {
    const { registerStep } = app.service(flows);
    const register = () => registerStep({ type, doc: "", params: params as typeof Notify, run: async () => null });
    expect(register).toThrow(message);
  });

  test("of a type that is there already", () => {
    const { registerStep } = app.service(flows);
    const again = { type: "shopping-list.ping", doc: "", params: Type.Object({}), run: async () => null };
    expect(() => registerStep(again)).toThrow('the step type "shopping-list.ping" is registered twice');
  });
});
