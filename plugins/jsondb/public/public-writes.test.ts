import { describe, expect, test } from "bun:test";
import { publicServer, unknownId } from "../../../tests/fixtures/public-methods.ts";

const server = publicServer();
const { call, database, read } = server;

describe("a public write", () => {
  test("takes only allowed fields, adds defaults and the server's own, and minds what is required", async () => {
    const create = {
      allowed_fields: ["title", "mail"],
      required_fields: ["title"],
      default_values: { status: "new" },
      auto_fields: { from: "{ip}", user: "{user_id}" },
    };
    const code = await database({ create });
    const made = await call(code, "create", { data: { title: "Hi", status: "paid", from: "me", other: 1 } });
    expect(made.json.data).toEqual({ title: "Hi", status: "new", from: "127.0.0.1", user: "" });
    for (const title of [undefined, null, ""]) {
      const answer = await call(code, "create", { data: { title } });
      expect([answer.status, answer.json]).toEqual([
        422,
        { error: "title is required", errors: { title: ["is required"] } },
      ]);
    }
    const [stored] = (await server.app.get(`/core/dbs/${code}/records`)).json;
    expect(stored.data).toEqual(made.json.data);
  });

  test("knows the signed-in person", async () => {
    const code = await database({ create: { auto_fields: { id: "{user_id}", name: "{user_name}" } } });
    const { json: me } = await server.app.get("/account/me");
    const { json } = await server.app.post(`/core/db/${code}/create`, { data: {} });
    expect(json.data).toEqual({ id: me.id, name: me.name });
    expect((await call(code, "create", { data: {} })).json.data).toEqual({ id: "", name: "" });
  });

  test("is validated by the schema", async () => {
    const code = await database(
      { create: true, update: true },
      { fields: { n: "integer", s: { type: "string", required: true } } },
    );
    const wrong = await call(code, "create", { data: { n: "x" } });
    expect([wrong.status, Object.keys(wrong.json.errors).toSorted()]).toEqual([422, ["n", "s"]]);
    const { id } = (await call(code, "create", { data: { n: 1, s: "a" } })).json;
    expect((await call(code, "update", { id, data: { s: null } })).json.errors).toEqual({ s: ["is required"] });
  });

  test("of a multi-table database goes to the null table; an update keeps the table and is validated by it", async () => {
    const schema = {
      tables: { orders: { fields: { no: { type: "integer", required: true } }, indexed_fields: ["no"] } },
    };
    const code = await database({ create: true, update: true, list: true, get: true, search: true }, schema);
    const made = await call(code, "create", { data: { no: "any" }, table_name: "orders" });
    expect(made.json.data).toEqual({ no: "any" });
    const order = (
      await server.app.post(`/core/dbs/${code}/records`, { record: { table_name: "orders", data: { no: 5 } } })
    ).json;
    expect((await read(code, "list")).json.map(({ id }: { id: string }) => id)).toEqual([order.id, made.json.id]);
    expect((await read(code, `get?id=${order.id}`)).json.data).toEqual({ no: 5 });
    expect((await call(code, "update", { id: order.id, data: { no: "x" } })).status).toBe(422);
    expect((await call(code, "update", { id: order.id, data: { no: 6 } })).json.data).toEqual({ no: 6 });
    expect((await server.app.get(`/core/dbs/${code}/records/${order.id}`)).json.table_name).toBe("orders");
    expect((await read(code, "search")).json).toMatchObject({ available_tables: ["orders"] });
    expect((await read(code, "search?table_name=orders&sort=no")).json).toMatchObject([{ no: 6 }]);
  });

  test.each<[string, unknown, number]>([
    ["no data", {}, 422],
    ["data as a list", { data: [] }, 422],
    ["data as null", { data: null }, 422],
    ["a list as the body", [], 400],
    ["a string as the body", "x", 400],
  ])("with %s is refused", async (_, body, status) => {
    const code = await database({ create: true });
    expect((await call(code, "create", body)).status).toBe(status);
  });

  test("with hostile content does no harm", async () => {
    const code = await database({ create: true, list: true, get: true, update: true, delete: true });
    const send = (raw: string) =>
      server.app.post(`/core/db/${code}/create`, undefined, {
        token: null,
        raw,
        headers: { "content-type": "application/json" },
      });
    expect((await send('{"data":{"__proto__":{"polluted":1},"a":"x"}}')).status).toBe(201);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect((await send(`{"data":{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}}`)).status).toBe(400);
    expect((await send(`{"data":{"a":"${"x".repeat(1_000_000)}"}}`)).status).toBe(201);
    expect((await send('{"data":{"a":"\'); drop table records; --"}}')).status).toBe(201);
    expect((await send("{")).status).toBe(400);
    for (const id of [5, {}, [], true, "x", "' or true --", "\0", "\ud800", `${unknownId}\0`]) {
      for (const method of ["get", "update", "delete"])
        expect([id, method, (await call(code, method, { id })).status]).toEqual([id, method, 404]);
    }
    for (const id of [undefined, null, ""])
      expect((await call(code, "delete", { id })).json).toHaveProperty("errors.id");
  });

  const character = "has a character that cannot be stored";
  test.each<[string, Record<string, string[]>]>([
    ['{"a":"\\u0000"}', { a: [character] }],
    ['{"a":{"b":["x\\udfff"]}}', { a: [`b.0 ${character}`] }],
    ['{"a\\u0000":1}', { a: [character] }],
    ['{"n":1e309}', { n: ["is a number too large to be kept"] }],
    ['{"a":[-1e999]}', { a: ["0 is a number too large to be kept"] }],
  ])("refuses what cannot be stored, as any other mistake: %s", async (data, errors) => {
    const code = await database({ create: true, update: true }, { fields: { n: "number", s: "string" } });
    const { id } = (await call(code, "create", { data: {} })).json;
    const raw = (method: string) =>
      server.app.post(`/core/db/${code}/${method}`, undefined, {
        token: null,
        raw: `{"id":"${id}","data":${data}}`,
        headers: { "content-type": "application/json" },
      });
    const error = Object.entries(errors)
      .map(([name, messages]) => `${name} ${messages.join(", ")}`)
      .join("; ");
    for (const method of ["create", "update"]) {
      const answer = await raw(method);
      expect([method, answer.status, answer.json]).toEqual([method, 422, { error, errors }]);
    }
  });

  test("ignores what it does not take, whatever that holds", async () => {
    const only = { allowed_fields: ["a"] };
    const code = await database({ create: only, update: only, list: true, get: true, search: true, delete: true });
    const junk = '"other":"\\u0000","k\\u0000":["\\ud800",1e309]';
    const ask = async (method: string, body: string) => {
      const headers = { "content-type": "application/json" };
      return server.app.post(`/core/db/${code}/${method}`, undefined, {
        token: null,
        raw: `{${body},${junk}}`,
        headers,
      });
    };
    const made = await ask("create", `"data":{"a":1,${junk}}`);
    expect([made.status, made.json.data]).toEqual([201, { a: 1 }]);
    const id = `"id":"${made.json.id}"`;
    expect((await ask("update", `${id},"data":{"a":2,${junk}}`)).json.data).toEqual({ a: 2 });
    for (const [method, status] of [
      ["list", 200],
      ["search", 200],
      ["get", 200],
      ["delete", 200],
      ["get", 404],
    ] as const)
      expect([method, (await ask(method, id)).status]).toEqual([method, status]);
    for (const name of ["q", "sort"]) expect((await ask("search", `"${name}":"\\u0000"`)).status).toBe(400);
    expect((await ask("list", '"after":"\\u0000"')).status).toBe(400);
    expect((await ask("search", '"table_name":"\\u0000"')).status).toBe(200);
  });
});

