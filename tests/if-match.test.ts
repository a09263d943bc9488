import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { plugins } from "../plugins/index.ts";
import { definePlugin, setting } from "../runtime/sdk.ts";
import { otherAccount, startTestApp, type OtherAccount, type TestApp } from "./harness.ts";
import { follower, traces } from "./traces.ts";

const limits = definePlugin({
  name: "limits",
  accountSettings: { most: setting.integer("limits_most", 10, "The most there may be", { min: 1, max: 100 }) },
  setup: () => ({}),
});

let app: TestApp;
let other: OtherAccount;
beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower, limits] });
  other = await otherAccount(app);
  const flow = { name: "Nightly", code: "nightly", fields: { program: [{ type: "mutation", set: { a: "1" } }] } };
  expect((await app.post("/connect/flows", { flow })).status).toBe(201);
  const schema = { tables: { notes: { fields: { name: "string" } }, tasks: { fields: { name: "string" } } } };
  expect((await app.post("/core/dbs", { db: { name: "Lists", code: "lists", schema } })).status).toBe(201);
  expect((await app.post("/core/dbs", { db: { name: "Notes", code: "notes" } })).status).toBe(201);
});
afterAll(() => app.stop());

interface Resource {
  readonly path: string;
  readonly key: string;
  readonly table: string;
  readonly fields: () => Record<string, unknown>;
  readonly change: (to: string) => Record<string, unknown>;
  /** No row has this id, and it is well-formed. */
  readonly unknown: string;
}

let serial = 0;
const word = () => `if-match-${++serial}`;
const unit = (kind: string): Resource => ({
  path: `/account/${kind}s`,
  key: kind,
  table: "units",
  fields: () => ({ name: word() }),
  change: (name) => ({ name }),
  unknown: "999999",
});
const uuid = "01a20009-0e28-759a-b735-426f30f280ac";

const resources: readonly Resource[] = [
  unit("team"),
  unit("department"),
  unit("group"),
  {
    path: "/account/users",
    key: "user",
    table: "users",
    fields: () => ({ login: word() }),
    change: (name) => ({ name }),
    unknown: "999999",
  },
  {
    path: "/account/api_tokens",
    key: "api_token",
    table: "api_tokens",
    fields: () => ({ name: word() }),
    change: (name) => ({ name }),
    unknown: "999999",
  },
  {
    path: "/account/webhooks",
    key: "webhook",
    table: "webhooks",
    fields: () => ({ source_type: "Core::Record", kind: "create", url: `https://example.com/${word()}` }),
    change: (to) => ({ url: `https://example.com/${to}-${word()}` }),
    unknown: "999999",
  },
  {
    path: "/account/crons",
    key: "cron",
    table: "crons",
    fields: () => ({ target_code: "nightly", schedule: "0 7 * * *" }),
    change: (name) => ({ name }),
    unknown: "999999",
  },
  {
    path: "/connect/connectors",
    key: "connector",
    table: "connectors",
    fields: () => ({ name: word(), url: "https://example.com" }),
    change: (name) => ({ name }),
    unknown: uuid,
  },
  {
    path: "/connect/flows",
    key: "flow",
    table: "flows",
    fields: () => ({ name: word(), fields: { program: [] } }),
    change: (name) => ({ name }),
    unknown: uuid,
  },
  {
    path: "/core/dbs/notes/records",
    key: "record",
    table: "records",
    fields: () => ({ data: { name: word() } }),
    change: (name) => ({ data: { name } }),
    unknown: uuid,
  },
];

const ifMatch = (tag: string) => ({ headers: { "if-match": tag } });
const tagOf = ({ headers }: { readonly headers: Headers }) => headers.get("etag") ?? "";
const gone = { error: "the object has changed since you read it" };

