import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { createServer } from "node:http";
import { connect } from "node:net";
import { adminToken, eventually, person, startTestApp, type Answer, type TestApp } from "../../../tests/harness.ts";
import { traces } from "../../../tests/traces.ts";
import { createBulkStore } from "./bulk-store.ts";
import { inSlices } from "./import-slices.ts";
import { dataFromText } from "./import-values.ts";
import { parseSchema } from "../databases/schema.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { MAX_IMPORT_BYTES: "50000000" } });
});
afterAll(() => app.stop());

const schema = {
  fields: {
    email: { type: "string", required: true },
    age: "integer",
    score: "number",
    active: "boolean",
    born: "date",
    seen: "datetime",
    at: "time",
    note: "text",
  },
  indexed_fields: ["email", "age", "seen"],
};
const tables = {
  tables: {
    orders: { fields: { number: { type: "integer", required: true } } },
    lines: { fields: { name: "string" } },
  },
};

let made = 0;
async function newDb(dbSchema: object | null = schema): Promise<string> {
  const answer = await app.post("/core/dbs.json", { db: { name: `Import ${++made}`, schema: dbSchema } });
  expect(answer.status).toBe(201);
  return answer.json.code;
}

const csv = "text/csv";
const json = "application/json";
const ndjson = "application/x-ndjson";

function send(db: string, type: string, body: BodyInit, query = ""): Promise<Answer> {
  return app.post(`/core/dbs/${db}/import${query}`, undefined, { raw: body, headers: { "content-type": type } });
}

async function records(db: string): Promise<{ data: Record<string, unknown>; table_name: string | null }[]> {
  return (await app.get(`/core/dbs/${db}/records.json?limit=100&sort=id`)).json;
}
const data = async (db: string) => (await records(db)).map((record) => record.data);
const imports = async () => (await app.sql`select from record_imports`).length;

describe("an import of CSV", () => {
  test("stores each row, its cells converted by the types of the schema", async () => {
    const db = await newDb();
    const answer = await send(
      db,
      csv,
      "email,age,score,active,born,seen,at,note\r\n" +
        'ann@x.pl,34,1.5,true,2026-01-31,2026-01-31T10:00:00Z,10:00,"a, ""b""\r\nc"\r\n' +
        "bob@x.pl,9223372036854775807,-2e3,0,2024-02-29,2026-01-31 10:00,23:59:59,\r\n" +
        "cid@x.pl, +7 , .5 ,TRUE,,,,=1+1\r\n",
    );
    expect([answer.status, answer.json]).toEqual([201, { imported: 3 }]);
    expect(await data(db)).toEqual([
      {
        email: "ann@x.pl",
        age: 34,
        score: 1.5,
        active: true,
        born: "2026-01-31",
        seen: "2026-01-31T10:00:00Z",
        at: "10:00",
        note: 'a, "b"\r\nc',
      },
      {
        email: "bob@x.pl",
        age: "9223372036854775807",
        score: -2000,
        active: false,
        born: "2024-02-29",
        seen: "2026-01-31T10:00",
        at: "23:59:59",
      },
      { email: "cid@x.pl", age: 7, score: 0.5, active: true, note: "=1+1" },
    ]);
  });

  test("fills the index columns as a create does", async () => {
    const db = await newDb();
    await send(db, csv, "email,age,seen\nann@x.pl,34,2026-01-31T10:00:00Z\n");
    await app.post(`/core/dbs/${db}/records.json`, {
      record: { data: { email: "ann@x.pl", age: 34, seen: "2026-01-31T10:00:00Z" } },
    });
    const rows = await app.sql`
      select idx_str_1, idx_int_1, idx_time_1, plan_version, rules_version, account_id from records
      where db_id = (select id from dbs where code = ${db})`;
    expect(rows[0]).toEqual(rows[1] as never);
    expect(rows[0]?.["idxInt1"]).toBe(34);
    const found = await app.get(`/core/dbs/${db}/search.json?filter[email]=ann@x.pl&sort=-age`);
    expect(found.json).toHaveLength(2);
  });

  test("takes an empty cell as absent, and a quoted empty one as an empty text", async () => {
    const db = await newDb();
    await send(db, csv, 'email,age,note,other\nb,,"",""\na,"",,\n');
    expect(await data(db)).toEqual([{ email: "b", note: "", other: "" }, { email: "a" }]);
  });

  const forms: [string, string, string][] = [
    ["semicolons, found by the header", "email;note\na;1,5\n", ""],
    ["tabs, found by the header", "email\tnote\na\t1,5\n", ""],
    ["the separator that is asked for", 'email;"note,x"\n', "?separator=%3B"],
    ["a byte order mark", "\ufeffemail,note\na,x\n", ""],
    ["spaces around the names", "email , note\na,x\n", ""],
    ["no line break at the end", "email,note\na,x", ""],
    ["blank lines", "\nemail,note\n\na,x\n\n", ""],
  ];
  for (const [what, body, query] of forms) {
    test(`takes ${what}`, async () => {
      const db = await newDb();
      const answer = await send(db, csv, body, query);
      expect(answer.status).toBe(201);
      const [first] = await data(db);
      if (first) expect(first["email"]).toBe("a");
      expect(Object.keys(first ?? {}).length).toBe(answer.json.imported * 2);
    });
  }

  test("without a schema stores texts, under any name", async () => {
    const db = await newDb(null);
    await send(db, csv, 'id,__proto__,constructor,"a ""b"""\n1,2,3,4\n');
    const [row] =
      await app.sql`select data::text as data from records where db_id = (select id from dbs where code = ${db})`;
    expect(JSON.parse(row?.["data"])).toEqual(
      JSON.parse('{"id":"1","__proto__":"2","constructor":"3","a \\"b\\"":"4"}'),
    );
  });

  const headers: [string, string][] = [
    ["there is none", ""],
    ["a name is missing", "email,,age\n"],
    ["a name stands twice", "email,age,email\n"],
    ["a quote is not closed", 'email,"age\nx\n'],
    ["there are too many columns", `${Array.from({ length: 1010 }, (_, at) => `c${at}`).join(",")}\n`],
  ];
  for (const [what, body] of headers) {
    test(`is refused where the header is wrong: ${what}`, async () => {
      const answer = await send(await newDb(), csv, body);
      expect(answer.status).toBe(422);
      expect(answer.json).toMatchObject({ errors: [{ row: 0, line: 1, field: null }], failed: 1, total: 0 });
    });
  }
});

