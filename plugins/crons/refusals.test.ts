/** What is refused when a cron is saved or fired: by field, and nothing is stored, started or told. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  otherAccount,
  person,
  startTestApp,
  type Answer,
  type OtherAccount,
  type TestApp,
} from "../../tests/harness.ts";
import { follower, traces } from "../../tests/traces.ts";
import { plugins } from "../index.ts";

let app: TestApp;
let other: OtherAccount;
let one: string;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  other = await otherAccount(app);
  for (const code of ["tea", "coffee"]) {
    const flow = { name: code, code, fields: { program: [{ type: "return", value: 1 }] } };
    expect((await app.post("/connect/flows.json", { flow })).status).toBe(201);
  }
  // Never due while the tests run.
  const made = await app.post(path, { cron: { ...good, schedule: "0 0 29 2 *", active: false } });
  expect(made.status).toBe(201);
  one = `/account/crons/${made.json.id}`;
});
afterAll(() => app.stop());

const path = "/account/crons.json";
const good = { name: "Tea", target_code: "tea", schedule: "0 0 29 2 *", active: false };

async function expectRefused(send: () => Promise<Answer>, status: number, field?: string, message = ""): Promise<void> {
  const tables = ["crons", "flow_processes"] as const;
  const before = await traces(app, ...tables);
  const answer = await send();
  expect([answer.status, answer.text]).toEqual([status, expect.any(String)]);
  if (field !== undefined) expect([answer.json[field] ?? []].flat().join("\n")).toContain(message);
  expect(await traces(app, ...tables)).toEqual(before);
}

const wrong: [change: object, field: string, message: string][] = [
  [{ name: 7 }, "name", "must be a string"],
  [{ kind: "url" }, "kind", "must be flow"],
  [{ target_code: "" }, "target_code", "can't be blank"],
  [{ target_code: "nowhere" }, "target_code", "names no flow"],
  [{ target_code: 7 }, "target_code", "must be a string"],
  [{ schedule: "" }, "schedule", "can't be blank"],
  [{ schedule: "* * * *" }, "schedule", "must have five fields"],
  [{ schedule: "* * * * * *" }, "schedule", "must have five fields"],
  [{ schedule: "@daily" }, "schedule", "must have five fields"],
  [{ schedule: "60 * * * *" }, "schedule", "is not a cron expression"],
  [{ schedule: "* 24 * * *" }, "schedule", "is not a cron expression"],
  [{ schedule: "* * 0 * *" }, "schedule", "is not a cron expression"],
  [{ schedule: "* * * 13 *" }, "schedule", "is not a cron expression"],
  [{ schedule: "a * * * *" }, "schedule", "is not a cron expression"],
  [{ schedule: "0 0 ? * *" }, "schedule", "? is not supported"],
  [{ schedule: "0 0 31 2 *" }, "schedule", "is never due"],
  [{ schedule: "x".repeat(201) }, "schedule", "may have at most 200 characters"],
  [{ timezone: "Warsaw" }, "timezone", "must be the name of a time zone"],
  [{ timezone: "+02:00" }, "timezone", "must be the name of a time zone"],
  [{ missed: "all" }, "missed", "must be one of skip, latest"],
  [{ active: "perhaps" }, "active", ""],
];

describe("a cron is refused", () => {
  test.each(wrong)("made with %j: %s %s", async (change, field, message) => {
    await expectRefused(() => app.post(path, { cron: { ...good, ...change } }), 422, field, message);
  });
  test.each(wrong)("changed to %j: %s %s", async (change, field, message) => {
    await expectRefused(() => app.patch(`${one}.json`, { cron: change }), 422, field, message);
  });

  test("to who may not name the flow, of another account, or without sign-in", async () => {
    const { token } = await person(app, { role: "admin", narrowedTo: ["crons"] });
    await expectRefused(() => app.post(path, { cron: good }, { token }), 403);
    await expectRefused(() => app.patch(`${one}.json`, { cron: { target_code: "coffee" } }, { token }), 403);
    await expectRefused(() => other.patch(`${one}.json`, { cron: { name: "x" } }), 404);
    await expectRefused(() => other.delete(`${one}.json`), 404);
    await expectRefused(() => other.post(`${one}/run.json`, {}), 404);
    await expectRefused(() => app.post(`${one}/run.json`, {}, { token: null }), 401);
    for (const id of ["0", "x", "1e3", "99999999999999999999"])
      await expectRefused(() => app.delete(`/account/crons/${id}.json`), 404);
  });

  test("to fire while its flow is switched off", async () => {
    await app.patch("/connect/flows/tea.json", { flow: { active: false } });
    await expectRefused(() => app.post(`${one}/run.json`, {}), 422, "target_code", "names no active flow");
    await app.patch("/connect/flows/tea.json", { flow: { active: true } });
    expect((await app.post(`${one}/run.json`, {})).status).toBe(201);
  });
});

describe("the next due times of a schedule", () => {
  const next = (query: Record<string, string>) => app.get(`/account/crons/next.json?${new URLSearchParams(query)}`);

  test("are shown in the account's zone, or in another", async () => {
    const { json } = await next({ schedule: " 0 7 * * * ", count: "2", timezone: "Europe/Warsaw" });
    expect(json).toEqual({
      schedule: "0 7 * * *",
      timezone: "Europe/Warsaw",
      next_runs: [expect.any(String), expect.any(String)],
    });
    const inZone = await next({ schedule: "0 7 * * *" });
    expect([inZone.json.timezone, inZone.json.next_runs.length]).toEqual(["UTC", 5]);
  });

  const refused: [query: Record<string, string>, field: string][] = [
    [{}, "schedule"],
    [{ schedule: "every day" }, "schedule"],
    [{ schedule: "0 0 31 2 *" }, "schedule"],
    [{ schedule: "1,".repeat(500) }, "schedule"],
    [{ schedule: "0 7 * * *", timezone: "Mars" }, "timezone"],
    [{ schedule: "0 7 * * *", count: "1000" }, "count"],
    [{ schedule: "0 7 * * *", count: "-1" }, "count"],
  ];
  test.each(refused)("are refused for %j by %s", async (query, field) => {
    const { status, json } = await next(query);
    expect([status, Object.keys(json)]).toEqual([422, [field]]);
  });
});
