import { describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import { eventually } from "../../../../tests/harness.ts";
import * as importStore from "./store.ts";
import { csv, importSchema, importServer, ndjson } from "../../../../tests/fixtures/import.ts";

const server = importServer();
const { imports, newDb, send } = server;

describe("an import", () => {
  test("of 100,000 rows needs little memory, and is seen all at once", async () => {
    const db = await newDb({ fields: importSchema.fields, indexed_fields: ["age"] });
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
    // What is garbage already says nothing, nor do the pages that the process has not given back.
    const heldNow = (): number => {
      Bun.gc(true);
      return process.memoryUsage().heapUsed;
    };
    const before = heldNow();
    let most = 0;
    const counts = new Set<number>();
    const done = new AbortController();
    const watching = (async () => {
      while (!done.signal.aborted) {
        const began = performance.now();
        most = Math.max(most, heldNow());
        const answer = await server.app.get(`/core/dbs/${db}/records.json?limit=1&count=true`);
        counts.add(Number(answer.headers.get("x-total-count")));
        // Collecting garbage takes the import's processor: at most a fifth of the time.
        await Bun.sleep(50 + 4 * (performance.now() - began));
      }
    })();
    const answer = await send(db, csv, body);
    done.abort();
    await watching;
    expect(answer.json).toEqual({ imported: total });
    for (const count of counts) expect([0, total]).toContain(count);
    // All rows together are 50 MB.
    expect(most - before).toBeLessThan(30_000_000);
    const [row] = await server.app
      .sql`select count(*) as count, count(distinct id) as ids from records where db_id = (select id from dbs where code = ${db})`;
    expect(row).toEqual({ count: total, ids: total });
  });

  test("that ended with its process leaves parts, which are pruned", async () => {
    for (const hours of [1, 3]) {
      const importId = crypto.randomUUID();
      await importStore.keep(server.app.sql, { importId, number: 0, tableName: "" }, 1, []);
      await server.app
        .sql`update record_imports set at = now() - make_interval(hours => ${hours}) where import_id = ${importId}`;
    }
    await importStore.prune(server.app.sql, 2);
    expect(await imports()).toBe(1);
    await server.app.sql`delete from record_imports`;
  });

  test("keeps the order of the rows", async () => {
    const db = await newDb();
    await send(db, ndjson, Array.from({ length: 2500 }, (_, age) => `{"email":"x","age":${age}}`).join("\n"));
    const rows = await server.app.sql`
      select (data ->> 'age')::int as age from records where db_id = (select id from dbs where code = ${db}) order by id`;
    expect(rows.map((row) => row["age"])).toEqual(Array.from({ length: 2500 }, (_, at) => at));
  });

  test("fills the index columns as any other write does, those of every table too", async () => {
    const fields = { a: "string", b: "text", c: "string", i: "integer", n: "number", d: "datetime", t: "time" };
    const table = { fields, indexed_fields: Object.keys(fields) };
    const one = { fields: { n: "number", a: "string" }, indexed_fields: ["n"] };
    const db = await newDb({ tables: { all: table, one } });
    const rows: readonly Record<string, unknown>[] = [
      {},
      { a: "", b: null, c: 'a "quoted" \\ {text}, null' },
      { a: "null", b: "two\nlines\t\u0001\u0002", c: "ż😀".repeat(200) },
      { i: -7, n: -7.5, d: "2026-01-31T10:00:00.5+02:00", t: "10:00" },
      { i: "9223372036854775807", n: 1e300, d: "2026-01-31T10:00", t: "23:59:59" },
      ...Array.from({ length: 1200 }, (_, n) => ({ a: `Row ${n}`, n: n / 4 })),
    ];
    const lines = rows.flatMap((data) => [
      JSON.stringify({ data, table_name: "all" }),
      JSON.stringify({ data: { n: data["n"] ?? 0.5, a: "x" }, table_name: "one" }),
    ]);
    expect((await send(db, ndjson, lines.join("\n"))).status).toBe(201);
    const columns = "str_1, str_2, str_3, int_1, int_2, time_1, time_2".split(", ");
    const stored = await server.app.sql.unsafe<Record<string, unknown>[]>(
      `select r.table_name, count(*)::int as records, count(*) filter (where
          (${columns.map((name) => `r.idx_${name}`).join(", ")}, r.long_strings, r.inexact_numbers) is distinct from
          (${columns.map((name) => `x.${name}`).join(", ")}, x.long_strings, x.inexact_numbers))::int as other,
        count(*) filter (where r.long_strings > 0)::int as long, min(r.plan_version) as plan
      from records r, record_index(r.data, case r.table_name when 'all' then array['a', 'b', 'c', 'i', 'n', 'd', 't']
        else array[null, null, null, 'n', null, null, null] end) x
      where r.db_id = (select id from dbs where code = $1) group by 1 order by 1`,
      [db],
    );
    const records = rows.length;
    expect([...stored]).toEqual([
      { tableName: "all", records, other: 0, long: 1, plan: 1 },
      { tableName: "one", records, other: 0, long: 0, plan: 1 },
    ]);
    const texts = await server.app.sql`
      select data ->> 'b' as b from records
      where db_id = (select id from dbs where code = ${db}) and idx_str_1 = 'null'`;
    expect(texts.map((row) => row["b"])).toEqual(["two\nlines\t\u0001\u0002"]);
    expect(await imports()).toBe(0);
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
      expect((await server.app.patch(`/core/dbs/${db}.json`, { db: change })).status).toBe(200);
      go();
      expect((await sending).status).toBe(status);
    }
  });

  test("tells those who follow the events of records", async () => {
    const received: { email: string; db_code: string }[] = [];
    const receiver = createServer((request, response) => {
      let text = "";
      request.on("data", (chunk) => (text += chunk));
      request.on("end", () => {
        received.push(JSON.parse(text));
        response.end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const address = receiver.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`;
    const webhook = { source_type: "Core::Record", kind: "create", target_kind: "url", url };
    const hook = await server.app.post("/account/webhooks.json", { webhook });
    expect(hook.status).toBe(201);
    const db = await newDb();
    expect((await send(db, csv, "email\nc\nd,e\n")).status).toBe(422);
    expect((await send(db, csv, "email\na\nb\n")).status).toBe(201);
    await eventually(() => received.length >= 2, "two deliveries");
    expect(received.map(({ email }) => email).toSorted()).toEqual(["a", "b"]);
    expect(received[0]?.db_code).toBe(db);
    await server.app.delete(`/account/webhooks/${hook.json.id}.json`);
    receiver.close();
  });
});
