import { describe, expect, test } from "bun:test";
import { toPruneOfWal } from "./base-backup.ts";
import { momentLines, recoveryPlans } from "./recovery-plan.ts";
import { lsnText, parseLsn, parseWalName, segmentName, walNameOf, type Base, type Piece } from "./wal-names.ts";

const day = (of: number, time = "00:00") => new Date(`2026-03-0${of}T${time}:00.000Z`);
const base = (chain: string, from: bigint, at: Date): Base => ({ name: `${chain} base ${from}`, chain, from, at });
const piece = (chain: string, from: bigint, to: bigint, at: Date): Piece => ({
  name: `${chain} ${from}-${to}`,
  chain,
  from,
  to,
  at,
});
/** Two chains, of which the first has two bases. */
const files = [
  piece("a", 40n, 50n, day(3, "01:00")),
  piece("a", 5n, 20n, day(1, "01:00")),
  base("a", 10n, day(1)),
  base("a", 30n, day(2)),
  // After a crash PostgreSQL may not know that the last piece was stored.
  piece("a", 20n, 25n, day(1, "02:00")),
  piece("a", 20n, 40n, day(2, "01:00")),
  base("b", 100n, day(5)),
  piece("b", 90n, 120n, day(5, "01:00")),
  piece("b", 130n, 140n, day(5, "03:00")),
];
const namesOf = (until?: Date) =>
  recoveryPlans(files, until, "here").map((plan) => [plan.base, ...plan.pieces].map(({ name }) => name));

describe("the way to a moment", () => {
  test.each([
    ["is the base before it and the pieces up to one that is later", day(1, "00:30"), [["a base 10", "a 5-20"]]],
    [
      "is by the newest base, else by the one before it",
      day(2, "00:30"),
      [
        ["a base 30", "a 20-40"],
        ["a base 10", "a 5-20", "a 20-25", "a 20-40"],
      ],
    ],
    [
      "goes on over the next base",
      day(3, "00:59"),
      [
        ["a base 30", "a 20-40", "a 40-50"],
        ["a base 10", "a 5-20", "a 20-25", "a 20-40", "a 40-50"],
      ],
    ],
  ])("%s", (_, until, expected) => {
    expect(namesOf(until)).toEqual(expected);
  });

  test.each([
    ["before all bases", new Date(day(1).getTime() - 1), "earlier moments cannot be restored"],
    ["between two chains", day(4), "nothing is archived between 2026-03-03T01:00:00.000Z and 2026-03-05T00:00:00.000Z"],
    [
      "after a missing piece",
      day(5, "02:00"),
      "the piece before b 130-140 is missing: only moments before 2026-03-05T01:00",
    ],
    ["after everything", day(6), "the piece before b 130-140 is missing"],
    ["to the newest moment over a missing piece", undefined, "the piece before b 130-140 is missing"],
  ])("%s there is none, and why is said", (_, until, expected) => {
    expect(() => namesOf(until)).toThrow(expected);
  });

  test("to the newest moment of a base without changes is by the base before it, if there is one", () => {
    const lone = [base("c", 10n, day(1))];
    expect(() => recoveryPlans(lone, undefined, "here")).toThrow("no changes archived since it was made");
    expect(() => recoveryPlans([], undefined, "here")).toThrow("there is no base backup in here");
    const [plan] = recoveryPlans([...lone, base("b", 1n, day(0 + 1)), piece("b", 1n, 2n, day(1))], undefined, "here");
    expect(plan?.base.name).toBe("b base 1");
  });

  test("is told to people by chain", () => {
    expect(momentLines(files)).toEqual([
      "any moment: 2026-03-01T00:00:00.000Z to 2026-03-03T01:00:00.000Z (corestead restore --at TIME)",
      "any moment: 2026-03-05T00:00:00.000Z to 2026-03-05T03:00:00.000Z (corestead restore --at TIME)",
    ]);
  });
});

test("bases stay by days, else by hours, at least the newest, and pieces while a base needs them", () => {
  const good = new Map(files.map(({ name }) => [name, "good" as const]));
  const gone = (days: number, hours = 9) => toPruneOfWal(files, good, { hours, days, weeks: 4, months: 6 }).toSorted();
  expect(gone(7)).toEqual([]);
  expect(gone(1)).toEqual(["a 20-25", "a 5-20", "a base 10"]);
  expect(gone(0, 0)).toEqual(["a 20-25", "a 20-40", "a 40-50", "a 5-20", "a base 10", "a base 30"]);
  expect([gone(0, 9), gone(0, 1)]).toEqual([gone(7), gone(1)]);
});

test.each([
  ["a day", { hours: 0, days: 7 }, 24, 9],
  ["an hour", { hours: 24, days: 7 }, 1, 9],
  ["five hours", { hours: 0, days: 7 }, 5, 9],
  ["an hour, without days", { hours: 24, days: 0 }, 1, 26],
])("with a base every %s any moment of the whole time can be restored", (_, rule, everyHours, most) => {
  const hour = 3_600_000;
  const spanMs = (rule.days > 0 ? rule.days * 24 : rule.hours) * hour;
  const begin = day(1, "03:30").getTime();
  let kept: Base[] = [];
  for (let at = begin; at < begin + 40 * 24 * hour; at += everyHours * hour) {
    // A schedule begins a little later or earlier.
    const jitter = Math.round(Math.sin(at) * 400);
    kept.push(base("a", BigInt(at), new Date(at + jitter)));
    const gone = new Set(
      toPruneOfWal(kept, new Map(kept.map(({ name }) => [name, "good" as const])), { ...rule, weeks: 4, months: 6 }),
    );
    kept = kept.filter(({ name }) => !gone.has(name));
    const oldest = Math.min(...kept.map((one) => one.at.getTime()));
    expect(oldest).toBeLessThanOrEqual(Math.max(begin + 400, at + jitter - spanMs));
    expect(kept.length).toBeLessThanOrEqual(most);
  }
});

test("names and positions are read as they are written", () => {
  const at = new Date("2026-01-31T03:30:00.250Z");
  for (const isSealed of [true, false])
    for (const to of [undefined, 0x1_03a4_f2d0n]) {
      const file = { chain: "20260131T033000000Z", from: 0x1_0300_0028n, at, ...(to !== undefined && { to }) };
      const name = walNameOf(file, isSealed);
      expect(parseWalName(name)).toEqual({ ...file, name });
    }
  for (const name of [
    "",
    "notes.txt",
    "corestead-20260131T033000Z.backup",
    "corestead-20269931T033000000Z-0000000003000028-base-20260131T033000250Z.wal",
  ])
    expect(parseWalName(name)).toBeUndefined();
  expect(lsnText(parseLsn("1A/3A4F2D0"))).toBe("1A/3A4F2D0");
  expect(segmentName(2, parseLsn("1A/3A4F2D0"))).toBe("000000020000001A00000003");
});
