/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { createLiquid } from "../../../runtime/liquid/liquid.ts";
import { checkProgram } from "../program/check.ts";
import { dryRun } from "./dry-run.ts";
import type { Program } from "../program/program.ts";
import { createTemplates } from "../program/template.ts";

const templates = createTemplates(createLiquid());
const noTypes = new Map();

interface RunInput {
  input?: Record<string, unknown>;
  answers?: Record<string, unknown>;
  flows?: Record<string, unknown[]>;
}

async function run(program: unknown[], { input = {}, answers = {}, flows = {} }: RunInput = {}) {
  const ids = Object.keys(flows);
  expect(checkProgram(program, templates, noTypes).mistakes).toEqual([]);
  const { end, steps } = await dryRun({
    code: "test",
    program: program as Program,
    input,
    app: null,
    answers,
    templates,
    stepTypes: noTypes,
    accountUrl: "https://acme.test",
    asWritten: async () => undefined,
    flowOf: async (code) =>
      flows[code] && { programId: ids.indexOf(code) + 1, program: flows[code] as unknown as Program },
  });
  const shown = steps.toSorted((a, b) => a.n - b.n).map(({ id, status, error }) => `${id} ${error ?? status}`);
  return { ...end, steps: shown };
}
const set = (values: object) => ({ type: "mutation", set: values });
const dataOf = async (program: unknown[], given?: RunInput) => {
  const end = await run(program, given);
  expect(end.kind).toBe("finished");
  return end.kind === "finished" ? end.data : undefined;
};

test("a string that is one expression gives its typed value, any other one text", async () => {
  const values: [template: unknown, value: unknown][] = [
    ["{{ n }}", 7],
    ["{{ n | plus: 1 }}", 8],
    ["{{n}}", 7],
    ["n is {{ n }}", "n is 7"],
    [" {{ n }}", " 7"],
    ["{{ n }}{{ n }}", "77"],
    ["{% if n > 5 %}big{% endif %}", "big"],
    ["{{ list }}", [1, "two", { three: 3 }]],
    ["{{ nothing }}", null],
    ["{{ yes }}", true],
    ["{{ input.n }}", 7],
    ["{{ account_url }}", "https://acme.test"],
    [{ deep: ["{{ n }}", { er: "{{ list[1] }}" }] }, { deep: [7, { er: "two" }] }],
    [
      ["{{ yes }}", 1, null, false],
      [true, 1, null, false],
    ],
    ["plain", "plain"],
    [12.5, 12.5],
    ["{{ __proto__ }}", null],
    ["{{ constructor }}", null],
  ];
  for (const [template, value] of values) {
    const input = { n: 7, list: [1, "two", { three: 3 }], yes: true };
    expect(await dataOf([{ type: "return", value: template }], { input })).toEqual(value);
  }
});

test("conditions are Liquid or { left, op, right }", async () => {
  const input = { temp: 24.5, city: "Kraków", none: "", list: ["a"] };
  const conditions: [condition: unknown, holds: boolean][] = [
    ["temp > 20 and city != blank", true],
    ["{{ temp > 30 }}", false],
    ["none == blank", true],
    ["missing", false],
    [true, true],
    [{ left: "{{ temp }}", op: ">", right: 20 }, true],
    [{ left: "{{ city }}", op: "==", right: "Kraków" }, true],
    [{ left: "{{ list }}", op: "contains", right: "a" }, true],
    [{ left: "{{ list }}", op: "contains", right: "b" }, false],
    [{ left: 1, op: "!=", right: 1 }, false],
    [{ left: 1, op: "<=", right: 1 }, true],
  ];
  for (const [condition, holds] of conditions) {
    const program = [{ type: "if", condition, then: [set({ is: true })], else: [set({ is: false })] }];
    expect([condition, await dataOf(program, { input })]).toEqual([condition, { is: holds }]);
  }
});

test("a mutation sets all its names or none, each seeing those before it", async () => {
  expect(await dataOf([set({ a: 1, b: "{{ a | plus: 1 }}" }), set({ b: "{{ b | times: 10 }}" })])).toEqual({
    a: 1,
    b: 20,
  });
});