describe("an import of JSON", () => {
  test("stores an array of data objects, or of records as the API shows them", async () => {
    const db = await newDb();
    const rows = [
      { email: "a", age: 1, more: { deep: [1, "x"] } },
      { data: { email: "b" }, table_name: null, id: "old", created_at: "2020-01-01" },
      { email: "c", data: 1 },
    ];
    const answer = await send(db, json, ` ${JSON.stringify(rows, null, 2)}\n`);
    expect([answer.status, answer.json]).toEqual([201, { imported: 3 }]);
    expect(await data(db)).toEqual([
      { email: "a", age: 1, more: { deep: [1, "x"] } },
      { email: "b" },
      { email: "c", data: 1 },
    ]);
  });

  test("stores one value a line", async () => {
    const db = await newDb();
    const answer = await send(db, `${ndjson}; charset=utf-8`, '{"email":"a"}\r\n\n{"data":{"email":"b"}}');
    expect([answer.status, answer.json]).toEqual([201, { imported: 2 }]);
    expect(await data(db)).toEqual([{ email: "a" }, { email: "b" }]);
  });

  test("keeps texts that look like structure", async () => {
    const db = await newDb();
    const rows = ["]", "},{", '\\"', '"', "\\", "\n", "[", "{"].map((note) => ({ email: "a", note }));
    expect((await send(db, json, JSON.stringify(rows))).json).toEqual({ imported: rows.length });
    expect(await data(db)).toEqual(rows);
  });

  test("of nothing stores nothing", async () => {
    const db = await newDb();
    for (const body of ["[]", " [ ] "]) expect((await send(db, json, body)).json).toEqual({ imported: 0 });
    expect((await send(db, ndjson, "\n\n")).json).toEqual({ imported: 0 });
  });

  const broken = [
    "",
    "{}",
    '{"email":"a"}',
    "[",
    '[{"email":"a"}',
    '[{"email":"a"},]',
    '[{"email":"a"}]x',
    '[{"email":"a"}}',
    "null",
    "x",
  ];
  for (const body of broken) {
    test(`is refused where the body is no array: ${body || "nothing"}`, async () => {
      const db = await newDb();
      const answer = await send(db, json, body, "?partial=true");
      expect(answer.status).toBe(422);
      expect(answer.json.errors[0]).toMatchObject({ field: null, message: expect.stringContaining("array") });
      expect(await data(db)).toEqual([]);
    });
  }

  const rows: [string, string, string | null, string][] = [
    ["no JSON", '{"email":', null, "not valid JSON"],
    ["no object", "[1]", null, "object"],
    ["a number", "1", null, "object"],
    ["null", "null", null, "object"],
    ["a wrong type", '{"email":5}', "email", "string"],
    ["a missing field", "{}", "email", "required"],
    ["a NUL", String.raw`{"email":"a\u0000"}`, "email", "cannot be stored"],
    ["half a character", String.raw`{"email":"\ud800"}`, "email", "cannot be stored"],
    ["too deep", `{"email":"a","x":${"[".repeat(200)}${"]".repeat(200)}}`, null, "nests"],
    ["infinity", '{"email":"a","score":1e999}', "score", "number"],
    ["a table that is none", '{"data":{"email":"a"},"table_name":5}', "table_name", "string"],
    ["an unknown table", '{"data":{"email":"a"},"table_name":"x"}', "table_name", "left out"],
  ];
  for (const [what, line, field, message] of rows) {
    test(`names the row that is wrong: ${what}`, async () => {
      const db = await newDb();
      const answer = await send(db, ndjson, `{"email":"ok"}\n${line}\n{"email":"ok"}\n`);
      expect(answer.status).toBe(422);
      expect(answer.json).toMatchObject({ failed: 1, total: 3, errors: [{ row: 2, line: 2, field }] });
      expect(answer.json.errors[0].message).toContain(message);
      expect(await data(db)).toEqual([]);
    });
  }
});

