import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

let number = 0;
const save = async (step: object) => {
  const code = `script-${++number}`;
  const program = [
    { type: "script", as: "made", ...step },
    { type: "return", value: "{{ made }}" },
  ];
  const answer = await app.post("/connect/flows.json", { flow: { name: code, code, fields: { program } } });
  return { code, ...answer };
};
const run = async (source: string, more: object = {}, input: object = {}) => {
  const { code, status, text } = await save({ source, ...more });
  expect([status, text]).toEqual([201, expect.any(String)]);
  return (await app.post(`/connect/flows/${code}/run.json?wait=25`, input)).json;
};

describe("a script", () => {
  const cases: [what: string, source: string, more: object, result: unknown][] = [
    [
      "has its input, filled in",
      "return { sum: input.a + input.b };",
      { input: { a: 1, b: "{{ input.n }}" } },
      { sum: 8 },
    ],
    ["has null without an input", "return input", {}, null],
    ["returns nothing", "const a = 1;", {}, null],
    ["has braces of its own", "const a = {b: {c: 1}}; return `${a.b.c}{{ x }}`", {}, "1{{ x }}"],
    ["keeps texts as they are", "return input.text", { input: { text: "\u2028 Łódź \"'`" } }, "\u2028 Łódź \"'`"],
    ["cannot change what reads its result", "JSON.stringify = () => 'x'; return [1]", {}, [1]],
    ["is strict", "return this === undefined", {}, true],
    [
      "reaches nothing",
      "return [typeof process, typeof require, typeof fetch, typeof Bun, typeof setTimeout]",
      {},
      Array(5).fill("undefined"),
    ],
  ];
  test.each(cases)("%s", async (_, source, more, result) => {
    expect(await run(source, more, { n: 7 })).toMatchObject({ status: "finished", data: result });
  });

  const faults: [what: string, source: string, says: string][] = [
    ["throws", "\n\nthrow new TypeError('no')", "the script TypeError: no (line 3)"],
    ["throws a text", "throw 'no'", 'the script throws "no"'],
    ["is none", "return }", "the script SyntaxError"],
    ["ends its function", "}); (() => { while (true);", "the script"],
    ["has no end", "while (true);", "the script takes more than 1000 ms"],
    [
      "fills the memory",
      "const a = []; while (true) a.push(new Array(1000).fill(1));",
      "the script needs more than 64 MB",
    ],
    ["calls itself", "const f = () => f() + 1; return f()", "the script InternalError: stack overflow"],
    ["returns too much", "return 'x'.repeat(1_000_001)", "the script returns more than 1000000 characters"],
    ["returns what is no JSON", "const a = {}; a.a = a; return a", "the script TypeError: circular reference"],
    ["searches for ever", "return /^(a+)+$/.test('a'.repeat(60) + 'b')", "the script takes more"],
  ];
  test.each(faults)("that %s fails, and the next one runs", async (_, source, says) => {
    const ended = await run(source);
    expect([ended.status, ended.error]).toEqual(["error", expect.stringContaining(says)]);
    expect((await run("return 1")).data).toBe(1);
  });

  test("fails into on_error, and may be tried again", async () => {
    const on_error = [{ type: "return", value: "{{ error.status }} {{ error.message }}" }];
    expect((await run("throw new Error('x')", { retry: { times: 1, delay: 0 }, on_error })).data).toBe(
      "422 the script Error: x (line 1)",
    );
  });

  test("keeps nothing from one run to the next", async () => {
    expect((await run("globalThis.kept = 7; Array.prototype.map = 1; return 1")).data).toBe(1);
    expect((await run("return [typeof kept, [1].map((n) => n + 1)[0]]")).data).toEqual(["undefined", 2]);
  });

  test("runs in a test of the flow too", async () => {
    const { code } = await save({ source: "return input.n * 2", input: { n: "{{ input.n }}" } });
    const tried = async (body: object) => (await app.post(`/connect/flows/${code}/test.json`, body)).json;
    expect(await tried({ input: { n: 4 } })).toMatchObject({ status: "finished", data: 8 });
    expect((await tried({ input: { n: 4 }, program: [{ type: "script", source: "throw 1" }] })).error).toContain(
      "throws 1",
    );
  });

  const refused: [what: string, step: object, says: string][] = [
    ["no source", {}, "program[0].source is required"],
    ["a source that is no text", { source: 7 }, "program[0].source"],
    ["a long source", { source: "x".repeat(50_001) }, "program[0].source"],
    ["an unknown key", { source: "return 1", language: "py" }, "program[0].language is unknown"],
  ];
  test.each(refused)("%s is refused", async (_, step, says) => {
    const { status, json } = await save(step);
    expect([status, json.program?.[0]]).toEqual([422, expect.stringContaining(says)]);
  });
});
