import { afterAll, beforeAll, expect, test } from "bun:test";
import { otherAccount, person, startTestApp, type TestApp } from "../../tests/harness.ts";
import { follower, traces } from "../../tests/traces.ts";
import { afterCommit, transaction } from "../../runtime/db/db.ts";
import { createLog } from "../../runtime/system/log.ts";
import { flows, type StartFlow } from "../flows/api.ts";
import { plugins } from "../index.ts";
import { fireDue, newMemory } from "./fire.ts";
import { scheduleMistake, toFire } from "./schedule.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  const program = [{ type: "return", value: "{{ input }}" }];
  for (const code of ["report", "gone"])
    expect((await app.post("/connect/flows.json", { flow: { name: code, code, fields: { program } } })).status).toBe(
      201,
    );
});
afterAll(() => app.stop());

const cron = async (fields: object = {}) => {
  const answer = await app.post("/account/crons.json", {
    cron: { kind: "flow", target_code: "report", schedule: "0 7 * * *", ...fields },
  });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.json;
};

/** The firing of a server process at this time; what it started is counted once it is committed. */
function firingAt(time: string | (() => string)) {
  const started: StartFlow[] = [];
  const service = app.service(flows);
  const startFlow = async (flow: StartFlow) => {
    const id = await service.startFlow(flow);
    if (flow.tx && id) afterCommit(flow.tx, () => started.push(flow));
    return id;
  };
  const ctx = {
    sql: app.sql,
    transaction: <T>(run: Parameters<typeof transaction<T>>[1]) => transaction(app.sql, run),
    log: createLog("error", () => {}),
    now: () => new Date(typeof time === "string" ? time : time()),
    flows: { startFlow },
  };
  const memory = newMemory(ctx);
  return { check: () => fireDue(ctx, memory), started };
}
const dueAt = (id: number, time: string) => app.sql`update crons set next_run_at = ${time} where id = ${id}`;
const failureOf = (work: Promise<void>) => work.then(String, String);

/** The server's own look at the crons, once a minute, would come in between. */
const aside = () => app.sql`
  insert into schedule_runs (schedule_id, due_at)
  select 'crons.check', date_trunc('minute', now()) + n * interval '1 minute' from generate_series(0, 30) n
  on conflict do nothing`;

const idle = async () => {
  await aside();
  await app.sql`update crons set next_run_at = null, active = false`;
};
const show = async (id: number) => (await app.get(`/account/crons/${id}.json`)).json;

test("a cron is made, shown with its next five due times, changed, listed and deleted", async () => {
  const made = await cron({ timezone: "Europe/Warsaw" });
  expect(Number.isInteger(made.id)).toBe(true);
  expect(made).toMatchObject({
    name: "report",
    kind: "flow",
    target_code: "report",
    schedule: "0 7 * * *",
    active: true,
    missed: "skip",
    last_run_at: null,
  });
  expect(made.next_runs).toHaveLength(5);
  expect(made.next_runs[0]).toBe(made.next_run_at);
  for (const at of made.next_runs)
    expect(
      new Date(at).toLocaleTimeString("en-GB", { timeZone: "Europe/Warsaw", hour: "2-digit", minute: "2-digit" }),
    ).toBe("07:00");
  const path = `/account/crons/${made.id}.json`;
  const off = await app.patch(path, { cron: { active: false } });
  expect([off.status, off.json]).toMatchObject([200, { active: false, next_run_at: null, next_runs: [] }]);
  const on = await app.patch(path, { cron: { active: true, schedule: "*/5 * * * *", name: "Often" } });
  expect(on.json).toMatchObject({ active: true, name: "Often", schedule: "*/5 * * * *" });
  expect(Date.parse(on.json.next_run_at) - Date.now()).toBeLessThanOrEqual(300_000);
  const list = await app.get("/account/crons.json?target_code=report");
  expect([list.json.length, list.headers.get("x-total-count")]).toEqual([1, "1"]);
  expect((await app.delete(path)).status).toBe(204);
  expect((await app.get(path)).status).toBe(404);
});