test("the result is the returned value, else what mutations have set", async () => {
  expect(await dataOf([set({ a: 1 }), { type: "return", value: "{{ a }}" }, set({ a: 2 })])).toBe(1);
  expect(await dataOf([set({ a: 1 }), { type: "return" }, set({ a: 2 })])).toEqual({ a: 1 });
  expect(await dataOf([])).toEqual({});
  const nested = {
    type: "if",
    condition: "true",
    then: [{ type: "each", in: [1, 2, 3], do: [{ type: "return", value: "{{ item }}" }] }],
  };
  expect(await dataOf([nested, set({ a: 1 })])).toBe(1);
});

test("each goes through elements in order, with its index, and nests", async () => {
  const program = [
    set({ seen: "" }),
    {
      type: "each",
      in: "{{ rows }}",
      as: "row",
      do: [
        {
          type: "each",
          in: "{{ row }}",
          as: "cell",
          do: [set({ seen: "{{ seen }}{{ row_index }}{{ cell_index }}{{ cell }} " })],
        },
      ],
    },
  ];
  expect(await dataOf(program, { input: { rows: [["a", "b"], [], ["c"]] } })).toEqual({ seen: "00a 01b 20c " });
});

test("each with concurrency runs so many elements at once and all of them once", async () => {
  const program = [
    {
      type: "each",
      in: "{{ n }}",
      concurrency: 5,
      do: [
        { type: "wait", seconds: 1 },
        { type: "connector", connector: "c", method: "m" },
      ],
    },
  ];
  const n = Array.from({ length: 23 }, (_, i) => i);
  const end = await run(program, { input: { n }, answers: { "c.m": 1 } });
  expect(end.kind).toBe("finished");
  expect(end.steps.filter((step) => step.includes("0.do.1#"))).toHaveLength(23);
  expect(new Set(end.steps).size).toBe(end.steps.length);
});

test("each takes its expression without braces too, as a condition", async () => {
  const program = [
    { type: "mutation", set: { seen: "" } },
    { type: "each", in: "input.lines", do: [set({ seen: "{{ seen }}{{ item }};" })] },
    { type: "return", value: "{{ seen }}" },
  ];
  expect(await run(program, { input: { lines: ["a", "b"] } })).toMatchObject({ kind: "finished", data: "a;b;" });
});

test("each refuses what is no array and more than a thousand elements", async () => {
  const program = [{ type: "each", in: "{{ n }}", do: [] }];
  expect(await run(program, { input: { n: "abc" } })).toMatchObject({ kind: "error", message: "in is not an array" });
  const n = Array.from({ length: 1001 }, () => 0);
  expect(await run(program, { input: { n } })).toMatchObject({
    kind: "error",
    message: expect.stringContaining("1000"),
  });
});

test("a flow within the flow has names of its own", async () => {
  const flows = { child: [set({ got: "{{ input.x }}", outer: "{{ a }}" })] };
  const program = [set({ a: 1 }), { type: "flow", flow: "child", input: { x: "{{ a }}" }, as: "child" }];
  expect(await dataOf([...program, { type: "return", value: "{{ child }}" }], { flows })).toEqual({
    got: 1,
    outer: null,
  });
  expect((await run(program, { flows })).steps).toEqual(["0 finished", "1 finished", "child/0 finished"]);
});

test("a return within a called flow ends only that one", async () => {
  const flows = { child: [{ type: "if", condition: "true", then: [{ type: "return", value: 5 }] }, { type: "fail" }] };
  expect(await dataOf([{ type: "flow", flow: "child", as: "x" }, set({ y: "{{ x | plus: 1 }}" })], { flows })).toEqual({
    y: 6,
  });
});

test("a flow that calls itself is stopped, and so is an endless program", async () => {
  const itself = [{ type: "flow", flow: "again" }];
  expect(await run(itself, { flows: { again: itself } })).toMatchObject({
    kind: "error",
    message: expect.stringContaining("16 deep"),
  });
  const thousand = Array.from({ length: 1000 }, (_, i) => i);
  const nested = [{ type: "each", in: "{{ t }}", do: [{ type: "each", in: "{{ t }}", do: [set({ a: 1 })] }] }];
  expect(await run(nested, { input: { t: thousand } })).toMatchObject({
    kind: "error",
    message: expect.stringContaining("20000 steps"),
  });
});

