import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { transaction, type Tx } from "../../runtime/db.ts";
import { createLog } from "../../runtime/log.ts";
import { adminToken, eventually, person, startTestApp, type TestApp } from "../../tests/harness.ts";
import { createChangeStore } from "./change-store.ts";
import { createChanges } from "./changes.ts";
import { databaseOf, type Database, type DatabaseRow } from "./database.ts";
import { createEvents, type FollowLimits } from "./events.ts";
import { printPrivate } from "./events-print.ts";
import { createRecordStore } from "./record-store.ts";
import { newRecord } from "./records.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

interface Event {
  readonly id: string;
  readonly event: string;
  // Tests read answers as an outside client does: the assertion is the check.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any;
}

interface Follower {
  readonly status: number;
  readonly headers: Headers;
  readonly events: Event[];
  readonly text: () => string;
  /** As an EventSource keeps it. */
  readonly lastId: () => string;
  readonly ended: () => boolean;
  close(): Promise<void>;
}

interface Following {
  readonly origin?: string;
  readonly token?: string;
  readonly lastId?: string | undefined;
  readonly headers?: Record<string, string>;
}

/** Follows as a browser does. */
async function followPath(
  path: string,
  { origin = app.origin, token = adminToken, lastId, headers }: Following = {},
): Promise<Follower> {
  const abort = new AbortController();
  const response = await fetch(`${origin}${path}`, {
    signal: abort.signal,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(lastId && { "last-event-id": lastId }),
      ...headers,
    },
  });
  const events: Event[] = [];
  const state = { text: "", rest: "", lastId: lastId ?? "", ended: false };
  const take = (block: string) => {
    const lines = block
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)] as const);
    const fields = new Map(lines);
    state.lastId = fields.get("id") ?? state.lastId;
    const data = fields.get("data");
    if (data !== undefined)
      events.push({ id: state.lastId, event: fields.get("event") ?? "message", data: JSON.parse(data) });
  };
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      const piece = decoder.decode(chunk, { stream: true });
      state.text += piece;
      const blocks = (state.rest + piece).split("\n\n");
      state.rest = blocks.pop() ?? "";
      blocks.forEach(take);
    }
  };
  const reading = read()
    .catch(() => {})
    .finally(() => (state.ended = true));
  return {
    status: response.status,
    headers: response.headers,
    events,
    text: () => state.text,
    lastId: () => state.lastId,
    ended: () => state.ended,
    async close() {
      abort.abort();
      await reading;
    },
  };
}
const follow = (db: string, following?: Following, query = "") =>
  followPath(`/core/dbs/${db}/events${query}`, following);

let made = 0;
async function newDb(db: object = {}): Promise<string> {
  return (await app.post("/core/dbs.json", { db: { name: `Live ${++made}`, ...db } })).json.code;
}
const tables = { tables: { orders: { fields: { number: "integer" } }, lines: { fields: { name: "string" } } } };
const create = async (db: string, data: object, table_name?: string) =>
  (await app.post(`/core/dbs/${db}/records.json`, { record: { data, table_name } })).json;
const patch = async (db: string, id: string, data: object, table_name?: string) =>
  (await app.patch(`/core/dbs/${db}/records/${id}.json`, { record: { data, table_name } })).json;
const remove = (db: string, id: string) => app.delete(`/core/dbs/${db}/records/${id}.json`);

const told = ({ events }: Follower) => events.map(({ event, data }) => [event, data.data?.n ?? data.id]);

async function databaseRow(code: string): Promise<Database> {
  const [row] = await app.sql<DatabaseRow[]>`select * from dbs where code = ${code}`;
  if (!row) throw new Error("the database is not there");
  return databaseOf(row);
}