test("a wrong cron is 422 that names the field", async () => {
  const wrong: [fields: object, field: string][] = [
    [{ schedule: undefined }, "schedule"],
    [{ schedule: "" }, "schedule"],
    [{ schedule: 7 }, "schedule"],
    [{ schedule: "* * * *" }, "schedule"],
    [{ schedule: "* * * * * *" }, "schedule"],
    [{ schedule: "61 * * * *" }, "schedule"],
    [{ schedule: "0 0 30 2 *" }, "schedule"],
    [{ schedule: "@daily" }, "schedule"],
    [{ schedule: "? * * * *" }, "schedule"],
    [{ schedule: "a b c d e" }, "schedule"],
    [{ target_code: undefined }, "target_code"],
    [{ target_code: "nobody" }, "target_code"],
    [{ target_code: "a/b" }, "target_code"],
    [{ kind: "connector" }, "kind"],
    [{ timezone: "Mars/Olympus" }, "timezone"],
    [{ timezone: 7 }, "timezone"],
    [{ missed: "all" }, "missed"],
    [{ active: "yes" }, "active"],
    [{ name: 7 }, "name"],
  ];
  for (const [fields, name] of wrong) {
    const answer = await app.post("/account/crons.json", {
      cron: { target_code: "report", schedule: "* * * * *", ...fields },
    });
    expect([fields, answer.status, Object.keys(answer.json ?? {})]).toEqual([fields, 422, [name]]);
  }
  const { id } = await cron();
  expect((await app.patch(`/account/crons/${id}.json`, { cron: { schedule: "x" } })).status).toBe(422);
  expect((await app.post("/account/crons.json", { schedule: "* * * * *" })).status).toBe(400);
});

test("firing by hand starts the flow with the cron's input, and leaves the schedule", async () => {
  const made = await cron();
  const answer = await app.post(`/account/crons/${made.id}/run.json`);
  expect([answer.status, answer.json]).toEqual([201, { flow_process_id: expect.any(String) }]);
  const process = await app.get(`/connect/flow_processes/${answer.json.flow_process_id}.json`);
  expect(process.json).toMatchObject({
    flow_code: "report",
    status: "finished",
    data: { kind: "cron", cron_id: made.id },
  });
  expect(await show(made.id)).toMatchObject({ next_run_at: made.next_run_at, last_run_at: expect.any(String) });
});

test("needs the privilege `crons`, and is 404 for another account", async () => {
  const { id } = await cron();
  const { token } = await person(app, { role: "user" });
  expect((await app.get("/account/crons.json", { token })).status).toBe(403);
  const other = await otherAccount(app);
  expect((await other.get(`/account/crons/${id}.json`)).status).toBe(404);
  expect((await other.post(`/account/crons/${id}/run.json`)).status).toBe(404);
  expect((await other.patch(`/account/crons/${id}.json`, { cron: { active: false } })).status).toBe(404);
  expect((await other.delete(`/account/crons/${id}.json`)).status).toBe(404);
  expect((await app.get("/account/crons/x.json")).status).toBe(404);
  expect((await app.get("/account/crons/99999999999999999999.json")).status).toBe(404);
});

test("what is due is fired once, however many look at once, and the next due time follows", async () => {
  await idle();
  const ids: number[] = [];
  for (let n = 0; n < 12; n++) ids.push((await cron({ schedule: "*/10 * * * *", timezone: "UTC" })).id);
  for (const id of ids) await dueAt(id, "2030-01-01T12:10:00Z");
  const many = Array.from({ length: 5 }, () => firingAt("2030-01-01T12:10:01Z"));
  await Promise.all(many.map(({ check }) => check()));
  const started = many
    .flatMap((one) => one.started.map(({ input }) => Number(input["cron_id"])))
    .toSorted((a, b) => a - b);
  expect(started).toEqual(ids);
  expect(await show(ids[0] ?? 0)).toMatchObject({
    next_run_at: "2030-01-01T12:20:00.000Z",
    last_run_at: "2030-01-01T12:10:01.000Z",
  });
  // A clock that was set back does not fire it anew.
  for (const id of ids) await dueAt(id, "2030-01-01T12:10:00Z");
  const again = firingAt("2030-01-01T12:10:02Z");
  await again.check();
  expect(again.started).toHaveLength(0);
});

