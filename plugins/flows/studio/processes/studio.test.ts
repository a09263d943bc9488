import { describe, expect, test } from "bun:test";
import {
  adviceOf,
  asideOf,
  allReached,
  belongs,
  originsOf,
  programOf,
  reachedBy,
  shownOf,
  spentOf,
  type Row,
  type Starter,
  type Step,
} from "./process.ts";
import { isSame, pairsOf } from "./compare.ts";
import { rowsFor } from "./rows.ts";

const row: Row = {
  id: "p1",
  flow_code: "bill",
  status: "error",
  error: "no",
  created_at: "2026-01-31T10:00:00.000Z",
  finished_at: null,
  started_by: { kind: "cron", id: "7", record_id: "r1" },
  trace_id: "t",
};

test.each([
  ["", true],
  ["status=error&flow_code=bill", true],
  ["status=pending", false],
  ["flow_code=other", false],
  ["started_by=cron", true],
  ["started_by=cron:7", true],
  ["started_by=cron:8", false],
  ["started_by=webhook", false],
  ["from=2026-01-31T10:00:00.000Z", true],
  ["from=2026-02-01T00:00:00.000Z", false],
  ["to=2026-01-31T10:00:00.000Z", false],
  ["record_id=r1", true],
  ["record_id=r2", false],
  ["trace_id=t", true],
  ["trace_id=p1", true],
  ["trace_id=x", false],
])("a process belongs into the list of ?%s: %p", (query, is) => {
  expect(belongs(row, new URLSearchParams(query))).toBe(is);
});

test("the first rows are asked for as the list asks for them", () => {
  expect(rowsFor(new URLSearchParams("status=error&cols=error&flow_code="))).toBe(
    "/connect/flow_processes.json?status=error&limit=50&count=false&steps=false&include=started_by",
  );
});

test.each([
  [0, "0 ms"],
  [999, "999 ms"],
  [1500, "1.5 sec"],
  [59_990, "59.9 sec"],
  [185_000, "3 min 5 sec"],
  [3_600_000, "1 hr"],
  [90_061_000, "1 day 1 hr"],
])("%d ms are %s", (ms, said) => {
  const from = "2026-01-31T10:00:00.000Z";
  const to = new Date(Date.parse(from) + ms).toISOString();
  expect(spentOf({ from, to, now: 0, language: "en" })).toBe(said);
  expect(spentOf({ from, to: null, now: Date.parse(to), language: "en" })).toBe(said);
});

test.each([
  [null, undefined],
  [{}, undefined],
  ["", undefined],
  ["a", { text: "a", chars: 1, isPreview: false }],
  [0, { text: "0", chars: 1, isPreview: false }],
  [{ a: 1 }, { text: '{\n  "a": 1\n}', chars: 12, isPreview: false }],
  [
    { truncated: true, chars: 90_000, preview: '{"a' },
    { text: '{"a', chars: 90_000, isPreview: true },
  ],
])("%j is shown as %j", (value, shown) => {
  expect(shownOf(value)).toEqual(shown);
});

describe("what is reached", () => {
  const step = (type: string, input: unknown, output: unknown = null): Step => ({
    id: "0",
    type,
    status: "finished",
    started_at: "",
    finished_at: "",
    error: null,
    input,
    output,
  });
  test.each([
    [step("connector", { connector: "billing", method: "issue" }), "billing.issue", "/connect/connectors/billing"],
    [step("flow", { flow: "a b" }), "a b", "/connect/flows/a%20b"],
    [step("db", { db: "bills", op: "create" }, { id: "r1" }), "bills", "/core/dbs/bills/records?open=r1"],
    [step("db", { db: "bills", op: "delete", id: "r1" }), "bills", "/core/dbs/bills/records"],
    [step("db", { db: "bills", op: "search" }, []), "bills", "/core/dbs/bills/records"],
    [step("connector", undefined), undefined, undefined],
    [step("wait", { seconds: 1 }), undefined, undefined],
  ])("by %j is %p at %p", (one, name, address) => {
    const reached = reachedBy(one);
    expect([reached?.name, reached?.address]).toEqual([name, address]);
  });

  test("is named once", () => {
    const call = step("connector", { connector: "billing", method: "issue" });
    expect(allReached([call, call, step("flow", { flow: "a" }), step("wait", {})]).map(({ name }) => name)).toEqual([
      "billing.issue",
    ]);
  });

  const webhook = {
    kind: "webhook",
    id: "3",
    name: "Core::Record create",
    delivery_id: 8,
    record_id: "r1",
    db_code: "orders",
    source_type: "Core::Record",
  };
  const person = { kind: "person", id: "1", name: "admin" };
  test.each<[Starter | null, string[]]>([
    [null, []],
    [webhook, ["/core/dbs/orders/records?open=r1", "/account/webhooks/3", "/account/webhooks/3/deliveries/8"]],
    [{ kind: "webhook", id: "3" }, ["/account/webhooks/3"]],
    [{ kind: "cron", id: "7", name: "Nightly", user_id: 1 }, ["/account/people/1", "/account/crons/7"]],
    [{ kind: "app", id: "a1", action: "buy" }, ["/core/apps/a1"]],
    [person, ["/account/people/1"]],
    [{ kind: "hook", id: "4", name: "Shop" }, ["/connect/hooks/4"]],
    [{ kind: "flow", id: "p2" }, ["/connect/processes/p2"]],
    [{ kind: "command", id: "demo" }, [""]],
  ])("before %j is %j", (by, addresses) => {
    expect(originsOf(by).map(({ address = "" }) => address)).toEqual(addresses);
  });
});

