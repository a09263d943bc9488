/** Fields of the format `user`, by every way in, and who learns names. behaviour B.7.28. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { adminPassword, eventually, otherAccount, person, startTestApp, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
let ann: { readonly id: number; readonly token: string };
let bob: { readonly id: number; readonly token: string };
let gone: { readonly id: number; readonly token: string };
let stranger: number;
const base = "/core/dbs/jobs";

beforeAll(async () => {
  app = await startTestApp();
  [ann, bob, gone] = [await person(app), await person(app), await person(app)];
  for (const [id, user] of [
    [ann.id, { name: "Ann Bell", email: "ann@bell.test" }],
    [bob.id, { name: "Bob" }],
    [gone.id, { name: "Bob" }],
  ] as const)
    expect((await app.patch(`/account/users/${id}`, { user })).status).toBe(200);
  stranger = (await (await otherAccount(app)).get("/account/me")).json.id;
  const fields = {
    name: "string",
    owner: { type: "integer", format: "user", default: "{user_id}" },
    team: { type: "list", format: "user" },
  };
  const access = [
    { to: `user:${ann.id}`, may: "edit", where: { owner: "{user_id}" } },
    { to: `user:${bob.id}`, may: "read", where: { team: "{user_id}" } },
    { to: `user:${gone.id}`, may: "add", hide: ["owner", "team"] },
  ];
  const public_methods = { create: true };
  const schema = { history: true, fields, indexed_fields: ["owner"] };
  const made = await app.post("/core/dbs", { db: { name: "Jobs", code: "jobs", schema, access, public_methods } });
  expect([made.status, made.json]).toEqual([201, expect.anything()]);
});
afterAll(() => app.stop());

const add = (data: object, token?: string) => app.post(`${base}/records`, { record: { data } }, token ? { token } : {});
const nobody = ["is no active person of the account"];
const names = async (token: string, query = "") =>
  (await app.get(`${base}/people?${query}`, { token })).json.map(({ name }: { name: string }) => name);

test("the format is for one person or for several", async () => {
  const bad = { a: { type: "number", format: "user" }, b: { type: "string", format: "user" } };
  const made = await app.post("/core/dbs", { db: { name: "Bad", schema: { fields: bad } } });
  expect([made.status, made.json.schema]).toEqual([
    422,
    [expect.stringMatching(/^fields.a.format: must be one of/), expect.stringMatching(/^fields.b.format: must be/)],
  ]);
});

test("a record names active people of its account alone", async () => {
  const made = await add({ name: "own", team: [ann.id, bob.id] });
  expect([made.status, made.json.data.owner]).toEqual([201, (await app.get("/account/me")).json.id]);
  expect((await add({ owner: stranger, team: [ann.id, 999_999_999] })).json).toEqual({ owner: nobody, team: nobody });
  expect((await add({ owner: "Ann", team: ["Ann"] })).json).toEqual({
    owner: ["must be a whole number"],
    team: ["must be the id of a person"],
  });
  const patched = await app.patch(`${base}/records/${made.json.id}`, { record: { data: { owner: stranger } } });
  expect([patched.status, patched.json]).toEqual([422, { owner: nobody }]);
});

test("so it is in a batch, in a change of many, and from visitors", async () => {
  const operations = [
    { op: "create", data: {} },
    { op: "create", data: { owner: stranger } },
  ];
  expect((await app.post(`${base}/batch`, { operations: operations.slice(0, 1) })).status).toBe(200);
  const batch = await app.post(`${base}/batch`, { operations });
  expect([batch.status, batch.json]).toEqual([422, { "operations[1].data.owner": nobody }]);
  const visitor = await app.post("/core/db/jobs/create", { data: { team: [stranger] } }, { token: null });
  expect([visitor.status, visitor.json.errors]).toEqual([422, { team: nobody }]);
  await add({ name: "many" });
  const task = await app.post(`${base}/bulk?filter[name]=many`, { op: "update", data: { owner: stranger }, all: true });
  const ended = await eventually(async () => {
    const { json } = await app.get(`${base}/tasks/${task.json.id}`);
    return json.status === "running" ? undefined : json;
  });
  expect(ended.errors[0]).toMatchObject({ field: "owner", message: nobody[0] });
});

test("an import takes logins, e-mail addresses and names that one person has, and an export's ids", async () => {
  const { login } = (await app.get("/account/me", { token: ann.token })).json;
  const rows = ["ann@bell.test", " ANN bell", login.toUpperCase(), ann.id, "Bob", stranger, "Zoe"];
  const raw = `name;owner;team\n${rows.map((who, at) => `i${at};${who};${at === 0 ? `Ann Bell, ${bob.id}` : ""}`).join("\n")}\n`;
  const headers = { "content-type": "text/csv" };
  const done = await app.request("POST", `${base}/import?partial=true`, undefined, { raw, headers });
  expect(
    done.json.errors.map((one: { row: number; field: string; message: string }) => [one.row, one.message]),
  ).toEqual([
    [5, '"Bob" must be a person\'s login, e-mail address, name or id'],
    [6, nobody[0]],
    [7, '"Zoe" must be a person\'s login, e-mail address, name or id'],
  ]);
  const stored = await app.get(`${base}/search?filter[name]=i*&sort=name`);
  expect(stored.json.map(({ owner, team }: { owner: number; team?: number[] }) => [owner, team])).toEqual([
    [ann.id, [ann.id, bob.id]],
    ...[1, 2, 3].map(() => [ann.id, undefined]),
  ]);
  const csv = (await app.get(`${base}/export?format=csv&filter[name]=i0`)).text;
  const again = await app.request("POST", `${base}/import?dry_run=true`, undefined, { raw: csv, headers });
  expect(again.json).toMatchObject({ good: 1, faulty: 0 });
});

test("rights and filters know who asks", async () => {
  const mine = await add({ name: "hers", owner: ann.id, team: [bob.id] });
  const list = async (token: string, query = "") =>
    (await app.get(`${base}/search?${query}`, { token })).json.map(({ id }: { id: string }) => id);
  expect(await list(ann.token)).toContain(mine.json.id);
  expect((await add({ name: "not hers", owner: bob.id }, ann.token)).status).toBe(403);
  expect(await list(bob.token, "filter[team]={user_id}")).toContain(mine.json.id);
  const { json: all } = await app.get(`${base}/search?filter[owner]={user_id}&limit=500`);
  expect(new Set(all.map(({ owner }: { owner: number }) => owner))).toEqual(
    new Set([(await app.get("/account/me")).json.id]),
  );
});

test("names are for who sees such a field, and all of them for who adds", async () => {
  expect(await names(ann.token, "q=bell")).toEqual(["Ann Bell"]);
  expect(await names(bob.token, "q=bell")).toEqual([]);
  expect(await names(bob.token, `ids=${ann.id},${stranger}`)).toEqual(["Ann Bell"]);
  expect(await names(gone.token, `ids=${ann.id}`)).toEqual([]);
  expect((await app.get(`${base}/people?ids=x`, { token: ann.token })).status).toBe(400);
});

test("pages of apps learn the names behind ids alone, of their own databases", async () => {
  const source = { app_engine: "js", css_engine: "none", source_code: "export {};" };
  const made = async (more: object) =>
    (await app.post("/core/apps", { app: { name: "List", ...source, ...more } })).json.id;
  const tokenIn = async (id: string) => {
    const { headers } = await app.post(
      "/account/session",
      { login: "admin", password: adminPassword },
      { token: null, headers: { origin: app.origin } },
    );
    const cookie = (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const { text } = await app.get(`/a/${id}`, { token: null, headers: { cookie } });
    return JSON.parse(/id="core-page">([^<]*)</.exec(text)?.[1] ?? "").token.value;
  };
  const own = await tokenIn(await made({ db_code: "jobs" }));
  expect(await names(own, `ids=${ann.id}`)).toEqual(["Ann Bell"]);
  expect(await names(own, "q=bell")).toEqual([]);
  const other = await tokenIn(await made({}));
  expect((await app.get(`${base}/people?ids=${ann.id}`, { token: other })).status).toBe(404);
});

test("who has left stays where they are, and comes to no other record", async () => {
  const { json: record } = await add({ name: "old", owner: gone.id });
  expect((await app.patch(`/account/users/${gone.id}`, { user: { active: false } })).status).toBe(200);
  const patch = (data: object) => app.patch(`${base}/records/${record.id}`, { record: { data } });
  expect((await patch({ owner: gone.id, name: "same" })).status).toBe(200);
  expect((await patch({ team: [bob.id, gone.id] })).status).toBe(200);
  expect((await add({ owner: gone.id })).json).toEqual({ owner: nobody });
  expect(await names(ann.token, `ids=${gone.id}`)).toEqual(["Bob"]);
  expect(await names(ann.token, "q=bob")).toHaveLength(1);
});