describe("an import with bad rows", () => {
  const body = `email,age\n${Array.from({ length: 150 }, (_, at) => `,${at}`).join("\n")}\nok@x.pl,1\nbad@x.pl,x\n`;

  test("stores nothing, tells of the first hundred and counts all", async () => {
    const db = await newDb();
    const answer = await send(db, csv, body);
    expect(answer.status).toBe(422);
    expect(answer.json.errors).toHaveLength(100);
    expect(answer.json.errors[0]).toEqual({ row: 1, line: 2, field: "email", message: "is required" });
    expect([answer.json.failed, answer.json.total]).toEqual([151, 152]);
    expect(await data(db)).toEqual([]);
    expect(await imports()).toBe(0);
  });

  test("stores the good ones where that is asked for", async () => {
    const db = await newDb();
    const answer = await send(db, csv, body, "?partial=true");
    expect([answer.status, answer.json.imported, answer.json.failed, answer.json.total]).toEqual([200, 1, 151, 152]);
    expect(answer.json.errors).toHaveLength(100);
    expect(await data(db)).toEqual([{ email: "ok@x.pl", age: 1 }]);
    const good = await send(db, csv, "email\na\n", "?partial=true");
    expect([good.status, good.json]).toEqual([201, { imported: 1, failed: 0, total: 1, errors: [] }]);
  });

  const rows: [string, string, string | null, string][] = [
    ["too few cells", "a", null, "1 cells where the header has 2"],
    ["too many cells", "a,1,2", null, "3 cells"],
    ["text after a quote", '"a"b,1', null, "closing quote"],
    ["a NUL", "a\0,1", "email", "cannot be stored"],
    ["no whole number", "a,1.5", "age", "whole number"],
    ["a number beyond 2^63", "a,9223372036854775808", "age", "2^63"],
    ["a value that is too large", `${"x".repeat(2_000_001)},1`, "data", "at most"],
  ];
  for (const [what, row, field, message] of rows) {
    test(`names the row that is wrong: ${what}`, async () => {
      const db = await newDb();
      const answer = await send(db, csv, `email,age\nok,1\n${row}\nok,2\n`);
      expect(answer.json).toMatchObject({ failed: 1, total: 3, errors: [{ row: 2, line: 3, field }] });
      expect(answer.json.errors[0].message).toContain(message);
    });
  }

  test("reads no further than a row that never ends", async () => {
    const db = await newDb();
    const answer = await send(db, csv, `email,age\nok,1\n"${"x".repeat(5_000_000)}`, "?partial=true");
    expect(answer.status).toBe(422);
    expect(answer.json).toMatchObject({
      failed: 1,
      total: 2,
      errors: [{ row: 2, message: expect.stringContaining("quote") }],
    });
    expect(await data(db)).toEqual([]);
  });
});