describe.each([...resources])("$path", ({ path, key, table, fields, change, unknown }) => {
  const make = async () => {
    const made = await app.post(path, { [key]: fields() });
    expect(made.status).toBe(201);
    return `${path}/${made.json.id}`;
  };

  test("has an ETag that changes with it, and is not sent twice", async () => {
    const one = await make();
    const first = tagOf(await app.get(one));
    expect(first).toMatch(/^"\S+"$/);
    const again = await app.get(one, { headers: { "if-none-match": first } });
    expect([again.status, again.text]).toEqual([304, ""]);
    const changed = await app.patch(one, { [key]: change("second") });
    expect(changed.status).toBe(200);
    expect(tagOf(changed)).not.toBe(first);
    const now = await app.get(one, { headers: { "if-none-match": first } });
    expect([now.status, tagOf(now)]).toEqual([200, tagOf(changed)]);
  });

  test("of another version is neither changed nor deleted, and that leaves no trace", async () => {
    const one = await make();
    const first = tagOf(await app.get(one));
    const second = tagOf(await app.patch(one, { [key]: change("second") }, ifMatch(first)));
    const before = await traces(app, table);
    for (const tag of [first, '"nonsense"', '"1-1"']) {
      const refused = await app.patch(one, { [key]: change("third") }, ifMatch(tag));
      expect([refused.status, refused.json]).toEqual([412, gone]);
      expect((await app.delete(one, ifMatch(tag))).status).toBe(412);
    }
    expect(await traces(app, table)).toEqual(before);
    expect((await app.patch(one, { [key]: change("fourth") }, ifMatch("*"))).status).toBe(200);
    const third = tagOf(await app.get(one));
    expect(third).not.toBe(second);
    expect((await app.delete(one, ifMatch(`${second}, ${third}`))).status).toBe(204);
  });

  test("that does not exist, or is another account's, is 404 whatever the tag", async () => {
    const one = await make();
    const tag = tagOf(await app.get(one));
    for (const ask of [
      () => app.patch(`${path}/${unknown}`, { [key]: change("x") }, ifMatch(tag)),
      () => app.delete(`${path}/${unknown}`, ifMatch(tag)),
      () => other.request("PATCH", one, { [key]: change("x") }, ifMatch('"1-7"')),
      () => other.request("DELETE", one, undefined, ifMatch('"1-7"')),
    ])
      expect((await ask()).status).toBe(404);
  });

  test("of two changes at once with one tag exactly one is done", async () => {
    const one = await make();
    const tag = tagOf(await app.get(one));
    const answers = await Promise.all(
      ["left", "right"].map((side) => app.patch(one, { [key]: change(side) }, ifMatch(tag))),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412]);
    const done = answers.find(({ status }) => status === 200);
    expect((await app.get(one)).json.updated_at).toBe(done?.json.updated_at);
  });

  test("is not both changed and deleted with one tag", async () => {
    const one = await make();
    const tag = tagOf(await app.get(one));
    const [changed, deleted] = await Promise.all([
      app.patch(one, { [key]: change("late") }, ifMatch(tag)),
      app.delete(one, ifMatch(tag)),
    ]);
    expect([
      [200, 412],
      [404, 204],
    ]).toContainEqual([changed.status, deleted.status]);
  });
});

describe("what the server itself notes is a new answer, but not a new version", () => {
  test.each([
    ["crons", () => ({ cron: { target_code: "nightly", schedule: "0 7 * * *" } }), "last_run_at"],
    ["api_tokens", () => ({ api_token: { name: word() } }), "last_used_at"],
    [
      "webhooks",
      () => ({ webhook: { source_type: "Core::Record", kind: "update", url: "https://example.com/noted" } }),
      "failing_since",
    ],
  ])("in %s", async (table, body, column) => {
    const made = await app.post(`/account/${table}`, body());
    const one = `/account/${table}/${made.json.id}`;
    const tag = tagOf(await app.get(one));
    await app.sql`update ${app.sql(table)} set ${app.sql({ [column]: new Date() })} where id = ${made.json.id}`;
    const noted = await app.get(one, { headers: { "if-none-match": tag } });
    expect([noted.status, noted.json[column]]).toEqual([200, expect.any(String)]);
    expect(tagOf(noted)).not.toBe(tag);
    const key = Object.keys(body())[0] ?? "";
    expect((await app.patch(one, { [key]: { active: false } }, ifMatch(tag))).status).toBe(200);
  });
});

test("a person changes with the units that they lose", async () => {
  const team = await app.post("/account/teams", { team: { name: "Short-lived" } });
  const made = await app.post("/account/users", { user: { login: word(), team_ids: [team.json.id] } });
  const one = `/account/users/${made.json.id}`;
  const tag = tagOf(await app.get(one));
  expect((await app.delete(`/account/teams/${team.json.id}`)).status).toBe(204);
  expect((await app.get(one, { headers: { "if-none-match": tag } })).json.team_ids).toEqual([]);
  expect((await app.patch(one, { user: { name: "x" } }, ifMatch(tag))).status).toBe(412);
});

