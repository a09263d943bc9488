/** What somebody tries who may see a part of a database: to learn of the rest, or to keep what was taken away. behaviour B.7. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { followStream } from "../../../tests/event-stream.ts";
import { eventually, otherAccount, person, startTestApp, type TestApp } from "../../../tests/harness.ts";

let app: TestApp;
let seller: { id: number; token: string; login: string };
let boss: { id: number; token: string };

beforeAll(async () => {
  app = await startTestApp({ env: { OUTBOUND_ALLOW: "127.0.0.1" } });
  seller = await person(app, { role: "user" });
  boss = await person(app, { role: "user" });
});
afterAll(() => app.stop());

const as = ({ token }: { token: string }, headers: Record<string, string> = {}) => ({ token, headers });
const made = async (path: string, body: object): Promise<string> => {
  const { status, json, text } = await app.post(path, body);
  expect([status, text]).toEqual([201, expect.any(String)]);
  return json.id;
};
let serial = 0;
const newDb = async (fields: object, access: unknown = null, more: object = {}): Promise<string> => {
  const code = `attacked_${++serial}`;
  await made("/core/dbs", { db: { name: code, code, access, schema: { fields, ...more } } });
  return code;
};
const add = (db: string, data: object) => made(`/core/dbs/${db}/records`, { record: { data } });
const open = { stage: "open" };

describe("a mistake", () => {
  test("tells neither the type nor the choices of a hidden field", async () => {
    const fields = {
      title: "string",
      stage: "string",
      level: { type: "string", choices: ["gold", "lead"] },
      cost: "integer",
    };
    const db = await newDb(fields, [{ to: "everyone", may: "edit", hide: ["level", "cost"] }]);
    const id = await add(db, { title: "a", level: "gold", cost: 1 });
    const refused = { level: ["may not be written"], cost: ["may not be written"] };
    const data = { title: "b", level: "x", cost: "x" };
    const base = `/core/dbs/${db}`;
    expect((await app.post(`${base}/records`, { record: { data } }, as(seller))).json).toEqual(refused);
    expect((await app.patch(`${base}/records/${id}`, { record: { data } }, as(seller))).json).toEqual(refused);
    const answers = [
      await app.post(`${base}/batch`, { operations: [{ op: "create", data }] }, as(seller)),
      await app.post(`${base}/batch`, { operations: [{ op: "update", id, data }] }, as(seller)),
      await app.post(`${base}/bulk`, { op: "update", data, all: true }, as(seller)),
      ...(await Promise.all(
        ["", "&partial=true", "&dry_run=true"].map((query) =>
          app.request("POST", `${base}/import?a=1${query}`, undefined, {
            ...as(seller, { "content-type": "text/csv" }),
            raw: "title,level,cost\nb,x,x\n",
          }),
        ),
      )),
    ];
    for (const { text, status } of answers)
      expect([text, status < 500]).toEqual([expect.not.stringMatching(/gold|whole number/), true]);
  });

  test("about a record that one may not see is that there is none, whatever is sent along", async () => {
    const db = await newDb({ stage: "string" }, [{ to: "everyone", may: "edit", where: open }]);
    const id = await add(db, { stage: "closed" });
    const path = `/core/dbs/${db}/records/${id}`;
    const none = `/core/dbs/${db}/records/${crypto.randomUUID()}`;
    const stale = { "if-match": '"stale"' };
    const both = async (send: (at: string) => Promise<{ status: number; text: string }>) =>
      (await Promise.all([send(path), send(none)])).map(({ status, text }) => ({ status, text }));
    for (const [one, other] of [
      await both((at) => app.get(at, as(seller, { "if-none-match": '"x"' }))),
      await both((at) => app.patch(at, { record: { data: { stage: "open" } } }, as(seller, stale))),
      await both((at) => app.patch(`${at}?keep_table=true`, { record: { data: { stage: 7 } } }, as(seller))),
      await both((at) => app.delete(at, as(seller, stale))),
      await both((at) => app.post(`${at}/comments`, { comment: { text: "x" } }, as(seller))),
      await both((at) => app.get(`${at}/linked`, as(seller))),
    ])
      expect(one).toEqual(other as { status: number; text: string });
    const batch = (at: string, more: object) =>
      app.post(`/core/dbs/${db}/batch`, { operations: [{ op: "delete", id: at, ...more }] }, as(seller));
    for (const more of [{}, { if_updated_at: "2026-01-01T00:00:00.000Z" }]) {
      const [one, other] = [await batch(id, more), await batch(crypto.randomUUID(), more)];
      expect([one.status, one.text]).toEqual([other.status, other.text]);
    }
    expect((await app.get(path)).status).toBe(200);
  });
});

describe("a token for some databases", () => {
  test("finds nothing in others through the links of a bulk change", async () => {
    const firms = await newDb({ name: "string" });
    const deals = await newDb({ title: "string", firm: { type: "string", link: firms } });
    const firm = await add(firms, { name: "Secret" });
    const id = await add(deals, { title: "a", firm });
    const own = await app.post("/account/api_tokens", {
      api_token: { name: "narrow", databases: { [deals]: "edit" } },
    });
    const by = as({ token: own.json.token });
    expect((await app.get(`/core/dbs/${deals}/records?filter[firm.name]=Secret`, by)).json).toEqual([]);
    const bulk = async (query: string, data: object) => {
      const task = await app.post(`/core/dbs/${deals}/bulk?${query}`, { op: "update", data, all: true }, by);
      if (task.status !== 202) return task.json;
      return eventually(async () => {
        const { json } = await app.get(`/core/dbs/${deals}/tasks/${task.json.id}`, by);
        return json.status === "running" ? undefined : json;
      });
    };
    expect(await bulk("filter[firm.name]=Secret", { title: "b" })).toMatchObject({ total: 0, stored: 0 });
    expect(await bulk("filter[title]=a", { firm })).toMatchObject({ stored: 0, failed: 1 });
    expect((await app.get(`/core/dbs/${deals}/records/${id}`)).json.data.title).toBe("a");
  });
});

describe("a schema that changes", () => {
  test("hides a renamed field as before, and keeps the conditions on it", async () => {
    const access = [{ to: "everyone", may: "read", where: { stage: { ne: "closed" } }, hide: ["pay"] }];
    const db = await newDb({ title: "string", stage: "string", pay: "integer" }, access);
    await add(db, { title: "open one", stage: "open", pay: 777_001 });
    const closed = await add(db, { title: "closed one", stage: "closed", pay: 777_002 });
    const follow = (lastId?: string) =>
      followStream(`${app.origin}/core/dbs/${db}/events`, { token: seller.token, lastId });
    const follower = await follow();
    const before = await eventually(() => follower.lastId());
    const note = (id: string) => app.patch(`/core/dbs/${db}/records/${id}`, { record: { data: { title: "noted" } } });
    await note(closed);
    await follower.close();
    const fields = { title: "string", state: "string", salary: "integer" };
    const change = { db: { schema: { fields } }, rename: { stage: "state", pay: "salary" } };
    const renamed = await app.patch(`/core/dbs/${db}`, change);
    expect([renamed.status, renamed.text]).toEqual([200, expect.any(String)]);
    const { text, json } = await app.get(`/core/dbs/${db}/records`, as(seller));
    expect([json.length, text.includes("777"), text.includes(closed)]).toEqual([1, false, false]);
    const again = await follow(before);
    await eventually(() => again.text().includes("event: reset"));
    expect(again.text()).not.toContain("777");
    await again.close();
    expect((await app.get(`/core/dbs/${db}`)).json.access).toEqual([
      { to: "everyone", may: "read", where: { state: { ne: "closed" } }, hide: ["pay", "salary"] },
    ]);
  });

  test("makes no hidden field unique, and hides no unique one", async () => {
    const db = await newDb({ email: "string" }, [{ to: "everyone", may: "read", hide: ["email"] }]);
    const unique = { fields: { email: { type: "string", unique: true } } };
    const answer = await app.patch(`/core/dbs/${db}`, { db: { schema: unique } });
    expect([answer.status, JSON.stringify(answer.json)]).toEqual([422, expect.stringContaining("email is unique")]);
    const replaced = await app.patch(`/core/dbs/${db}/replace`, {
      field: "schema",
      old_string: '"email":"string"',
      new_string: '"email":{"type":"string","unique":true}',
    });
    expect(replaced.status).toBe(422);
    const other = await newDb({ email: { type: "string", unique: true } });
    const hide = await app.patch(`/core/dbs/${other}`, {
      db: { access: [{ to: "everyone", may: "read", hide: ["email"] }] },
    });
    expect(hide.status).toBe(422);
  });
});

describe("a grant", () => {
  test("may ask for a field that it hides", async () => {
    const db = await newDb({ title: "string", team: "string" }, [
      { to: "everyone", may: "edit", where: { team: "north" }, hide: ["team"] },
    ]);
    const id = await add(db, { title: "ours", team: "north" });
    await add(db, { title: "theirs", team: "south" });
    const seen = await app.get(`/core/dbs/${db}/records`, as(seller));
    expect(seen.json.map((one: { data: object }) => one.data)).toEqual([{ title: "ours" }]);
    const change = await app.patch(`/core/dbs/${db}/records/${id}`, { record: { data: { title: "o" } } }, as(seller));
    expect([change.status, change.json.data]).toEqual([200, { title: "o" }]);
    expect((await app.post(`/core/dbs/${db}/records`, { record: { data: { title: "n" } } }, as(seller))).status).toBe(
      403,
    );
  });

  test("by somebody's id or teams means nobody where there are none", async () => {
    const access = [
      { to: "everyone", may: "read", where: { owner: "{user_id}" } },
      { to: "everyone", may: "read", where: { team: "{team_ids}" } },
      { to: "everyone", may: "read", where: { login: "{user_login}" } },
    ];
    const db = await newDb({ owner: "integer", team: "integer", login: "string", title: "string" }, access);
    for (const data of [
      {},
      { owner: null, team: null, login: "" },
      { owner: 0, login: "{user_login}" },
      { login: "*" },
    ])
      await add(db, { title: "x", ...data });
    expect((await app.get(`/core/dbs/${db}/records`, as(seller))).json).toEqual([]);
    expect((await app.get(`/core/dbs/${db}/aggregate`, as(seller))).json[0].count).toBe(0);
    const odd = await person(app, { role: "user", login: "a*" });
    await add(db, { title: "x", login: "ab" });
    expect((await app.get(`/core/dbs/${db}/records`, as(odd))).json).toEqual([]);
  });

  test("that hides a link of some records filters nothing by it there", async () => {
    const firms = await newDb({ name: "string" });
    const deals = await newDb({ title: "string", stage: "string", firm: { type: "string", link: firms } }, [
      { to: "everyone", may: "read", where: open },
      { to: "everyone", may: "read", hide: ["firm"] },
    ]);
    const firm = await add(firms, { name: "Acme" });
    await add(deals, { title: "one", stage: "open", firm });
    await add(deals, { title: "two", stage: "closed", firm });
    const found = async (path: string) => (await app.get(`/core/dbs/${deals}/${path}`, as(seller))).json;
    expect(await found("records")).toHaveLength(2);
    expect(await found("records?filter[firm.name]=Acme")).toHaveLength(1);
    expect(await found("search?filter[firm.name]=Acme")).toHaveLength(1);
    expect((await found("aggregate?filter[firm.name]=Acme"))[0].count).toBe(1);
    expect(await found("export?format=json&filter[firm.name]=Acme")).toHaveLength(1);
    const expanded = await found("records?expand=firm");
    expect(expanded.map((one: { expand: { firm: unknown } }) => one.expand.firm !== null)).toEqual([false, true]);
    const linked = (await app.get(`/core/dbs/${firms}/records/${firm}/linked`, as(seller))).json;
    expect(linked).toMatchObject([{ count: 1 }]);
  });
});

describe("a key of an answer", () => {
  test("gives it to nobody else, and tells nothing newer than the answer", async () => {
    const db = await newDb({ title: "string" }, [{ to: "everyone", may: "edit" }]);
    const key = { "idempotency-key": crypto.randomUUID() };
    const send = (who: { token: string }) =>
      app.post(`/core/dbs/${db}/records`, { record: { data: { title: "mine" } } }, as(who, key));
    const [first, other] = [await send(seller), await send(boss)];
    expect([first.status, other.status, other.json.id === first.json.id]).toEqual([201, 201, false]);
    await app.patch(`/core/dbs/${db}/records/${first.json.id}`, { record: { data: { title: "newer" } } });
    await app.patch(`/core/dbs/${db}`, { db: { access: [] } });
    expect((await send(seller)).json).toEqual(first.json);
  });

  test("is given with the record that somebody has made who sees their own alone", async () => {
    const own = { to: "everyone", may: "add", where: { owner: "{user_id}" }, hide: ["secret"] };
    const db = await newDb({ title: "string", owner: "integer", secret: "string" }, [own]);
    const data = { title: "mine", owner: seller.id };
    const key = { "idempotency-key": crypto.randomUUID() };
    const answer = await app.post(`/core/dbs/${db}/records`, { record: { data } }, as(seller, key));
    expect([answer.status, answer.json.data]).toEqual([201, data]);
  });
});

describe("what was taken away", () => {
  const many = async (count: number) => {
    const db = await newDb({ title: "string", owner: "integer" }, [
      { to: `user:${seller.id}`, may: "edit", where: { owner: 1 } },
    ]);
    const rows = Array.from({ length: count }, (_, n) =>
      JSON.stringify({ title: `row ${n} ${"x".repeat(500)}`, owner: 1 }),
    );
    const answer = await app.request("POST", `/core/dbs/${db}/import`, undefined, {
      headers: { "content-type": "application/x-ndjson" },
      raw: rows.join("\n"),
    });
    if (count > 0) expect(answer.status).toBe(201);
    return db;
  };

  test.each(["the grant", "the databases of the token", "the token"])(
    "ends an export in the middle: %s",
    async (what) => {
      const db = await many(10_000);
      await app.patch(`/core/dbs/${db}`, { db: { access: [{ to: `user:${boss.id}`, may: "read" }] } });
      const { json: own } = await app.post(
        "/account/api_tokens",
        { api_token: { name: "export", privileges: ["dbs"], databases: { [db]: "read" } } },
        as(boss),
      );
      const response = await fetch(`${app.origin}/core/dbs/${db}/export?format=ndjson`, {
        headers: { authorization: `Bearer ${own.token}` },
      });
      expect(response.status).toBe(200);
      const reader = response.body?.getReader();
      await reader?.read();
      if (what === "the grant") await app.patch(`/core/dbs/${db}`, { db: { access: [] } });
      else if (what === "the token") await app.delete(`/account/api_tokens/${own.id}`, as(boss));
      else {
        const narrowed = await app.patch(`/core/tokens/${own.id}`, { token: { databases: {} } }, as(boss));
        expect([narrowed.status, narrowed.text]).toEqual([200, expect.any(String)]);
      }
      const rest = async () => {
        for (;;) {
          const next = await reader?.read();
          if (next?.done ?? true) return "the end";
        }
      };
      expect(await rest().catch(() => "broken off")).toBe("broken off");
    },
  );

  test("is asked for again when the rows of an import have arrived", async () => {
    const db = await many(0);
    const rows = Promise.withResolvers<string>();
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode("title,owner\na,1\n"));
        controller.enqueue(new TextEncoder().encode(await rows.promise));
        controller.close();
      },
    });
    const sent = fetch(`${app.origin}/core/dbs/${db}/import`, {
      method: "POST",
      headers: { authorization: `Bearer ${seller.token}`, "content-type": "text/csv" },
      body,
    });
    await eventually(async () => (await app.get(`/core/dbs/${db}/tasks?status=running`)).json.length === 1);
    await app.patch(`/core/dbs/${db}`, { db: { access: [{ to: `user:${seller.id}`, may: "read" }] } });
    rows.resolve("b,1\n");
    expect((await sent).status).toBe(403);
    expect((await app.get(`/core/dbs/${db}/records`)).json).toEqual([]);
  });

  test("ends a change of many records in the middle", async () => {
    const db = await many(10_000);
    const task = await app.post(`/core/dbs/${db}/bulk`, { op: "update", data: { title: "y" }, all: true }, as(seller));
    const at = `/core/dbs/${db}/tasks/${task.json.id}`;
    await eventually(async () => (await app.get(at)).json.done > 0);
    await app.patch(`/core/dbs/${db}`, { db: { access: [] } });
    const ended = await eventually(async () => {
      const { json } = await app.get(at);
      return json.status === "running" ? undefined : json;
    });
    expect(ended).toMatchObject({ status: "failed", error: "whoever began it may no longer change the records" });
    expect(ended.stored).toBeLessThan(10_000);
  });
});

describe("links", () => {
  test("lead to no other account, by whatever name", async () => {
    const other = await otherAccount(app);
    const foreign = (await other.post("/core/dbs", { db: { name: "Theirs", code: "theirs" } })).json.id;
    const record = (await other.post("/core/dbs/theirs/records", { record: { data: { a: "foreign" } } })).json.id;
    for (const link of ["theirs", foreign]) {
      const db = await newDb({ to: { type: "string", link } });
      const answer = await app.post(`/core/dbs/${db}/records`, { record: { data: { to: record } } });
      expect([answer.status, Object.keys(answer.json)]).toEqual([422, ["to"]]);
    }
    const own = await newDb({ to: "string" });
    const id = await add(own, { to: record });
    await app.patch(`/core/dbs/${own}`, { db: { schema: { fields: { to: { type: "string", link: foreign } } } } });
    const shown = await app.get(`/core/dbs/${own}/records/${id}?expand=to`);
    expect([shown.json.expand, shown.text.includes("foreign")]).toEqual([{ to: null }, false]);
    expect((await app.get(`/core/dbs/${own}/records?filter[to.a]=foreign`)).json).toEqual([]);
  });

  test("in a circle, to themselves and into a database that is gone are deleted once", async () => {
    const code = `attacked_${serial + 1}`;
    const db = await newDb({ title: "string", next: { type: "string", link: code, on_delete: "cascade" } });
    const [a, b, self] = [
      await add(db, { title: "a" }),
      await add(db, { title: "b" }),
      await add(db, { title: "self" }),
    ];
    const link = (id: string, next: string) =>
      app.patch(`/core/dbs/${db}/records/${id}`, { record: { data: { next } } });
    for (const [from, to] of [
      [a, b],
      [b, a],
      [self, self],
    ])
      expect((await link(from ?? "", to ?? "")).status).toBe(200);
    expect(
      (await app.get(`/core/dbs/${db}/records/${a}?expand=next,next.next,next.next.next`)).json.expand["next.next"]
        .title,
    ).toBe("a");
    expect((await app.delete(`/core/dbs/${db}/records/${a}`)).status).toBe(204);
    expect((await app.delete(`/core/dbs/${db}/records/${self}`)).status).toBe(204);
    expect((await app.get(`/core/dbs/${db}/records`)).json).toEqual([]);

    const target = await newDb({ name: "string" });
    const source = await newDb({ to: { type: "string", link: target, on_delete: "restrict" } });
    const id = await add(source, { to: await add(target, { name: "x" }) });
    expect((await app.delete(`/core/dbs/${target}`)).status).toBe(204);
    const at = `/core/dbs/${source}/records/${id}`;
    expect((await app.get(`${at}?expand=to`)).json.expand).toEqual({ to: null });
    expect((await app.get(`/core/dbs/${source}/records?filter[to.name]=x`)).json).toEqual([]);
    expect((await app.patch(at, { record: { data: { other: 1 } } })).status).toBe(200);
    expect((await app.delete(at)).status).toBe(204);
  });

  test("from 100,000 records to one let it go only within bounds", async () => {
    const target = await newDb({ name: "string" });
    const source = await newDb({ to: { type: "string", link: target } });
    const id = await add(target, { name: "hub" });
    const answer = await app.request("POST", `/core/dbs/${source}/import`, undefined, {
      headers: { "content-type": "text/csv" },
      raw: `to\n${`${id}\n`.repeat(100_000)}`,
    });
    expect([answer.status, answer.json.imported]).toEqual([201, 100_000]);
    const linked = await app.get(`/core/dbs/${target}/records/${id}/linked`);
    expect(linked.json).toMatchObject([{ count: 100_000 }]);
    expect(linked.json[0].records).toHaveLength(5);
    for (const on_delete of ["clear", "restrict", "cascade"]) {
      await app.patch(`/core/dbs/${source}`, {
        db: { schema: { fields: { to: { type: "string", link: target, on_delete } } } },
      });
      const refused = await app.delete(`/core/dbs/${target}/records/${id}`);
      expect([on_delete, refused.status]).toEqual([on_delete, 409]);
    }
    expect((await app.get(`/core/dbs/${target}/records/${id}`)).status).toBe(200);
  });
});