describe("a browser's form", () => {
  const schema = {
    fields: {
      email: { type: "string", required: true },
      age: "integer",
      price: "number",
      news: "boolean",
      note: "text",
    },
  };
  const records = async (code: string) => (await server.app.get(`/core/dbs/${code}/records`)).json;
  const post = (code: string, method: string, raw: FormData | URLSearchParams) =>
    fetch(`${server.app.origin}/core/db/${code}/${method}`, { method: "POST", body: raw, redirect: "manual" });
  const fields = { email: "a@b.c", age: " 41 ", price: "9.50", news: "on", note: "one\r\ntwo", more: "5" };
  const stored = { email: "a@b.c", age: 41, price: 9.5, news: true, note: "one\ntwo", more: "5" };

  test.each(["urlencoded", "multipart"])("becomes a record, and leads on: %s", async (kind) => {
    const code = await server.database({ create: true, update: true }, schema);
    const body = kind === "multipart" ? new FormData() : new URLSearchParams();
    for (const [name, value] of Object.entries({ ...fields, _next: "/thanks?a=1#b", _gotcha: "" }))
      body.append(name, value);
    for (const value of ["a", "b"]) body.append("topics[]", value);
    const made = await post(code, "create", body);
    expect([made.status, made.headers.get("location"), await made.text()]).toEqual([303, "/thanks?a=1#b", ""]);
    const [record] = await records(code);
    expect(record.data).toEqual({ ...stored, topics: ["a", "b"] });
    const changed = await post(code, "update", new URLSearchParams({ id: record.id, age: "7" }));
    expect([changed.status, (await changed.json()).data.age]).toEqual([200, 7]);
  });

  test("without _next is answered as JSON is, and refused as JSON is", async () => {
    const code = await server.database({ create: { required_fields: ["email"] }, search: true }, schema);
    const made = await post(code, "create", new URLSearchParams(fields));
    expect([made.status, (await made.json()).data]).toEqual([201, stored]);
    const file = new FormData();
    file.append("email", new Blob(["x"]), "x.txt");
    const cases: [string, FormData | URLSearchParams, number, string][] = [
      ["create", new URLSearchParams({ age: "1", _next: "/x" }), 422, "email"],
      ["create", new URLSearchParams({ ...fields, age: "4.5" }), 422, "age"],
      ["create", file, 422, "cannot be a file"],
      ["search", new URLSearchParams({ q: "a" }), 415, ""],
      ...["//evil.example", "https://evil.example", "/\\evil.example", "/.//evil.example", "/a\tb", "x"].map(
        (next): [string, URLSearchParams, number, string] => [
          "create",
          new URLSearchParams({ ...fields, _next: next }),
          422,
          "_next",
        ],
      ),
    ];
    for (const [method, body, status, says] of cases) {
      const answer = await post(code, method, body);
      expect([[...body.values()], answer.status, await answer.text()]).toEqual([
        [...body.values()],
        status,
        expect.stringContaining(says),
      ]);
    }
    expect(await records(code)).toHaveLength(1);
  });

  test("of a robot is answered as if it were stored", async () => {
    const code = await server.database({ create: true, update: true }, schema);
    const made = await post(code, "create", new URLSearchParams({ ...fields, _gotcha: "x" }));
    expect([made.status, await made.json()]).toEqual([
      201,
      { id: expect.any(String), data: stored, created_at: expect.any(String), updated_at: expect.any(String) },
    ]);
    expect((await post(code, "create", new URLSearchParams({ ...fields, _gotcha: "x", _next: "/y" }))).status).toBe(
      303,
    );
    expect(await records(code)).toEqual([]);
    const { json } = await server.call(code, "create", { data: { email: "b@b.c" } });
    const kept = await post(code, "update", new URLSearchParams({ id: json.id, email: "c@b.c", _gotcha: "x" }));
    expect([kept.status, (await kept.json()).data.email]).toEqual([200, "b@b.c"]);
  });
});

