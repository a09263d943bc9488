/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
/** What the Studio's pages of flows decide, and the flows that one can start with. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { startTestApp, type TestApp } from "platform/test";
import { shapeOf } from "../../program/check-rules.ts";
import { messageOf, locationOf, standing, stepFaults } from "./program/faults.ts";
import { fieldsOf, kinds, lineOf, ops, startOf } from "./program/kinds.ts";
import { programIn, readValue, renamed, shownValue, stepsOf, withProgram } from "./program/text.ts";
import { codesFor, completionAt, namesAt } from "./program/scope.ts";
import { cronStart, namesOf, sampleOf, webhookStart } from "./starts.ts";
import { starters } from "./starters.ts";
import {
  duplicated,
  inserted,
  moved,
  removed,
  replaced,
  rowsOf,
  stepAt,
  withoutBranch,
  type Program,
  type Direction,
} from "./program/tree.ts";
import { missedIn, outsideOf, pathOfResult } from "./trial/trial.ts";

/** A step that is told apart by its name. */
const named = (name: string, inside: object = {}) => ({ type: "mutation", set: { [name]: 1 }, ...inside });
const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => named(name));
const branching = (inside: object) => ({ type: "if", condition: "x", ...inside });

describe("a move", () => {
  test.each<[string, Program, string, Direction, Program | undefined, string | undefined]>([
    ["up among siblings", [a, b], "1", "up", [b, a], "0"],
    ["down among siblings", [a, b, c], "0", "down", [b, a, c], "1"],
    ["nowhere above the first", [a, b], "0", "up", undefined, undefined],
    ["nowhere below the last", [a, b], "1", "down", undefined, undefined],
    ["out of a branch above its step", [branching({ then: [a] })], "0.then.0", "up", [a, branching({ then: [] })], "0"],
    [
      "from one branch to the next",
      [branching({ then: [a], else: [b] })],
      "0.then.0",
      "down",
      [branching({ then: [], else: [a, b] })],
      "0.else.0",
    ],
    [
      "from a branch back to the one before",
      [branching({ then: [a], else: [b] })],
      "0.else.0",
      "up",
      [branching({ then: [a, b], else: [] })],
      "0.then.1",
    ],
    ["below its owner", [branching({ then: [a] }), b], "0.then.0", "down", [branching({ then: [] }), a, b], "1"],
    ["into the step above", [branching({}), a], "1", "in", [branching({ then: [a] })], "0.then.0"],
    [
      "into its last branch",
      [branching({ then: [], else: [a] }), b],
      "1",
      "in",
      [branching({ then: [], else: [a, b] })],
      "0.else.1",
    ],
    ["not into a step without branches", [a, b], "1", "in", undefined, undefined],
    ["into the loop above", [{ type: "each", in: "x" }, a], "1", "in", [{ type: "each", in: "x", do: [a] }], "0.do.0"],
    ["out after its owner", [branching({ then: [a, b] }), c], "0.then.0", "out", [branching({ then: [b] }), a, c], "1"],
    ["not out of the program", [a], "0", "out", undefined, undefined],
    ["of what is not there", [a], "3", "up", undefined, undefined],
  ])("%s", (_, program, path, way, after, to) => {
    const result = moved(program, path, way);
    expect(result?.program).toEqual(after);
    expect(result?.path).toBe(to);
    if (result) expect(stepAt(result.program, result.path)).toEqual(stepAt(program, path));
  });

  const leaf = fc.constantFrom("mutation", "connector", "wait").map((type): object => ({ type }));
  const { block } = fc.letrec<{ block: object[]; step: object }>((tie) => ({
    step: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.record({ type: fc.constant("if"), then: tie("block"), else: tie("block") }, { requiredKeys: ["type"] }),
      fc.record({ type: fc.constant("each"), do: tie("block"), on_error: tie("block") }, { requiredKeys: ["type"] }),
    ),
    block: fc.array(tie("step"), { maxLength: 3 }),
  }));
  const numbered = (program: Program) => {
    let whole = program;
    const steps = rowsOf(program).filter(({ kind }) => kind === "step");
    for (const [at, { path }] of steps.entries())
      whole = replaced(whole, path, { ...Object(stepAt(whole, path)), id: `n${at}` });
    return whole;
  };
  const idsIn = (program: Program) =>
    rowsOf(program)
      .flatMap((row) => (row.kind === "step" ? [String(Object(row.step).id)] : []))
      .toSorted();

  test("keeps every step, however many there are", () => {
    const ways = fc.array(fc.tuple(fc.nat(), fc.constantFrom<Direction>("up", "down", "in", "out")), { maxLength: 25 });
    fc.assert(
      fc.property(block, ways, (given, moves) => {
        let program = numbered(given);
        const before = idsIn(program);
        for (const [number, way] of moves) {
          const steps = rowsOf(program).filter(({ kind }) => kind === "step");
          const row = steps[number % Math.max(1, steps.length)];
          const result = row && moved(program, row.path, way);
          if (result) expect(stepAt(result.program, result.path)).toEqual(stepAt(program, row.path));
          program = result?.program ?? program;
        }
        expect(idsIn(program)).toEqual(before);
      }),
      { numRuns: 100 },
    );
  });
});