describe("an import into tables", () => {
  test("goes where the query says", async () => {
    const db = await newDb(tables);
    expect((await send(db, csv, "number\n1\n2\n", "?table_name=orders")).json).toEqual({ imported: 2 });
    expect((await send(db, csv, "number\nx\n", "?table_name=orders")).status).toBe(422);
    expect(await records(db)).toMatchObject([{ table_name: "orders", data: { number: 1 } }, { table_name: "orders" }]);
  });

  test("goes where each row says, to the null table where it says nothing", async () => {
    const db = await newDb(tables);
    const rows = [
      { data: { number: 1 }, table_name: "orders" },
      { data: { name: "a" }, table_name: "lines" },
      { x: 1 },
    ];
    expect((await send(db, json, JSON.stringify(rows))).json).toEqual({ imported: 3 });
    expect((await send(db, csv, "table_name,number,name\norders,2,\nlines,,b\n,,\n")).json).toEqual({ imported: 3 });
    const found = (await records(db)).map(({ table_name, data: { number, name } }) => [table_name, number ?? name]);
    expect(found).toEqual([
      ["orders", 1],
      ["lines", "a"],
      [null, undefined],
      ["orders", 2],
      ["lines", "b"],
      [null, undefined],
    ] as never);
  });

  test("names an unknown table, of the query or of a row", async () => {
    const db = await newDb(tables);
    const answer = await send(db, csv, "number\n1\n", "?table_name=nothing");
    expect([answer.status, Object.keys(answer.json)]).toEqual([422, ["table_name"]]);
    const bad = await send(db, csv, "table_name,number\nnothing,1\n");
    expect(bad.json.errors[0]).toMatchObject({ row: 1, field: "table_name" });
  });
});

describe("an import is refused", () => {
  test("as another type, encoding or separator", async () => {
    const db = await newDb();
    for (const type of ["text/plain", "application/xml", "multipart/form-data", "", "text/csv; charset=iso-8859-2"])
      expect([type, (await send(db, type, "email\na\n")).status]).toEqual([type, 415]);
    const zipped = await app.post(`/core/dbs/${db}/import`, undefined, {
      raw: "email\na\n",
      headers: { "content-type": csv, "content-encoding": "gzip" },
    });
    expect(zipped.status).toBe(415);
    expect((await send(db, csv, "email\na\n", "?separator=x")).status).toBe(400);
  });

  test("where it is not UTF-8", async () => {
    const db = await newDb();
    const answer = await send(db, csv, new Uint8Array([...new TextEncoder().encode("email\n"), 0xb1, 0x0a]));
    expect([answer.status, answer.json.error]).toEqual([400, "the body is not valid UTF-8"]);
    expect((await send(db, csv, new Uint8Array([0x61, 0xc5]))).status).toBe(400);
    expect(await data(db)).toEqual([]);
  });

  test("where it is too large, whether it says so beforehand or not", async () => {
    const db = await newDb();
    const row = `${"x".repeat(1_000_000)}@x.pl\n`;
    expect((await send(db, csv, `email\n${row.repeat(51)}`)).status).toBe(413);
    let rows = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (++rows > 80) controller.close();
        else controller.enqueue(new TextEncoder().encode(rows === 1 ? "email\n" : row));
      },
    });
    expect((await send(db, csv, endless)).status).toBe(413);
    expect(await data(db)).toEqual([]);
    expect(await imports()).toBe(0);
  });

  test("without the privilege, and of an unknown database", async () => {
    const guest = await person(app, { role: "guest" });
    const options = { token: guest.token, raw: "email\na\n", headers: { "content-type": csv } };
    expect((await app.post(`/core/dbs/${await newDb()}/import`, undefined, options)).status).toBe(403);
    expect((await send("nowhere", csv, "email\na\n")).status).toBe(404);
    expect((await send("nowhere", "text/plain", "")).status).toBe(404);
  });
});

