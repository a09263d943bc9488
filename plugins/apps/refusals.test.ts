/** A refused write leaves no row and no event, whichever way it was sent and whatever was wrong with it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { otherAccount, person, startTestApp, type Answer, type TestApp } from "../../tests/harness.ts";
import { follower, traces } from "../../tests/traces.ts";
import { plugins } from "../index.ts";

let app: TestApp;
const tokens: Record<string, string> = {};
const ids: Record<string, string> = {};

const html = { app_engine: "html", source_code: "<p>hello</p>" };
const action = { action: "go", flow_code: "echo", public: true };

beforeAll(async () => {
  app = await startTestApp({ plugins: [...plugins, follower] });
  const program = [{ type: "return", value: "{{ input }}" }];
  await app.post("/connect/flows.json", { flow: { name: "Echo", code: "echo", fields: { program } } });
  const make = async (fields: object) => (await app.post("/core/apps.json", { app: { ...html, ...fields } })).json.id;
  ids["open"] = await make({ name: "Open", url_code: "open", public: true, actions: [action], fields: { a: 1 } });
  ids["closed"] = await make({ name: "Closed", url_code: "closed", actions: [{ ...action, public: false }] });
  ids["trusted"] = await make({ name: "Trusted", url_code: "trusted", trusted: true });
  ids["data"] = await make({ name: "Data", url_code: "data", db_code: "orders" });
  const prompts = { narrowedTo: ["prompts"], role: "admin" } as const;
  tokens["user"] = (await person(app)).token;
  tokens["guest"] = (await person(app, { role: "guest" })).token;
  tokens["prompts only"] = (await person(app, prompts)).token;
  tokens["apps only"] = (await person(app, { narrowedTo: ["apps"], role: "admin" })).token;
  const other = await otherAccount(app);
  tokens["of another account"] = other.adminToken;
  await app.sql`
    create view saved_apps as select id, account_id, name, url_code, description, app_engine, css_engine, source_code,
      public, active, db_code, show_in_module, prompt, actions, fields, config, trusted, app_code, css_code, version,
      updated_by_id, updated_at from apps`;
});
afterAll(() => app.stop());

const tables = ["saved_apps", "app_versions", "app_previews", "app_storage", "app_storage_usage", "flow_processes"];

interface Case {
  /** The name of a token above; null = without sign-in. Default: the administrator. */
  readonly as?: string | null;
  readonly body?: unknown;
  readonly ifMatch?: string;
  /** The fields of a 422, or part of another refusal's text. */
  readonly says?: readonly string[] | string;
}

async function refused(method: string, path: string, status: number, { as, body, ifMatch, says }: Case) {
  const named = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? name);
  const headers = ifMatch === undefined ? {} : { "if-match": ifMatch };
  const token = as === undefined ? {} : { token: as === null ? null : (tokens[as] ?? "") };
  const before = await traces(app, ...tables);
  const answer: Answer = await app.request(method, named, body, { ...token, headers });
  expect([answer.status, answer.text]).toEqual([status, expect.any(String)]);
  if (typeof says === "string") expect(answer.json.error).toContain(says);
  else if (says) expect(Object.keys(answer.json).toSorted()).toEqual([...says].toSorted());
  expect(await traces(app, ...tables)).toEqual(before);
}

const wrongFields: [string, object, string[]][] = [
  ["a blank name", { name: " " }, ["name"]],
  ["a name of another type", { name: 5 }, ["name"]],
  ["a name that is too long", { name: "n".repeat(256) }, ["name"]],
  ["a blank source", { source_code: " \n" }, ["source_code"]],
  ["a source that is too long", { source_code: "x".repeat(200_001) }, ["source_code"]],
  ["a source that does not compile", { app_engine: "svelte", source_code: "<p>{</p>" }, ["source_code"]],
  ["an import from outside", { app_engine: "react", source_code: 'import fs from "fs"; fs();' }, ["source_code"]],
  ["an unknown engine", { app_engine: "angular" }, ["app_engine"]],
  ["an unknown style engine", { css_engine: "less" }, ["css_engine"]],
  ["a flag that is not one", { public: "maybe" }, ["public"]],
  ["a database code with a slash", { db_code: "a/b" }, ["db_code"]],
  ["a place that does not exist", { show_in_module: "nowhere" }, ["show_in_module"]],
  ["a prompt that is too long", { prompt: "p".repeat(200_001) }, ["prompt"]],
  ["fields that are a list", { fields: [] }, ["fields"]],
  ["actions that are not a list", { actions: {} }, ["actions"]],
  ["two actions of one name", { actions: [action, action] }, ["actions"]],
  ["a taken address", { url_code: "closed" }, ["url_code"]],
  ["several of them", { name: "", app_engine: "x", public: "x" }, ["name", "app_engine", "public"]],
];

test.each(wrongFields)("a new app with %s", async (_, fields, says) => {
  await refused("POST", "/core/apps.json", 422, { body: { app: { name: "New", ...html, ...fields } }, says });
});

