/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import { describe, expect, test } from "bun:test";
import { MemoryFull } from "./fault.ts";
import { previewOf } from "./tools.ts";
import type { Program } from "../program/program.ts";
import { blockAt, limits } from "../program/program.ts";
import { shownSteps, toAction, toApi, toListed } from "../processes/show.ts";
import {
  forgetAttempts,
  memoryText,
  newState,
  programIdsOf,
  resultOf,
  type BlockFrame,
  type EachFrame,
  type Frame,
  type Scope,
  type StepRecord,
} from "./state.ts";
import { elementsOf } from "../program/template.ts";
import {
  callsOf,
  deadlineOf,
  idOf,
  pathOf,
  placeIn,
  scopeAt,
  stepOf,
  variablesOf,
  type Thread,
  type EngineState,
} from "./thread.ts";

const block = (place: string, at: number, more: Partial<BlockFrame> = {}): BlockFrame => ({
  kind: "block",
  place,
  at,
  ...more,
});
const scope = (flow: string, programId: number, more: Partial<Scope> = {}): Scope => ({
  flow,
  programId,
  input: {},
  vars: {},
  set: [],
  ...more,
});

const program: Program = [
  { type: "mutation", set: { a: 1 } },
  { type: "if", condition: true, then: [{ type: "wait", id: "pause", seconds: 1 }], else: [] },
  { type: "each", in: [], do: [{ type: "flow", flow: "inner" }] },
  { type: "db", op: "get", db: "orders", id: "7" },
];
const inner: Program = [{ type: "fail" }];
const programs = new Map([
  [1, program],
  [2, inner],
]);

describe("the place of a step", () => {
  const places: [place: string, steps: number][] = [
    ["", 4],
    ["1.then", 1],
    ["1.else", 0],
    ["2.do", 1],
    ["0.then", 0],
    ["9.do", 0],
    ["1.then.0.on_error", 0],
  ];
  test.each(places)("%j has %i steps", (place, steps) => {
    expect(blockAt(program, place)).toHaveLength(steps);
  });
  const branches: [frame: BlockFrame, branch: string, place: string][] = [
    [block("", 1), "then", "1.then"],
    [block("1.then", 0), "on_error", "1.then.0.on_error"],
    [block("2.do", 3), "do", "2.do.3.do"],
  ];
  test.each(branches)("in %j, branch %s is %s", (frame, branch, place) => {
    expect(placeIn(frame, branch)).toBe(place);
  });
});

const each: EachFrame = { kind: "each", list: "1", as: "row", concurrency: 2, next: 2, lanes: [] };
const world: EngineState = {
  programs,
  accountUrl: "https://acme.test",
  memory: {
    given: { app: { user: null } },
    scopes: {
      0: scope("outer", 1, { input: { app: "forged", city: "Łódź", input: 1 }, vars: { city: "Kraków", row: "mine" } }),
      2: scope("inner", 2, { input: { deep: true }, vars: { account_url: "forged" } }),
    },
    lists: { 1: ["first", "second"] },
  },
};
const outer: Thread = { frames: [block("", 2, { deadline: 900 }), each], index: 0, stopped: () => false };
const element = (frames: Frame[], index = 1): Thread => ({
  frames,
  index,
  parent: outer,
  each,
  stopped: () => false,
});
const ownThread = (frames: Frame[]): Thread => ({ frames, index: 0, stopped: () => false });
const called = element([block("2.do", 0, { deadline: 500 }), { kind: "call", scope: "2" }, block("", 0)]);

