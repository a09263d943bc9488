/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
/** Waits, pauses and time limits of the engine, with a clock that the test turns. */
import { describe, expect, test } from "bun:test";
import { createLiquid } from "../../../runtime/liquid/liquid.ts";
import { checkProgram } from "../program/check.ts";
import { createRun } from "./engine.ts";
import type { End, Host } from "./host.ts";
import type { Program } from "../program/program.ts";
import { newState, type State } from "./state.ts";
import { createTemplates } from "../program/template.ts";

const templates = createTemplates(createLiquid());

/** A stored process, which each `run` continues as a new driver would: from its JSON alone. */
function processOf(program: unknown[], input: Record<string, unknown> = {}) {
  expect(checkProgram(program, templates, new Map()).mistakes).toEqual([]);
  let stored = JSON.stringify(newState("test", 0, input));
  let time = Date.parse("2030-01-01T00:00:00Z");
  const begun = time;
  const calls: number[] = [];
  /** By call: how many seconds it takes, and whether it succeeds. */
  let answers: [seconds: number, ok: boolean][] = [];
  const run = async (): Promise<End> => {
    const state: State = JSON.parse(stored);
    const unused = () => Promise.reject(new Error("no step here does this"));
    const host: Host = {
      templates,
      programs: new Map([[0, program as Program]]),
      accountUrl: "",
      mode: "drive",
      signal: new AbortController().signal,
      now: () => time,
      async callConnector({ timeoutMs }) {
        const [seconds, ok] = answers[calls.length] ?? [0, true];
        calls.push((time - begun) / 1000);
        time += Math.min(seconds * 1000, timeoutMs ?? Infinity);
        const isLate = timeoutMs !== undefined && seconds * 1000 >= timeoutMs;
        const error = isLate ? "no answer" : ok ? null : "refused";
        return { ok: error === null, status: null, data: 7, error, retryAfterSeconds: null, durationMs: 0 };
      },
      runOwn: unused,
      db: unused,
      flow: unused,
      save: async () => {},
    };
    const end = await createRun(state, host).run();
    stored = JSON.stringify(state);
    return end;
  };
  return {
    calls,
    run,
    answer: (...given: typeof answers) => void (answers = given),
    turn: (seconds: number) => void (time += seconds * 1000),
    /** The seconds from the beginning until it wants to go on. */
    async suspendedTo(): Promise<number> {
      const end = await run();
      return end.kind === "suspended" ? (end.until - begun) / 1000 : Number.NaN;
    },
  };
}
const call = (more: object = {}) => ({ type: "connector", connector: "r", method: "go", as: "got", ...more });
const waiting = (seconds: unknown, more: object = {}) => ({ type: "wait", seconds, ...more });
const done = { type: "return", value: "done" };

describe("a wait", () => {
  const lengths: [seconds: unknown, until: number][] = [
    [3, 3],
    [2.5, 2.5],
    ["{{ n }}", 60],
    ["{{ text }}", 90],
    [2_592_000, 2_592_000],
  ];
  test.each(lengths)("of %j seconds ends after %d", async (seconds, until) => {
    const process = processOf([waiting(seconds), done], { n: 60, text: "90" });
    expect(await process.suspendedTo()).toBe(until);
    process.turn(until - 2.1); // a shorter rest is waited for in memory
    expect(await process.suspendedTo()).toBe(until);
    process.turn(2.1);
    expect(await process.run()).toEqual({ kind: "finished", data: "done" });
  });

  const wrong: [value: unknown][] = [["soon"], [""], ["   "], [-1], [2_592_001], [null], [true], [[]], [{}], ["NaN"]];
  test.each(wrong)("of %j seconds fails its step", async (n) => {
    expect(await processOf([waiting("{{ n }}")], { n }).run()).toEqual({
      kind: "error",
      message: "seconds must be a number from 0 to 2592000",
    });
  });
  test.each([[0], ["0"]])("of %j seconds is none", async (n) => {
    expect(await processOf([waiting("{{ n }}"), done], { n }).run()).toMatchObject({ kind: "finished" });
  });

  const limited: [what: string, step: object][] = [
    ["its own time limit", waiting(60, { timeout: 5 })],
    ["that of a step around it", { type: "if", condition: true, timeout: 5, then: [waiting(60)] }],
    ["that of an each", { type: "each", in: [1, 2], concurrency: 2, timeout: 5, do: [waiting(60)] }],
  ];
  test.each(limited)("ends with %s", async (_, step) => {
    const process = processOf([step, done]);
    expect(await process.suspendedTo()).toBe(5);
    process.turn(5);
    expect(await process.run()).toEqual({ kind: "error", message: "timed out" });
  });

  test("of several elements lets each go on in its own time", async () => {
    const each = { type: "each", in: [30, 10, 20], concurrency: 3, do: [waiting("{{ item }}"), call()] };
    const process = processOf([each, done]);
    for (const until of [10, 20, 30]) {
      expect(await process.suspendedTo()).toBe(until);
      process.turn(10);
    }
    expect(await process.run()).toMatchObject({ kind: "finished" });
    expect(process.calls).toEqual([10, 20, 30]);
  });
});

