import { describe, expect, test } from "bun:test";
import {
  countsOf,
  failedFirst,
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

test("failures come first, each part newest first", () => {
  const all = (["delivered", "failed", "pending", "failed"] as const).map((status, id) => ({ id, status }));
  expect(failedFirst(all).map(({ id }) => id)).toEqual([1, 3, 0, 2]);
});