test("after downtime the missed is left out, or the latest of it made up for", async () => {
  await idle();
  const skip = await cron({ schedule: "0 * * * *", timezone: "UTC" });
  const latest = await cron({ schedule: "0 * * * *", timezone: "UTC", missed: "latest" });
  for (const { id } of [skip, latest]) await dueAt(id, "2030-01-01T08:00:00Z");
  const firing = firingAt("2030-01-01T12:30:00Z");
  await firing.check();
  expect(firing.started.map(({ input }) => input["cron_id"])).toEqual([latest.id]);
  for (const { id } of [skip, latest]) expect((await show(id)).next_run_at).toBe("2030-01-01T13:00:00.000Z");
});

test("a flow that is gone is told in the cron, which goes on", async () => {
  await idle();
  const { id } = await cron({ target_code: "gone", schedule: "* * * * *" });
  await app.delete("/connect/flows/gone.json");
  await dueAt(id, "2030-01-01T08:00:00Z");
  await firingAt("2030-01-01T08:00:01Z").check();
  expect(await show(id)).toMatchObject({
    last_error: expect.stringContaining("gone"),
    last_run_at: null,
    next_run_at: "2030-01-01T08:01:00.000Z",
  });
  expect((await app.post(`/account/crons/${id}/run.json`)).status).toBe(422);
});

test("schedules keep to their time zone through the changes of the clock", () => {
  const daily = { schedule: "30 2 * * *", timezone: "Europe/Warsaw", missed: "skip" } as const;
  const due = new Date("2026-03-28T01:30:00Z");
  expect(toFire(daily, due, new Date("2026-03-28T01:31:00Z"))).toEqual(due);
  expect(toFire(daily, due, new Date("2026-03-28T05:00:00Z"))).toBeUndefined();
  expect(toFire({ ...daily, missed: "latest" }, due, new Date("2026-03-31T05:00:00Z"))).toEqual(
    new Date("2026-03-31T00:30:00Z"),
  );
  expect(scheduleMistake("0 7 * * 1-5")).toBeUndefined();
});

test("a due time that a database error kept from being fired is fired later, and keeps no other one waiting", async () => {
  await idle();
  const [lame, other] = [
    await cron({ schedule: "*/10 * * * *", timezone: "UTC" }),
    await cron({ schedule: "*/10 * * * *", timezone: "UTC" }),
  ];
  for (const { id } of [lame, other]) await dueAt(id, "2030-01-01T12:10:00Z");
  let now = "2030-01-01T12:10:01Z";
  const firing = firingAt(() => now);
  await app.sql.unsafe(`create function cut() returns trigger language plpgsql as $$ begin
    if new.cron_id = ${lame.id} then raise exception using errcode = '57P01', message = 'cut off'; end if;
    return new; end $$`);
  await app.sql.unsafe("create trigger cut before insert on cron_runs for each row execute function cut()");
  for (let tried = 0; tried < 7; tried++) {
    expect(await failureOf(firing.check())).toContain("not fired");
    expect((await show(lame.id)).next_run_at).toBe("2030-01-01T12:10:00.000Z");
  }
  expect(firing.started.map(({ input }) => input["cron_id"])).toEqual([other.id]);
  await app.sql.unsafe("drop function cut cascade");
  // Later than what is merely late, and all the while a server was there.
  now = "2030-01-01T12:16:00Z";
  await firing.check();
  expect(firing.started.map(({ input }) => input["cron_id"])).toEqual([other.id, lame.id]);
  expect((await show(lame.id)).next_run_at).toBe("2030-01-01T12:20:00.000Z");
});

