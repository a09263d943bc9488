/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
/** What is refused when a flow is saved, started or tried: by field and place, and nothing is stored and nobody told. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { otherAccount, startTestApp, type Answer, type OtherAccount, type TestApp } from "../../tests/harness.ts";
import { follower, traces } from "../../tests/traces.ts";
import { plugins } from "../index.ts";

let app: TestApp;
let other: OtherAccount;
const returning = [{ type: "return", value: 1 }];
const good = { name: "Tea", fields: { program: returning } };
const path = "/connect/flows.json";
const one = "/connect/flows/stays.json";
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  other = await otherAccount(app);
  for (const code of ["taken", "stays"]) expect((await app.post(path, { flow: { ...good, code } })).status).toBe(201);
  expect((await app.post(path, { flow: { ...good, code: "off", active: false } })).status).toBe(201);
});
afterAll(() => app.stop());

async function expectRefused(send: () => Promise<Answer>, status: number, field?: string, message = ""): Promise<void> {
  const tables = ["flows", "flow_programs", "flow_processes", "flow_process_steps"] as const;
  const before = await traces(app, ...tables);
  const answer = await send();
  expect([answer.status, answer.text]).toEqual([status, expect.any(String)]);
  if (field !== undefined) expect([answer.json[field] ?? []].flat().join("\n")).toContain(message);
  expect(await traces(app, ...tables)).toEqual(before);
}

const wrong: [change: object, field: string, message: string][] = [
  [{ name: "" }, "name", "can't be blank"],
  [{ name: 7 }, "name", "must be a string"],
  [{ code: "a b" }, "code", ""],
  [{ code: "taken" }, "code", ""],
  [{ code: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e10" }, "code", ""],
  [{ kind: "core/other" }, "kind", "must be core/custom_flow"],
  [{ active: "perhaps" }, "active", ""],
  [{ fields: [] }, "fields", "must be an object"],
  [{ fields: {} }, "program", "is required in `fields`"],
  [{ fields: { program: null } }, "program", "is required in `fields`"],
  [{ fields: { program: "x" } }, "program", "program must be an array of steps"],
  [{ fields: { program: returning, note: "x".repeat(500_001) } }, "fields", "may have at most 500000 characters"],
  [{ fields: { program: [{ type: "return", value: "x".repeat(200_001) }] } }, "program", "at most 200000 characters"],
];

const update = { type: "db", op: "update", db: "x", id: "1", data: { a: 2 } };
const steps: [step: unknown, mistake: string][] = [
  [7, "program[0] must be an object { type, … }"],
  [{}, "program[0].type must be one of connector, http, mutation, if, db, each, try, parallel, flow"],
  [{ type: "fail", id: "a b" }, "program[0].id must be letters, digits, - and _, at most 64"],
  [{ type: "fail", id: "x".repeat(65) }, "program[0].id must be letters"],
  [{ type: "fail", retry: 3 }, "program[0].retry must be an object { times, delay }"],
  [{ type: "fail", retry: {} }, "program[0].retry.times must be a whole number up to 10"],
  [{ type: "fail", retry: { times: 11 } }, "program[0].retry.times must be a whole number up to 10"],
  [{ type: "fail", retry: { times: 1, delay: 3601 } }, "program[0].retry.delay must be a number of seconds up to 3600"],
  [{ type: "fail", timeout: 0 }, "program[0].timeout must be a number of seconds above 0, up to 86400"],
  [{ type: "fail", timeout: "5" }, "program[0].timeout must be a number"],
  [{ type: "fail", on_error: {} }, "program[0].on_error must be an array of steps"],
  [{ type: "fail", on_error: [{ type: "x" }] }, "program[0].on_error[0].type must be one of"],
  [{ type: "fail", message: 7 }, "program[0].message must be a text"],
  [{ type: "fail", message: "{{ a | }}{{" }, "program[0].message is not valid Liquid"],
  [{ type: "connector" }, "program[0].connector is required"],
  [{ type: "connector", connector: "a b" }, "program[0].connector must be a code"],
  [{ type: "connector", connector: "a" }, "program[0].method is required"],
  [{ type: "connector", connector: "a", method: 7 }, "program[0].method must be the name of a method"],
  [{ type: "connector", connector: "a", method: "b", params: [] }, "program[0].params must be an object"],
  [
    { type: "connector", connector: "a", method: "b", params: { c: "{% if %}" } },
    "program[0].params.c is not valid Liquid",
  ],
  [{ type: "connector", connector: "a", method: "b", as: "1" }, "program[0].as must be a name"],
  [{ type: "connector", connector: "a", method: "b", as: "app" }, 'program[0].as must not be "app"'],
  [{ type: "connector", connector: "a", method: "b", id: "input" }, 'program[0].id must not be "input" without `as`'],
  [{ type: "mutation" }, "program[0].set is required"],
  [{ type: "mutation", set: [] }, "program[0].set must be an object"],
  [{ type: "mutation", set: { "a b": 1 } }, "program[0].set.a b must be a name"],
  [{ type: "mutation", set: { account_url: 1 } }, 'program[0].set.account_url must not be "account_url"'],
  [{ type: "mutation", set: { a: ["{{ b | }}{{"] } }, "program[0].set.a[0] is not valid Liquid"],
  [{ type: "if", then: [] }, "program[0].condition is required"],
  [{ type: "if", condition: "a" }, "program[0].then is required"],
  [{ type: "if", condition: 7, then: [] }, "program[0].condition must be a Liquid condition or { left, op, right }"],
  [{ type: "if", condition: "a = 5", then: [] }, "(to compare, write ==)"],
  [{ type: "if", condition: "a >", then: [] }, "program[0].condition is not a valid Liquid condition"],
  [{ type: "if", condition: { op: "=" }, then: [] }, "program[0].condition.op must be one of =="],
  [{ type: "if", condition: { op: "==" }, then: [] }, "program[0].condition.left is required"],
  [{ type: "if", condition: { op: "==", left: 1 }, then: [] }, "program[0].condition.right is required"],
  [{ type: "if", condition: true, then: {} }, "program[0].then must be an array of steps"],
  [{ type: "if", condition: true, else: [7] }, "program[0].else[0] must be an object"],
  [{ type: "db" }, "program[0].op must be one of create, update, delete, get, search"],
  [{ type: "db", op: "search" }, "program[0].db is required"],
  [{ type: "db", op: "create", db: "x" }, "program[0].data is required"],
  [{ type: "db", op: "create", db: "x", data: 7 }, "program[0].data must be an object of field to value"],
  [{ type: "db", op: "get", db: "x" }, "program[0].id is required: the record's id"],
  [{ type: "db", op: "delete", db: "x", id: "{{ a | }}{{" }, "program[0].id is not valid Liquid"],
  [{ type: "db", op: "search", db: "x", id: "a b" }, "program[0].id must be letters"],
  [{ type: "db", op: "search", db: "x", params: "q" }, "program[0].params must be an object"],
  [{ type: "db", op: "search", db: "x", params: { where: {} } }, "program[0].params.where is unknown in the params of"],
  [{ type: "db", op: "search", db: "x", params: { filter: "a=1" } }, "program[0].params.filter must be an object"],
  [{ type: "db", op: "search", db: "x", params: { limit: 1001 } }, "program[0].params.limit may be at most 1000"],
  [{ type: "db", op: "search", db: "x", filter: { a: 1 } }, "program[0].filter is unknown: known are type"],
  [{ type: "db", op: "delete", db: "x", id: "1", params: {} }, "program[0].params is unknown with `op: delete`"],
  [{ type: "db", op: "get", db: "x", id: "1", data: {} }, "program[0].data is unknown with `op: get`"],
  [{ type: "db", op: "update", db: "x", id: "1" }, "program[0].data is required"],
  [{ ...update, if: {} }, "program[0].if has no condition"],
  [{ ...update, if: "a=1" }, "program[0].if must be an object of field to value"],
  [{ ...update, if: { a: { above: 1 } } }, "program[0].if.a.above is no operator: known are gt"],
  [{ ...update, if: { a: "{{ b | }}{{" } }, "program[0].if.a is not valid Liquid"],
  [{ ...update, iff: { a: 1 } }, 'program[0].iff is unknown: did you mean "if"?'],
  [{ ...update, incremet: { a: 1 } }, 'program[0].incremet is unknown: did you mean "increment"?'],
  [{ ...update, increment: {} }, "program[0].increment must have 1 to 100 fields"],
  [{ ...update, increment: 1 }, "program[0].increment must be an object of field to number"],
  [{ ...update, increment: { n: "one" } }, "program[0].increment.n must be a number"],
  [{ ...update, increment: { n: null } }, "program[0].increment.n must be a number"],
  [{ ...update, increment: { a: 1 } }, "program[0].increment.a is set by `data` too"],
  [{ ...update, op: "create", increment: { n: 1 } }, "program[0].increment is unknown with `op: create`"],
  [{ ...update, op: "delete", data: undefined, if: { a: 1 } }, "program[0].if is unknown with `op: delete`"],
  [{ type: "fail", mesage: "x" }, 'program[0].mesage is unknown: did you mean "message"?'],
  [{ type: "fail", retry: { times: 1, dalay: 1 } }, 'program[0].retry.dalay is unknown: did you mean "delay"?'],
  [
    { type: "if", condition: { left: 1, op: "==", rigth: 1 }, then: [] },
    'condition.rigth is unknown: did you mean "right"?',
  ],
  [{ type: "each", do: [] }, "program[0].in is required"],
  [{ type: "each", in: 7, do: [] }, "program[0].in must be an array of at most 1000 elements"],
  [
    { type: "each", in: Array.from({ length: 1001 }, () => 1), do: [] },
    "program[0].in must be an array of at most 1000",
  ],
  [{ type: "each", in: [] }, "program[0].do is required"],
  [{ type: "each", in: [], do: [], as: "input" }, 'program[0].as must not be "input"'],
  [{ type: "each", in: [], do: [], concurrency: 21 }, "program[0].concurrency must be a whole number from 1 to 20"],
  [{ type: "flow" }, "program[0].flow is required"],
  [{ type: "flow", flow: "x", input: [] }, "program[0].input must be an object"],
  [{ type: "return", value: { a: "{% for %}" } }, "program[0].value.a is not valid Liquid"],
  [{ type: "wait" }, "program[0].seconds is required"],
  [{ type: "wait", seconds: 2_592_001 }, "program[0].seconds must be a number of seconds up to 2592000"],
  [{ type: "wait", seconds: "soon" }, "program[0].seconds must be a number"],
];
const ofSteps = steps.map(([step, mistake]): (typeof wrong)[number] => [
  { fields: { program: [step] } },
  "program",
  mistake,
]);
const nested = (depth: number): object[] =>
  depth === 0 ? returning : [{ type: "if", condition: true, then: nested(depth - 1) }];

describe("a flow is refused", () => {
  test.each([...wrong, ...ofSteps])("made with %j: %s %s", async (change, field, message) => {
    await expectRefused(() => app.post(path, { flow: { ...good, ...change } }), 422, field, message);
  });
  test.each(wrong)("changed to %j: %s %s", async (change, field, message) => {
    await expectRefused(() => app.patch(one, { flow: change }), 422, field, message);
  });

  test("that nests too deep, has too many steps or two of one id", async () => {
    const post = (program: object[]) => () => app.post(path, { flow: { ...good, fields: { program } } });
    await expectRefused(post(nested(20)), 422, "program", "nests deeper than 20 levels");
    const many = Array.from({ length: 501 }, () => ({ type: "fail" }));
    await expectRefused(post(many), 422, "program", "at most 500 steps");
    const twice = [
      { type: "fail", id: "a" },
      { type: "if", condition: true, then: [{ type: "fail", id: "a" }] },
    ];
    await expectRefused(post(twice), 422, "program", 'program[1].then[0].id "a" is already the id of another step');
  });

  test("to another account, and without sign-in", async () => {
    await expectRefused(() => other.patch(one, { flow: { name: "x" } }), 404);
    await expectRefused(() => other.delete(one), 404);
    await expectRefused(() => other.post("/connect/flows/stays/run.json", {}), 404);
    await expectRefused(() => app.post(path, { flow: good }, { token: null }), 401);
    await expectRefused(() => app.post("/connect/flows/stays/run.json", {}, { token: null }), 401);
  });
});

describe("nothing starts", () => {
  const runs: [code: string, body: unknown, status: number][] = [
    ["off", {}, 404],
    ["nowhere", {}, 404],
    ["stays", [], 400],
    ["stays", "text", 400],
    ["stays", { note: "a\0b" }, 422],
  ];
  test.each(runs)("run of %s with %j: %i", async (code, body, status) => {
    await expectRefused(() => app.post(`/connect/flows/${code}/run.json`, body), status);
  });

  const tests: [body: object, field: string, message: string][] = [
    [{ input: [] }, "input", "must be an object"],
    [{ app: 7 }, "app", "must be an object { id, action, user }"],
    [{ answers: [] }, "answers", "must be an object"],
    [{ answers: { "a.b": 1 } }, "answers", "is used by no step"],
    [{ program: [{ type: "x" }] }, "program", "program[0].type must be one of"],
  ];
  test.each(tests)("test with %j: %s %s", async (body, field, message) => {
    await expectRefused(() => app.post("/connect/flows/stays/test.json", body), 422, field, message);
  });

  test("a process that has ended is not cancelled, one that has not failed not tried again", async () => {
    const { id } = (await app.post("/connect/flows/stays/run.json", {})).json;
    await expectRefused(() => app.post(`/connect/flow_processes/${id}/cancel.json`, {}), 409);
    await expectRefused(() => app.post(`/connect/flow_processes/${id}/retry.json`, {}), 409);
    await expectRefused(() => other.post(`/connect/flow_processes/${id}/retry.json`, {}), 404);
    await expectRefused(() => app.post("/connect/flow_processes/none/cancel.json", {}), 404);
  });
});
