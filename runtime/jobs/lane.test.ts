import { describe, expect, test } from "bun:test";
import { chooseClaims, claimed, claiming, lookingFrom, markedDue, startCursor, type Cursor } from "./lane.ts";
import { nothingHeld, noTurns, take } from "./shares.ts";

const at = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1000);
const due = (...seconds: number[]) => seconds.map((one) => ({ dueAt: at(one) }));

function lane(name: string, { busy = 0, concurrency = 20, cursor = startCursor }: Partial<Given> = {}) {
  const held = nothingHeld();
  for (let n = 0; n < busy; n++) take(held, { accountId: null, share: null, bytes: 10 });
  return { handler: { name }, concurrency, leaseSeconds: 30, held, turns: noTurns(), cursor };
}
interface Given {
  readonly busy: number;
  readonly concurrency: number;
  readonly cursor: Cursor;
}
const idle = claiming(startCursor);

describe("a claim asks for", () => {
  const limits = (...args: Parameters<typeof chooseClaims>) =>
    chooseClaims(...args).map(({ name, limit, turns }) => `${name} ${limit}${turns ? " of others" : ""}`);

  test.each<[string, ReturnType<typeof lane>[], number, number, string[]]>([
    ["nothing without lanes", [], 200, 0, []],
    ["nothing of lanes that are not due", [lane("a", { cursor: idle })], 200, 0, []],
    ["as many as a lane may run", [lane("a"), lane("b", { concurrency: 3 })], 200, 0, ["a 20", "b 3"]],
    ["what a busy lane has left", [lane("a", { busy: 15 })], 200, 0, ["a 5"]],
    ["the jobs of others where somebody has all that they may", [lane("a", { busy: 20 })], 200, 0, ["a 60 of others"]],
    [
      "the jobs of others in every eighth claim of a backlog",
      [lane("a", { cursor: { ...startCursor, backlog: 7 } }), lane("b", { cursor: { ...startCursor, backlog: 6 } })],
      200,
      0,
      ["a 20 of others", "b 20"],
    ],
    ["one job of others where no place is left", [lane("a", { busy: 80 })], 200, 0, ["a 1 of others"]],
    ["nothing where as many others have come as there are places", [lane("a", { busy: 160 })], 200, 0, []],
    ["what the process has left", [lane("a"), lane("b")], 25, 0, ["a 20", "b 5"]],
    ["another lane first in the next turn", [lane("a"), lane("b"), lane("c")], 25, 1, ["b 20", "c 5"]],
    ["each in its turn, over and over", [lane("a"), lane("b"), lane("c")], 25, 5, ["c 20", "a 5"]],
    ["nothing where all places are taken", [lane("a")], 0, 0, []],
    ["nothing where more runs than may", [lane("a", { busy: 30 })], -10, 0, []],
    ["at most 100 of a lane", [lane("a", { concurrency: 1000 })], 1000, 0, ["a 100"]],
    [
      "at most 400 of all",
      ["a", "b", "c", "d", "e"].map((name) => lane(name, { concurrency: 1000 })),
      5000,
      0,
      ["a 100", "b 100", "c 100", "d 100"],
    ],
  ])("%s", (_, lanes, free, turn, expected) => {
    expect(limits(lanes, free, turn)).toEqual(expected);
  });

  test("jobs from where the lane's cursor stands, leased for as long as the lane says", () => {
    const cursor = { due: true, others: true, backlog: 0, since: at(7), asked: at(9) };
    expect(chooseClaims([{ ...lane("a", { cursor }), leaseSeconds: 90 }], 1, 0)).toEqual([
      { name: "a", limit: 1, leaseSeconds: 90, since: at(7) },
    ]);
  });
});

describe("a cursor", () => {
  test("begins at the beginning of time, due", () => {
    expect([startCursor.due, startCursor.since.getTime()]).toEqual([true, 0]);
  });

  test("is not due while its claim is under way, until it is marked", () => {
    expect(claiming(startCursor).due).toBe(false);
    expect(markedDue(claiming(startCursor)).due).toBe(true);
  });

  const since10 = { ...idle, since: at(10) };
  const claim = { limit: 3, since: at(10) };
  test.each<[string, Cursor, ReturnType<typeof due>, { due: boolean; since: Date }]>([
    ["stays where nothing came", since10, [], { due: false, since: at(10) }],
    ["stays due where it was marked meanwhile", markedDue(since10), [], { due: true, since: at(10) }],
    ["goes on where a full batch ended, due", since10, due(20, 40, 30), { due: true, since: at(40) }],
    [
      "goes on a second before the last of a batch that was not full",
      since10,
      due(20, 30),
      { due: false, since: at(29) },
    ],
    ["never goes back by that second", since10, due(10.5), { due: false, since: at(10) }],
    ["stays due after a batch that was not full", markedDue(since10), due(20), { due: true, since: at(19) }],
    [
      "heeds an earlier time asked for meanwhile",
      lookingFrom(since10, at(5)),
      due(20, 30, 40),
      { due: true, since: at(5) },
    ],
    [
      "heeds a time asked for that it would have passed",
      lookingFrom(since10, at(25)),
      due(20, 30),
      { due: false, since: at(25) },
    ],
    ["ignores a later one", lookingFrom(since10, at(50)), due(20, 30), { due: false, since: at(29) }],
  ])("%s", (_, cursor, jobs, expected) => {
    const { due: isDue, since } = claimed(cursor, claim, jobs);
    expect({ due: isDue, since }).toEqual(expected);
  });

  test("goes back at once to an earlier time asked for, and keeps the earliest", () => {
    const asked = lookingFrom(lookingFrom(since10, at(3)), at(6));
    expect([asked.since, asked.asked]).toEqual([at(3), at(3)]);
    expect(lookingFrom(since10, at(20)).since).toEqual(at(10));
  });

  test("has forgotten what was asked for when the next claim begins", () => {
    const next = claiming(lookingFrom(since10, at(3)));
    expect(claimed(next, { limit: 1, since: next.since }, due(8)).since).toEqual(at(8));
  });
});
