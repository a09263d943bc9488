import { describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import { eventually } from "../../../tests/harness.ts";
import { createImportStore } from "./import-store.ts";
import { csv, importSchema, importServer, ndjson } from "./import-fixture.ts";

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
        const answer = await server.app.get(`/core/dbs/${db}/records.json?limit=1&count=true`);
        counts.add(Number(answer.headers.get("x-total-count")));
      }
    })();
    const answer = await send(db, csv, body);
    done.abort();
    await watching;
    expect(answer.json).toEqual({ imported: total });
    for (const count of counts) expect([0, total]).toContain(count);
    expect(most - before).toBeLessThan(200_000_000);
    const [row] = await server.app
      .sql`select count(*) as count, count(distinct id) as ids from records where db_id = (select id from dbs where code = ${db})`;
    expect(row).toEqual({ count: total, ids: total });
  });

  test("that ended with its process leaves parts, which are pruned", async () => {
    const store = createImportStore(server.app.sql);
    for (const hours of [1, 3]) {
      const importId = crypto.randomUUID();
      await store.keep({ importId, number: 0, tableName: "" }, 1, []);
      await server.app
        .sql`update record_imports set at = now() - make_interval(hours => ${hours}) where import_id = ${importId}`;
    }
    await store.prune(2);
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
    await send(db, csv, "email\na\nb\n");
    await send(db, csv, "email\nc\n,\n");
    await eventually(() => received.length >= 2, "two deliveries");
    expect(received.map(({ email }) => email).toSorted()).toEqual(["a", "b"]);
    expect(received[0]?.db_code).toBe(db);
    await server.app.delete(`/account/webhooks/${hook.json.id}.json`);
    receiver.close();
  });
});