describe("a program", () => {
  const program = [named("a", { id: "x" }), branching({ then: [named("b", { id: "y" })], on_error: [] })];

  test("is a list of lines", () => {
    expect(rowsOf(program).map(({ path, depth }) => `${path} ${depth}`)).toEqual([
      "0 0",
      "1 0",
      "1.then 1",
      "1.then.0 2",
      "1.on_error 1",
    ]);
    expect(rowsOf([7, null]).map(({ kind }) => kind)).toEqual(["step", "step"]);
  });

  test("gets steps, loses them, and gets them back", () => {
    const without = removed(program, "1.then.0");
    expect(inserted(without, { block: "1.then", at: 0 }, stepAt(program, "1.then.0"))).toEqual({
      program,
      path: "1.then.0",
    });
    expect(inserted(withoutBranch(program, "1.on_error"), { block: "1.on_error", at: 3 }, d).path).toBe("2");
    expect(inserted([], { block: "", at: 5 }, d)).toEqual({ program: [d], path: "0" });
  });

  test("has copies under ids of their own, those of records excepted", () => {
    const copied = duplicated(program, "1");
    expect(copied).toMatchObject({ path: "2", program: [{}, {}, { then: [{ id: "y-2" }] }] });
    expect(duplicated(copied?.program ?? [], "1")).toMatchObject({ program: [{}, {}, { then: [{ id: "y-3" }] }, {}] });
    const get = { type: "db", op: "get", db: "x", id: "{{ input.id }}" };
    expect(duplicated([get], "0")?.program).toEqual([get, get]);
  });

  test.each([
    ['[{"type":"fail"}]', true],
    ['[{"type":"mutation","set":{"n":12345678901234567890.5,"m":{"k":[1e400]}}}]', true],
    ["[{", false],
    ["", false],
    ["7", true],
  ])("%s is kept as it is typed within the fields", (text, isJson) => {
    for (const fields of [{}, { note: "}", program: [] }])
      expect(programIn(fields, withProgram(fields, text)).replaceAll(/\s/g, "")).toBe(text);
    expect(stepsOf(text) !== undefined).toBe(text.startsWith("[") && isJson);
  });
});

