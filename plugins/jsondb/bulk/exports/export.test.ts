import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { connect } from "node:net";
import { adminToken, eventually, startTestApp, type TestApp } from "../../../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const schema = { fields: { email: "string", age: "integer", score: "number", active: "boolean", seen: "datetime" } };
const tables = {
  tables: { orders: { fields: { number: "integer", name: "string" } }, lines: { fields: { name: "string" } } },
};

let made = 0;
async function newDb(dbSchema: object | null = schema): Promise<string> {
  return (await app.post("/core/dbs.json", { db: { name: `Export ${++made}`, schema: dbSchema } })).json.code;
}

const types = { csv: "text/csv", json: "application/json", ndjson: "application/x-ndjson" };
type Format = keyof typeof types;

const exported = (db: string, format: Format | "", query = "") =>
  app.get(`/core/dbs/${db}/export?format=${format}${query}`);
const imported = (db: string, format: Format, raw: string) =>
  app.post(`/core/dbs/${db}/import`, undefined, { raw, headers: { "content-type": types[format] } });

async function fill(db: string, rows: readonly object[]): Promise<void> {
  for (let at = 0; at < rows.length; at += 1000) {
    const operations = rows
      .slice(at, at + 1000)
      .map((row) => ("data" in row ? { op: "create", ...row } : { op: "create", data: row }));
    expect((await app.post(`/core/dbs/${db}/batch.json`, { operations })).status).toBe(200);
  }
}

async function contents(db: string): Promise<{ data: object; table_name: string | null }[]> {
  const { text } = await exported(db, "ndjson");
  const rows = text.split("\n").filter((line) => line !== "");
  return rows.map((row) => JSON.parse(row)).map(({ data, table_name }) => ({ data, table_name }));
}