test("one that fails for reasons of its own is given up after five tries, and goes on with its next due time", async () => {
  await idle();
  const { id } = await cron({ schedule: "*/10 * * * *", timezone: "UTC" });
  await dueAt(id, "2030-01-01T12:10:00Z");
  await app.sql.unsafe(
    "create function fail() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$",
  );
  await app.sql.unsafe("create trigger fail before insert on cron_runs for each row execute function fail()");
  const firing = firingAt("2030-01-01T12:10:01Z");
  for (let tried = 0; tried < 5; tried++) expect(await failureOf(firing.check())).toContain("not fired");
  await app.sql.unsafe("drop function fail cascade");
  expect(await show(id)).toMatchObject({ last_error: "internal error", next_run_at: "2030-01-01T12:20:00.000Z" });
});

test("times that are merely late are fired one after another", async () => {
  await idle();
  const { id } = await cron({ schedule: "* * * * *", timezone: "UTC" });
  await dueAt(id, "2030-01-01T12:10:00Z");
  const firing = firingAt("2030-01-01T12:12:05Z");
  await firing.check();
  expect(firing.started).toHaveLength(3);
  expect((await show(id)).next_run_at).toBe("2030-01-01T12:13:00.000Z");
});

test.each([
  ["2030-01-02T12:20:00Z", "by the process that saw it"],
  ["2030-01-02T12:20:00Z", "by one that was started afterwards"],
  ["2030-01-01T12:50:00Z", "by the process that saw it"],
])(
  "a clock that was ahead, at %s, silences nothing: due times beyond the next one are worked out anew %s",
  async (ahead, by) => {
    await idle();
    const { id } = await cron({ schedule: "*/10 * * * *", timezone: "UTC" });
    await dueAt(id, "2030-01-01T12:10:00Z");
    let now = "2030-01-01T12:10:01Z";
    const first = firingAt(() => now);
    await first.check();
    now = ahead;
    await first.check();
    await dueAt(id, ahead);
    await first.check();
    expect((await show(id)).next_run_at).toBe(new Date(Date.parse(ahead) + 600_000).toISOString());
    now = "2030-01-01T12:14:00Z";
    const second = by.includes("started") ? firingAt(() => now) : first;
    await second.check();
    expect((await show(id)).next_run_at).toBe("2030-01-01T12:20:00.000Z");
    const before = second.started.length;
    for (now of ["2030-01-01T12:20:01Z", ahead.replace("00Z", "01Z")]) {
      await dueAt(id, `${now.slice(0, 17)}00Z`);
      await second.check();
    }
    // Also the time that the wrong clock had fired already.
    expect(second.started.length).toBe(before + 2);
  },
);

test("naming a flow takes `flows`; what a cron named stays", async () => {
  const { token } = await person(app, { role: "admin", narrowedTo: ["crons"] });
  const flow = { name: "Named", code: "named", fields: { program: [{ type: "return" }] } };
  await app.post("/connect/flows.json", { flow });
  const { id } = await cron();
  const given = { target_code: "named", schedule: "0 7 * * *" };
  for (const [method, path, body] of [
    ["POST", "/account/crons.json", given],
    ["PATCH", `/account/crons/${id}.json`, { target_code: "named" }],
    ["PATCH", `/account/crons/${id}.json`, { ...given, active: false }],
  ] as const) {
    const before = await traces(app, "crons");
    const refused = await app.request(method, path, { cron: body }, { token });
    expect([refused.status, refused.json.error]).toEqual([403, expect.stringContaining("`flows`")]);
    expect(await traces(app, "crons")).toEqual(before);
  }
  const kept = { target_code: "report", schedule: "0 8 * * *" };
  expect((await app.patch(`/account/crons/${id}.json`, { cron: kept }, { token })).status).toBe(200);
  const both = await person(app, { role: "admin", narrowedTo: ["crons", "flows"] });
  expect((await app.post("/account/crons.json", { cron: given }, { token: both.token })).status).toBe(201);
});
