/** As much of `bun:test` as our pure tests use, so that Deno can run them: `deno.json` maps the name to this file. */
import { expect as jestExpect } from "expect";

type Body = (...values: never[]) => unknown;
interface Test {
  readonly name: string;
  readonly run: () => unknown;
}
interface Group {
  readonly name: string;
  readonly entries: (Test | Group)[];
  readonly before: (() => unknown)[];
  readonly beforeEach: (() => unknown)[];
  readonly afterEach: (() => unknown)[];
  readonly after: (() => unknown)[];
}

const newGroup = (name: string): Group => ({
  name,
  entries: [],
  before: [],
  beforeEach: [],
  afterEach: [],
  after: [],
});

let group = newGroup("");

interface Each {
  (name: string, body: Body, timeout?: number): void;
  each(rows: readonly unknown[]): (name: string, body: Body, timeout?: number) => void;
}

function withEach(define: (name: string, body: Body) => void): Each {
  const each = (rows: readonly unknown[]) => (name: string, body: Body) => {
    for (const [at, row] of rows.entries()) {
      const values = Array.isArray(row) ? row : [row];
      define(`${name} #${at}`, () => Reflect.apply(body, undefined, values));
    }
  };
  return Object.assign((name: string, body: Body) => define(name, body), { each });
}

export const test = withEach((name, body) =>
  group.entries.push({ name, run: () => Reflect.apply(body, undefined, []) }),
);

export const describe = withEach((name, body) => {
  const outer = group;
  group = newGroup(name);
  outer.entries.push(group);
  Reflect.apply(body, undefined, []);
  group = outer;
});

export const beforeAll = (hook: () => unknown) => group.before.push(hook);
export const beforeEach = (hook: () => unknown) => group.beforeEach.push(hook);
export const afterEach = (hook: () => unknown) => group.afterEach.push(hook);
export const afterAll = (hook: () => unknown) => group.after.push(hook);
export const setDefaultTimeout = () => {};

/** Jest's, with the two matchers that only Bun has. */
export const expect = jestExpect;
const ofText = (what: string, holds: (text: string, part: string) => boolean) => (actual: unknown, part: string) => ({
  pass: typeof actual === "string" && holds(actual, part),
  message: () => `${JSON.stringify(actual)} ${what} ${JSON.stringify(part)}`,
});
expect.extend({
  toStartWith: ofText("starts with", (text, part) => text.startsWith(part)),
  toEndWith: ofText("ends with", (text, part) => text.endsWith(part)),
  toBeTrue: (actual: unknown) => ({ pass: actual === true, message: () => `${String(actual)} is true` }),
  toBeFalse: (actual: unknown) => ({ pass: actual === false, message: () => `${String(actual)} is false` }),
});

export interface Outcome {
  passed: number;
  readonly failures: string[];
}

/** Runs what the file defines when it is imported, and adds to the outcome. */
export async function runFile(file: string, outcome: Outcome): Promise<void> {
  group = newGroup(file);
  const whole = group;
  try {
    await import(file);
    await runGroup(whole, [], outcome);
  } catch (error) {
    outcome.failures.push(`${file}: ${String(error)}`);
  }
}

async function runGroup(one: Group, path: readonly Group[], outcome: Outcome): Promise<void> {
  const groups = [...path, one];
  for (const hook of one.before) await hook();
  for (const entry of one.entries) {
    if ("entries" in entry) await runGroup(entry, groups, outcome);
    else await runTest(entry, groups, outcome);
  }
  for (const hook of one.after) await hook();
}

async function runTest({ name, run }: Test, groups: readonly Group[], outcome: Outcome): Promise<void> {
  try {
    for (const { beforeEach: hooks } of groups) for (const hook of hooks) await hook();
    await run();
    for (const { afterEach: hooks } of groups.toReversed()) for (const hook of hooks) await hook();
    outcome.passed += 1;
  } catch (error) {
    const title = [...groups.map((each) => each.name), name].join(" > ");
    outcome.failures.push(`${title}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
}
