import { describe, expect, test } from "bun:test";
import * as lane from "./lane.ts";
import type { ClaimedDelivery } from "./queue-store.ts";

const delivery = (id: number, dueAt = new Date(0)): ClaimedDelivery => ({
  id,
  accountId: 1,
  webhookId: 1,
  messageId: `msg_${id}`,
  sourceType: "Probe::Thing",
  kind: "create",
  orderKey: null,
  body: "{}",
  bytes: 2,
  causation: null,
  attempts: 0,
  attemptsBefore: 0,
  dueAt,
  sentMsAgo: null,
  sentHere: null,
});
const some = (...ids: number[]) => ids.map((id) => delivery(id));
const limits: lane.Limits = { concurrency: 2, rateLimit: null, ratePeriod: "second" };
const at = (ms: number) => new Date(ms);
const stateOf = (changes: Partial<lane.LaneState>): lane.LaneState => ({ ...lane.emptyLane, ...changes });
const sent = (step: lane.Step): lane.LaneState => {
  if (step.kind !== "send") throw new Error(`expected a request, not "${step.kind}"`);
  return step.state;
};

describe("the next step", () => {
  const two = some(1, 2);
  test.each([
    ["nothing waits", {}, {}, false, { kind: "none" }],
    ["all slots are taken", { waiting: two, inFlight: 2 }, {}, false, { kind: "none" }],
    ["a slot is free", { waiting: two, inFlight: 1 }, {}, false, { kind: "send" }],
    ["the process is full", { waiting: two }, {}, true, { kind: "full" }],
    ["the process is full, and so is the lane", { waiting: two, inFlight: 2 }, {}, true, { kind: "none" }],
    [
      "it ran out of time, and one is under way",
      { waiting: two, inFlight: 1, suspect: true },
      {},
      false,
      { kind: "none" },
    ],
    ["it ran out of time, and nothing is under way", { waiting: two, suspect: true }, {}, false, { kind: "send" }],
    ["the receiver asked to wait", { waiting: two, pausedUntil: 1300 }, {}, false, { kind: "wait", ms: 300 }],
    ["the receiver's wait is over", { waiting: two, pausedUntil: 1000 }, {}, false, { kind: "send" }],
    ["the rate allows none yet", { waiting: two, slot: 990 }, { rateLimit: 20 }, false, { kind: "wait", ms: 40 }],
    ["the rate allows one by now", { waiting: two, slot: 950 }, { rateLimit: 20 }, false, { kind: "send" }],
    [
      "the rate allows none yet, and the receiver asked to wait longer",
      { waiting: two, slot: 990, pausedUntil: 1400 },
      { rateLimit: 20 },
      false,
      { kind: "wait", ms: 400 },
    ],
    [
      "the receiver asked to wait, and the rate allows none for longer",
      { waiting: two, slot: 990, pausedUntil: 1010 },
      { rateLimit: 1, ratePeriod: "minute" },
      false,
      { kind: "wait", ms: 59_990 },
    ],
    ["the rate was taken away", { waiting: two, slot: 999 }, { rateLimit: null }, false, { kind: "send" }],
    ["the rate was raised", { waiting: two, slot: 900 }, { rateLimit: 10 }, false, { kind: "send" }],
    [
      "the rate was lowered",
      { waiting: two, slot: 0 },
      { rateLimit: 30, ratePeriod: "minute" },
      false,
      { kind: "wait", ms: 1000 },
    ],
  ] as const)("where %s", (_, state, more, full, expected) => {
    expect(lane.nextStep(stateOf(state), { ...limits, ...more }, full, 1000)).toMatchObject(expected);
  });

  test("takes the first that waits, and a slot", () => {
    const before = stateOf({ waiting: some(1, 2, 3) });
    const step = lane.nextStep(before, limits, false, 0);
    expect(step).toMatchObject({ kind: "send", delivery: { id: 1 } });
    expect(sent(step)).toMatchObject({ ...before, waiting: some(2, 3), inFlight: 1, slot: -20 });
    expect(before.waiting).toHaveLength(3);
  });

  test.each([
    ["10 a second, the first", { rateLimit: 10 }, -Infinity, 80],
    ["6 a minute, the first", { rateLimit: 6, ratePeriod: "minute" }, -Infinity, 9980],
    ["10 a second, in time", { rateLimit: 10 }, 900, 100],
    ["10 a second, and a late timer", { rateLimit: 10 }, 890, 90],
    ["10 a second, and a very late timer", { rateLimit: 10 }, 100, 80],
  ] as const)("with %s is followed by the right wait", (_, more, slot, ms) => {
    const state = stateOf({ waiting: some(1, 2), slot });
    const rated = { ...limits, ...more };
    expect(lane.nextStep(sent(lane.nextStep(state, rated, false, 1000)), rated, false, 1000)).toEqual({
      kind: "wait",
      ms,
    });
  });

  test("never sends more in a second than the rate, whenever it is asked", () => {
    const rated = { concurrency: 100, rateLimit: 20, ratePeriod: "second" } as const;
    let state = stateOf({ waiting: some(...Array.from({ length: 100 }, (_, n) => n)) });
    const times: number[] = [];
    for (let now = 0; now < 3000; now += 7) {
      const step = lane.nextStep(state, rated, false, now);
      if (step.kind !== "send") continue;
      state = step.state;
      times.push(now);
    }
    for (const [n, time] of times.entries()) {
      const later = times[n + 20];
      if (later !== undefined) expect(later - time).toBeGreaterThanOrEqual(980);
    }
    expect(times.length).toBeGreaterThanOrEqual(58);
  });
});

