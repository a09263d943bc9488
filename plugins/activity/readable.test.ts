/** Whoever may read the log of activity sees nothing in it of records that they may not read. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, person, startTestApp, type TestApp, type TestPerson } from "../../tests/harness.ts";

let app: TestApp;
let auditor: TestPerson;
let base: string;
let ids: Record<"own" | "other", string>;

beforeAll(async () => {
  app = await startTestApp();
  auditor = await person(app, { role: "user", privileges: ["activity"] });
  await app.patch("/account/settings.json", { settings: { activity_databases: "*" } });
  base = await database("deals", {
    schema: { fields: { title: "string", owner_id: "integer", secret: "string" } },
    access: [{ to: `user:${auditor.id}`, may: "read", where: { owner_id: "{user_id}" }, hide: ["secret"] }],
  });
  const add = async (data: object) => (await app.post(`${base}/records.json`, { record: { data } })).json.id;
  ids = {
    own: await add({ title: "own", owner_id: auditor.id, secret: "canary-1" }),
    other: await add({ title: "canary-2", owner_id: 0 }),
  };
  await app.patch(`${base}/records/${ids.own}.json`, { record: { data: { secret: "canary-3", title: "own 2" } } });
});
afterAll(() => app.stop());

async function database(code: string, more: object): Promise<string> {
  expect((await app.post("/core/dbs.json", { db: { name: code, code, ...more } })).status).toBe(201);
  return `/core/dbs/${code}`;
}

const asked = (query: string, token = auditor.token) => app.get(`/core/activity${query}`, { token });
const records = "model=Core::Record";

test("entries of other records and hidden fields are left out of lists, exports and single entries", async () => {
  const list = await asked(`.json?${records}`);
  expect(list.json.map(({ record_id, changes }: Entry) => [record_id, changes])).toEqual([
    [ids.own, { title: { old: "own", new: "own 2" } }],
    [ids.own, { title: { new: "own" }, owner_id: { new: auditor.id } }],
  ]);
  const exported = await asked(`/export?${records}`);
  expect([exported.text.trim().split("\n").length, exported.text.includes("canary")]).toEqual([2, false]);
  const all: Entry[] = (await app.get(`/core/activity.json?${records}`)).json;
  expect(all).toHaveLength(3);
  for (const { id, record_id } of all) {
    const one = await asked(`/${id}.json`);
    expect([one.status, one.text.includes("canary")]).toEqual([record_id === ids.own ? 200 : 404, false]);
  }
  const first = await asked(`.json?${records}&limit=1`);
  const rest = await asked(`.json?${records}&limit=2&before=${first.headers.get("x-next-cursor")}`);
  expect([first.json.length, rest.json.map(({ record_id }: Entry) => record_id)]).toEqual([1, [ids.own]]);
});

interface Entry {
  readonly id: number;
  readonly record_id: string;
  readonly changes: object;
}

test("a text finds nothing in what is hidden", async () => {
  for (const text of ["canary-1", "canary-2", "canary-3", "own"])
    expect([text, (await asked(`.json?${records}&q=${text}`)).json]).toEqual([text, []]);
  expect((await app.get(`/core/activity.json?${records}&q=canary-2`)).json).toHaveLength(1);
});

test("names that a hidden field had, and fields that are gone, stay hidden", async () => {
  const fields = { title: "string", owner_id: "integer", margin: "string" };
  const answer = await app.patch(base, {
    db: {
      schema: { fields },
      access: [{ to: `user:${auditor.id}`, may: "read", where: { owner_id: "{user_id}" }, hide: ["margin"] }],
    },
    rename: { secret: "margin" },
  });
  expect(answer.status).toBe(200);
  expect((await asked(`.json?${records}`)).text).not.toContain("canary");
});

test("a token without `dbs`, or with some databases only, shows no more", async () => {
  const open = await database("open", {});
  const { id } = (await app.post(`${open}/records.json`, { record: { data: { n: 1 } } })).json;
  const tokenOf = async (api_token: object) => (await app.post("/account/api_tokens.json", { api_token })).json.token;
  const seen = async (token: string) =>
    (await asked(`.json?${records}`, token)).json.map(({ record_id }: Entry) => record_id);
  expect(await seen(await tokenOf({ privileges: ["activity"] }))).toEqual([]);
  const some = await tokenOf({ databases: { open: "read" } });
  expect(await seen(some)).toEqual([id]);
  const webhook = { source_type: "Core::Activity", kind: "create", url: "http://127.0.0.1:1/" };
  expect((await app.post("/account/webhooks.json", { webhook }, { token: some })).status).toBe(403);
});

test("comments are left out with their records", async () => {
  for (const id of Object.values(ids))
    await app.post(`${base}/records/${id}/comments.json`, { comment: { text: "canary" } });
  const of = async (token?: string) =>
    (await app.get("/core/activity.json?model=Core::Comment", token ? { token } : {})).json;
  expect([(await of()).length, (await of(auditor.token)).length]).toEqual([2, 1]);
});

test("a webhook on the log gets entries of records if an administrator made it", async () => {
  const maker = await person(app, { role: "manager", privileges: ["activity", "webhooks"] });
  const [theirs, own] = [app.receiver(), app.receiver()];
  const hook = (url: string) => ({ webhook: { source_type: "Core::Activity", kind: "create", url } });
  expect((await app.post("/account/webhooks.json", hook(theirs.url), { token: maker.token })).status).toBe(201);
  expect((await app.post("/account/webhooks.json", hook(own.url))).status).toBe(201);
  await app.patch(`${base}/records/${ids.other}.json`, { record: { data: { title: "canary-4" } } });
  await app.post("/account/teams.json", { team: { name: "Seen" } });
  const has = ({ requests }: typeof own, text: string) => requests.some(({ body }) => body.includes(text));
  await eventually(() => has(own, "canary-4") && has(own, "Seen") && has(theirs, "Seen"), "the entries");
  expect(has(theirs, "canary-4")).toBe(false);
});