test("fail ends the process with its message; on_error steps take its place and see the error", async () => {
  expect(await run([{ type: "fail", message: "no {{ what }}" }], { input: { what: "stock" } })).toMatchObject({
    kind: "error",
    message: "no stock",
  });
  const long = await run([{ type: "fail", message: "{{ what }}" }], { input: { what: "🙂".repeat(100_000) } });
  expect(long).toMatchObject({ kind: "error", message: `${"🙂".repeat(999)}\uFFFD…` });
  const handled = [
    {
      type: "connector",
      id: "call",
      connector: "c",
      method: "m",
      as: "x",
      on_error: [set({ why: "{{ error.message }}", at: "{{ error.step }}", status: "{{ error.status }}" })],
    },
    set({ after: true }),
  ];
  const answers = { "c.m": { status: 503, data: { oh: "no" } } };
  expect(await dataOf(handled, { answers })).toEqual({
    why: "the remote answered 503",
    at: "call",
    status: 503,
    after: true,
  });
});

test("an error goes out to the innermost step around that handles it", async () => {
  const inner = { type: "if", condition: "true", then: [{ type: "fail", message: "deep" }] };
  const program = [
    { type: "each", in: [1, 2], do: [inner, set({ never: 1 })], on_error: [set({ caught: "{{ error.message }}" })] },
    set({ after: 1 }),
  ];
  const end = await run(program);
  expect(end).toMatchObject({ kind: "finished", data: { caught: "deep", after: 1 } });
  const handled = ["0.on_error.0 finished", "1 finished"];
  expect(end.steps).toEqual(["0 deep", "0.do.0#0 deep", "0.do.0.then.0#0 deep", ...handled]);
});

test("retry tries so many times more before it fails", async () => {
  const step = { type: "connector", connector: "c", method: "m", retry: { times: 2, delay: 5 } };
  const end = await run([step], { answers: { "c.m": { error: "gone" } } });
  expect(end).toMatchObject({ kind: "error", message: "gone" });
});

test("values that pretend to be something else fail a step, and nothing more", async () => {
  const odd = JSON.parse('{"toString": 1, "valueOf": 2, "toJSON": 3, "length": 4, "then": 5}');
  const wait = [{ type: "wait", seconds: "{{ odd }}" }];
  expect(await run(wait, { input: { odd } })).toMatchObject({
    kind: "error",
    message: expect.stringContaining("seconds"),
  });
  const all = [
    { type: "each", in: "{{ odd }}", do: [], on_error: [set({ a: 1 })] },
    { type: "db", op: "get", db: "d", id: "{{ odd }}", on_error: [set({ b: 1 })] },
    { type: "db", op: "create", db: "d", data: "{{ odd.length }}", on_error: [set({ c: 1 })] },
    { type: "if", condition: { left: "{{ odd }}", op: ">", right: 1 }, then: [], on_error: [set({ d: 1 })] },
    { type: "flow", flow: "x", input: "{{ odd.length }}", on_error: [set({ e: 1 })] },
    set({ text: "{{ odd | default: 7 }}", f: "x{{ odd.length }}" }),
    { type: "fail", message: "{{ odd }}", on_error: [set({ g: 1 })] },
  ];
  expect((await run(all, { input: { odd } })).kind).toBe("finished");
});