describe("how many are claimed", () => {
  test.each([
    ["nothing more is known of", { more: false }, 2, 0],
    ["a claim is under way", { more: true, claiming: true }, 2, 0],
    ["it is empty: twice its slots", { more: true }, 2, 4],
    ["some wait and some are under way", { more: true, inFlight: 1, waiting: some(1, 2) }, 2, 1],
    ["as many wait as may", { more: true, inFlight: 2, waiting: some(1, 2) }, 2, 0],
    ["more wait than may since its slots were made fewer", { more: true, waiting: some(1, 2, 3) }, 1, 0],
    ["it has many slots: a hundred at most", { more: true }, 100, 100],
    ["a large one takes several places", { more: true, waiting: [{ ...delivery(1), bytes: 600_000 }] }, 2, 1],
    ["it ran out of time: one", { more: true, suspect: true }, 10, 1],
    ["it ran out of time and one is tried", { more: true, suspect: true, inFlight: 1 }, 10, 0],
  ])("where %s", (_, state, concurrency, most) => {
    expect(lane.claimable(stateOf(state), { ...limits, concurrency })).toBe(most);
  });
});

describe("a claim", () => {
  test.each([
    ["finds nothing", [], 5000, lane.never, 5000, false],
    ["finds fewer than asked for: looks a second back", [9000], 5000, lane.never, 8000, false],
    ["finds fewer, and looks no further back than before", [5500], 5000, lane.never, 5000, false],
    ["is full: goes on from the last", [7000, 9000], 5000, lane.never, 9000, true],
    ["was asked for an earlier time meanwhile", [7000, 9000], 5000, at(100), 100, true],
    ["was asked for a later time meanwhile", [9000], 5000, at(8500), 8000, false],
  ] as const)("that %s", (_, due, since, asked, next, more) => {
    const state = stateOf({ claiming: true, asked });
    const rows = due.map((ms) => delivery(1, at(ms)));
    expect(lane.claimEnded(state, rows, { most: 2, since: at(since) }, 0)).toEqual({
      ...state,
      claiming: false,
      since: at(next),
      more,
    });
  });

  test("that is cut for its size goes on from the last, though it found fewer than asked for", () => {
    const ended = lane.claimEnded(stateOf({ claiming: true }), some(1), { most: 2, since: at(0) }, 0, true);
    expect(ended).toMatchObject({ more: true, since: at(0) });
  });

  test("begins with nothing asked for, and forgets no wish that comes meanwhile", () => {
    const begun = lane.claimBegun(stateOf({ more: true, asked: at(1), since: at(50) }));
    expect(begun).toMatchObject({ claiming: true, more: false, asked: lane.never });
    const wished = lane.woken(begun, at(20));
    expect(lane.claimEnded(wished, [], { most: 2, since: at(50) }, 0)).toMatchObject({ more: true, since: at(20) });
    expect(lane.claimEnded(begun, [], { most: 2, since: at(50) }, 0)).toMatchObject({ more: false, since: at(50) });
  });

  test.each([
    ["no request is known", -Infinity, null, null, -Infinity],
    ["no request is known to the queue", 4000, null, null, 4000],
    ["another process sent the last one", -Infinity, 300, false, 9700],
    ["another process sent the last one, after ours", 4000, 300, false, 9700],
    ["another process sent one before ours", 9900, 300, false, 9900],
    ["this process sent the last one: it knows better", 9650, 300, true, 9650],
    ["this process sent the last one, and has forgotten it", -Infinity, 300, true, 9700],
    ["the database's clock was set back", -Infinity, -86_400_000, false, 10_000],
  ] as const)("takes the rate over where %s", (_, slot, sentMsAgo, sentHere, next) => {
    const rows = some(1, 2).map((row) => ({ ...row, sentMsAgo, sentHere }));
    expect(lane.claimEnded(stateOf({ slot }), rows, { most: 2, since: at(0) }, 10_000).slot).toBe(next);
  });

  test("that fails is made again; one of a process that stops is not", () => {
    const begun = lane.claimBegun(stateOf({ more: true }));
    expect(lane.claimFailed(begun)).toMatchObject({ claiming: false, more: true });
    expect(lane.claimDropped(begun)).toMatchObject({ claiming: false, more: false });
  });
});

