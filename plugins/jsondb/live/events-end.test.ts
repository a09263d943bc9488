import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { transaction, type Tx } from "../../../runtime/db/db.ts";
import { HttpError } from "../../../runtime/base/errors.ts";
import { createLog } from "../../../runtime/system/log.ts";
import { followStream, type Follower, type Following } from "../../../tests/event-stream.ts";
import { eventually, person, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { accounts } from "../../accounts/api.ts";
import { tokens, type ForeignCredential } from "../../tokens/api.ts";
import * as liveStore from "./store.ts";
import { databaseOf, type Database, type DatabaseRow } from "../databases/database.ts";
import { createEvents, type FollowLimits } from "./events.ts";
import { printPrivate } from "./stream.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

interface Where extends Following {
  readonly origin?: string;
}
const follow = (db: string, { origin = app.origin, ...following }: Where = {}, query = "") =>
  followStream(`${origin}/core/dbs/${db}/events${query}`, following);

let made = 0;
async function newDb(db: object = {}): Promise<string> {
  return (await app.post("/core/dbs.json", { db: { name: `Live ${++made}`, ...db } })).json.code;
}
const create = async (db: string, data: object, table_name?: string) =>
  (await app.post(`/core/dbs/${db}/records.json`, { record: { data, table_name } })).json;
const remove = (db: string, id: string) => app.delete(`/core/dbs/${db}/records/${id}.json`);

const told = ({ events }: Follower) => events.map(({ event, data }) => [event, data.data?.n ?? data.id]);

async function databaseRow(code: string): Promise<Database> {
  const [row] = await app.sql<DatabaseRow[]>`select * from dbs where code = ${code}`;
  if (!row) throw new Error("the database is not there");
  return databaseOf(row);
}
describe("following ends", () => {
  test("when the database is deleted", async () => {
    const db = await newDb();
    const follower = await follow(db);
    await app.delete(`/core/dbs/${db}.json`);
    await eventually(() => follower.ended());
    expect((await app.get(`/core/dbs/${db}/events`)).status).toBe(404);
  });

  test("when the server stops", async () => {
    const other = await startTestApp({ target: app.target });
    const db = await newDb();
    const follower = await follow(db, { origin: other.origin });
    await other.stop();
    await eventually(() => follower.ended());
  });

  test("for the server, when the client is gone", async () => {
    const db = await newDb();
    const followers = await Promise.all(Array.from({ length: 20 }, () => follow(db)));
    const refused = await app.get(`/core/dbs/${db}/events`);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
    const another = await person(app, { role: "user" });
    const theirs = await follow(db, { token: another.token });
    expect(theirs.status).toBe(200);
    await Promise.all([...followers, theirs].map((follower) => follower.close()));
    const again = await eventually(async () => {
      const follower = await follow(db);
      return follower.status === 200 ? follower : undefined;
    }, "a place is free again");
    await again.close();
  });
});

describe("old changes", () => {
  test("are forgotten, and a follower that asks for them is told to reload", async () => {
    const db = await newDb();
    const follower = await follow(db);
    await create(db, { n: 1 });
    await eventually(() => follower.events.length === 1);
    const before = follower.lastId();
    await create(db, { n: 2 });
    await eventually(() => follower.events.length === 2);
    await follower.close();
    const database = await databaseRow(db);
    await liveStore.prune(app.sql, 24);
    expect(await app.sql`select from record_changes where db_id = ${database.id}`).toHaveLength(2);
    await app.sql`update record_changes set at = now() - interval '25 hours' where db_id = ${database.id}`;
    await create(db, { n: 3 });
    await liveStore.prune(app.sql, 24);
    expect(await app.sql`select from record_changes where db_id = ${database.id}`).toHaveLength(1);
    const late = await follow(db, { lastId: before });
    await eventually(() => late.events.length === 1);
    expect(late.events[0]?.event).toBe("reset");
    const inTime = await follow(db, { lastId: follower.lastId() });
    await eventually(() => inTime.events.length === 1);
    expect(told(inTime)).toEqual([["create", 3]]);
    await Promise.all([late.close(), inTime.close()]);
  });

  test("are not written once nobody has followed for a day", async () => {
    const db = await newDb();
    const follower = await follow(db);
    // Its place comes with the first block of the stream.
    await eventually(() => follower.lastId() !== "");
    await follower.close();
    const database = await databaseRow(db);
    await app.sql`update record_feeds set watched_at = now() - interval '2 days' where db_id = ${database.id}`;
    const idle = await transaction(app.sql, liveStore.endIdle);
    expect(idle.map(({ code }) => code)).toEqual([db]);
    expect((await databaseRow(db)).live).toBe(false);
    await create(db, { n: 1 });
    await remove(db, (await create(db, { n: 2 })).id);
    await liveStore.prune(app.sql, 24);
    expect(await app.sql`select from record_changes where db_id = ${database.id}`).toHaveLength(0);
    const again = await follow(db, { lastId: follower.lastId() });
    // What is written before it is in what they read then.
    await eventually(() => again.events.length === 1);
    await create(db, { n: 3 });
    await eventually(() => again.events.length >= 2);
    expect(told(again).map(([event]) => event)).toEqual(["reset", "create"]);
    await again.close();
  });

  test("may be lost with the server: followers are told to reload, and go on", async () => {
    const db = await newDb();
    const follower = await follow(db);
    await create(db, { n: 1 });
    await eventually(() => follower.events.length === 1);
    // As PostgreSQL empties unlogged tables when it comes up again.
    await app.sql`truncate record_feeds, record_changes`;
    await eventually(() => follower.events.length === 2);
    await create(db, { n: 2 });
    await eventually(() => follower.events.length === 3);
    expect(told(follower).map(([event]) => event)).toEqual(["create", "reset", "create"]);
    const late = await follow(db, { lastId: follower.events[0]?.id });
    await eventually(() => late.events.length === 1);
    expect(late.events[0]?.event).toBe("reset");
    await Promise.all([follower.close(), late.close()]);
  });

  test("of a server that had come further are not taken for new ones", async () => {
    const db = await newDb();
    const follower = await follow(db);
    await create(db, { n: 1 });
    await eventually(() => follower.events.length === 1);
    await follower.close();
    const { id } = await databaseRow(db);
    await app.sql`update record_feeds set since = '900000000' where db_id = ${id}`;
    await app.sql`update record_changes set xid = '900000001' where db_id = ${id}`;
    const again = await follow(db, { lastId: follower.lastId() });
    await create(db, { n: 2 });
    await eventually(() => again.events.length >= 2);
    expect(told(again).map(([event]) => event)).toEqual(["reset", "create"]);
    await again.close();
  });
});

describe("a visitor", () => {
  const publicMethods = {
    create: { allowed_fields: ["n", "secret"], auto_fields: { visitor: "{cookie_key}" } },
    update: { allowed_fields: ["n"], scope_by: "visitor" },
    list: { allowed_fields: ["n"], scope_by: "visitor" },
  };
  const publicFollow = (db: string, headers: Record<string, string> = {}, lastId?: string) =>
    followStream(`${app.origin}/core/db/${db}/events`, { token: "", headers, lastId });
  const visitor = async (db: string) => {
    const answer = await app.post(`/core/db/${db}/create`, { data: { n: 0, secret: 1 } }, { token: null });
    return { cookie: (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "" };
  };

  test("is told of what the public list shows, and of nothing else", async () => {
    const db = await newDb({ public_methods: publicMethods });
    const [ann, bob] = [await visitor(db), await visitor(db)];
    const [hers, his, nobodys] = [await publicFollow(db, ann), await publicFollow(db, bob), await publicFollow(db)];
    expect(nobodys.headers.get("set-cookie")).toContain("core_key=");
    expect(nobodys.headers.get("access-control-allow-origin")).toBe("*");
    const post = (method: string, body: object) =>
      app.post(`/core/db/${db}/${method}`, body, { token: null, headers: ann });
    const record = (await post("create", { data: { n: 1, secret: 2 } })).json;
    const changed = (await post("update", { id: record.id, data: { n: 2 } })).json;
    await create(db, { n: "without a visitor" });
    await remove(db, record.id);
    await app.post(`/core/db/${db}/create`, { data: { n: 3 } }, { token: null, headers: bob });
    await eventually(() => hers.events.length === 3 && his.events.length === 1);
    expect(hers.events.map(({ event, data }) => [event, data])).toEqual([
      ["create", { ...record, data: { n: 1 } }],
      ["update", { ...changed, data: { n: 2 } }],
      ["destroy", { ...changed, data: { n: 2 } }],
    ]);
    expect(his.events.map(({ data }) => data.data)).toEqual([{ n: 3 }]);
    expect(nobodys.events).toEqual([]);
    await Promise.all([hers, his, nobodys].map((follower) => follower.close()));
    const again = await publicFollow(db, ann, hers.events[0]?.id);
    await eventually(() => again.events.length >= 2);
    await again.close();
  });

  test("sees all where the list shows all, and nothing by another rule than the present one", async () => {
    const db = await newDb({ public_methods: { list: true } });
    const follower = await publicFollow(db);
    const record = await create(db, { n: 1, secret: 1 });
    await eventually(() => follower.events.length === 1);
    const { table_name: _, ...shown } = record;
    expect(follower.events[0]?.data).toEqual(shown);
    await app.patch(`/core/dbs/${db}.json`, { db: { public_methods: { list: { allowed_fields: ["n"] } } } });
    await create(db, { n: 2, secret: 1 });
    await eventually(() => follower.ended());
    expect(follower.text()).not.toContain('"n": 2');
    const again = await publicFollow(db, {}, follower.lastId());
    await eventually(() => again.events.length === 1);
    expect(again.events[0]?.data.data).toEqual({ n: 2 });
    await again.close();
  });

  test("is refused where the list is not open, and beyond twenty streams from one address", async () => {
    const closed = await newDb({ public_methods: { get: true } });
    expect((await app.get(`/core/db/${closed}/events`, { token: null })).status).toBe(403);
    expect((await app.get(`/core/db/nowhere/events`, { token: null })).status).toBe(404);
    const db = await newDb({ public_methods: { list: true } });
    expect((await app.request("HEAD", `/core/db/${db}/events`, undefined, { token: null })).status).toBe(200);
    const followers = await Promise.all(Array.from({ length: 20 }, () => publicFollow(db)));
    expect((await app.get(`/core/db/${db}/events`, { token: null })).status).toBe(429);
    await Promise.all(followers.map((follower) => follower.close()));
  });
});

describe("a token that ends", () => {
  const ways: readonly [string, (id: number) => Promise<unknown>][] = [
    ["is deleted", (id) => app.delete(`/account/api_tokens/${id}.json`)],
    ["is switched off", (id) => app.patch(`/account/api_tokens/${id}.json`, { api_token: { active: false } })],
    [
      "expires",
      (id) => {
        const expires_at = new Date(Date.now() + 500).toISOString();
        return app.patch(`/account/api_tokens/${id}.json`, { api_token: { expires_at } });
      },
    ],
  ];
  test.each(ways)("because it %s takes its streams with it, before the next heartbeat", async (_, end) => {
    const db = await newDb();
    const { id, token } = (await app.post("/account/api_tokens.json", { api_token: {} })).json;
    const follower = await followStream(`${app.origin}/core/dbs/${db}/events`, { token });
    await end(id);
    await eventually(() => follower.ended(), "the stream has ended");
    expect(follower.text()).not.toContain("heartbeat");
  });
});

describe("whether a client may still follow", () => {
  /** Whose right to follow is asked of `verify`, as that of an app's page; `fault` is thrown instead of an answer. */
  const state: { fault: Error | undefined; asked: number } = { fault: undefined, asked: 0 };
  const prefix = "asked_";
  let credential: ForeignCredential;
  beforeAll(async () => {
    const { id: accountId } = await app.service(accounts).defaultAccount();
    const { id: userId, token } = await person(app, { role: "user" });
    const tokenId = (await app.get("/account/api_tokens.json", { token })).json[0].id;
    const grant = { appId: "an app", dbCodes: ["set by the test"], visitor: "a visitor" };
    credential = { accountId, viewer: { userId, tokenId }, privileges: ["dbs"], app: grant };
    app.service(tokens).acceptCredential(prefix, async () => {
      state.asked++;
      if (state.fault) throw state.fault;
      return credential;
    });
  });
  beforeEach(() => {
    state.fault = undefined;
  });

  /** A stream over which the server is asked a few times while `fault` is what it finds. */
  async function followedWith(fault: Error, isPublic: boolean) {
    const db = await newDb({ public_methods: { list: {} } });
    credential = { ...credential, app: { ...credential.app, dbCodes: [db] } };
    const address = `${app.origin}/core/${isPublic ? "db" : "dbs"}/${db}/events`;
    const follower = await followStream(address, { token: `${prefix}x` });
    expect(follower.status).toBe(200);
    state.fault = fault;
    const { asked } = state;
    await eventually(() => state.asked >= asked + 2 || follower.ended(), "two more questions");
    return { db, follower };
  }

  test.each([
    [
      "the database is busy, on the private stream",
      new HttpError(503, { error: "busy" }, { "retry-after": "1" }),
      false,
    ],
    ["the database is busy, on the public stream", new HttpError(503, { error: "busy" }, { "retry-after": "1" }), true],
    ["too much is asked at once", new HttpError(429, { error: "too many requests" }), false],
    ["something is broken", new Error("broken"), false],
    ["something is broken, on the public stream", new Error("broken"), true],
  ])("is not known while %s: the stream goes on", async (_, fault, isPublic) => {
    const { db, follower } = await followedWith(fault, isPublic);
    expect(follower.ended()).toBe(false);
    await create(db, { n: 1 });
    await eventually(() => follower.events.length === 1);
    expect(follower.events[0]?.event).toBe("create");
    // It was asked again, not given up.
    state.fault = new HttpError(401, { error: "ended" });
    await eventually(() => follower.ended(), "the end of the stream");
  });

  test.each([
    [401, false],
    [401, true],
    [403, false],
    [403, true],
  ])("is answered by %i: the stream ends (public: %p)", async (status, isPublic) => {
    const { follower } = await followedWith(new HttpError(status, { error: "no" }), isPublic);
    await eventually(() => follower.ended(), "the end of the stream");
  });
});

describe("at every heartbeat", () => {
  /** The events with other limits than HTTP has. */
  async function withLimits(limits: Partial<FollowLimits>) {
    const db = await databaseRow(await newDb());
    const stopping = new AbortController();
    const listeners = new Set<(payload: string, fromOther: boolean) => void>();
    const broadcast = {
      publish: (_: string, payload: string) => listeners.forEach((run) => run(payload, false)),
      on: (_: string, run: (payload: string, fromOther: boolean) => void) => {
        listeners.add(run);
        return () => listeners.delete(run);
      },
      onReset: () => () => {},
    };
    const databases = { get: async () => undefined, peek: () => undefined, invalidate: async () => {} };
    const log = createLog("error", () => {});
    const ctx = {
      sql: app.sql,
      databases,
      linking: { get: async () => [], peek: () => [], invalidate: async () => {} },
      transaction: <T>(run: (tx: Tx) => Promise<T>) => transaction(app.sql, run),
      broadcast,
      log,
      stopping: stopping.signal,
    };
    const all = { followers: 1000, publicFollowers: 500, perOwner: 20, heartbeatMs: 10, ...limits };
    const events = createEvents(ctx, all);
    const state = { allowed: true };
    const open = (owner = "token:1", isPublic = false) =>
      events.follow(db, {
        owner,
        isPublic,
        print: printPrivate(undefined),
        lastEventId: undefined,
        isAllowed: async () => state.allowed,
        signal: new AbortController().signal,
      });
    return { events, open, state, stopping };
  }

  test("a comment is sent, until the token no longer works", async () => {
    const { events, open, state } = await withLimits({});
    const reader = (await open()).getReader();
    const decoder = new TextDecoder();
    let text = "";
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      text += decoder.decode(next.value);
      if (text.split(": heartbeat").length > 3) state.allowed = false;
    }
    expect(text.split("\n\n")[1]).toMatch(/^: heartbeat\nid: \S+$/);
    events.stop();
  });

  test("a client that takes nothing for long is given up", async () => {
    const { events, open } = await withLimits({ perOwner: 1 });
    const stream = await open();
    expect(open()).rejects.toMatchObject({ status: 429 });
    const again = await eventually(() => open().catch(() => undefined), "the place is free");
    const reader = stream.getReader();
    expect(
      (async () => {
        while (!(await reader.read()).done);
      })(),
    ).rejects.toBeUndefined();
    await again.cancel();
    events.stop();
  });

  test("followers are limited, visitors to fewer", async () => {
    const { events, open, stopping } = await withLimits({ followers: 3, publicFollowers: 1, heartbeatMs: 60_000 });
    const streams = [await open("a", true), await open("b")];
    expect(open("c", true)).rejects.toMatchObject({ status: 429 });
    streams.push(await open("d"));
    expect(open("e")).rejects.toMatchObject({ status: 429 });
    stopping.abort();
    for (const stream of streams) await new Response(stream).text();
    events.stop();
  });
});

describe("following is refused", () => {
  test("without a credential or the privilege, and on another account", async () => {
    const db = await newDb();
    const guest = await person(app, { role: "guest" });
    expect((await app.get(`/core/dbs/${db}/events`, { token: null })).status).toBe(401);
    expect((await app.get(`/core/dbs/${db}/events`, { token: guest.token })).status).toBe(403);
    expect((await app.get(`/core/dbs/nowhere/events`)).status).toBe(404);
  });
});
