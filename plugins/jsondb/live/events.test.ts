import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { transaction } from "../../../runtime/db/db.ts";
import { followStream, type Event, type Follower, type Following } from "../../../tests/event-stream.ts";
import { adminToken, eventually, person, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { databaseOf, type Database, type DatabaseRow } from "../databases/database.ts";
import * as recordStore from "../records/store.ts";
import { presenceIn } from "./events.ts";
import type { Present } from "./feed.ts";
import { newRecord } from "../records/record.ts";

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
      // What is written before it is told to reload, it finds when it reloads.
      await eventually(() => follower.events.length === 1);
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
    const table = database.schema.tables.get("");
    if (!table) throw new Error("the null table is always there");
    await transaction(app.sql, async (tx) => {
      expect(await recordStore.insert(tx, database, table, newRecord(table, { n: "early" }))).toBe(true);
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
    const table = database.schema.tables.get("");
    if (!table) throw new Error("the null table is always there");
    let following: Promise<Follower> | undefined;
    let begun = false;
    await transaction(app.sql, async (tx) => {
      await recordStore.insert(tx, database, table, newRecord(table, { n: "untold" }));
      following = follow(db).finally(() => (begun = true));
      await eventually(async () => (await databaseRow(db)).live, "the database is followed");
      // A writer of an older mind is refused: the caller looks again.
      expect(await recordStore.insert(app.sql, database, table, newRecord(table, { n: "old" }))).toBe(false);
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
      where datname = current_database() and application_name like 'corestead listen %'`;
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

describe("who has a record open", () => {
  test("is told to those who may read it, and kept nowhere", async () => {
    const [ann, bob] = [await person(app, { role: "user" }), await person(app, { role: "user" })];
    const access = [
      { to: `user:${ann.id}`, may: "edit" },
      { to: `user:${bob.id}`, may: "read", where: { n: 2 } },
    ];
    const db = await newDb({ access, schema: { fields: { n: "integer" } } });
    const [{ id: first }, { id: second }] = [await create(db, { n: 1 }), await create(db, { n: 2 })];
    const here = (id: string, token: string, query = "") =>
      app.request("PUT", `/core/dbs/${db}/records/${id}/present.json${query}`, undefined, { token });
    const [all, some] = [await follow(db), await follow(db, { token: bob.token })];
    const users = ({ json }: { json: { id: number }[] }) => json.map(({ id }) => id);
    expect(users(await here(second, ann.token))).toEqual([ann.id]);
    expect(users(await here(second, bob.token))).toEqual([ann.id, bob.id]);
    expect([(await here(first, bob.token)).status, (await here(first, bob.token, "?open=false")).status]).toEqual([
      404, 404,
    ]);
    expect((await here(crypto.randomUUID(), ann.token)).status).toBe(404);
    expect((await here(second, ann.token, "?open=maybe")).status).toBe(422);
    await here(second, ann.token);
    await here(second, ann.token, "?open=false");
    await create(db, { n: 2 });
    await eventually(() => all.events.length === 4 && some.events.length === 1);
    const last = all.events
      .splice(0, 3)
      .map(({ event, data }) => [event, data.record_id, data.users.map((one: { id: number }) => one.id)]);
    expect(last).toEqual([[ann.id], [ann.id, bob.id], [bob.id]].map((ids) => ["present", second, ids]));
    expect(some.events.map(({ event }) => event)).toEqual(["create"]);
    await Promise.all([all.close(), some.close()]);
  });

  test("is forgotten where nothing is said again, and heard from other processes", () => {
    let now = 0;
    let hear: (payload: string, fromOtherProcess: boolean) => void = () => {};
    const heard: Present[] = [];
    const broadcast = {
      publish: (_: string, payload: string) => hear(payload, false),
      on: (_: string, run: typeof hear) => ((hear = run), () => {}),
    };
    const here = presenceIn(
      { broadcast },
      (_, present) => void heard.push(present),
      () => now,
    );
    const place = { dbId: "d", recordId: "r" };
    hear(JSON.stringify({ ...place, id: 1, name: "Ann", isOpen: true }), true);
    now = 40_000;
    expect(here(place, { id: 2, name: "Bob" }, true)).toEqual([
      { id: 1, name: "Ann" },
      { id: 2, name: "Bob" },
    ]);
    now = 50_000;
    expect(here(place, { id: 2, name: "Bob" }, true)).toEqual([{ id: 2, name: "Bob" }]);
    expect(heard.map(({ users }) => users.length)).toEqual([1, 2]);
  });
});