describe("further attempts", () => {
  const failing = (times: number): [number, boolean][] => Array.from({ length: times }, () => [0, false]);
  const pauses: [retry: object, failures: number, calls: number[], end: string][] = [
    [{ times: 2, delay: 5 }, 1, [0, 5], "finished"],
    [{ times: 2, delay: 5 }, 2, [0, 5, 10], "finished"],
    [{ times: 2, delay: 5 }, 3, [0, 5, 10], "error"],
    [{ times: 0, delay: 5 }, 1, [0], "error"],
    [{ times: 10, delay: 3600 }, 11, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((n) => n * 3600), "error"],
  ];
  test.each(pauses)("of %j after %i failures are at %j: %s", async (retry, failures, calls, kind) => {
    const process = processOf([call({ retry }), done]);
    process.answer(...failing(failures));
    for (const at of calls.slice(1)) {
      expect(await process.suspendedTo()).toBe(at);
      process.turn(at - (process.calls.at(-1) ?? 0));
    }
    expect(await process.run()).toMatchObject({ kind });
    expect(process.calls).toEqual(calls);
  });

  test("have the whole time limit each", async () => {
    const process = processOf([call({ timeout: 4, retry: { times: 1, delay: 3 } }), done]);
    process.answer([10, true], [3, true]);
    expect(await process.suspendedTo()).toBe(7);
    process.turn(3);
    expect(await process.run()).toMatchObject({ kind: "finished" });
    expect(process.calls).toEqual([0, 7]);
  });

  test("end with the time limit of a step around them", async () => {
    const then = [call({ retry: { times: 10, delay: 3 } })];
    const process = processOf([{ type: "if", condition: true, timeout: 5, then }, done]);
    process.answer(...failing(10));
    expect(await process.suspendedTo()).toBe(3);
    process.turn(3);
    expect(await process.suspendedTo()).toBe(6);
    process.turn(3);
    expect(await process.run()).toEqual({ kind: "error", message: "timed out" });
    expect(process.calls).toEqual([0, 3]);
  });

  test("come before the steps of `on_error`, which see the last failure", async () => {
    const on_error = [{ type: "return", value: "{{ error.message }}" }];
    const process = processOf([call({ retry: { times: 1, delay: 3 }, on_error })]);
    process.answer(...failing(2));
    expect(await process.suspendedTo()).toBe(3);
    process.turn(3);
    expect(await process.run()).toEqual({ kind: "finished", data: "refused" });
  });
});

describe("a clock that was set back by a day", () => {
  const dayBack = -86_400;
  const steps: [what: string, step: object, seconds: number][] = [
    ["a wait", waiting(60), 60],
    ["a pause before another attempt", call({ retry: { times: 1, delay: 60 } }), 60],
    ["waits of elements", { type: "each", in: [1, 2], concurrency: 2, do: [waiting(60)] }, 60],
    ["a wait that a time limit cuts", waiting(60, { timeout: 20, on_error: [] }), 20],
  ];
  test.each(steps)("makes %s no longer than it was to be", async (_, step, seconds) => {
    const process = processOf([step, done]);
    process.answer([0, false]);
    expect(await process.suspendedTo()).toBe(seconds);
    process.turn(dayBack);
    const until = await process.suspendedTo();
    expect(until - dayBack).toBeLessThanOrEqual(60);
    process.turn(until - dayBack);
    expect(await process.run()).toEqual({ kind: "finished", data: "done" });
  });
});
