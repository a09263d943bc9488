import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { startProcess, startTestDatabase, until, type TestDatabase } from "../../tests/job-fixtures.ts";
import { nextDueTimes } from "../times/due-times.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
beforeEach(async () => {
  await database.sql`truncate jobs, job_history, schedule_runs`;
});
afterAll(() => database.stop());

/** A clock that stands until it is turned. */
function turnedClock(start: string) {
  let now = new Date(start);
  const clock = () => now;
  return { clock, turnTo: (time: string) => void (now = new Date(time)) };
}

test("each due time is fired once over two processes", async () => {
  const { clock, turnTo } = turnedClock("2026-03-01T10:00:30Z");
  await using a = await startProcess(database.target, { scheduleClock: clock });
  await using b = await startProcess(database.target, { scheduleClock: clock });
  const fired: string[] = [];
  for (const one of [a, b]) {
    one.schedules.register({ id: "minutely", cron: "* * * * *", run: async (at) => void fired.push(at.toISOString()) });
    await one.queue.start();
    one.schedules.start();
  }
  for (const time of ["10:00:59", "10:01:00", "10:01:01", "10:02:10", "10:03:00"]) {
    turnTo(`2026-03-01T${time}Z`);
    await Promise.all([a.schedules.check(), b.schedules.check(), a.schedules.check()]);
  }
  await until(() => fired.length >= 3);
  expect(fired).toEqual(["2026-03-01T10:01:00.000Z", "2026-03-01T10:02:00.000Z", "2026-03-01T10:03:00.000Z"]);
  expect(await database.sql`select from schedule_runs`).toHaveLength(3);
});

test("due times go by the database's clock, whatever the machines' clocks show", async () => {
  const fired: Date[] = [];
  const tenMinutes = 600_000;
  await using ahead = await startProcess(database.target, { here: () => Date.now() + tenMinutes });
  await using behind = await startProcess(database.target, { here: () => Date.now() - tenMinutes });
  for (const one of [ahead, behind]) {
    one.schedules.register({ id: "secondly", cron: "* * * * * *", run: async (at) => void fired.push(at) });
    await one.queue.start();
    one.schedules.start();
  }
  await until(() => fired.length >= 3);
  const times = fired.map((at) => at.getTime());
  expect(new Set(times).size).toBe(times.length);
  for (const time of times) expect(Math.abs(time - Date.now())).toBeLessThan(tenMinutes / 2);
});

test("what was due while no process ran is left out, or its latest fired, as asked", async () => {
  const { clock, turnTo } = turnedClock("2026-03-01T09:59:00Z");
  const fired: string[] = [];
  const run = async (missed: "skip" | "latest") => {
    const one = await startProcess(database.target, { scheduleClock: clock });
    const note = async (at: Date) => void fired.push(`${missed} ${at.toISOString()}`);
    one.schedules.register({ id: missed, cron: "0 * * * *", missed, run: note });
    await one.queue.start();
    return one;
  };
  for (const missed of ["skip", "latest"] as const) {
    turnTo("2026-03-01T09:59:00Z");
    await using before = await run(missed);
    turnTo("2026-03-01T10:00:00Z");
    await before.schedules.check();
    await until(() => fired.includes(`${missed} 2026-03-01T10:00:00.000Z`));
    await before.stop();
    turnTo("2026-03-01T14:30:00Z");
    await using after = await run(missed);
    await after.schedules.check();
    turnTo("2026-03-01T15:00:01Z");
    await after.schedules.check();
    await until(() => fired.includes(`${missed} 2026-03-01T15:00:00.000Z`));
  }
  expect(fired).toEqual([
    "skip 2026-03-01T10:00:00.000Z",
    "skip 2026-03-01T15:00:00.000Z",
    "latest 2026-03-01T10:00:00.000Z",
    "latest 2026-03-01T14:00:00.000Z",
    "latest 2026-03-01T15:00:00.000Z",
  ]);
});

test("a run that fails is tried again", async () => {
  const { clock, turnTo } = turnedClock("2026-03-01T10:00:30Z");
  await using a = await startProcess(database.target, { scheduleClock: clock });
  let runs = 0;
  a.schedules.register({
    id: "failing",
    cron: "* * * * *",
    retry: () => 0,
    run: async () => {
      if (++runs === 1) throw new Error("not yet");
    },
  });
  await a.queue.start();
  turnTo("2026-03-01T10:01:00Z");
  await a.schedules.check();
  await until(() => runs === 2);
  expect(await database.sql`select from schedule_runs`).toHaveLength(1);
});

test("the timer fires by itself", async () => {
  await using a = await startProcess(database.target);
  let runs = 0;
  a.schedules.register({ id: "secondly", cron: "* * * * * *", run: async () => void runs++ });
  await a.queue.start();
  a.schedules.start();
  await until(() => runs >= 2);
});

test("old due times are forgotten, but the last one of each schedule", async () => {
  await using a = await startProcess(database.target, { scheduleClock: () => new Date("2026-03-20T00:00:00Z") });
  await database.sql`
    insert into schedule_runs (schedule_id, due_at)
    select id, '2026-03-01'::timestamptz + n * interval '1 day' from unnest(array['a', 'b']) id, generate_series(0, 4) n`;
  expect(await a.schedules.prune(7)).toBe(8);
  expect(await database.sql`select from schedule_runs`).toHaveLength(2);
});

test("due times follow the time zone over the change to summer time, and nonsense is refused", () => {
  const after = new Date("2026-03-28T00:00:00Z");
  expect(nextDueTimes("30 8 * * *", 3, "Europe/Berlin", after).map((at) => at.toISOString())).toEqual([
    "2026-03-28T07:30:00.000Z",
    "2026-03-29T06:30:00.000Z",
    "2026-03-30T06:30:00.000Z",
  ]);
  for (const [cron, timezone] of [
    ["nonsense", "UTC"],
    ["61 * * * *", "UTC"],
    ["* * * *", "UTC"],
    ["* * * * *", "Mars/Base"],
  ] as const)
    expect(() => nextDueTimes(cron, 1, timezone)).toThrow();
});

test.each(["2026-03-02T10:02", "2026-03-01T10:32"])(
  "a clock that was ahead, at %s, silences nothing, neither in the process that saw it nor in the next one",
  async (ahead) => {
    const { clock, turnTo } = turnedClock("2026-03-01T10:00:30Z");
    const fired: string[] = [];
    const start = async (missed: "skip" | "latest") => {
      const one = await startProcess(database.target, { scheduleClock: clock });
      const run = async (at: Date) => void fired.push(at.toISOString());
      one.schedules.register({ id: `${missed}@${ahead}`, cron: "* * * * *", missed, run });
      await one.queue.start();
      await one.schedules.check();
      return one;
    };
    for (const missed of ["skip", "latest"] as const) {
      turnTo("2026-03-01T10:00:30Z");
      await using first = await start(missed);
      turnTo(`${ahead}:00Z`);
      await first.schedules.check();
      await until(() => fired.includes(`${ahead}:00.000Z`));
      turnTo("2026-03-01T10:01:01Z");
      await first.schedules.check();
      await until(() => fired.includes("2026-03-01T10:01:00.000Z"));
      await first.stop();
      await using second = await start(missed);
      for (const minute of ["2026-03-01T10:02", ahead]) {
        fired.length = 0;
        turnTo(`${minute}:00Z`);
        await second.schedules.check();
        await until(() => fired.includes(`${minute}:00.000Z`));
      }
      fired.length = 0;
    }
  },
);