test("one's own record has the version of the person", async () => {
  const tag = tagOf(await app.get("/account/me"));
  expect((await app.get("/account/me", { headers: { "if-none-match": tag } })).status).toBe(304);
  const changes = ["One", "Two"].map((name) => app.patch("/account/me", { user: { name } }, ifMatch(tag)));
  expect((await Promise.all(changes)).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412]);
});

test("the settings of an account have one version together", async () => {
  const path = "/account/settings";
  const save = (value: number, tag: string) => app.patch(path, { settings: { limits_most: value } }, ifMatch(tag));
  const tag = tagOf(await app.get(path));
  expect((await app.get(path, { headers: { "if-none-match": tag } })).status).toBe(304);
  const answers = await Promise.all([save(20, tag), save(30, tag)]);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412]);
  const done = answers.find(({ status }) => status === 200);
  const shown = await app.get(path);
  expect([shown.json, tagOf(shown)]).toEqual([done?.json, done && tagOf(done)]);
  const before = await traces(app, "account_settings", "accounts");
  expect((await save(40, tag)).status).toBe(412);
  expect(await traces(app, "account_settings", "accounts")).toEqual(before);
});

describe("a record", () => {
  const records = "/core/dbs/lists/records";
  const make = async () => {
    const made = await app.post(records, { record: { table_name: "notes", data: { name: "a" } } });
    return { one: `${records}/${made.json.id}`, id: made.json.id, tag: tagOf(made) };
  };

  test("has its first ETag when it is made", async () => {
    const { one, tag } = await make();
    expect((await app.get(one, { headers: { "if-none-match": tag } })).status).toBe(304);
  });

  test("moves to another table only in the version that was seen", async () => {
    const { one, tag } = await make();
    const move = (table_name: string, seen: string) => app.patch(one, { record: { table_name } }, ifMatch(seen));
    const answers = await Promise.all([move("tasks", tag), move("tasks", tag)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412]);
    expect((await move("notes", tag)).status).toBe(412);
    expect((await app.get(one)).json.table_name).toBe("tasks");
  });

  test("keeps its table only in the version that was seen", async () => {
    const { one, tag } = await make();
    const change = () => app.patch(`${one}?keep_table=true`, { record: { data: { name: "b" } } }, ifMatch(tag));
    const answers = await Promise.all([change(), change()]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412]);
  });

  test("has a later version with each change, even if the clock was ahead", async () => {
    const { one, id, tag } = await make();
    await app.sql`update records set updated_at = '2100-01-01T00:00:00.999999Z' where id = ${id}`;
    const tags = [tag, tagOf(await app.get(one))];
    for (const name of ["b", "c", "d"])
      tags.push(
        tagOf(await app.patch(one, { record: { table_name: "notes", data: { name } } }, ifMatch(tags.at(-1) ?? ""))),
      );
    expect(new Set(tags).size).toBe(5);
    expect((await app.get(one)).json.data).toEqual({ name: "d" });
    expect((await app.delete(one, ifMatch(tags.at(-2) ?? ""))).status).toBe(412);
  });
});

/** What one changes by name, so that two people do not overwrite each other. */
const byName = new Set([
  "/account/me/preferences",
  // It has nothing else, and one person sees it.
  "/account/me/passkeys/:id",
  // One person reads it, and nothing of it changes but that.
  "/core/inbox/:id",
  // Its offset is its version.
  "/core/media/uploads/:id",
]);

test("whatever can be changed takes If-Match and has an ETag", () => {
  const routes = plugins.flatMap(({ name }) => app.app.routes.filter(({ plugin }) => plugin === name));
  const changes = routes.filter(({ method, path }) => method === "PATCH" && !byName.has(path));
  expect(changes.length).toBeGreaterThan(15);
  const without = changes.filter(({ spec }) => !spec.ifMatch).map(({ path }) => path);
  expect(without).toEqual([]);
  const shown = new Map(
    routes.filter(({ method }) => method === "GET").map(({ path, spec }) => [path, spec.responses]),
  );
  const untagged = changes.filter(({ path }) => shown.has(path) && !Object.hasOwn(shown.get(path) ?? {}, 304));
  expect(untagged.map(({ path }) => path)).toEqual([]);
});
