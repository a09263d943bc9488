/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
/** What the Studio's pages of flows decide, and the flows that one can start with. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Type } from "platform";
import { startTestApp, type TestApp } from "platform/test";
import type { FieldKind, Start, Table, TableField } from "studio";
import { shapeOf } from "../../program/check-rules.ts";
import { messageOf, locationOf, standing, stepFaults } from "./program/faults.ts";
import { bodyFor, methodName, withAction } from "./connect/connecting.ts";
import { furtherFields, pieceAt, startOf } from "./program/kind.ts";
import { kindOf, kinds, own as ownKind } from "./program/kinds.ts";
import { programIn, readValue, renamed, shownValue, stepsOf, withProgram } from "./program/text.ts";
import { codesFor, completionAt, givenBy, namesAt, ofStart, partsOf, valueAt } from "./program/scope.ts";
import { nowhere, starters } from "./starters.ts";
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
import { brief, failedAt, knownIn, missedIn, needsOf, pathOfResult, type Result } from "./trial/trial.ts";
import { loopsOf, sampleOf } from "./when.ts";

const orders: Start = {
  changed: [],
  key: "webhook 2",
  kind: "webhook",
  id: "2",
  active: true,
  trouble: "",
  source: "Core::Record",
  event: "create",
  db: "orders",
  table: "",
  filter: { status: "new" },
  schedule: "",
  timezone: "",
  next: "",
  given: {},
  url: "",
};
/** A step that is told apart by its name. */
const named = (name: string, inside: object = {}) => ({ type: "mutation", set: { [name]: 1 }, ...inside });
const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => named(name));
const branching = (inside: object) => ({ type: "if", condition: "x", ...inside });

test("a new step about the start's record is about its table", () => {
  const change = { type: "db", op: "update", db: "", id: "{{ data.id }}", data: {} };
  expect(ofStart(change, [orders])).toEqual({ ...change, db: "orders" });
  expect(ofStart(change, [{ ...orders, table: "lines" }])).toMatchObject({ db: "orders", table_name: "lines" });
  expect(ofStart(change, [])).toBe(change);
  const create = { type: "db", op: "create", db: "", data: {} };
  expect(ofStart(create, [orders])).toBe(create);
});

