import { describe, expect, test } from "bun:test";
import { eventually, person } from "../../../../tests/harness.ts";
import { csv, importServer } from "../../../../tests/fixtures/import.ts";

const server = importServer();
const { data, newDb } = server;

describe("an import with an Idempotency-Key", () => {
  const rows = "email,age\nann@x.pl,34\nbob@x.pl,51\n";
  const keyed = (db: string, body: BodyInit, key: string, query = "") =>
    server.app.post(`/core/dbs/${db}/import${query}`, undefined, {
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
    const { token } = await person(server.app, { role: "admin" });
    const headers = { "content-type": csv, "idempotency-key": "import-1" };
    expect((await server.app.post(`/core/dbs/${db}/import`, undefined, { raw: rows, headers, token })).status).toBe(
      201,
    );
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
    await eventually(async () => (await server.app.sql`select from idempotency_keys where key = 'import-4'`).length);
    await server.app.sql`update idempotency_keys set created_at = now() - interval '61 minutes' where key = 'import-4'`;
    const second = await keyed(db, rows, "import-4");
    expect([second.status, second.json.error]).toEqual([409, expect.stringContaining("still running")]);
    go();
    const { status, text } = await first;
    expect([status, (await keyed(db, rows, "import-4")).text]).toEqual([201, text]);
    expect(await data(db)).toHaveLength(2);
  });
});