test.each(wrongFields)("a change to %s", async (_, fields, says) => {
  await refused("PATCH", "/core/apps/{open}.json", 422, { body: { app: fields }, says });
});

test.each(wrongFields.filter(([, fields]) => !("url_code" in fields)))("a preview with %s", async (_, fields, says) => {
  await refused("POST", "/core/apps/preview.json", 422, { body: { app: { name: "New", ...html, ...fields } }, says });
});

const made = { app: { name: "New", ...html } };
const renamed = { app: { name: "Renamed" } };
const edit = { field: "source_code", old_string: "hello", new_string: "bye" };
const cases: [what: string, method: string, path: string, status: number, rest: Case][] = [
  ["a new app without sign-in", "POST", "/core/apps.json", 401, { as: null, body: made }],
  ["a guest's new app", "POST", "/core/apps.json", 403, { as: "guest", body: made, says: "apps" }],
  [
    "a new app by a token for prompts",
    "POST",
    "/core/apps.json",
    403,
    { as: "prompts only", body: made, says: "apps" },
  ],
  ["a new app outside of its key", "POST", "/core/apps.json", 400, { body: made.app, says: "app" }],
  [
    "a trusted app of somebody",
    "POST",
    "/core/apps.json",
    403,
    { as: "user", body: { app: { ...made.app, trusted: true } }, says: "`trusted`" },
  ],
  [
    "a trusted app by a narrowed token",
    "POST",
    "/core/apps.json",
    403,
    { as: "apps only", body: { app: { ...made.app, trusted: true } }, says: "`trusted`" },
  ],
  [
    "an app with a database without `dbs`",
    "POST",
    "/core/apps.json",
    403,
    { as: "apps only", body: { app: { ...made.app, db_code: "orders" } }, says: "`dbs`" },
  ],
  [
    "an app with an action without `flows`",
    "POST",
    "/core/apps.json",
    403,
    { as: "user", body: { app: { ...made.app, actions: [action] } }, says: "`flows`" },
  ],

  ["a change without sign-in", "PATCH", "/core/apps/{open}.json", 401, { as: null, body: renamed }],
  ["a guest's change", "PATCH", "/core/apps/{open}.json", 403, { as: "guest", body: renamed }],
  [
    "a change of another account's app",
    "PATCH",
    "/core/apps/{open}.json",
    404,
    { as: "of another account", body: renamed },
  ],
  ["a change of no app", "PATCH", "/core/apps/nowhere.json", 404, { body: renamed }],
  [
    "a change of a version that is no longer there",
    "PATCH",
    "/core/apps/{open}.json",
    412,
    { body: renamed, ifMatch: '"open-9"' },
  ],
  [
    "a user's change of a trusted app",
    "PATCH",
    "/core/apps/{trusted}.json",
    403,
    { as: "user", body: renamed, says: "`trusted`" },
  ],
  [
    "trust by a user",
    "PATCH",
    "/core/apps/{open}.json",
    403,
    { as: "user", body: { app: { trusted: true } }, says: "`trusted`" },
  ],
  [
    "new code beside a database without `dbs`",
    "PATCH",
    "/core/apps/{data}.json",
    403,
    { as: "apps only", body: { app: { source_code: "<b>x</b>" } }, says: "`dbs`" },
  ],

  [
    "an edit of a text that is not there",
    "PATCH",
    "/core/apps/{open}/replace.json",
    422,
    { body: { ...edit, old_string: "nothing" }, says: ["old_string"] },
  ],
  [
    "an edit of nothing",
    "PATCH",
    "/core/apps/{open}/replace.json",
    422,
    { body: { ...edit, old_string: "" }, says: ["old_string"] },
  ],
  [
    "an edit without its new text",
    "PATCH",
    "/core/apps/{open}/replace.json",
    422,
    { body: { ...edit, new_string: undefined }, says: ["new_string"] },
  ],
  [
    "an edit that leaves no source",
    "PATCH",
    "/core/apps/{open}/replace.json",
    422,
    { body: { ...edit, old_string: html.source_code, new_string: " " }, says: ["source_code"] },
  ],
  [
    "an edit of another field",
    "PATCH",
    "/core/apps/{open}/replace.json",
    422,
    { body: { ...edit, field: "name" }, says: ["field"] },
  ],
  [
    "an edit that makes `fields` a list",
    "PATCH",
    "/core/apps/{open}/replace.json",
    422,
    { body: { field: "fields", old_string: '{"a":1}', new_string: "[]" }, says: ["fields"] },
  ],
  [
    "an edit that makes `fields` no JSON",
    "PATCH",
    "/core/apps/{open}/replace.json",
    422,
    { body: { field: "fields", old_string: ":1", new_string: ":" }, says: ["new_string"] },
  ],
  ["an edit of an older version", "PATCH", "/core/apps/{open}/replace.json", 412, { body: edit, ifMatch: '"x-1"' }],
  ["a guest's edit", "PATCH", "/core/apps/{open}/replace.json", 403, { as: "guest", body: edit }],

  ["a version that there never was", "POST", "/core/apps/{open}/versions/99/restore.json", 404, {}],
  ["a version beyond every number", "POST", "/core/apps/{open}/versions/99999999999/restore.json", 404, {}],
  ["a version that is not a number", "POST", "/core/apps/{open}/versions/first/restore.json", 404, {}],
  [
    "a version of another account's app",
    "POST",
    "/core/apps/{open}/versions/1/restore.json",
    404,
    { as: "of another account" },
  ],
  ["a guest's restoring", "POST", "/core/apps/{open}/versions/1/restore.json", 403, { as: "guest" }],
  ["a user's restoring of a trusted app", "POST", "/core/apps/{trusted}/versions/1/restore.json", 403, { as: "user" }],

  ["a deletion without sign-in", "DELETE", "/core/apps/{open}.json", 401, { as: null }],
  ["a guest's deletion", "DELETE", "/core/apps/{open}.json", 403, { as: "guest" }],
  ["a deletion of another account's app", "DELETE", "/core/apps/{open}.json", 404, { as: "of another account" }],
  ["a user's deletion of a trusted app", "DELETE", "/core/apps/{trusted}.json", 403, { as: "user", says: "`trusted`" }],
  ["a deletion of an older version", "DELETE", "/core/apps/{open}.json", 412, { ifMatch: '"x-1"' }],

  ["a preview without sign-in", "POST", "/core/apps/preview.json", 401, { as: null, body: made }],
  ["a guest's preview", "POST", "/core/apps/preview.json", 403, { as: "guest", body: made }],
  [
    "a preview of no saved app",
    "POST",
    "/core/apps/preview.json",
    422,
    { body: { app: { id: "019a9c1e-0000-7000-8000-000000000003" } }, says: ["id"] },
  ],
  [
    "a preview of another account's app",
    "POST",
    "/core/apps/preview.json",
    422,
    { as: "of another account", body: { app: { id: "{open}" } }, says: ["id"] },
  ],
  [
    "a preview without a source",
    "POST",
    "/core/apps/preview.json",
    422,
    { body: { app: { name: "x", app_engine: "html" } }, says: ["source_code"] },
  ],

  [
    "a value of a private app without sign-in",
    "PUT",
    "/core/apps/{closed}/storage/a.json",
    401,
    { as: null, body: { value: 1 } },
  ],
  [
    "a value of another account's app",
    "PUT",
    "/core/apps/{open}/storage/a.json",
    404,
    { as: "of another account", body: { value: 1 } },
  ],
  [
    "a value under a long key",
    "PUT",
    `/core/apps/{open}/storage/${"k".repeat(201)}.json`,
    422,
    { body: { value: 1 }, says: ["key"] },
  ],
  [
    "a value under a key that cannot be stored",
    "PUT",
    "/core/apps/{open}/storage/%00.json",
    422,
    { body: { value: 1 }, says: ["key"] },
  ],
  [
    "a value that is too large",
    "PUT",
    "/core/apps/{open}/storage/a.json",
    422,
    { body: { value: "v".repeat(1_000_001) }, says: ["value"] },
  ],
  ["a missing value", "PUT", "/core/apps/{open}/storage/a.json", 422, { body: {}, says: ["value"] }],
  ["a deletion in a private app without sign-in", "DELETE", "/core/apps/{closed}/storage/a.json", 401, { as: null }],

  ["an action of a private app without sign-in", "POST", "/core/apps/{closed}/action/go", 401, { as: null, body: {} }],
  ["an action that the app does not have", "POST", "/core/apps/{open}/action/stop", 404, { body: {} }],
  [
    "an action of another account's app",
    "POST",
    "/core/apps/{open}/action/go",
    404,
    { as: "of another account", body: {} },
  ],
  ["an action with a list", "POST", "/core/apps/{open}/action/go", 400, { body: [1] }],
  [
    "an action with too much",
    "POST",
    "/core/apps/{open}/action/go",
    422,
    { body: { v: "v".repeat(1_000_001) }, says: ["base"] },
  ],

  ["a page's token for whoever has none", "POST", "/core/apps/{open}/token.json", 401, { as: null }],
  ["a page's token for a person's own", "POST", "/core/apps/{open}/token.json", 401, { as: "user" }],
];

test.each(cases)("%s", async (_, method, path, status, rest) => {
  const text = JSON.stringify(rest.body) as string | undefined;
  const body = text === undefined ? undefined : JSON.parse(text.replace('"{open}"', `"${ids["open"]}"`));
  await refused(method, path, status, { ...rest, body });
});

test("what is accepted is seen: a row, its version and an event", async () => {
  const before = await traces(app, ...tables);
  expect((await app.patch(`/core/apps/${ids["open"]}.json`, renamed)).status).toBe(200);
  const after = await traces(app, ...tables);
  for (const name of ["saved_apps", "app_versions", "events"]) expect(after[name]).not.toBe(before[name]);
});