test("names of the engine are not taken and hostile names do no harm", async () => {
  const input = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 2}');
  expect(await dataOf([set({ a: "{{ constructor }}", b: "{{ polluted }}" })], { input })).toEqual({ a: 2, b: null });
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test("every mistake is told with its step and key", () => {
  const mistakes: [program: unknown, place: string][] = [
    ["x", "program must be an array"],
    [{}, "program must be an array"],
    [[null], "program[0] must be an object"],
    [[{}], "program[0].type must be one of"],
    [[{ type: "nope" }], "program[0].type must be one of"],
    [
      [set({}), set({}), { type: "if", condition: "a", then: [{ type: "connector", method: "m" }] }],
      "program[2].then[0].connector is required",
    ],
    [[{ type: "connector", connector: "c" }], "program[0].method is required"],
    [[{ type: "connector", connector: 7, method: "m" }], "program[0].connector must be a code"],
    [[{ type: "connector", connector: "c", method: "m", params: [] }], "program[0].params must be an object"],
    [
      [{ type: "connector", connector: "c", method: "m", params: { q: "{{ a b }}" } }],
      "program[0].params.q is not valid Liquid",
    ],
    [[{ type: "connector", connector: "c", method: "m", as: "a b" }], "program[0].as must be a name"],
    [[{ type: "mutation" }], "program[0].set is required"],
    [[{ type: "mutation", set: [] }], "program[0].set must be an object"],
    [[set({ "a.b": 1 })], "program[0].set.a.b must be a name"],
    [[set({ input: 1 })], "program[0].set.input must not be"],
    [[JSON.parse('{"type":"mutation","set":{"__proto__":1}}')], "program[0].set.__proto__ must not be"],
    [[set({ a: { b: ["{% if %}"] } })], "program[0].set.a.b[0] is not valid Liquid"],
    [[{ type: "if", then: [] }], "program[0].condition is required"],
    [[{ type: "if", condition: "a >", then: [] }], "program[0].condition is not a valid Liquid condition"],
    [[{ type: "if", condition: { left: 1, op: "~", right: 2 }, then: [] }], "program[0].condition.op must be one of"],
    [[{ type: "if", condition: { op: "==", right: 2 }, then: [] }], "program[0].condition.left is required"],
    [[{ type: "if", condition: "a", then: {} }], "program[0].then must be an array"],
    [[{ type: "if", condition: "a" }], "program[0].then is required"],
    [
      [{ type: "if", condition: "a", else: [{ type: "fail", message: 7 }] }],
      "program[0].else[0].message must be a text",
    ],
    [[{ type: "each", do: [] }], "program[0].in is required"],
    [[{ type: "each", in: "{{ a }}" }], "program[0].do is required"],
    [[{ type: "each", in: 7, do: [] }], "program[0].in must be an array"],
    [[{ type: "each", in: "a | nothing", do: [] }], "program[0].in"],
    [[{ type: "each", in: "", do: [] }], "program[0].in is required"],
    [[{ type: "each", in: [], do: [], concurrency: 0 }], "program[0].concurrency must be a whole number"],
    [[{ type: "db", op: "drop", db: "x" }], "program[0].op must be one of"],
    [[{ type: "db", op: "create", db: "x" }], "program[0].data is required"],
    [[{ type: "db", op: "get", db: "x" }], "program[0].id is required"],
    [[{ type: "db", op: "search" }], "program[0].db is required"],
    [[{ type: "flow" }], "program[0].flow is required"],
    [[{ type: "flow", flow: "x", input: 7 }], "program[0].input must be an object"],
    [[{ type: "wait" }], "program[0].seconds is required"],
    [[{ type: "wait", seconds: -1 }], "program[0].seconds must be a number"],
    [[{ type: "wait", seconds: "soon" }], "program[0].seconds must be a number"],
    [[{ type: "fail", retry: 3 }], "program[0].retry must be an object"],
    [[{ type: "fail", retry: { times: 99 } }], "program[0].retry.times must be"],
    [[{ type: "fail", retry: { times: 1, delay: "1" } }], "program[0].retry.delay must be"],
    [[{ type: "fail", timeout: 0 }], "program[0].timeout must be"],
    [[{ type: "fail", on_error: [{ type: "x" }] }], "program[0].on_error[0].type must be"],
    [[{ type: "fail", id: "a b" }], "program[0].id must be"],
    [
      [
        { type: "fail", id: "a" },
        { type: "fail", id: "a" },
      ],
      'program[1].id "a" is already the id of another step',
    ],
    [Array.from({ length: 501 }, () => set({ a: 1 })), "at most 500 steps"],
  ];
  for (const [program, place] of mistakes)
    expect(checkProgram(program, templates, noTypes).mistakes.join("\n")).toContain(place);
});

test("the checker takes whatever it is given without a fault of its own", () => {
  const types = fc.constantFrom("connector", "mutation", "if", "db", "each", "flow", "return", "fail", "wait", "x");
  const keys = fc.constantFrom(
    "type",
    "set",
    "condition",
    "then",
    "do",
    "in",
    "retry",
    "on_error",
    "id",
    "value",
    "op",
  );
  const step = fc.dictionary(keys, fc.anything()).chain((one) => types.map((type) => ({ ...one, type })));
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.array(step)), (program) => {
      expect(
        Array.isArray(checkProgram(JSON.parse(JSON.stringify(program ?? null) ?? "null"), templates, noTypes).mistakes),
      ).toBe(true);
    }),
    { numRuns: 300 },
  );
});