describe("a method that fixes a table", () => {
  const schema = {
    tables: { leads: { fields: { email: { type: "string", required: true } } }, notes: { fields: { text: "string" } } },
  };
  test("writes to it and sees nothing else", async () => {
    const table_name = "leads";
    const all = {
      create: { table_name },
      list: { table_name },
      get: { table_name },
      update: { table_name },
      delete: { table_name },
      search: { table_name },
    };
    const code = await server.database(all, schema);
    const note = (
      await server.app.post(`/core/dbs/${code}/records`, { record: { table_name: "notes", data: { text: "n" } } })
    ).json;
    const made = await server.call(code, "create", { data: { email: "a@b.c" }, table_name: "notes" });
    expect([made.status, made.headers.get("warning")]).toEqual([201, expect.not.stringContaining("no table")]);
    expect((await server.app.get(`/core/dbs/${code}/records/${made.json.id}`)).json.table_name).toBe("leads");
    expect((await server.call(code, "create", { data: { text: "n" } })).status).toBe(422);
    const ids = async (path: string) => (await server.read(code, path)).json.map(({ id }: { id: string }) => id);
    expect([await ids("list"), await ids("search?table_name=notes")]).toEqual([[made.json.id], [made.json.id]]);
    for (const method of ["get", "update", "delete"])
      expect([method, (await server.call(code, method, { id: note.id, data: {} })).status]).toEqual([method, 404]);
    expect((await server.call(code, "update", { id: made.json.id, data: { email: "b@b.c" } })).json.data.email).toBe(
      "b@b.c",
    );
    expect((await server.call(code, "delete", { id: made.json.id })).status).toBe(200);
  });

  test("that the schema does not have is refused, whichever of the two changes", async () => {
    const create = (db: object) => server.app.post("/core/dbs", { db: { name: "x", ...db } });
    const public_methods = { create: { table_name: "leads" } };
    for (const db of [
      { public_methods },
      { public_methods, schema: { fields: { a: "string" } } },
      { public_methods: { create: { table_name: 5 } }, schema },
    ])
      expect((await create(db)).json).toEqual({ public_methods: [expect.stringContaining("create.table_name")] });
    const { json } = await create({ public_methods, schema });
    const patched = await server.app.patch(`/core/dbs/${json.id}`, {
      db: { schema: { tables: { notes: schema.tables.notes } } },
    });
    expect([patched.status, patched.json]).toEqual([
      422,
      { public_methods: [expect.stringContaining("create.table_name")] },
    ]);
  });
});
