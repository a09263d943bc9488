/** Comments, whom they mention, and the inbox. behaviour B.7. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  eventually,
  otherAccount,
  person,
  startTestApp,
  type RequestOptions,
  type TestApp,
} from "../../../tests/harness.ts";
import { startReceiver, type Receiver } from "../../../tests/receiver.ts";
import { mentioned } from "./comment.ts";

interface Who {
  readonly id: number;
  readonly token: string;
  readonly login: string;
}

let app: TestApp;
let remote: Receiver;
let boss: Who;
let ann: Who;
let bob: Who;
let guest: Who;
let open: string;
let closed: string;

const as = ({ token }: { readonly token: string }): RequestOptions => ({ token });
const accessOf = (): unknown[] => [
  { to: `user:${boss.id}`, may: "manage" },
  { to: "role:user", may: "add", where: { stage: "open" } },
  { to: `user:${ann.id}`, may: "edit", where: { owner_id: "{user_id}" } },
  { to: "role:guest", may: "read", where: { stage: "open" } },
];
const at = (record: string, comment = "") => `/core/dbs/deals/records/${record}/comments${comment && `/${comment}`}`;
const say = (text: string, who: Who, record = open) => app.post(at(record), { comment: { text } }, as(who));
const inbox = async (who: { readonly token: string }) => (await app.get("/core/inbox", as(who))).json;

beforeAll(async () => {
  app = await startTestApp();
  remote = startReceiver();
  const one = async (role: "user" | "guest"): Promise<Who> => {
    const made = await person(app, { role });
    return { ...made, login: (await app.get("/account/me", as(made))).json.login };
  };
  [boss, ann, bob, guest] = [await one("user"), await one("user"), await one("user"), await one("guest")];
  const schema = { fields: { stage: "string", owner_id: "integer" } };
  expect(
    (await app.post("/core/dbs", { db: { name: "Deals", code: "deals", schema, access: accessOf() } })).status,
  ).toBe(201);
  const add = async (data: object) => (await app.post("/core/dbs/deals/records", { record: { data } })).json.id;
  open = await add({ stage: "open" });
  closed = await add({ stage: "closed", owner_id: ann.id });
});
afterAll(async () => {
  await app.stop();
  await remote.stop();
});

describe("who reads and writes", () => {
  test("readers read, writing takes `add`, authors change their own, and whoever manages deletes any", async () => {
    const made = await say("First", ann);
    expect([made.status, made.json]).toEqual([
      201,
      {
        id: expect.any(String),
        text: "First",
        user_id: ann.id,
        user_name: expect.any(String),
        mentions: [],
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
    const path = at(open, made.json.id);
    for (const who of [boss, ann, bob, guest]) {
      expect((await app.get(at(open), as(who))).json).toEqual([made.json]);
      expect((await app.get(path, as(who))).json).toEqual(made.json);
    }
    expect((await say("Guest", guest)).status).toBe(403);
    for (const who of [bob, boss])
      expect((await app.patch(path, { comment: { text: "x" } }, as(who))).status).toBe(403);
    expect((await app.delete(path, as(bob))).status).toBe(403);
    expect((await app.delete(path, as(guest))).status).toBe(403);
    const headers = { "if-match": made.headers.get("etag") ?? "" };
    const changed = await app.patch(path, { comment: { text: "Second" } }, { ...as(ann), headers });
    expect([changed.status, changed.json.text]).toEqual([200, "Second"]);
    expect((await app.patch(path, { comment: { text: "Third" } }, { ...as(ann), headers })).status).toBe(412);
    expect((await app.delete(path, as(ann))).status).toBe(204);
    const bobs = await say("Bob's", bob);
    expect((await app.delete(at(open, bobs.json.id), as(boss))).status).toBe(204);
    expect((await app.get(at(open), as(ann))).json).toEqual([]);
  });

  test("a record outside is 404, and so are its comments", async () => {
    const made = await say("Closed", ann, closed);
    expect(made.status).toBe(201);
    const other = await otherAccount(app);
    const stranger = { token: other.adminToken, headers: { host: other.host } };
    for (const options of [as(bob), as(guest), stranger]) {
      expect((await app.get(at(closed), options)).status).toBe(404);
      expect((await app.get(at(closed, made.json.id), options)).status).toBe(404);
      expect((await app.delete(at(closed, made.json.id), options)).status).toBe(404);
    }
    expect((await say("x", bob, closed)).status).toBe(404);
    expect((await app.get(at(open, made.json.id), as(ann))).status).toBe(404);
    const narrowed = await person(app, { role: "user", narrowedTo: ["prompts"] });
    expect((await app.get(at(open), as(narrowed))).status).toBe(403);
    const logged = await app.get("/core/activity?model=Core::Comment");
    expect([logged.json.length > 0, logged.text.includes("Closed")]).toEqual([true, false]);
  });

  test.each<[comment: object, message: string]>([
    [{}, "is required"],
    [{ text: " " }, "not blank"],
    [{ text: 7 }, ""],
    [{ text: "x".repeat(10_001) }, "10000"],
  ])("%j is refused", async (comment, message) => {
    const { status, json } = await app.post(at(open), { comment }, as(ann));
    expect([status, Object.keys(json)]).toEqual([422, ["text"]]);
    expect(json.text[0]).toContain(message);
  });

  test("a record has at most 1,000", async () => {
    const { id } = (await app.post("/core/dbs/deals/records", { record: { data: { stage: "open" } } })).json;
    await app.sql`
      insert into record_comments (id, account_id, db_id, record_id, text)
      select gen_random_uuid(), account_id, db_id, id, 'x' from records, generate_series(1, 999) where id = ${id}`;
    const both = await Promise.all([say("a", ann, id), say("b", ann, id)]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 422]);
  });
});

describe("mentions", () => {
  test("count for those who may read the record, and are told once", async () => {
    const made = await say(`@${bob.login.toUpperCase()}, @${guest.login}! @nobody @${ann.login}`, ann);
    expect([...made.json.mentions].toSorted((a, b) => a - b)).toEqual(
      [ann.id, bob.id, guest.id].toSorted((a, b) => a - b),
    );
    expect(made.headers.get("warning")).toContain("@nobody");
    expect(await inbox(ann)).toEqual([]);
    const [notice, ...more] = await inbox(bob);
    expect(more).toEqual([]);
    expect(notice).toMatchObject({
      kind: "mention",
      db_code: "deals",
      record_id: open,
      comment_id: made.json.id,
      text: made.json.text,
      from_user_id: ann.id,
      read_at: null,
    });
    const change = { comment: { text: `@${boss.login} and @${bob.login}` } };
    const changed = await app.patch(at(open, made.json.id), change, as(ann));
    expect([...changed.json.mentions].toSorted((a, b) => a - b)).toEqual([boss.id, bob.id].toSorted((a, b) => a - b));
    expect([await inbox(bob), await inbox(boss)].map(({ length }) => length)).toEqual([1, 1]);
    const hidden = await say(`@${bob.login} @${boss.login}`, ann, closed);
    expect([hidden.json.mentions, hidden.headers.get("warning")]).toEqual([
      [boss.id],
      expect.stringContaining(bob.login),
    ]);
    expect(await inbox(bob)).toHaveLength(1);
    await app.delete(at(open, made.json.id), as(ann));
    expect([await inbox(bob), await inbox(guest)]).toEqual([[], []]);
  });

  test("are read one by one or all, each person their own", async () => {
    await say(`@${bob.login} one`, ann);
    await say(`@${bob.login} two`, ann);
    const [two, one] = await inbox(bob);
    expect([two.text, one.text]).toEqual([`@${bob.login} two`, `@${bob.login} one`]);
    const read = (id: string, value: unknown, who: Who) =>
      app.patch(`/core/inbox/${id}`, { notice: { read: value } }, as(who));
    expect((await read(one.id, true, ann)).status).toBe(404);
    expect((await read(one.id, "yes", bob)).status).toBe(422);
    expect((await read(one.id, true, bob)).json).toEqual({ ...one, read_at: expect.any(String) });
    expect((await inbox(bob)).map((each: { read_at: unknown }) => each.read_at === null)).toEqual([true, false]);
    expect((await read(one.id, false, bob)).json).toEqual(one);
    expect((await app.post("/core/inbox/read", undefined, as(bob))).status).toBe(204);
    expect((await inbox(bob)).every((each: { read_at: unknown }) => each.read_at !== null)).toBe(true);
  });

  test("are left out where the record may no longer be read", async () => {
    const before = await inbox(bob);
    expect(before.length).toBeGreaterThan(0);
    await app.patch("/core/dbs/deals", { db: { access: accessOf().slice(0, 1) } });
    expect(await inbox(bob)).toEqual([]);
    expect((await app.patch(`/core/inbox/${before[0].id}`, { notice: { read: false } }, as(bob))).status).toBe(404);
    await app.patch("/core/dbs/deals", { db: { access: accessOf() } });
    await app.patch(`/core/dbs/deals/records/${open}`, { record: { data: { stage: "closed" } } });
    expect(await inbox(bob)).toEqual([]);
    await app.patch(`/core/dbs/deals/records/${open}`, { record: { data: { stage: "open" } } });
    expect(await inbox(bob)).toEqual(before);
  });

  test.each<[text: string, logins: string[][]]>([
    ["@ann", [["ann"]]],
    [
      "hello (@Ann), @b.c.",
      [
        ["ann),", "ann"],
        ["b.c.", "b.c"],
      ],
    ],
    ["ann@example.com @@x @ @... x@y", []],
    ["**@ann@example.com**", [["ann@example.com**", "ann@example.com"]]],
    ["@łucja\n@ann @ann", [["łucja"], ["ann"]]],
  ])("%j names %j", (text, logins) => expect(mentioned(text)).toEqual(logins));

  test("are at most 50", () => {
    expect(mentioned(Array.from({ length: 60 }, (_, n) => `@p${n}`).join(" "))).toHaveLength(50);
  });
});

test("comments of records and databases that are gone are not there", async () => {
  const db = (await app.post("/core/dbs", { db: { name: "Short", code: "short" } })).json.id;
  const record = (await app.post("/core/dbs/short/records", { record: { data: {} } })).json.id;
  const path = `/core/dbs/short/records/${record}/comments`;
  const { id } = (await app.post(path, { comment: { text: `@${bob.login} short` } })).json;
  const told = async () => (await inbox(bob)).some(({ comment_id }: { comment_id: string }) => comment_id === id);
  expect(await told()).toBe(true);
  await app.delete(`/core/dbs/short/records/${record}`);
  expect([(await app.get(path)).status, (await app.get(`${path}/${id}`)).status, await told()]).toEqual([
    404,
    404,
    false,
  ]);
  await app.delete("/core/dbs/short");
  await app.sql`update db_trash set expires_at = now() - interval '1 second'`;
  await app.runSchedule("jsondb.prune");
  await eventually(async () => (await app.sql`select from record_comments where db_id = ${db}`).length === 0);
});

test("comments come back with a record from the trash, and are deleted once it is gone for good", async () => {
  const { id } = (await app.post("/core/dbs/deals/records", { record: { data: { stage: "open" } } })).json;
  const made = (await say(`@${bob.login} kept`, ann, id)).json;
  await app.delete(`/core/dbs/deals/records/${id}`);
  await app.runSchedule("jsondb.comments");
  expect((await app.post(`/core/dbs/deals/trash/${id}/restore`)).status).toBe(200);
  expect((await app.get(at(id), as(ann))).json).toEqual([made]);
  await app.delete(`/core/dbs/deals/records/${id}`);
  expect((await app.delete(`/core/dbs/deals/trash/${id}`)).status).toBe(204);
  await app.runSchedule("jsondb.comments");
  expect(await app.sql`select from record_comments where record_id = ${id}`).toHaveLength(0);
  expect(await app.sql`select from inbox_notices where comment_id = ${made.id}`).toHaveLength(0);
  expect((await app.get(at(open), as(ann))).json.length).toBeGreaterThan(0);
});

test("a token that is kept to other databases sees no notices of this one", async () => {
  await say(`@${bob.login} narrowed`, ann);
  await app.post("/core/dbs", { db: { name: "Else", code: "else" } });
  const token = async (databases: object) => {
    const api_token = { name: "narrow", databases };
    const made = await app.post("/account/api_tokens", { api_token }, as(bob));
    expect(made.status).toBe(201);
    return made.json as { token: string };
  };
  expect((await inbox(await token({ deals: "read" }))).length).toBeGreaterThan(0);
  const elsewhere = await token({ else: "read" });
  expect([await inbox(elsewhere), (await app.get(at(open), as(elsewhere))).status]).toEqual([[], 404]);
});

test("webhooks hear of comments, where their maker may read the whole database", async () => {
  await app.post("/core/dbs", { db: { name: "Free", code: "free" } });
  const record = (await app.post("/core/dbs/free/records", { record: { data: {} } })).json.id;
  const webhook = { source_type: "Core::Comment", kind: "create", url: remote.url };
  expect((await app.post("/account/webhooks", { webhook }, as(await person(app, { role: "manager" })))).status).toBe(
    201,
  );
  await say("closed to the webhook", ann);
  const path = `/core/dbs/free/records/${record}/comments`;
  const made = (await app.post(path, { comment: { text: "heard" } })).json;
  const heard = await eventually(() => remote.requests[0]);
  expect(heard.body).toContain('"heard"');
  expect(heard.body).toContain(record);
  expect(made.text).toBe("heard");
  expect(JSON.stringify(remote.requests)).not.toContain("closed to the webhook");
});

test("people are offered for a mention by login or name, if they may read the record", async () => {
  const offered = async (q: string, record: string, who: Who) =>
    (await app.get(`/core/dbs/deals/records/${record}/people?q=${q}`, as(who))).json.map(({ id }: Who) => id);
  expect(await offered(bob.login.toUpperCase(), open, boss)).toEqual([bob.id]);
  expect(await offered(bob.login, closed, boss)).toEqual([]);
  expect(await offered(ann.login, closed, boss)).toEqual([ann.id]);
  expect(await offered("%25", open, boss)).toEqual([]);
  expect((await app.get(`/core/dbs/deals/records/${closed}/people`, as(bob))).status).toBe(404);
  expect((await app.get(`/core/dbs/deals/records/${open}/people?q=${"x".repeat(101)}`, as(bob))).status).toBe(400);
});