describe("a running step", () => {
  const ids: [what: string, thread: Thread, at: number, id: string][] = [
    ["its place, without an id", ownThread([block("", 0)]), 0, "0"],
    ["its own id", ownThread([block("", 1), block("1.then", 0)]), 1, "pause"],
    ["its place in a branch", element([block("2.do", 0)]), 0, "2.do.0#1"],
    ["the flow that it is in", called, 2, "inner/0#1"],
    ["its place, if the id is a record's", ownThread([block("", 3)]), 0, "3"],
    ["nothing at the end of its block", ownThread([block("", 4)]), 0, ""],
  ];
  test.each(ids)("is shown with %s", (_, thread, at, id) => {
    expect(idOf(world, thread, at)).toBe(id);
  });

  test("has a path that no other step of the process has", () => {
    const threads = [
      ...ids.map(([, thread]) => thread),
      element([block("2.do", 0)], 0),
      element([block("2.do", 1)], 1),
      element([block("2.do", 0), { kind: "call", scope: "3" }, block("", 0)]),
    ];
    const paths = threads.map(pathOf);
    expect(new Set(paths).size).toBe(paths.length);
    expect(threads.map(pathOf)).toEqual(paths);
  });

  const depths: [thread: Thread, calls: number, deadline: number | undefined][] = [
    [ownThread([block("", 0)]), 0, undefined],
    [ownThread([block("", 0, { deadline: 7 }), block("1.then", 0)]), 0, 7],
    [outer, 0, 900],
    [called, 1, 500],
    [element([block("2.do", 0, { deadline: 1000 })]), 0, 900],
  ];
  test.each(depths)("counts calls and the earliest time limit (%#)", (thread, calls, deadline) => {
    expect([callsOf(thread), deadlineOf(thread)]).toEqual([calls, deadline]);
  });

  test("sees its own names, then those around it, and who asks above all", () => {
    expect(variablesOf(world, element([block("2.do", 0, { error: { message: "no" } })]))).toEqual({
      app: { user: null },
      city: "Kraków",
      row: "second",
      row_index: 1,
      error: { message: "no" },
      input: { app: "forged", city: "Łódź", input: 1 },
      account_url: "https://acme.test",
    });
  });
  test("of a called flow sees neither elements nor errors of its caller", () => {
    expect(variablesOf(world, called)).toEqual({
      app: { user: null },
      deep: true,
      input: { deep: true },
      account_url: "https://acme.test",
    });
    expect(scopeAt(world, called, 0).flow).toBe("outer");
    expect(stepOf(world, called, 2)).toEqual({ type: "fail" });
  });
});

describe("the stored state", () => {
  test("of a new process begins at its first step, and nobody asks unless the starter says so", () => {
    expect(newState("tea", 1, { a: 1 })).toEqual({
      cursor: { frames: [block("", 0)], names: 0, begun: 0, outputChars: 0 },
      memory: { given: { app: null }, scopes: { 0: scope("tea", 1, { input: { a: 1 } }) }, lists: {} },
    });
    expect(newState("tea", 1, {}, { app: { id: 7 } }).memory.given).toEqual({ app: { id: 7 } });
  });

  const results: [vars: Record<string, unknown>, set: string[], result: Record<string, unknown>][] = [
    [{}, [], {}],
    [{ a: 1, b: 2 }, ["b"], { b: 2 }],
    [{ a: undefined }, ["a", "c"], { a: null, c: null }],
    [{ a: 0, b: false }, ["b", "a"], { b: false, a: 0 }],
  ];
  test.each(results)("%j with %j set comes to %j", (vars, set, result) => {
    expect(resultOf(scope("tea", 1, { vars: { ...vars }, set: [...set] }))).toEqual(result);
  });

  test("may have eight million characters, and not one more", () => {
    const empty = JSON.stringify({ scopes: {}, lists: { 1: [""] } }).length;
    const of = (chars: number) => memoryText({ scopes: {}, lists: { 1: ["x".repeat(chars)] } });
    expect(of(limits.memoryChars - empty)).toHaveLength(limits.memoryChars);
    expect(() => of(limits.memoryChars - empty + 1)).toThrow(MemoryFull);
  });

  test("needs each program once", () => {
    const scopes = { 0: scope("a", 3), 1: scope("b", 5), 2: scope("a", 3) };
    expect(programIdsOf({ scopes, lists: {} })).toEqual([3, 5]);
  });

  const tries: [what: string, before: Partial<BlockFrame>, after: Partial<BlockFrame>][] = [
    ["attempts", { tries: 3 }, {}],
    ["its time limit", { deadline: 5, deadlineMs: 5 }, {}],
    ["the pause before an attempt", { wake: 5, wakeMs: 5 }, {}],
    ["no wait of a wait step", { wake: 5, wakeMs: 5, waiting: true }, { wake: 5, wakeMs: 5, waiting: true }],
  ];
  test.each(tries)("that is tried again forgets %s", (_, before, after) => {
    const alone = block("", 0, before);
    const within = block("", 0, before);
    forgetAttempts([alone, { ...each, lanes: [{ index: 0, frames: [within] }] }]);
    for (const frame of [alone, within]) expect(JSON.parse(JSON.stringify(frame))).toEqual(block("", 0, after));
  });
});