describe("the names in scope", () => {
  const program = [
    { type: "mutation", set: { city: "{{ input.place }}", temp: 1 } },
    { type: "connector", connector: "w", method: "m", id: "fetch", on_error: [{ type: "fail" }] },
    branching({ then: [{ type: "db", op: "create", db: "o", as: "order" }], else: [{ type: "wait" }] }),
    { type: "each", in: "lines", as: "line", do: [{ type: "flow", flow: "f", as: "inner" }, { type: "fail" }] },
    { type: "db", op: "get", db: "o", id: "{{ order.id }}" },
  ];
  const own = ["input", "input.place", "account_url", "app", "app.id", "app.action", "app.user"];
  test.each([
    ["0", []],
    ["1", ["city", "temp"]],
    ["1.on_error.0", ["city", "temp", "error", "error.message", "error.step", "error.status", "error.data"]],
    ["2.else.0", ["city", "temp", "fetch"]],
    [
      "3.do.1",
      [
        "city",
        "temp",
        "fetch",
        "order",
        "order.id",
        "order.data",
        "order.table_name",
        "order.created_at",
        "order.updated_at",
        "inner",
        "line",
        "line_index",
      ],
    ],
  ])("of step %s are those stored before", (path, names) => {
    const found = namesAt(program, path).map(({ name }) => name);
    expect(found.toSorted()).toEqual([...own, ...names].toSorted());
  });

  test("say which step they come from, and know the keys of a given input", () => {
    const found = namesAt(program, "3", ["day"]);
    expect(found.find(({ name }) => name === "order")?.from).toBe("2.then.0");
    expect(found.map(({ name }) => name)).toContain("input.day");
  });

  test("are also those that a webhook or a cron gives", () => {
    const row = { id: 2, source_type: "Core::Record", kind: "create", filter: { db_code: "orders" }, active: true };
    const webhook = webhookStart(row);
    const cron = cronStart({ id: 7, schedule: "0 7 * * *", timezone: "Europe/Warsaw", active: false });
    expect([webhook.says, cron.says]).toEqual(["Core::Record create, db_code orders", "0 7 * * *, Europe/Warsaw"]);
    const fieldsIn = (db: string) => (db === "orders" ? ["sku"] : []);
    const given = namesOf([webhook, cron], fieldsIn);
    expect(namesAt(program, "0", [], given)).toContainEqual({ name: "data.sku", from: "webhook" });
    expect(given.map(({ name }) => name)).toContain("cron_id");
    expect(namesOf([], fieldsIn).map(({ name }) => name)).toEqual(["kind", "source_type", "event", "data"]);
    expect(namesOf([cron], fieldsIn).map(({ from }) => from)).toEqual(["cron", "cron"]);
    expect(sampleOf(webhook, { id: "r1", data: { sku: "tea" } })).toEqual({
      kind: "webhook",
      source_type: "Core::Record",
      event: "create",
      data: { sku: "tea", db_code: "orders", table_name: null, id: "r1" },
    });
    expect(sampleOf(cron, undefined)).toEqual({ kind: "cron", cron_id: 7 });
  });

  const names = ["city", "input", "input.city"].map((name) => ({ name, from: "" }));
  test.each([
    ["{{ ci", "template", ["city"], 3],
    ["{{ ", "template", ["city", "input", "input.city"], 3],
    ["ci", "template", undefined, 0],
    ["{{ city }} ci", "template", undefined, 0],
    ["{{ input.", "template", ["input.city"], 3],
    ["{{ city | up", "template", undefined, 0],
    ["{{ city | ", "template", undefined, 0],
    ['{{ "ci', "template", undefined, 0],
    ["temp > in", "expression", ["input", "input.city"], 7],
    ["city", "expression", undefined, 0],
  ] as const)("at the end of %p in a %s: %p", (text, kind, wanted, from) => {
    const found = completionAt(text, text.length, names, kind);
    expect(found?.names.map(({ name }) => name)).toEqual(wanted ? [...wanted] : undefined);
    if (wanted) expect(found?.from).toBe(from);
  });
});

test.each([
  ["", ["weather", "mail"]],
  ["We", ["weather"]],
  ["post", ["mail"]],
  ["mail", undefined],
  ["{{ we", undefined],
])("of %p the codes are %p", (text, wanted) => {
  const codes = [
    { value: "weather", label: "weather" },
    { value: "mail", label: "Post (mail)" },
  ];
  expect(codesFor(text, codes)?.names.map(({ name }) => name)).toEqual(wanted);
});

describe("a message of the server", () => {
  test.each([
    ["program[2].then[0].connector is required", "2.then.0", "connector", "", "is required"],
    ["program[0].set.city is not valid Liquid: x", "0", "set", ".city", "is not valid Liquid: x"],
    ["program[0].params.to[0].a must be a text", "0", "params", ".to[0].a", "must be a text"],
    ["program[3] must be an object { type, … }", "3", "", "", "must be an object { type, … }"],
    ["program[1].then must be an array of steps", "1", "then", "", "must be an array of steps"],
    ["program must be an array of steps", "", "", "", "must be an array of steps"],
    ["program[1].connector: the connector is not there", "1", "connector", "", "the connector is not there"],
  ])("%p has its place", (message, path, key, inside, said) => {
    const place = locationOf(message);
    expect(place).toEqual({ path, key, inside, said });
    if (place) expect(messageOf(place)).toBe(message.replace(/(\w): the connector/, "$1 the connector"));
  });

  test.each(["is required", "programs[0] is wrong", "", "This is not JSON."])("%p has none", (message) =>
    expect(locationOf(message)).toBeUndefined(),
  );

  test("goes with its step, and goes away when the step is changed", () => {
    const program = [named("a"), named("b")];
    const faults = stepFaults(["program[1].set is wrong", "program[0].set is wrong"], program);
    const after = moved(program, "1", "up")?.program ?? [];
    expect(standing(faults, after).map(messageOf)).toEqual(["program[0].set is wrong", "program[1].set is wrong"]);
    expect(standing(faults, replaced(after, "0", named("c"))).map(({ path }) => path)).toEqual(["1"]);
  });
});

