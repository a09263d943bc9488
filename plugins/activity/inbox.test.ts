/** What stands between a change and its entry: whose row it is, what cannot be read, several who take, one who is killed. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { definePlugin } from "platform";
import { transaction } from "../../runtime/db/db.ts";
import { databaseSettings, eventually, secretKey, startTestApp, type TestApp } from "../../tests/harness.ts";
import { cleanUp, folderWith, fromSource, startServer } from "../../tests/server-process.ts";
import { emptyInbox } from "./inbox.ts";

/** A table of which the log knows nothing, with what jsonb cannot hold, and with rows that are nobody's. */
const plans = definePlugin({
  name: "plans",
  migrations: [
    {
      name: "001_plans",
      sql: `create table plans (
        id bigint generated always as identity primary key, account_id bigint, title text, program json, api_key text)`,
    },
  ],
  setup: () => ({}),
});

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ plugin: plans });
});
afterAll(async () => {
  await app.stop();
  await cleanUp();
});

interface ShownEntry {
  readonly id: number;
  readonly action: string;
  readonly name: string;
  readonly changes: Readonly<Record<string, unknown>>;
}

/** The oldest first. */
const entries = async (query: string): Promise<ShownEntry[]> =>
  (await app.get(`/core/activity.json?limit=1000&${query}`)).json.toReversed();
const waiting = async () => (await app.sql`select from activity_inbox where account_id = 1`).length;

/** As another process that is making entries of what the account has changed. */
async function holdInbox(): Promise<() => Promise<void>> {
  const holder = await app.sql.reserve();
  await holder`select pg_advisory_lock(hashtext('corestead activity inbox'), 1)`;
  return async () => {
    await holder`select pg_advisory_unlock(hashtext('corestead activity inbox'), 1)`;
    holder.release();
  };
}

test("a changed setting is logged, and so is a change of the account itself", async () => {
  const settings = { activity_days: "100" };
  expect((await app.patch("/account/settings.json", { settings })).status).toBe(200);
  expect((await entries("model=Account::Setting")).at(-1)).toMatchObject({
    name: "activity_days",
    actor: "person",
    login: "admin",
    changes: { value: { new: "100" } },
  });
  const before = await entries("model=Account::Account");
  await app.sql`update accounts set timezone = 'Asia/Tokyo' where id = 1`;
  const after = await entries("model=Account::Account");
  expect(after.length).toBe(before.length + 1);
  expect(after.at(-1)).toMatchObject({
    action: "update",
    record_id: "1",
    changes: { timezone: { old: "UTC", new: "Asia/Tokyo" } },
  });
});

test("who is in a team is logged in the account of the person", async () => {
  const team = (await app.post("/account/teams.json", { team: { name: "Red" } })).json.id;
  const user = { login: "in-a-team", name: "A", password: "correct horse battery", team_ids: [team] };
  const { id } = (await app.post("/account/users.json", { user })).json;
  const found = await entries("model=Account::Membership");
  expect(found.at(-1)).toMatchObject({ action: "create", record_id: `${id}/${team}`, login: "admin" });
});

test("a row that is nobody's can be changed, and has no entry", async () => {
  const before = await entries("model=plans");
  await app.sql`insert into plans (title) values ('nobody')`;
  await app.sql`update plans set title = 'still nobody' where account_id is null`;
  await app.sql`delete from plans where account_id is null`;
  expect(await entries("model=plans")).toEqual(before);
});

test("a row that jsonb cannot hold has entries that say so, and holds up no other", async () => {
  const unreadable = { unreadable: { new: expect.stringMatching(/^[0-9a-f]{64}$/) } };
  await app.sql`insert into plans (account_id, title, program, api_key) values (1, 'A', ${'["\\u0000"]'}::text::json, 'sk_1')`;
  await app.sql`update plans set program = ${'["\\ud800"]'}::text::json where title = 'A'`;
  // Too large to be kept whole.
  const large = Array.from({ length: 500 }, () => crypto.randomUUID()).join("");
  await app.sql`update plans set program = json_build_array(${large}::text, program) where title = 'A'`;
  await app.sql`update plans set program = '[1]', title = 'B' where title = 'A'`;
  await app.sql`update plans set program = '[2]' where title = 'B'`;
  const found = (await entries("model=plans")).slice(-5);
  const { unreadable: between } = found[1]?.changes ?? {};
  expect(found.map(({ changes }) => changes).toSpliced(1, 1)).toEqual([
    unreadable,
    { unreadable: { ...unreadable.unreadable, old: expect.any(String) } },
    expect.objectContaining({ title: { new: "B" }, api_key: { secret: true }, program: { new: [1] } }),
    { program: { old: [1], new: [2] } },
  ]);
  expect(between).toEqual({ old: expect.any(String), new: expect.any(String) });
  expect(JSON.stringify(found)).not.toContain("sk_1");
  expect(await app.command("activity", "verify")).toContain("unchanged");
});

test("several who take at once make one entry of each change, in the order in which they were written", async () => {
  const resume = await holdInbox();
  const titles = Array.from({ length: 1_200 }, (_, n) => `many ${n}`);
  await app.sql`
    insert into plans (account_id, title)
    select 1, title from unnest(${titles}::text[]) with ordinality as t (title, n) order by n`;
  const ctx = {
    sql: app.sql,
    transaction: <T>(run: Parameters<typeof transaction<T>>[1]) => transaction(app.sql, run),
  };
  const takers = Array.from({ length: 4 }, () => emptyInbox(ctx, 1));
  await resume();
  await Promise.all(takers);
  expect(await waiting()).toBe(0);
  const found = await app.sql<{ name: string }[]>`
    select name from activity where account_id = 1 and model = 'plans' and name like 'many %' order by id`;
  expect(found.map(({ name }) => name)).toEqual(titles);
});

test("what a server has written before it is killed has its entry from another one", async () => {
  const env = { ...(await databaseSettings(app.target)), SECRET_KEY: secretKey, PORT: "0" };
  const server = await startServer([...fromSource, "serve"], { cwd: folderWith(), env });
  const resume = await holdInbox();
  const made = await server.request("POST", "/account/teams.json", { team: { name: "Killed" } });
  expect(made.status).toBe(201);
  expect(await waiting()).toBeGreaterThan(0);
  server.kill("SIGKILL");
  await server.exited;
  await resume();
  // Without a reader.
  await eventually(async () => (await waiting()) === 0, "an empty inbox");
  const found = await entries("model=Account::Unit&q=Killed");
  expect(found.map(({ action, name }) => [action, name])).toEqual([["create", "Killed"]]);
  expect(await app.command("activity", "verify")).toContain("unchanged");
});