const at2 = (branches: unknown[][]) => ({ type: "parallel", branches });

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
    [
      "to the next of the branches at once",
      [at2([[a], [b]])],
      "0.branches[0].0",
      "down",
      [at2([[], [a, b]])],
      "0.branches[1].0",
    ],
    ["into the way for failures", [{ type: "try" }, a], "1", "in", [{ type: "try", catch: [a] }], "0.catch.0"],
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
      fc.record({ type: fc.constant("parallel"), branches: fc.array(tie("block"), { maxLength: 3 }) }),
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
    const beside = [at2([[a], [b]])];
    expect(withoutBranch(beside, "0.branches[0]")).toEqual([at2([[b]])]);
    expect(duplicated([at2([[named("a", { id: "x" })]])], "0")?.program[1]).toEqual(at2([[named("a", { id: "x-2" })]]));
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
    { type: "try", as: "tried", do: [{ type: "wait_for", as: "event" }], catch: [{ type: "fail" }] },
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
    [
      "5.catch.0",
      ["city", "temp", "fetch", "order", "order.id", "order.data", "order.table_name", "order.created_at"].concat([
        "order.updated_at",
        "inner",
        "error",
        "error.message",
        "error.step",
        "error.status",
        "error.data",
      ]),
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
    const webhook: Start = { ...orders, filter: {} };
    const cron: Start = { ...orders, key: "cron 7", kind: "cron", id: "7", source: "", event: "", db: "", filter: {} };
    const fieldsIn = (db: unknown) => (db === "orders" ? ["sku"] : []);
    const given = givenBy([webhook, cron], fieldsIn);
    expect(namesAt(program, "0", [], given)).toContainEqual({ name: "data.sku", from: "when" });
    expect(given.map(({ name }) => name)).toContain("cron_id");
    expect(givenBy([], fieldsIn).map(({ name }) => name)).toEqual(["data", "kind", "source_type", "event"]);
    expect(givenBy([cron], fieldsIn).map(({ name }) => name)).toEqual(["kind", "cron_id"]);
    expect(sampleOf(webhook, { id: "r1", data: { sku: "tea" } })).toEqual({
      kind: "webhook",
      source_type: "Core::Record",
      event: "create",
      data: { sku: "tea", db_code: "orders", table_name: null, id: "r1" },
    });
    expect(sampleOf(cron, undefined)).toEqual({ kind: "cron", cron_id: 7 });
  });

  test("know the fields of records, those of a list in a loop, and what the last test has shown", () => {
    const loop = [
      { type: "db", op: "search", db: "orders", as: "found" },
      { type: "each", in: "{{ found }}", as: "order", do: [{ type: "fail" }] },
    ];
    const fieldsIn = (db: unknown) => (db === "orders" ? ["sku"] : []);
    const known = { rate: { now: { usd: 1.2 } } };
    const inLoop = namesAt(loop, "1.do.0", [], [{ name: "rate", from: "" }], known, fieldsIn).map(({ name }) => name);
    expect(inLoop).toContain("order.sku");
    expect(inLoop).toContain("rate.now.usd");
    expect(valueAt(known, "rate.now.usd")).toBe(1.2);
    expect(valueAt(known, "rate.constructor.name")).toBeUndefined();
    expect(partsOf("Order {{ data.no }}!")).toEqual([{ words: "Order " }, { expression: "data.no" }, { words: "!" }]);
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
    ["program[2].branches[1][0].catch[3].op is required", "2.branches[1].0.catch.3", "op", "", "is required"],
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

const ofMail = { type: "mail.send", doc: "", params: Type.Object({}), privilege: undefined, run: async () => null };
const askKeys = ["to", "title", "text", "choices", "fields", "timeout", "otherwise", "remind"];
const ofAsk = {
  ...ofMail,
  type: "ask",
  params: Type.Object(Object.fromEntries(askKeys.map((key) => [key, Type.Optional(Type.Unknown())]))),
};
const ofScript = {
  ...ofMail,
  type: "script",
  params: Type.Object({ source: Type.String(), input: Type.Optional(Type.Unknown()) }),
};
const waitKeys = ["source_type", "kind", "filter", "changed", "timeout", "otherwise"];
const ofWait = {
  ...ofMail,
  type: "wait_for",
  params: Type.Object(Object.fromEntries(waitKeys.map((key) => [key, Type.Optional(Type.Unknown())]))),
};
const stepTypes = new Map([ofMail, ofAsk, ofScript, ofWait].map((one) => [one.type, one]));

test("every kind is told by its step, and has a form with the keys that the server knows", () => {
  const branches = ["then", "else", "do", "catch", "branches", "on_error"];
  /** Set by the kind, by the choice of a table, and above the fields. */
  const elsewhere = ["type", "op", "table_name", "description", "source_type", "kind", "changed"];
  for (const kind of kinds) {
    const step = startOf(kind, []);
    expect([kind.id, kindOf(step)?.id]).toEqual([kind.id, kind.id]);
    const shown = [...kind.fields, ...furtherFields(kind)].map(({ key }) => key);
    const known = Object.keys(shapeOf(String(step["type"]), stepTypes)?.rules ?? {}).filter(
      (key) => !branches.includes(key),
    );
    expect([kind.id, ...shown.filter((key) => !known.includes(key))]).toEqual([kind.id]);
    if (step["type"] === "db") continue;
    expect([kind.id, ...known.filter((key) => !elsewhere.includes(key)).toSorted()]).toEqual([
      kind.id,
      ...shown.toSorted(),
    ]);
  }
  expect(kindOf({ type: "shop.notify" })).toBe(ownKind);
  expect(kindOf(7)).toBeUndefined();
  expect(kindOf({ type: "connector", connector: "post", method: "thanks" }, () => "core/smtp")?.id).toBe("connection");
  expect(kindOf({ type: "connector", connector: "files", method: "x" }, () => "core/postgres")?.id).toBe("connection");
  const find = kinds.find(({ id }) => id === "find");
  expect(find && startOf(find, ["found", "found2"])["as"]).toBe("found3");
  expect(pieceAt({ params: { to: "a@b.example" } }, "params.to")).toBe("a@b.example");
});

describe("what starts a flow", () => {
  test("that waits for a field is not met by a step that leaves the field alone", () => {
    const paid = { ...orders, event: "update", filter: {}, changed: ["status"] };
    const step = (data: object) => [{ path: "0", step: { type: "db", op: "update", db: "orders", data } }];
    expect([step({ status: "x" }), step({ note: "x" })].map((steps) => loopsOf(steps, [paid]).length)).toEqual([1, 0]);
  });

  const writes = (op: string, data: object = {}, db = "orders") => [{ path: "0", step: { type: "db", op, db, data } }];
  test.each([
    ["makes a record of its own table", writes("create"), true],
    ["makes one that its condition leaves out", writes("create", { status: "done" }), false],
    ["makes one whose value is not known before", writes("create", { status: "{{ x }}" }), true],
    ["changes a record, where new ones start it", writes("update"), false],
    ["makes a record of another table", writes("create", {}, "bills"), false],
    ["only reads", writes("search"), false],
  ])("is started again by a step that %s", (_, steps, is) => expect(loopsOf(steps, [orders]).length > 0).toBe(is));
});

describe("a connection made in place", () => {
  const draft = {
    service: "core/custom_connector",
    name: "",
    verb: "GET",
    signIn: "none",
    carrier: "",
    key: "",
    user: "",
    from: "",
    model: "",
  } as const;
  test("is the host of the address, and its action the path", () => {
    expect(bodyFor({ ...draft, address: " https://api.parcel.example/v2/labels/{number}?size=a6 " })).toEqual({
      connector: {
        name: "parcel.example",
        kind: "core/custom_connector",
        url: "https://api.parcel.example",
        fields: { methods: { "get-labels": { method: "GET", path: "/v2/labels/{number}?size=a6" } } },
      },
      method: "get-labels",
    });
    const keyed = bodyFor({ ...draft, address: "https://a.example", signIn: "header", carrier: "X-Key", key: "k" });
    expect(keyed.connector).toMatchObject({ secret_token: "k", fields: { auth: { in: "header", name: "X-Key" } } });
    expect(bodyFor({ ...draft, service: "core/smtp", address: "smtp://m.example", from: "a@m.example" })).toMatchObject(
      { method: "send" },
    );
    expect(methodName("/", "POST")).toBe("request");
  });
  test("gets and keeps actions", () => {
    const fields = {
      auth: { in: "query", name: "k" },
      methods: { a: { method: "GET", path: "/a", timeout: 5 }, b: {} },
    };
    const action = { name: "a", verb: "POST", path: "/c", description: "" };
    expect(withAction(fields, "a", action)).toEqual({
      ...fields,
      methods: { a: { method: "POST", path: "/c", timeout: 5 }, b: {} },
    });
    expect(Object.keys(Object(withAction(fields, undefined, { ...action, name: "c" })["methods"]))).toEqual([
      "a",
      "b",
      "c",
    ]);
  });
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

  const result = (more: Partial<Result>): Result => ({
    status: "error",
    data: null,
    error: "",
    steps: [],
    leftOut: [],
    ...more,
  });
  const step = (id: string, type: string, input: object, more: object = {}) => ({
    id,
    type,
    status: "finished",
    input,
    output: null,
    error: "",
    warnings: [],
    ...more,
  });
  const missed = { status: "error", error: 'no answer was given for "w.m"' };

  test("reads for real what its steps read, and asks what to do about the rest", () => {
    const steps = [
      step("0", "db", { db: "o", op: "search", params: { filter: { name: "A", n: { gt: 2 } }, limit: 5 } }),
      step("1", "db", { db: "o", op: "create", data: {} }),
      step("fetch", "connector", { connector: "w", method: "m", params: { q: 1 } }, missed),
      step("2", "shop.notify", {}, { status: "error", error: 'no answer was given for "shop.notify"' }),
    ];
    expect(needsOf(result({ steps }), () => false)).toEqual([
      { kind: "record", id: "0", path: "/core/dbs/o/records.json?filter%5Bname%5D=A&filter%5Bn%5D%5Bgt%5D=2&limit=5" },
      { kind: "call", id: "fetch", connector: "w", method: "m", params: { q: 1 } },
      { kind: "own", id: "2", step: { type: "shop.notify", params: {} } },
    ]);
    expect(needsOf(result({ steps }), () => true)).toEqual([]);
  });

  test("shows what each name stands for, and where it failed", () => {
    const done = result({
      steps: [step("fetch", "connector", {}, { output: { rate: 2 } }), step("1.do.1#0", "connector", {}, missed)],
    });
    expect(knownIn(program, { data: { no: 1 } }, done)).toMatchObject({ data: { no: 1 }, fetch: { rate: 2 } });
    expect(failedAt(program, done)?.path).toBe("1.do.1");
    expect(failedAt(program, result({ status: "finished" }))).toBeUndefined();
  });

  test.each<[unknown, string]>([
    [null, ""],
    [{ id: "r1", data: { no: "O-1", total: 5, lines: [] } }, "O-1, 5"],
    [[{ a: 1 }, { a: 2 }], "2 × 1"],
    [true, "true"],
  ])("says %j briefly", (value, said) => expect(brief(value)).toBe(said));

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

  const field = (name: string, kind: FieldKind, choices: readonly string[] = []): TableField => ({
    name,
    label: name,
    type: kind,
    kind,
    isRequired: false,
    choices: choices.map((value) => ({ value, label: value, color: "" })),
  });
  const stock: Table = {
    db: "stock",
    table: "",
    label: "Stock",
    titleField: "sku",
    hasForm: false,
    fields: [field("sku", "text"), field("state", "choice", ["new", "packed"]), field("due", "date")],
  };

  test.each(starters.map((starter) => [starter.id, starter] as const))(
    "%s works without any input but what starts it, in every language",
    async (id, starter) => {
      const schema = { fields: { sku: "string", state: { type: "string", choices: ["new", "packed"] }, due: "date" } };
      await app.post("/core/dbs.json", { db: { name: "Stock", code: "stock", schema } });
      const made = await app.post("/core/dbs/stock/records.json", { record: { data: { sku: id, state: "new" } } });
      const input = starter.ways?.[0] === "record" ? { data: { ...made.json.data, id: made.json.id } } : {};
      for (const language of ["en", "pl", "de"] as const) {
        const code = `${id}-${language}`;
        const program = starter.program(language, starter.needs ? stock : nowhere);
        const flow = { name: id, code, fields: { program } };
        const answer = await app.post("/connect/flows.json", { flow });
        expect([answer.status, answer.json.warnings]).toEqual([201, []]);
        const run = await app.post(`/connect/flows/${code}/run.json`, input);
        expect([run.json.status, run.json.error]).toEqual(["finished", null]);
      }
      expect(Boolean(starter.needs?.(stock) ?? true)).toBe(true);
    },
  );
});
