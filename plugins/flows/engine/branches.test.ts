/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
/** The steps `try` and `parallel`: every way through them, alone and in each other. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { createLiquid } from "../../../runtime/liquid/liquid.ts";
import { checkProgram } from "../program/check.ts";
import type { Program } from "../program/program.ts";
import { stepsIn } from "../program/takes.ts";
import { createTemplates } from "../program/template.ts";
import { dryRun } from "./dry-run.ts";

const templates = createTemplates(createLiquid());
const noTypes = new Map();
const set = (values: object) => ({ type: "mutation", set: values });
const fail = (message: string) => ({ type: "fail", message });
const attempt = (steps: unknown[], handled: unknown[], more: object = {}) => ({
  type: "try",
  do: steps,
  catch: handled,
  ...more,
});
const parallel = (branches: unknown[][], more: object = {}) => ({ type: "parallel", branches, ...more });

async function run(program: unknown[], answers: Record<string, unknown> = {}) {
  expect(checkProgram(program, templates, noTypes)).toEqual({ mistakes: [], outdated: [] });
  const { end, steps } = await dryRun({
    code: "test",
    program: program as Program,
    input: {},
    app: null,
    answers,
    templates,
    stepTypes: noTypes,
    accountUrl: "https://acme.test",
    asWritten: async () => undefined,
    flowOf: async () => undefined,
  });
  const shown = steps.toSorted((a, b) => a.n - b.n).map(({ id, status, error }) => `${id} ${error ?? status}`);
  return { ...end, steps: shown };
}

test("without a failure `catch` is skipped, and the result says so", async () => {
  const end = await run([attempt([set({ a: 1 })], [set({ b: 1 })], { as: "tried" }), set({ ok: "{{ tried.ok }}" })]);
  expect(end).toMatchObject({ kind: "finished", data: { a: 1, ok: true } });
  expect(end.steps).toEqual(["0 finished", "0.do.0 finished", "1 finished"]);
});

test("a failure runs `catch` with `error` in scope, and the flow goes on", async () => {
  const call = { type: "connector", id: "call", connector: "c", method: "m" };
  const handled = set({ said: "{{ error.step }} {{ error.message }} {{ error.status }} {{ error.data.why }}" });
  const program = [
    attempt([call, set({ never: 1 })], [handled], { as: "tried" }),
    set({ gone: "{{ error == nil }}", ok: "{{ tried.ok }}", kept: "{{ tried.error.message }}" }),
  ];
  const end = await run(program, { call: { status: 503, data: { why: "busy" } } });
  expect(end).toMatchObject({
    kind: "finished",
    data: { said: "call the remote answered 503 503 busy", ok: false, kept: "the remote answered 503", gone: true },
  });
  expect(end.steps.map((one) => one.split(" ")[0])).toEqual(["0", "call", "0.catch.0", "1"]);
});

test("what is handled inside never reaches `catch`; what fails in `catch` goes further out", async () => {
  const inner = { ...fail("inner"), on_error: [set({ inner: 1 })] };
  expect(await run([attempt([inner], [set({ caught: 1 })])])).toMatchObject({ data: { inner: 1 } });
  const again = attempt([fail("first")], [fail("{{ error.message }}, then second")]);
  expect(await run([again])).toMatchObject({ kind: "error", message: "first, then second" });
  const outer = attempt([again], [set({ caught: "{{ error.message }}" })]);
  expect(await run([outer])).toMatchObject({ kind: "finished", data: { caught: "first, then second" } });
  const other = { ...again, on_error: [set({ other: "{{ error.message }}" })] };
  expect(await run([other])).toMatchObject({ kind: "finished", data: { other: "first, then second" } });
});

test("retry of a `try` repeats `do` before it is caught", async () => {
  const counted = [set({ n: "{{ n | plus: 1 }}" }), fail("no")];
  const end = await run([set({ n: 0 }), attempt(counted, [set({ caught: 1 })], { retry: { times: 2, delay: 0 } })]);
  expect(end).toMatchObject({ kind: "finished", data: { n: 3, caught: 1 } });
});

test("`return` in `do` or `catch` ends the flow", async () => {
  const back = { type: "return", value: 7 };
  expect(await run([attempt([back], []), fail("never")])).toMatchObject({ kind: "finished", data: 7 });
  expect(await run([attempt([fail("x")], [back]), fail("never")])).toMatchObject({ kind: "finished", data: 7 });
});

test("a parallel runs every branch in the scope of the process, and then goes on", async () => {
  const branches = [[set({ a: 1 }), set({ c: "{{ a | plus: 1 }}" })], [set({ b: 1, last: "second" })], []];
  const end = await run([parallel(branches, { as: "all" }), set({ sum: "{{ a | plus: b | plus: all.count }}" })]);
  expect(end).toMatchObject({ kind: "finished", data: { a: 1, b: 1, c: 2, last: "second", sum: 5 } });
  const ids = end.steps.map((one) => one.split(" ")[0] ?? "").toSorted();
  expect(ids).toEqual(["0", "0.branches[0].0", "0.branches[0].1", "0.branches[1].0", "1"]);
});

test("the first failure or `return` of a branch ends the others", async () => {
  const slow = [set({ a: 1 }), set({ b: 1 }), set({ c: 1 })];
  expect(await run([parallel([[fail("broken")], slow], { concurrency: 1 })])).toMatchObject({ message: "broken" });
  const back = await run([parallel([[{ type: "return", value: 7 }], slow], { concurrency: 1 }), set({ after: 1 })]);
  expect(back).toMatchObject({ kind: "finished", data: 7 });
});

test("they stand in each other and in an each, with the elements in scope", async () => {
  const inner = attempt([{ type: "if", condition: "n == 2", then: [fail("two")] }], [set({ caught: "{{ n }}" })]);
  const loop = {
    type: "each",
    in: [1, 2, 3],
    as: "n",
    do: [parallel([[inner], [set({ seen: "{{ seen }}{{ n }}" })]])],
  };
  const end = await run([set({ seen: "" }), loop]);
  expect(end).toMatchObject({ kind: "finished", data: { caught: 2, seen: "123" } });
  expect(end.steps).toContain("1.do.0.branches[0].0.catch.0#1 finished");
  const tried = attempt([parallel([[fail("left")], [set({ right: 1 })]])], [set({ caught: "{{ error.message }}" })]);
  expect(await run([tried])).toMatchObject({ kind: "finished", data: { caught: "left" } });
});

test("their steps are walked, and their mistakes have places", () => {
  const program = [parallel([[attempt([], [set({ a: 1 })])], [set({ b: 1 })]])];
  expect([...stepsIn(program, "program")].map(({ place }) => place)).toEqual([
    "program[0]",
    "program[0].branches[0][0]",
    "program[0].branches[0][0].catch[0]",
    "program[0].branches[1][0]",
  ]);
  const mistakes: [step: object, place: string][] = [
    [{ type: "try", do: [] }, "program[0].catch is required"],
    [{ type: "try", catch: [] }, "program[0].do is required"],
    [attempt([{ type: "x" }], []), "program[0].do[0].type must be one of"],
    [{ type: "parallel" }, "program[0].branches is required"],
    [parallel([]), "program[0].branches must be 1 to 10 arrays of steps"],
    [parallel(Array.from({ length: 11 }, () => [])), "program[0].branches must be 1 to 10"],
    [{ type: "parallel", branches: [[], {}] }, "program[0].branches[1] must be an array of steps"],
    [parallel([[], [{ type: "fail", message: 7 }]]), "program[0].branches[1][0].message must be a text"],
    [parallel([[]], { concurrency: 11 }), "program[0].concurrency must be a whole number from 1 to 10"],
  ];
  for (const [step, place] of mistakes)
    expect(checkProgram([step], templates, noTypes).mistakes.join("\n")).toContain(place);
  let deep: unknown[] = [];
  for (let level = 0; level < 21; level++) deep = [level % 2 ? attempt(deep, []) : parallel([deep])];
  expect(checkProgram(deep, templates, noTypes).mistakes.join()).toContain("nests deeper than 20 levels");
});

/** What a block does, without the engine: whether it fails, and how often each step runs. */
type Plan =
  | { kind: "set" }
  | { kind: "fail" }
  | { kind: "try"; do: Plan[]; catch: Plan[] }
  | { kind: "parallel"; branches: Plan[][] };