describe("a client that goes away", () => {
  /** Sends the head and part of the body of an import. */
  async function begin(db: string, body: string) {
    const socket = connect(Number(new URL(app.origin).port), "127.0.0.1");
    socket.write(
      `POST /core/dbs/${db}/import HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${adminToken}\r\nContent-Type: text/csv\r\nContent-Length: 40000000\r\n\r\n${body}`,
    );
    return socket;
  }
  const rows = (count: number) =>
    `email,age\n${Array.from({ length: count }, (_, at) => `u${at}@x.pl,${at}`).join("\n")}\n`;

  test("leaves nothing, and holds no connection while it sends", async () => {
    const db = await newDb();
    const sockets = await Promise.all(Array.from({ length: 8 }, () => begin(db, rows(3000))));
    await eventually(async () => (await imports()) >= 16, "parts kept of all eight");
    // More imports than connections are running, and other requests are served.
    expect((await app.get(`/core/dbs/${db}/records.json`)).json).toEqual([]);
    const [open] = await app.sql`
      select count(*) as count from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`;
    expect(open?.["count"]).toBe(0);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => (await imports()) === 0, "the parts are gone");
    expect(await data(db)).toEqual([]);
  });

  test("while its rows are being stored leaves nothing either", async () => {
    const db = await newDb();
    const abort = new AbortController();
    await app.sql.begin(async (tx) => {
      await tx`lock table records in exclusive mode`;
      const sending = fetch(`${app.origin}/core/dbs/${db}/import`, {
        method: "POST",
        signal: abort.signal,
        headers: { authorization: `Bearer ${adminToken}`, "content-type": csv },
        body: rows(2500),
      }).catch(() => "gone");
      await eventually(async () => (await tx`select from pg_locks where not granted`).length > 0, "the import waits");
      abort.abort();
      expect(await sending).toBe("gone");
    });
    await eventually(async () => (await imports()) === 0, "the parts are gone");
    expect(await data(db)).toEqual([]);
    expect((await send(db, csv, "email\na\n")).status).toBe(201);
  });

  test("makes room for others: ten may import at once", async () => {
    const db = await newDb();
    const sockets = await Promise.all(Array.from({ length: 10 }, () => begin(db, rows(1000))));
    await eventually(async () => (await imports()) >= 10, "ten imports under way");
    const refused = await send(db, csv, "email\na\n");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "10"]);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => (await send(db, csv, "email\na\n")).status === 201, "an import is taken again");
  });

  test("loses its place to a new import when all are taken and it trickles", async () => {
    const db = await newDb();
    const sockets = await Promise.all(Array.from({ length: 10 }, () => begin(db, rows(1000))));
    const answers = sockets.map(() => "");
    for (const [at, socket] of sockets.entries()) socket.on("data", (piece) => (answers[at] += piece.toString()));
    await eventually(async () => (await imports()) >= 10, "ten imports under way");
    const before = await traces(app, "records");
    expect((await send(db, csv, "email\na\n")).status).toBe(429);
    expect(await traces(app, "records")).toEqual(before);
    const now = performance.now.bind(performance);
    const clock = spyOn(performance, "now").mockImplementation(() => now() + 25_000);
    try {
      expect((await send(db, csv, "email\na\n")).status).toBe(201);
      await eventually(() => answers.some((text) => text !== ""), "one of the ten is refused");
    } finally {
      clock.mockRestore();
    }
    const refused = answers.filter((text) => text !== "");
    expect(refused).toEqual([expect.stringMatching(/^HTTP\/1.1 408 [^]*while other imports wait/)]);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => (await imports()) === 0, "the parts are gone");
    expect(await data(db)).toEqual([{ email: "a" }]);
  });
});