describe("a follower", () => {
  test("is told of creates, changes and deletions, with the record as the API answers it", async () => {
    const db = await newDb();
    const follower = await follow(db);
    expect(follower.status).toBe(200);
    expect(follower.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(follower.headers.get("cache-control")).toBe("no-store");
    expect(follower.headers.get("x-accel-buffering")).toBe("no");
    const record = await create(db, { n: 1, text: "line\nbreak\r\n\n: data: x" });
    const changed = await patch(db, record.id, { n: 2 });
    await remove(db, record.id);
    await eventually(() => follower.events.length === 3);
    expect(follower.events.map(({ event }) => event)).toEqual(["create", "update", "destroy"]);
    expect(follower.events.map(({ data }) => data)).toEqual([record, changed, changed]);
    await follower.close();
  });

  test("is not told of what was there before, or belongs to another database", async () => {
    const [db, other] = [await newDb(), await newDb()];
    await create(db, { n: 1 });
    const follower = await follow(db);
    await create(other, { n: 2 });
    await create(db, { n: 3 });
    await eventually(() => follower.events.length > 0);
    expect(told(follower)).toEqual([["create", 3]]);
    await follower.close();
  });

  test("is told of batches and imports, in their order", async () => {
    const db = await newDb();
    const follower = await follow(db);
    const id = (await create(db, { n: 0 })).id;
    const operations = [
      { op: "create", data: { n: 1 } },
      { op: "update", id, data: { n: 2 } },
      { op: "delete", id },
    ];
    await app.post(`/core/dbs/${db}/batch.json`, { operations });
    const rows = Array.from({ length: 2500 }, (_, n) => JSON.stringify({ n })).join("\n");
    await app.post(`/core/dbs/${db}/import`, undefined, {
      raw: rows,
      headers: { "content-type": "application/x-ndjson" },
    });
    await eventually(() => follower.events.length === 2504);
    expect(told(follower).slice(0, 4)).toEqual([
      ["create", 0],
      ["create", 1],
      ["update", 2],
      ["destroy", 2],
    ]);
    expect(told(follower).slice(4)).toEqual(Array.from({ length: 2500 }, (_, n) => ["create", n]));
    await follower.close();
  });

  test("is told nothing of what was rolled back", async () => {
    const db = await newDb();
    const follower = await follow(db);
    await app.post(`/core/dbs/${db}/batch.json`, {
      operations: [
        { op: "create", data: { n: 1 } },
        { op: "delete", id: crypto.randomUUID() },
      ],
    });
    await create(db, { n: 2 });
    await eventually(() => follower.events.length > 0);
    expect(told(follower)).toEqual([["create", 2]]);
    await follower.close();
  });

  test("of a table is told of that alone, and that a record has left it", async () => {
    const db = await newDb({ schema: tables });
    const [orders, lines] = [await follow(db, {}, "?table_name=orders"), await follow(db, {}, "?table_name=lines")];
    const order = await create(db, { n: 1 }, "orders");
    await create(db, { n: 2 }, "lines");
    await create(db, { n: 3 });
    await patch(db, order.id, { n: 4 }, "orders");
    await patch(db, order.id, { n: 5 }, "lines");
    await create(db, { n: 6 }, "orders");
    await eventually(() => orders.events.length === 4 && lines.events.length === 2);
    expect(told(orders)).toEqual([
      ["create", 1],
      ["update", 4],
      ["destroy", 5],
      ["create", 6],
    ]);
    expect(told(lines)).toEqual([
      ["create", 2],
      ["update", 5],
    ]);
    expect((await app.get(`/core/dbs/${db}/events?table_name=nothing`)).status).toBe(400);
    await Promise.all([orders.close(), lines.close()]);
  });

  test("goes on after its last event, also where it was told of nothing yet", async () => {
    const db = await newDb();
    const first = await follow(db);
    await eventually(() => first.lastId());
    await first.close();
    await create(db, { n: 1 });
    const second = await follow(db, { lastId: first.lastId() });
    await eventually(() => second.events.length === 1);
    await second.close();
    for (const n of [2, 3]) await create(db, { n });
    const third = await follow(db, {}, `?last_event_id=${encodeURIComponent(second.lastId())}`);
    await create(db, { n: 4 });
    await eventually(() => third.events.length === 3);
    expect([...told(second), ...told(third)]).toEqual([1, 2, 3, 4].map((n) => ["create", n]));
    await third.close();
  });

  test("goes on from any event, however many there were at once", async () => {
    const db = await newDb();
    const first = await follow(db);
    const rows = Array.from({ length: 1300 }, (_, n) => JSON.stringify({ n })).join("\n");
    await app.post(`/core/dbs/${db}/import`, undefined, {
      raw: rows,
      headers: { "content-type": "application/x-ndjson" },
    });
    await create(db, { n: 1300 });
    await eventually(() => first.events.length === 1301);
    await first.close();
    for (const at of [0, 1, 498, 499, 500, 1298, 1299]) {
      const again = await follow(db, { lastId: first.events[at]?.id });
      await eventually(() => again.events.length >= 1300 - at);
      expect(told(again)).toEqual(Array.from({ length: 1300 - at }, (_, n) => ["create", at + 1 + n]));
      await again.close();
    }
  });

  test("is told to reload where its last event is unknown, and goes on", async () => {
    const db = await newDb();
    const known = await follow(db);
    await create(db, { n: 1 });
    await eventually(() => known.events.length > 0);
    const [epoch = ""] = known.lastId().split(".");
    const ids = [
      "x",
      "5",
      "other.5:5:",
      `${epoch}.`,
      `${epoch}.5:4:`,
      `${epoch}.1:9:0`,
      `${epoch}.1:2:.3:4:.x`,
      `${epoch}.1:1:`,
      "9".repeat(5000),
    ];
    for (const lastId of ids) {
      const follower = await follow(db, { lastId });
      await create(db, { n: 2 });
      await eventually(() => follower.events.length === 2);
      expect(follower.events.map(({ event }) => event)).toEqual(["reset", "create"]);
      await follower.close();
    }
    await known.close();
  });

  test("hears of changes in another process, and goes on there", async () => {
    const other = await startTestApp({ target: app.target });
    const db = await newDb();
    const here = await follow(db);
    const there = await follow(db, { origin: other.origin });
    await create(db, { n: 1 });
    await other.post(`/core/dbs/${db}/records.json`, { record: { data: { n: 2 } } });
    await eventually(() => here.events.length === 2 && there.events.length === 2);
    await here.close();
    await create(db, { n: 3 });
    const moved = await follow(db, { origin: other.origin, lastId: here.lastId() });
    await eventually(() => moved.events.length === 1 && there.events.length === 3);
    expect(told(moved)).toEqual([["create", 3]]);
    await Promise.all([moved.close(), there.close()]);
    await other.stop();
  });

  test("is given nothing for HEAD", async () => {
    const db = await newDb();
    const head = await app.request("HEAD", `/core/dbs/${db}/events`);
    expect([head.status, head.text]).toEqual([200, ""]);
    expect((await databaseRow(db)).live).toBe(false);
  });
});

describe("no change is missed", () => {
  test("where a transaction that began first ends last", async () => {
    const db = await newDb();
    const first = await follow(db);
    const database = await databaseRow(db);
    const store = createRecordStore(app.sql);
    const table = database.schema.tables.get("");
    if (!table) throw new Error("the null table is always there");
    await transaction(app.sql, async (tx) => {
      expect(await store.create(database, table, newRecord(table, { n: "early" }), tx)).toBe(true);
      await create(db, { n: "late" });
      await eventually(() => first.events.length === 1, "the later change is told of at once");
    });
    const resumed = await follow(db, { lastId: first.lastId() });
    await create(db, { n: "last" });
    await eventually(() => first.events.length === 3 || resumed.events.length === 2, "all");
    await eventually(() => resumed.events.length === 2);
    expect(told(resumed)).toEqual([
      ["create", "early"],
      ["create", "last"],
    ]);
    await eventually(() => first.events.length === 3);
    expect(told(first)).toEqual([
      ["create", "late"],
      ["create", "early"],
      ["create", "last"],
    ]);
    await Promise.all([first.close(), resumed.close()]);
  });

  test("from the moment that following begins, though writes are under way", async () => {
    const db = await newDb();
    const database = await databaseRow(db);
    const store = createRecordStore(app.sql);
    const table = database.schema.tables.get("");
    if (!table) throw new Error("the null table is always there");
    let following: Promise<Follower> | undefined;
    let begun = false;
    await transaction(app.sql, async (tx) => {
      await store.create(database, table, newRecord(table, { n: "untold" }), tx);
      following = follow(db).finally(() => (begun = true));
      await eventually(async () => (await databaseRow(db)).live, "the database is followed");
      // A writer of an older mind is refused: the caller looks again.
      expect(await store.create(database, table, newRecord(table, { n: "old" }))).toBe(false);
      await create(db, { n: "between" });
      expect(begun).toBe(false);
    });
    const follower = await following;
    await create(db, { n: "told" });
    await eventually(() => follower?.events.length);
    expect(follower && told(follower)).toEqual([["create", "told"]]);
    await follower?.close();
  });

  test("under many writers and followers that come and go, and each record's story is in order", async () => {
    const other = await startTestApp({ target: app.target });
    const origins = [app.origin, other.origin];
    const db = await newDb();
    const steady = await follow(db);
    let writing = true;
    const wanderer = async (seed: number): Promise<Event[]> => {
      const events: Event[] = [];
      let lastId = steady.lastId();
      for (let round = seed; ; round++) {
        const last = !writing;
        const follower = await follow(db, { lastId, origin: origins[round % 2] ?? app.origin });
        const enough = 1 + ((round * 7) % 40);
        await eventually(() => (!last && follower.events.length >= enough) || caughtUp(events, follower));
        // A client may break off in the middle of what it was sent.
        const kept = last
          ? follower.events
          : follower.events.slice(0, Math.max(1, follower.events.length - (round % 3)));
        await follower.close();
        events.push(...kept);
        lastId = kept.at(-1)?.id ?? lastId;
        if (last) return events;
      }
    };
    const caughtUp = (events: Event[], follower: Follower) => events.length + follower.events.length >= expected;
    let expected = Infinity;
    await eventually(() => steady.lastId());
    const wanderers = [1, 2, 3].map(wanderer);
    const writer = async (number: number) => {
      for (let at = 0; at < 25; at++) {
        const origin = origins[at % 2] ?? app.origin;
        const request = (method: string, path: string, body?: object) =>
          fetch(`${origin}/core/dbs/${db}/records${path}.json`, {
            method,
            headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
            ...(body && { body: JSON.stringify({ record: { data: body } }) }),
          });
        const { id } = await (await request("POST", "", { n: `${number}-${at}` })).json();
        await Promise.all([1, 2, 3].map((step) => request("PATCH", `/${id}`, { [`s${step}`]: step })));
        if (at % 3 === 0) await request("DELETE", `/${id}`);
      }
    };
    await Promise.all([1, 2, 3, 4].map(writer));
    expected = 4 * (25 * 4 + 9);
    await eventually(() => steady.events.length === expected, "all events");
    writing = false;
    const stories = (events: Event[]) => {
      const byRecord = new Map<string, Event[]>();
      for (const event of events) byRecord.set(event.data.id, [...(byRecord.get(event.data.id) ?? []), event]);
      return byRecord;
    };
    const final = new Map((await exported(db)).map((record) => [record.id, record]));
    for (const events of [steady.events, ...(await Promise.all(wanderers))]) {
      expect(events).toHaveLength(expected);
      for (const [id, story] of stories(events)) {
        const kinds = story.map(({ event }) => event).join();
        expect(kinds).toMatch(/^create,update,update,update(,destroy)?$/);
        const sizes = story.map(({ data }) => Object.keys(data.data).length);
        expect(sizes.slice(0, 4)).toEqual([1, 2, 3, 4]);
        if (kinds.endsWith("destroy")) expect(final.has(id)).toBe(false);
        else expect(final.get(id)).toEqual(story.at(-1)?.data);
      }
    }
    await steady.close();
    await other.stop();
  });

  async function exported(db: string): Promise<{ id: string }[]> {
    return (await app.get(`/core/dbs/${db}/export?format=json`)).json;
  }

  test("where the connection that listens is cut off", async () => {
    const db = await newDb();
    const other = await startTestApp({ target: app.target });
    const follower = await follow(db, { origin: other.origin });
    await app.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'corestead listen'`;
    await create(db, { n: 1 });
    await eventually(() => follower.events.length === 1);
    expect(told(follower)).toEqual([["create", 1]]);
    await follower.close();
    await other.stop();
  });

  test("where a client does not read for a while", async () => {
    const db = await newDb();
    const socket = connect(Number(new URL(app.origin).port), "127.0.0.1");
    socket.write(
      `GET /core/dbs/${db}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${adminToken}\r\n\r\n`,
    );
    await new Promise((resolve) => socket.once("data", resolve));
    socket.pause();
    const rows = Array.from({ length: 3000 }, (_, n) => JSON.stringify({ n, text: "x".repeat(5000) }));
    for (const part of [rows.slice(0, 1500), rows.slice(1500)])
      await app.post(`/core/dbs/${db}/import`, undefined, {
        raw: part.join("\n"),
        headers: { "content-type": "application/x-ndjson" },
      });
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString("latin1")));
    socket.resume();
    const numbers = () => [...text.matchAll(/"n": (\d+)/g)].map(([, n]) => Number(n));
    await eventually(() => numbers().length >= 3000, "all of it");
    expect(numbers()).toEqual(Array.from({ length: 3000 }, (_, n) => n));
    socket.destroy();
  });
});

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
    const store = createChangeStore(app.sql);
    await store.prune(24);
    expect(await app.sql`select from record_changes where db_id = ${database.id}`).toHaveLength(2);
    await app.sql`update record_changes set at = now() - interval '25 hours' where db_id = ${database.id}`;
    await create(db, { n: 3 });
    await store.prune(24);
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
    await follower.close();
    const database = await databaseRow(db);
    const store = createChangeStore(app.sql);
    await app.sql`update record_feeds set watched_at = now() - interval '2 days' where db_id = ${database.id}`;
    const idle = await transaction(app.sql, store.endIdle);
    expect(idle.map(({ code }) => code)).toEqual([db]);
    expect((await databaseRow(db)).live).toBe(false);
    await create(db, { n: 1 });
    await remove(db, (await create(db, { n: 2 })).id);
    await store.prune(24);
    expect(await app.sql`select from record_changes where db_id = ${database.id}`).toHaveLength(0);
    const again = await follow(db, { lastId: follower.lastId() });
    await create(db, { n: 3 });
    await eventually(() => again.events.length === 2);
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
    await eventually(() => again.events.length === 2);
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
    followPath(`/core/db/${db}/events`, { token: "", headers, lastId });
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
    await eventually(() => again.events.length === 2);
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
    const databases = { find: async () => undefined, refresh: async () => undefined, changed: async () => {} };
    const log = createLog("error", () => {});
    const ctx = {
      transaction: <T>(run: (tx: Tx) => Promise<T>) => transaction(app.sql, run),
      broadcast,
      log,
      stopping: stopping.signal,
    };
    const all = { followers: 1000, publicFollowers: 500, perOwner: 20, heartbeatMs: 10, ...limits };
    const events = createEvents({
      ctx,
      store: createChangeStore(app.sql),
      databases,
      changes: createChanges(),
      limits: all,
    });
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

  test("a comment is sent, and the stream ends where the token no longer works", async () => {
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

  test("so many may follow and no more, visitors less", async () => {
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