describe("an export", () => {
  test("gives the records that the filters of the list find, of one table or all, and refuses what the list refuses", async () => {
    const db = await newDb();
    await fill(db, [
      { email: "ann@a.pl", age: 30 },
      { email: "bob@b.pl", age: 40, note: "tall" },
      { email: "cyd@a.pl", age: 50 },
    ]);
    const emails = async (query: string) =>
      (await exported(db, "json", query)).json.map(({ data }: { data: { email: string } }) => data.email);
    expect(await emails("&filter[age][gte]=40")).toEqual(["bob@b.pl", "cyd@a.pl"]);
    expect(await emails("&q=@a.pl&filter[age]=30")).toEqual(["ann@a.pl"]);
    expect(await emails("&q=TALL")).toEqual(["bob@b.pl"]);
    expect(await emails("&any[0][age]=30&any[1][note]=tall")).toEqual(["ann@a.pl", "bob@b.pl"]);
    expect(await emails("&sort=nonsense&limit=1")).toHaveLength(3);
    const { text } = await exported(db, "csv", "&filter[email]=ann*");
    expect(text.split("\r\n").map((line) => line.split(",").slice(1, 3))).toEqual([
      ["email", "age"],
      ["ann@a.pl", "30"],
      [],
    ]);
    expect((await exported(db, "csv", "&filter[age][gt]=old")).status).toBe(400);

    const shop = await newDb(tables);
    await fill(shop, [
      { table_name: "orders", data: { number: 1, name: "A" } },
      { table_name: "lines", data: { name: "A" } },
      { table_name: "lines", data: { name: "B" } },
    ]);
    const found = async (query: string) => (await exported(shop, "json", query)).json.length;
    expect(await found("&filter[name]=A")).toBe(2);
    expect(await found("&filter[name]=A&table_name=lines")).toBe(1);
    expect((await exported(shop, "json", "&filter[name]=A&table_name=none")).status).toBe(400);
  });

  test("as CSV has the record's own columns, the fields of the schema in their order and then other keys", async () => {
    const db = await newDb();
    await fill(db, [
      {
        email: 'a "b", c',
        age: 34,
        score: 1.5,
        active: true,
        seen: "2026-01-31T10:00:00Z",
        zeta: { x: [1] },
        "al,pha": "ż",
      },
      { email: "", age: "9007199254740993", score: null, active: false },
    ]);
    const answer = await exported(db, "csv");
    const [head, first, second, ...more] = answer.text.split("\r\n");
    expect(head).toBe('id,email,age,score,active,seen,"al,pha",zeta,created_at,updated_at');
    const [{ id, created_at, updated_at }, other] = (await app.get(`/core/dbs/${db}/records.json?sort=id`)).json;
    expect(first).toBe(
      `${id},"a ""b"", c",34,1.5,true,2026-01-31T10:00:00Z,ż,"{""x"":[1]}",${created_at},${updated_at}`,
    );
    expect(second).toBe(`${other.id},"",9007199254740993,,false,,,,${other.created_at},${other.updated_at}`);
    expect(more).toEqual([""]);
  });

  test("keeps the order of the list, also where records are large", async () => {
    const db = await newDb();
    const rows = Array.from({ length: 300 }, (_, n) => ({
      email: `${(n * 7) % 300}`.padStart(3, "0"),
      age: n % 3,
      note: n % 50 === 7 ? Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString("hex") : "",
    }));
    await fill(db, rows);
    const emails = async (query: string) =>
      (await exported(db, "json", query)).json.map(({ data }: { data: { email: string } }) => data.email);
    const sorted = rows.map(({ email }) => email).toSorted();
    expect(await emails("&sort=email")).toEqual(sorted);
    expect(await emails("&sort=-email&filter[age]=1")).toEqual(
      rows
        .flatMap(({ email, age }) => (age === 1 ? [email] : []))
        .toSorted()
        .toReversed(),
    );
    expect(await emails("&sort=-id")).toEqual(rows.map(({ email }) => email).toReversed());
    expect(await emails("&sort=updated_at")).toEqual(rows.map(({ email }) => email));
    const { text } = await exported(db, "csv", "&sort=-email");
    expect(text.split("\r\n")[1]).toContain(",299,");
  });

  test("for a spreadsheet has the mark of UTF-8 and guards formulas, not telephone numbers", async () => {
    const db = await newDb({ fields: { phone: "string", text: "text" } });
    await fill(db, [
      { phone: "+49 30 123-45", text: "=1+1" },
      { phone: "-5,20", text: "-1+cmd|' /C calc'!A0" },
    ]);
    const { text } = await exported(db, "csv", "&spreadsheet=true");
    const headers = { authorization: `Bearer ${adminToken}` };
    const bytes = await fetch(`${app.origin}/core/dbs/${db}/export?format=csv&spreadsheet=true`, { headers }).then(
      async (answer) => answer.bytes(),
    );
    // The text of an answer is without its mark.
    expect([...bytes.subarray(0, 5)]).toEqual([0xef, 0xbb, 0xbf, 0x69, 0x64]);
    const cells = text
      .split("\r\n")
      .slice(1, 3)
      .map((line) => line.replace(/^[^,]*,(.*),.*,.*$/, "$1"));
    expect(cells).toEqual(["+49 30 123-45,'=1+1", `"-5,20","'-1+cmd|' /C calc'!A0"`]);
    expect((await exported(db, "json", "&spreadsheet=true")).text).toStartWith("[");
    const again = await newDb({ fields: { phone: "string", text: "text" } });
    expect((await imported(again, "csv", text)).json).toEqual({ imported: 2 });
  });

  test("says what it is, in the name of the database", async () => {
    const db = await newDb();
    for (const [format, type] of Object.entries(types)) {
      const { headers } = await exported(db, format as Format);
      expect(headers.get("content-type")).toStartWith(type);
      expect(headers.get("content-disposition")).toBe(`attachment; filename="${db}.${format}"`);
      expect(headers.get("cache-control")).toBe("private, no-store");
      const head = await app.request("HEAD", `/core/dbs/${db}/export?format=${format}`);
      expect([head.status, head.text]).toEqual([200, ""]);
    }
  });

  test("as JSON is an array of records as the API answers them, as NDJSON one of them a line", async () => {
    const db = await newDb(null);
    await fill(db, [{ a: 1, b: "x\ny" }, {}, { c: { d: null } }]);
    const records = (await app.get(`/core/dbs/${db}/records.json?sort=id`)).json;
    expect((await exported(db, "json")).json).toEqual(records);
    expect((await exported(db, "")).json).toEqual(records);
    const lines = (await exported(db, "ndjson")).text.split("\n");
    expect(lines.pop()).toBe("");
    expect(lines.map((line) => JSON.parse(line))).toEqual(records);
  });

  test("of an empty database is empty", async () => {
    const db = await newDb();
    expect((await exported(db, "csv")).text).toBe("id,email,age,score,active,seen,created_at,updated_at\r\n");
    expect((await exported(db, "json")).text).toBe("[]");
    expect((await exported(db, "ndjson")).text).toBe("");
  });

  test("of tables has their name, and all their fields or those of one", async () => {
    const db = await newDb(tables);
    await fill(db, [
      { data: { number: 1, name: "a" }, table_name: "orders" },
      { data: { name: "b", more: 1 }, table_name: "lines" },
      { data: { x: 1 }, table_name: null },
    ]);
    const columns = async (query: string) =>
      (await exported(db, "csv", query)).text.split("\r\n").map((line) => line.split(",").slice(1, -2).join());
    expect(await columns("")).toEqual(["table_name,number,name,more,x", "orders,1,a,,", "lines,,b,1,", ",,,,1", ""]);
    expect(await columns("&table_name=lines")).toEqual(["table_name,name,more", "lines,b,1", ""]);
    expect((await exported(db, "json", "&table_name=orders")).json).toHaveLength(1);
    expect((await exported(db, "json", "&table_name=nothing")).status).toBe(400);
  });

  test("leaves texts as they are, unless no formula is wanted", async () => {
    const db = await newDb({ fields: { a: "string", n: "number" } });
    await fill(db, [{ a: "=cmd()", n: -1 }, { a: "-1" }, { a: "'x" }]);
    const cells = async (query: string) =>
      (await exported(db, "csv", query)).text
        .split("\r\n")
        .slice(1, 4)
        .map((line) => line.split(",").slice(1, 3).join());
    expect(await cells("")).toEqual(["=cmd(),-1", "-1,", "'x,"]);
    expect(await cells("&spreadsheet=true")).toEqual(["'=cmd(),-1", "-1,", "'x,"]);
    expect(await cells("&safe=true")).toEqual(await cells("&spreadsheet=true"));
  });

  test("keeps fields that are named like a record's own columns apart", async () => {
    const db = await newDb(null);
    const rows = [{ id: "a", created_at: "b", "data.id": "c", "data.x": "d", table_name: "e" }];
    await fill(db, rows);
    const { text } = await exported(db, "csv");
    expect(text.split("\r\n")[0]).toBe(
      "id,data.created_at,data.data.id,data.x,data.id,data.table_name,created_at,updated_at",
    );
    const copy = await newDb(null);
    expect((await imported(copy, "csv", text)).json).toEqual({ imported: 1 });
    expect((await contents(copy)).map(({ data }) => data)).toEqual(rows);
  });

  test("is refused in another format, or with too many columns", async () => {
    const db = await newDb(null);
    expect((await exported(db, "xml" as Format)).status).toBe(400);
    expect((await exported("nowhere", "csv")).status).toBe(404);
    await fill(db, [
      Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`a${at}`, 1])),
      Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`b${at}`, 1])),
    ]);
    expect((await exported(db, "csv")).status).toBe(422);
    expect((await exported(db, "json")).status).toBe(200);
  });
});