function expected(plans: readonly Plan[], counts: { n: number }): boolean {
  return plans.every((plan) => {
    if (plan.kind === "set") return ++counts.n > 0;
    if (plan.kind === "fail") return false;
    if (plan.kind === "try") return expected(plan.do, counts) || expected(plan.catch, counts);
    return plan.branches.every((branch) => expected(branch, counts));
  });
}

const stepOf = (plan: Plan): object => {
  if (plan.kind === "set") return set({ n: "{{ n | plus: 1 }}" });
  if (plan.kind === "fail") return fail("no");
  if (plan.kind === "try") return attempt(plan.do.map(stepOf), plan.catch.map(stepOf));
  // One after the other, so that it is known how far each comes.
  return parallel(
    plan.branches.map((branch) => branch.map(stepOf)),
    { concurrency: 1 },
  );
};

test("any nesting of them runs what it says, no more and no less", async () => {
  const { block } = fc.letrec<{ block: Plan[]; plan: Plan }>((tie) => ({
    plan: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      { weight: 3, arbitrary: fc.constant<Plan>({ kind: "set" }) },
      fc.constant<Plan>({ kind: "fail" }),
      fc.record({ kind: fc.constant("try" as const), do: tie("block"), catch: tie("block") }),
      fc.record({
        kind: fc.constant("parallel" as const),
        branches: fc.array(tie("block"), { minLength: 1, maxLength: 3 }),
      }),
    ),
    block: fc.array(tie("plan"), { maxLength: 3 }),
  }));
  await fc.assert(
    fc.asyncProperty(block, async (plans) => {
      const counts = { n: 0 };
      const succeeds = expected(plans, counts);
      const whole = attempt(plans.map(stepOf), [], { as: "tried" });
      const end = await run([set({ n: 0 }), whole, { type: "return", value: ["{{ tried.ok }}", "{{ n }}"] }]);
      expect(end).toMatchObject({ kind: "finished", data: [succeeds, counts.n] });
    }),
    { numRuns: 200 },
  );
});