test.each([
  [null, undefined],
  ["cancelled", "cancelledBy"],
  ["timed out", "timedOut"],
  ["internal error", "internal"],
  ["the remote answered 404", "missing"],
  ["the remote answered 403", "refused"],
  ["the remote answered 429", "busy"],
  ["the remote answered 503", "busy"],
  ["no connection: refused", "unreachable"],
  ["Stock is too low", undefined],
] as const)("%p is explained by %p", (error, advice) => {
  expect(adviceOf(error)).toBe(advice);
});

test("a step that was tried again, or failed by one inside, is not what failed", () => {
  const step = (id: string, type: string, error: string | null) => ({
    id,
    type,
    error,
    started_at: "",
    finished_at: null,
    output: null,
    status: error === null ? ("finished" as const) : ("error" as const),
  });
  const steps = [
    step("a", "http", "no"),
    step("b", "if", "no"),
    step("b.then.0", "http", "no"),
    step("a", "http", null),
  ];
  expect(steps.map((_, at) => asideOf(steps, at))).toEqual(["triedAgain", "failedInside", undefined, undefined]);
});

test("two runs are compared step by step, with what only one of them did in its place", () => {
  const step = (id: string, output: unknown, more: Partial<Step> = {}): Step => ({
    id,
    type: "mutation",
    status: "finished",
    started_at: "",
    finished_at: "",
    output,
    error: null,
    ...more,
  });
  const before = [step("0", 1), step("1", 2, { type: "http" }), step("2.then.0", 3), step("3", { a: 1 })];
  const after = [step("0", 1), step("1", 2), step("3", { a: 2 }, { status: "error" }), step("3", { a: 1 })];
  const pairs = pairsOf(before, after);
  expect(pairs.map(({ key, before: old, after: now }) => [key, old?.output, now?.output])).toEqual([
    ["0 mutation 1", 1, 1],
    ["1 http 1", 2, undefined],
    ["2.then.0 mutation 1", 3, undefined],
    ["1 mutation 1", undefined, 2],
    ["3 mutation 1", { a: 1 }, { a: 2 }],
    ["3 mutation 2", undefined, { a: 1 }],
  ]);
  expect(pairs.map(isSame)).toEqual([true, false, false, false, false, false]);
  expect(pairsOf([step("0", 1)], []).map(({ key }) => key)).toEqual(["0 mutation 1"]);
});

test.each([
  ["began with the first program", "10:30", "http", "http"],
  ["began with the program of its time", "11:30", "mutation", "mutation"],
  ["was tried again with a later program", "10:30", "mutation", "mutation"],
  ["has a step that no program has", "10:30", "wait", "http"],
  ["is older than what is known", "09:00", "http", "http"],
])("the steps of a run are those of the program that ran: it %s", (_, at, type, first) => {
  const versions = [
    { program: [{ type: "fail" }], created_at: "2026-01-31T12:00:00.000Z" },
    { program: [{ type: "mutation" }], created_at: "2026-01-31T11:00:00.000Z" },
    { program: [{ type: "http" }], created_at: "2026-01-31T10:00:00.000Z" },
  ];
  const own = { started_at: "", finished_at: "", status: "finished", output: null, error: null } as const;
  const called = { ...own, id: "0/0", type: "return" };
  const run = {
    ...row,
    created_at: `2026-01-31T${at}:00.000Z`,
    input: {},
    data: null,
    steps: [called, { ...own, id: "0", type }],
  };
  expect(programOf(run, versions)).toEqual([{ type: first }]);
});