describe("a process is shown", () => {
  const at = new Date("2026-01-31T10:00:00Z");
  const record = (n: number, more: Partial<StepRecord> = {}): StepRecord => ({
    n,
    id: `${n}`,
    type: "mutation",
    status: "finished",
    started_at: at.toJSON(),
    finished_at: at.toJSON(),
    output: null,
    error: null,
    ...more,
  });
  const row = {
    accountId: 1,
    id: "p",
    flowCode: "tea",
    status: "pending",
    input: {},
    data: null,
    error: null,
    createdAt: at,
    finishedAt: null,
    cursor: null,
    steps: [record(3), record(1)],
    further: [[record(5)], [record(2)]],
  } as const;
  const running = block("", 0, { running: { n: 4, since: at.getTime(), id: "call", type: "connector" } });
  const cursor = (frames: Frame[]) => ({ frames, names: 0, begun: 0, outputChars: 0 });

  test("with its steps in the order they began", () => {
    expect(toApi(row).steps.map(({ id }) => id)).toEqual(["1", "2", "3", "5"]);
  });
  const statuses: [status: "pending" | "error", step: string, error: string | null][] = [
    ["pending", "pending", null],
    ["error", "error", "broken"],
  ];
  test.each(statuses)("whose running step is %s with it", (status, step, error) => {
    const frames = [
      running,
      {
        ...each,
        lanes: [{ index: 0, frames: [block("", 0, { running: { n: 6, since: 0, id: "x", type: "wait" } })] }],
      },
    ] as Frame[];
    const shown = toApi({ ...row, status, error, finishedAt: status === "error" ? at : null, cursor: cursor(frames) });
    expect(
      shown.steps.filter(({ id }) => id === "call" || id === "x").map((one) => [one.id, one.status, one.error]),
    ).toEqual([
      ["call", step, error],
      ["x", step, error],
    ]);
  });
  test("in a list with a hundred steps and previews of large outputs", () => {
    const steps = Array.from({ length: 150 }, (_, n) => record(n, { output: n === 0 ? "x".repeat(1000) : n }));
    const shown = toListed({ ...row, steps, further: null }).steps;
    expect(shown).toHaveLength(100);
    expect(shown[0]?.output).toEqual(previewOf(JSON.stringify("x".repeat(1000))));
    expect(shown[1]?.output).toBe(1);
  });
  test("to an app without its steps, and after a dry run with them", () => {
    expect(toAction({ ...row, status: "finished", data: undefined })).toEqual({
      flow_process_id: "p",
      status: "finished",
      data: null,
      error: null,
    });
    expect(shownSteps([record(2), record(1)], cursor([running]), null).map(({ id }) => id)).toEqual(["1", "2"]);
    expect(shownSteps([record(1)], cursor([running]), "broken").map(({ id, status }) => [id, status])).toEqual([
      ["1", "finished"],
      ["call", "error"],
    ]);
  });
  test("a preview never ends in half a character", () => {
    expect(previewOf(`${"x".repeat(199)}💡`)).toEqual({
      truncated: true,
      chars: 201,
      preview: `${"x".repeat(199)}\ufffd`,
    });
  });
});

const elements: [given: unknown, template: unknown][] = [
  ["rows", "{{ rows }}"],
  ["{{ rows }}", "{{ rows }}"],
  ["{% if a %}b{% endif %}", "{% if a %}b{% endif %}"],
  [["rows"], ["rows"]],
  [undefined, undefined],
];
test.each(elements)("an each over %j evaluates %j", (given, template) => {
  expect(elementsOf(given)).toEqual(template);
});
