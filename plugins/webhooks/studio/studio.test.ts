import { describe, expect, test } from "bun:test";
import { conditionOn, conditionsOf, filterText, isValue, letsThrough, lineOf, type Condition } from "./filter.ts";
import {
  countsOf,
  healthOf,
  isSpan,
  logPath,
  processOf,
  reasonOf,
  refreshed,
  sinceOf,
  stateOf,
  type Delivery,
} from "./log.ts";

describe("a filter", () => {
  const all = { db_code: "orders", total: 12.5, paid: true, note: null, tags: ["a"], __proto: "x" };

  test("is one line in a list", () => {
    expect(lineOf({ db_code: "orders", paid: true })).toBe("db_code = orders, paid = true");
    expect([lineOf(null), lineOf({})]).toEqual(["", ""]);
  });

  test("is conditions, and the same filter again", () => {
    const conditions = conditionsOf(JSON.stringify(all)) ?? [];
    expect(conditions.map(({ type, text }) => [type, text])).toEqual([
      ["text", "orders"],
      ["number", "12.5"],
      ["flag", "true"],
      ["none", ""],
      ["json", '["a"]'],
      ["text", "x"],
    ]);
    expect(JSON.parse(filterText(conditions))).toEqual(all);
    const long = '{"id":12345678901234567890}';
    expect(filterText(conditionsOf(long) ?? []).replaceAll(/\s/g, "")).toBe(long);
  });

  test.each<[Condition[], string]>([
    [[], ""],
    [[{ name: "", type: "text", text: "x" }], ""],
    [[{ name: "a", type: "number", text: "x" }], '{"a": x}'],
    [[{ name: "a", type: "number", text: "" }], '{"a": ?}'],
    [[{ name: "a", type: "number", text: "12345678901234567890" }], '{\n  "a": 12345678901234567890\n}'],
    [[{ name: "a", type: "number", text: "0x10" }], '{\n  "a": 16\n}'],
    [[{ name: "a", type: "text", text: '"' }], '{\n  "a": "\\""\n}'],
    [[{ name: "a", type: "flag", text: "" }], '{\n  "a": false\n}'],
    [
      [
        { name: "a", type: "text", text: "1" },
        { name: "a", type: "text", text: "2" },
      ],
      '{\n  "a": "2"\n}',
    ],
  ])("of %j is %s", (conditions, text) => {
    expect(filterText(conditions)).toBe(text);
  });

  test.each(["[]", "1", "null", "{", '"x"'])("that is %s has no conditions", (text) => {
    expect(conditionsOf(text)).toBeUndefined();
    expect(letsThrough(text, {})).toBeUndefined();
  });

  test("begins with the value that the sample has", () => {
    const sample = { id: 7, db_code: "orders", done: false };
    expect(conditionOn("id", sample)).toEqual({ name: "id", type: "number", text: "7" });
    expect(conditionOn("done", sample)).toEqual({ name: "done", type: "flag", text: "false" });
    expect(conditionOn("unknown", sample)).toEqual({ name: "unknown", type: "text", text: "" });
    expect(conditionOn("constructor", sample)).toEqual({ name: "constructor", type: "text", text: "" });
  });

  test("says whether the sample would be sent", () => {
    expect(letsThrough("", { id: 1 })).toBe(true);
    expect(letsThrough('{"id": 1}', { id: 1 })).toBe(true);
    expect(letsThrough('{"id": "1"}', { id: 1 })).toBe(false);
  });

  test.each<[Condition["type"], string, boolean]>([
    ["number", "1", true],
    ["number", "", false],
    ["number", "1e999", false],
    ["json", "[1]", true],
    ["json", "[1", false],
    ["text", "", true],
    ["none", "", true],
  ])("of type %s takes %s: %p", (type, text, expected) => {
    expect(isValue({ name: "a", type, text })).toBe(expected);
  });
});

const delivery = (id: number, more: Partial<Delivery> = {}): Delivery => ({
  id,
  message_id: `msg_${id}`,
  source_type: "Core::Record",
  event: "create",
  status: "delivered",
  attempts: 1,
  response_status: 200,
  response_body: "ok",
  error: null,
  duration_ms: 3,
  attempted_at: null,
  next_attempt_at: null,
  created_at: "2026-01-31T10:00:00Z",
  ...more,
});

describe("the log", () => {
  const ids = (rows: readonly Delivery[]) => rows.map(({ id }) => id);

  test("changes rows where they stand, and keeps new ones for later unless it is at rest", () => {
    const log = { rows: [delivery(3, { status: "pending" }), delivery(2)], fresh: [] };
    const latest = [delivery(5), delivery(4), delivery(3)];
    const held = refreshed(log, latest, false);
    expect([ids(held.rows), ids(held.fresh), held.rows[0]?.status]).toEqual([[3, 2], [5, 4], "delivered"]);
    const atRest = refreshed(log, latest, true);
    expect([ids(atRest.rows), ids(atRest.fresh)]).toEqual([[5, 4, 3, 2], []]);
    expect(ids(refreshed({ rows: [], fresh: [] }, latest, true).rows)).toEqual([5, 4, 3]);
  });

  test.each<[Delivery["status"], number, string]>([
    ["pending", 0, "waiting"],
    ["pending", 2, "retrying"],
    ["delivered", 1, "delivered"],
    ["failed", 8, "failed"],
  ])("%s after %d attempts is %s", (status, attempts, expected) => {
    expect<string>(stateOf({ status, attempts })).toBe(expected);
  });

  test("is asked for without being counted", () => {
    expect(logPath("3", "")).toBe("/account/webhooks/3/deliveries.json?limit=50&count=false&within=50");
    expect(logPath("3", "failed", 9)).toEndWith("?limit=50&count=false&within=20000&status=failed&before=9");
  });

  test("leads to the process that a flow has started", () => {
    const id = "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e0f";
    const response_body = JSON.stringify({ flow_process_id: id });
    expect(processOf({ response_status: null, response_body })).toBe(id);
    expect(processOf({ response_status: 200, response_body })).toBeUndefined();
    expect(processOf({ response_status: null, response_body: "ok" })).toBeUndefined();
    expect(processOf({ response_status: null, response_body: null })).toBeUndefined();
  });
});

test.each<[number, number, number, string]>([
  [0, 0, 3, "none"],
  [100, 0, 0, "good"],
  [95, 5, 0, "shaky"],
  [80, 20, 0, "bad"],
  [0, 1, 0, "bad"],
])("%d delivered, %d failed and %d waiting are %s", (delivered, failed, pending, mood) => {
  expect<string>(healthOf({ delivered, failed, pending }).mood).toBe(mood);
});

test("deliveries are counted by their status", () => {
  expect(countsOf([delivery(1), delivery(2, { status: "failed" }), delivery(3)])).toEqual({
    delivered: 2,
    failed: 1,
    pending: 0,
  });
});

test.each([
  ["status: the receiver answered 500", "status"],
  ["not allowed: events of …", "not allowed"],
  ["timeout: …", "timeout"],
  ["the connector failed", undefined],
])("%s fails because of %p", (error, reason) => {
  expect<string | undefined>(reasonOf(error)).toBe(reason);
});

test("a span ends now", () => {
  expect(sinceOf("hour", Date.parse("2026-01-31T10:00:00Z"))).toBe("2026-01-31T09:00:00.000Z");
  expect([isSpan("week"), isSpan("toString")]).toEqual([true, false]);
});