describe("an answer", () => {
  const plain = { timedOut: false, status: 200, retryAfterSeconds: null };
  test.each([
    ["200", plain, 0, false],
    ["200 with Retry-After", { ...plain, retryAfterSeconds: 5 }, 0, false],
    ["500 with Retry-After", { ...plain, status: 500, retryAfterSeconds: 5 }, 0, false],
    ["429 with Retry-After", { ...plain, status: 429, retryAfterSeconds: 5 }, 6000, false],
    ["503 with Retry-After", { ...plain, status: 503, retryAfterSeconds: 5 }, 6000, false],
    ["429 without", { ...plain, status: 429 }, 1000, false],
    ["429 that asks for an hour", { ...plain, status: 429, retryAfterSeconds: 3600 }, 61_000, false],
    ["none in time", { ...plain, status: null, timedOut: true }, 0, true],
  ])("of %s", (_, outcome, pausedUntil, suspect) => {
    for (const before of [true, false])
      expect(lane.answered(stateOf({ suspect: before }), outcome, 1000)).toEqual(stateOf({ pausedUntil, suspect }));
  });

  test("that does not ask to wait leaves an earlier one's wish", () => {
    expect(lane.answered(stateOf({ pausedUntil: 5000 }), plain, 1000).pausedUntil).toBe(5000);
  });
});

test.each([
  ["woken", lane.woken(stateOf({ since: at(50) })), { more: true, since: at(50), asked: lane.never }],
  ["woken from earlier", lane.woken(stateOf({ since: at(50) }), at(20)), { more: true, since: at(20), asked: at(20) }],
  ["woken from later", lane.woken(stateOf({ since: at(50) }), at(70)), { more: true, since: at(50), asked: at(70) }],
  [
    "closed",
    lane.closed(stateOf({ more: true, waiting: some(1, 2), inFlight: 1 })),
    { more: false, waiting: [], inFlight: 1 },
  ],
  ["given more", lane.queued(stateOf({ waiting: some(1) }), some(2, 3)), { waiting: some(1, 2, 3) }],
  ["without one", lane.lost(stateOf({ waiting: some(1, 2, 3) }), 2), { waiting: some(1, 3) }],
  ["without one that it has not", lane.lost(stateOf({ waiting: some(1) }), 2), { waiting: some(1) }],
  ["past a request", lane.ended(stateOf({ inFlight: 2 })), { inFlight: 1 }],
  ["urged", lane.urged(stateOf({ pausedUntil: 9000, slot: 50 })), { pausedUntil: 0, slot: 50 }],
])("a lane %s", (_, state, expected) => {
  expect(state).toMatchObject(expected);
});

test.each([
  [[], 0, ""],
  [[1, 1, 1, 2, 3, 3], 0, "1 2 3 1 3 1"],
  [[1, 1, 1, 2, 3, 3], 1, "2 3 1 3 1 1"],
  [[1, 1, 1, 2, 3, 3], 3, "1 2 3 1 3 1"],
  [[3, 1], 2, "3 1"],
])("lanes of the accounts %j ask by turns after %d: %s", (accounts, last, expected) => {
  const lanes = accounts.map((accountId) => ({ accountId }));
  expect([...lane.byTurns(lanes, last)].map(({ accountId }) => accountId).join(" ")).toBe(expected);
});