describe("what was exported and is imported", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "Ż", ",", ";", '"', "\r", "\n", " ", "=", "\\", "😀", "\t"),
    maxLength: 8,
  });
  const number = fc.oneof(
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  );
  const typed = fc.record(
    {
      email: text,
      age: fc.oneof(fc.maxSafeInteger(), fc.constant("-9223372036854775808")),
      score: number,
      active: fc.boolean(),
      seen: fc.constantFrom("2026-01-31T10:00:00.123Z", "2024-02-29T23:59"),
      more: text,
      " odd, name ": text,
    },
    { requiredKeys: [] },
  );

  test("as CSV is the same data, where it fits the schema", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(typed, { maxLength: 30 }), async (rows) => {
        const db = await newDb();
        await fill(db, rows);
        const copy = await newDb();
        expect((await imported(copy, "csv", (await exported(db, "csv")).text)).json).toEqual({ imported: rows.length });
        expect(await contents(copy)).toEqual(await contents(db));
        expect((await contents(copy)).map(({ data }) => data)).toEqual(rows.map((row) => ({ ...row })));
      }),
      { numRuns: 15 },
    );
  });

  test("as JSON and NDJSON is the same, whatever it is", async () => {
    const value = fc
      .jsonValue({ maxDepth: 3 })
      .filter((one) => !/\\u0000|\\ud[89a-f]/i.test(JSON.stringify(one)) && !JSON.stringify(one).includes("-0"));
    const row = fc.dictionary(text, value, { maxKeys: 4 });
    const table = fc.constantFrom("orders", "lines", null);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(row, table), { maxLength: 20 }),
        fc.constantFrom("json", "ndjson"),
        async (rows, format) => {
          const db = await newDb({ tables: { orders: { fields: {} }, lines: { fields: {} } } });
          await fill(
            db,
            rows.map(([data, table_name]) => ({ data, table_name })),
          );
          const copy = await newDb({ tables: { orders: { fields: {} }, lines: { fields: {} } } });
          expect((await imported(copy, format, (await exported(db, format)).text)).json).toEqual({
            imported: rows.length,
          });
          expect(await contents(copy)).toEqual(await contents(db));
          expect(await contents(db)).toEqual(
            rows.map(([data, table_name]) => ({ data: JSON.parse(JSON.stringify(data)), table_name })),
          );
        },
      ),
      { numRuns: 15 },
    );
  });
});