describe("an import", () => {
  test("of 100,000 rows needs little memory, and is seen all at once", async () => {
    const db = await newDb({ fields: schema.fields, indexed_fields: ["age"] });
    const total = 100_000;
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent >= total) return controller.close();
        const head = sent === 0 ? "email,age,note\r\n" : "";
        const lines = Array.from(
          { length: 1000 },
          (_, at) => `user${sent + at}@example.com,${at},"a note, of some length"\r\n`,
        );
        sent += 1000;
        controller.enqueue(new TextEncoder().encode(head + lines.join("")));
      },
    });
    const heldNow = (): number => {
      Bun.gc(true); // what is garbage already says nothing
      return process.memoryUsage().rss;
    };
    const before = heldNow();
    let most = 0;
    const counts = new Set<number>();
    const done = new AbortController();
    const watching = (async () => {
      while (!done.signal.aborted) {
        most = Math.max(most, heldNow());
        const answer = await app.get(`/core/dbs/${db}/records.json?limit=1&count=true`);
        counts.add(Number(answer.headers.get("x-total-count")));
      }
    })();
    const answer = await send(db, csv, body);
    done.abort();
    await watching;
    expect(answer.json).toEqual({ imported: total });
    for (const count of counts) expect([0, total]).toContain(count);
    expect(most - before).toBeLessThan(200_000_000);
    const [row] =
      await app.sql`select count(*) as count, count(distinct id) as ids from records where db_id = (select id from dbs where code = ${db})`;
    expect(row).toEqual({ count: total, ids: total });
  });

  test("that ended with its process leaves parts, which are pruned", async () => {
    const store = createBulkStore(app.sql);
    for (const hours of [1, 3]) {
      const importId = crypto.randomUUID();
      await store.keep(importId, 1, 0, { tableName: "", body: "", wanted: false });
      await app.sql`update record_imports set at = now() - make_interval(hours => ${hours}) where import_id = ${importId}`;
    }
    await store.prune(2);
    expect(await imports()).toBe(1);
    await app.sql`delete from record_imports`;
  });

  test("keeps the order of the rows", async () => {
    const db = await newDb();
    await send(db, ndjson, Array.from({ length: 2500 }, (_, age) => `{"email":"x","age":${age}}`).join("\n"));
    const rows = await app.sql`
      select (data ->> 'age')::int as age from records where db_id = (select id from dbs where code = ${db}) order by id`;
    expect(rows.map((row) => row["age"])).toEqual(Array.from({ length: 2500 }, (_, at) => at));
  });

  test("is refused where the schema changes meanwhile, and taken where another thing does", async () => {
    for (const [change, status] of [
      [{ schema: { fields: { email: "integer" } } }, 409],
      [{ name: "Renamed" }, 201],
    ] as const) {
      const db = await newDb();
      let go: () => void = () => {};
      const gate = new Promise<void>((resolve) => (go = resolve));
      let pulls = 0;
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          if (++pulls === 1) return controller.enqueue(new TextEncoder().encode(`email\n${"x@x.pl\n".repeat(1500)}`));
          await gate;
          controller.close();
        },
      });
      const sending = send(db, csv, body);
      await eventually(async () => (await imports()) > 0, "the first part");
      expect((await app.patch(`/core/dbs/${db}.json`, { db: change })).status).toBe(200);
      go();
      expect((await sending).status).toBe(status);
    }
  });

  test("tells those who follow the events of records", async () => {
    const received: { email: string; db_code: string }[] = [];
    const server = createServer((request, response) => {
      let text = "";
      request.on("data", (chunk) => (text += chunk));
      request.on("end", () => {
        received.push(JSON.parse(text));
        response.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`;
    const webhook = { source_type: "Core::Record", kind: "create", target_kind: "url", url };
    const hook = await app.post("/account/webhooks.json", { webhook });
    expect(hook.status).toBe(201);
    const db = await newDb();
    await send(db, csv, "email\na\nb\n");
    await send(db, csv, "email\nc\n,\n");
    await eventually(() => received.length >= 2, "two deliveries");
    expect(received.map(({ email }) => email).toSorted()).toEqual(["a", "b"]);
    expect(received[0]?.db_code).toBe(db);
    await app.delete(`/account/webhooks/${hook.json.id}.json`);
    server.close();
  });
});

describe("an import with an Idempotency-Key", () => {
  const rows = "email,age\nann@x.pl,34\nbob@x.pl,51\n";
  const keyed = (db: string, body: BodyInit, key: string, query = "") =>
    app.post(`/core/dbs/${db}/import${query}`, undefined, {
      raw: body,
      headers: { "content-type": csv, "idempotency-key": key },
    });

  test("is done once, and answered with the first answer again", async () => {
    const db = await newDb();
    const first = await keyed(db, rows, "import-1");
    const again = await keyed(db, rows, "import-1");
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(await data(db)).toHaveLength(2);
    for (const [body, query] of [
      [rows.replace("34", "35"), ""],
      [rows.slice(0, -1), ""],
      ["", ""],
      [rows, "?partial=true"],
    ] as const)
      expect([body, query, (await keyed(db, body, "import-1", query)).status]).toEqual([body, query, 409]);
    const { token } = await person(app, { role: "admin" });
    const headers = { "content-type": csv, "idempotency-key": "import-1" };
    expect((await app.post(`/core/dbs/${db}/import`, undefined, { raw: rows, headers, token })).status).toBe(201);
    expect(await data(db)).toHaveLength(4);
  });

  test("may be mended and sent again where it was refused", async () => {
    const db = await newDb();
    expect((await keyed(db, rows.replace("34", "x"), "import-2")).status).toBe(422);
    expect((await keyed(db, rows, "import-2", "?separator=x")).status).toBe(400);
    expect((await keyed(db, rows, "import-2")).status).toBe(201);
    const bad = rows.replace("34", "x");
    const [part, again] = [
      await keyed(db, bad, "import-3", "?partial=true"),
      await keyed(db, bad, "import-3", "?partial=true"),
    ];
    expect([part.status, part.json.imported, again.text]).toEqual([200, 1, part.text]);
    expect(await data(db)).toHaveLength(3);
  });

  test("is 409 to a second one while the first is read, however long that takes", async () => {
    const db = await newDb();
    let go = () => {};
    const rest = new Promise<void>((resolve) => (go = resolve));
    const slow = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode(rows.slice(0, 20)));
        await rest;
        controller.enqueue(new TextEncoder().encode(rows.slice(20)));
        controller.close();
      },
    });
    const first = keyed(db, slow, "import-4");
    await eventually(async () => (await app.sql`select from idempotency_keys where key = 'import-4'`).length);
    await app.sql`update idempotency_keys set created_at = now() - interval '61 minutes' where key = 'import-4'`;
    const second = await keyed(db, rows, "import-4");
    expect([second.status, second.json.error]).toEqual([409, expect.stringContaining("still running")]);
    go();
    const { status, text } = await first;
    expect([status, (await keyed(db, rows, "import-4")).text]).toEqual([201, text]);
    expect(await data(db)).toHaveLength(2);
  });
});

describe("an import of hostile cells", () => {
  test("refuses what is too long for its type, in no more time than any other text", async () => {
    const db = await newDb({ fields: { n: "number", i: "integer", b: "boolean", d: "datetime" } });
    const digits = "1".repeat(100_000);
    const rows = [`${digits}x,,,`, `,${digits}x,,`, `,,${digits},`, `,,,2026-01-31 ${digits}`, `${digits},,,`];
    const answer = await send(db, csv, `n,i,b,d\n${rows.join("\n")}\n`);
    expect([answer.status, answer.json.failed]).toEqual([422, rows.length]);
    expect(answer.json.errors.map(({ row, field }: { row: number; field: string }) => `${row} ${field}`)).toEqual([
      "1 n",
      "2 i",
      "3 b",
      "4 d",
      "5 n",
    ]);
    expect(answer.text.length).toBeLessThan(2_000);
  });

  test.each([
    ["12", 12],
    ["12.", 12],
    ["12.5", 12.5],
    [".5", 0.5],
    ["-1e-3", -0.001],
    [" +7 ", 7],
    [`0.${"1".repeat(997)}`, Number(`0.${"1".repeat(997)}`)],
    ["1.2.3", "1.2.3"],
    ["e5", "e5"],
    [".", "."],
    [`0.${"1".repeat(999)}`, `0.${"1".repeat(999)}`],
  ])("reads what is a number and leaves what is none: case %#", (cell, value) => {
    const parsed = parseSchema({ fields: { n: "number" } });
    const table = "schema" in parsed ? parsed.schema.tables.get("") : undefined;
    expect(table && dataFromText(table, { n: cell })).toEqual({ n: value });
  });

  test("that come in one piece leave others their turn", async () => {
    const order: string[] = [];
    const texts = (async function* () {
      yield "x".repeat(1_000_000);
    })();
    setTimeout(() => order.push("another request"), 0);
    let length = 0;
    for await (const slice of inSlices(texts)) {
      for (const end = performance.now() + 15; performance.now() < end;);
      length += slice.length;
      order.push("rows");
    }
    expect(length).toBe(1_000_000);
    expect(order.indexOf("another request")).toBe(1);
  });
});