describe("a value in a box", () => {
  test.each<[unknown, string]>([
    ["a text", "a text"],
    ["{{ name }}", "{{ name }}"],
    ["5", '"5"'],
    [5, "5"],
    [true, "true"],
    ["true", '"true"'],
    ["", ""],
    [[1], "[\n  1\n]"],
    ["{half", "{half"],
    [JSON.rawJSON("12345678901234567890"), "12345678901234567890"],
  ])("%p is shown as %p", (value, text) => expect([shownValue(value), readValue(text)]).toEqual([text, value]));

  test("is read as it was shown, whatever it is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) =>
        expect(readValue(shownValue(value))).toEqual(JSON.parse(JSON.stringify(value))),
      ),
    );
  });

  test("keeps its place under another name, and never takes another's", () => {
    expect(Object.entries(renamed({ a: 1, b: 2 }, "a", "c"))).toEqual([
      ["c", 1],
      ["b", 2],
    ]);
    expect(renamed({ a: 1, b: 2 }, "a", "b")).toEqual({ a: 1, b: 2 });
  });
});

test("every kind has a form with the keys that the server knows", () => {
  const branches = ["then", "else", "do", "on_error"];
  for (const kind of kinds)
    for (const op of kind === "db" ? ops : [undefined]) {
      const { main, more } = fieldsOf({ ...startOf(kind), ...(op && { op }) });
      const shown = [...main, ...more].map(({ key }) => key);
      const known = Object.keys(shapeOf(kind, new Map())?.rules ?? {}).filter(
        (key) => key !== "type" && !branches.includes(key),
      );
      expect([kind, ...shown.filter((key) => !known.includes(key))]).toEqual([kind]);
      if (kind !== "db") expect([kind, ...shown.toSorted()]).toEqual([kind, ...known.toSorted()]);
    }
  expect(lineOf({ type: "connector", connector: "w", method: "m", as: "x" })).toBe("w.m → x");
  expect(lineOf({ type: "if", condition: { left: "{{ a }}", op: ">", right: 5 } })).toBe("{{ a }} > 5");
  expect(lineOf(7)).toBe("7");
});

describe("a test of a flow", () => {
  const program = [
    { type: "connector", connector: "w", method: "m", id: "fetch" },
    {
      type: "each",
      do: [
        { type: "db", op: "search", db: "o" },
        { type: "connector", connector: "w", method: "m" },
      ],
    },
    { type: "shop.notify", on_error: [{ type: "db", op: "get", db: "o" }] },
  ];

  test("asks for each answer once", () => {
    expect(outsideOf(program, ["w.m", "inner.call"])).toEqual([
      { name: "w.m", paths: ["0", "1.do.1"], isNeeded: true },
      { name: "o.search", paths: ["1.do.0"], isNeeded: false },
      { name: "shop.notify", paths: ["2"], isNeeded: true },
      { name: "o.get", paths: ["2.on_error.0"], isNeeded: true },
      { name: "inner.call", paths: [], isNeeded: true },
    ]);
  });

  test.each([
    ["fetch", "0"],
    ["1.do.0#17", "1.do.0"],
    ["2", "2"],
    ["inner/0", undefined],
  ])("leads from the result %s to the step %p", (id, path) => expect(pathOfResult(program, id)).toBe(path));

  test.each([
    ['no answer was given for "w.m"', "w.m"],
    ["something else", undefined],
    [null, undefined],
  ])("hears of %p what it has missed", (said, name) => expect(missedIn(said)).toBe(name));
});

describe("an example to start with", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.stop());

  test.each(starters.map((starter) => [starter.id, starter] as const))(
    "%s works without any input, in every language",
    async (id, starter) => {
      for (const language of ["en", "pl", "de"] as const) {
        const flow = { name: id, code: `${id}-${language}`, fields: { program: starter.program(language) } };
        const made = await app.post("/connect/flows.json", { flow });
        expect([made.status, made.json.warnings]).toEqual([201, []]);
        const run = await app.post(`/connect/flows/${id}-${language}/test.json`, {});
        expect([run.json.status, run.json.error]).toEqual(["finished", null]);
      }
    },
  );
});