describe("a long export", () => {
  let db: string;
  const total = 30_000;
  beforeAll(async () => {
    db = await newDb();
    const rows = Array.from({ length: total }, (_, age) =>
      JSON.stringify({ age, email: `user${age}@example.com`, note: "x".repeat(4000) }),
    );
    expect((await imported(db, "ndjson", rows.join("\n"))).status).toBe(201);
  });

  test("holds all records, in the order of their ids, in little memory", async () => {
    const heldNow = (): number => {
      Bun.gc(true); // what is garbage already says nothing
      return process.memoryUsage().rss;
    };
    const before = heldNow();
    let most = 0;
    let sampled = 0;
    const response = await fetch(`${app.origin}/core/dbs/${db}/export?format=csv`, {
      headers: { authorization: `Bearer ${adminToken}` },
    });
    let expected = -1;
    let rest = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      if (expected >= sampled) {
        most = Math.max(most, heldNow());
        sampled += total / 10;
      }
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\r\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (expected >= 0 && Number(line.split(",")[2]) !== expected) throw new Error(`not ${expected}: ${line}`);
        expected += 1;
      }
    }
    expect(expected).toBe(total);
    expect(most).toBeGreaterThan(0);
    expect(most - before).toBeLessThan(80_000_000);
  });

  test("goes on while records come and go, and holds no transaction between its pages", async () => {
    const response = await fetch(`${app.origin}/core/dbs/${db}/export?format=ndjson`, {
      headers: { authorization: `Bearer ${adminToken}` },
    });
    const reader = response.body?.getReader();
    await reader?.read();
    const [open] = await app.sql`
      select count(*) as count from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`;
    expect(open?.["count"]).toBe(0);
    await app.post(`/core/dbs/${db}/records.json`, { record: { data: { email: "new" } } });
    let text = "";
    const decoder = new TextDecoder();
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read())
      text += decoder.decode(next.value, { stream: true });
    expect(text.trimEnd().split("\n").at(-1)).toContain('"email": "new"');
  });

  test("ends when the client goes away", async () => {
    const socket = connect(Number(new URL(app.origin).port), "127.0.0.1");
    socket.write(
      `GET /core/dbs/${db}/export?format=csv HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${adminToken}\r\n\r\n`,
    );
    await new Promise((resolve) => socket.once("data", resolve));
    socket.destroy();
    await eventually(async () => {
      const [row] =
        await app.sql`select count(*) as count from pg_stat_activity where datname = current_database() and state = 'active'`;
      return row?.["count"] === 1;
    }, "nothing else runs");
    expect((await app.get(`/core/dbs/${db}.json`)).status).toBe(200);
  });

  test("breaks off where it fails, so that nobody takes it for whole", async () => {
    const victim = await startTestApp({ target: app.target });
    const response = await fetch(`${victim.origin}/core/dbs/${db}/export?format=json`, {
      headers: { authorization: `Bearer ${adminToken}` },
    });
    const reader = response.body?.getReader();
    await reader?.read();
    await victim.sql.end({ timeout: 0 });
    const read = async () => {
      for (let next = await reader?.read(); next && !next.done; next = await reader?.read());
    };
    expect(read()).rejects.toThrow();
    await victim.stop();
  });
});
