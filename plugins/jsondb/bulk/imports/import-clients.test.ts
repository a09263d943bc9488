import { describe, expect, spyOn, test } from "bun:test";
import { adminToken, eventually } from "../../../../tests/harness.ts";
import { traces } from "../../../../tests/traces.ts";
import { csv, importServer } from "../../../../tests/fixtures/import.ts";

const server = importServer();
const { begin, data, imports, newDb, send } = server;

describe("a client that goes away", () => {
  const rows = (count: number) =>
    `email,age\n${Array.from({ length: count }, (_, at) => `u${at}@x.pl,${at}`).join("\n")}\n`;

  test("leaves nothing, and holds no connection while it sends", async () => {
    const db = await newDb();
    const sockets = Array.from({ length: 8 }, () => begin(db, rows(3000)));
    await eventually(async () => (await imports()) >= 16, "parts kept of all eight");
    // More imports than connections are running, and other requests are served.
    expect((await server.app.get(`/core/dbs/${db}/records.json`)).json).toEqual([]);
    await eventually(async () => {
      const open = await server.app.sql`
        select from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`;
      return open.length === 0;
    }, "no transaction is held while they send");
    for (const socket of sockets) socket.destroy();
    await eventually(async () => (await imports()) === 0, "the parts are gone");
    expect(await data(db)).toEqual([]);
  });

  test("while its rows are being stored leaves nothing either", async () => {
    const db = await newDb();
    const abort = new AbortController();
    await server.app.sql.begin(async (tx) => {
      await tx`lock table records in exclusive mode`;
      const sending = fetch(`${server.app.origin}/core/dbs/${db}/import`, {
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
    const sockets = Array.from({ length: 10 }, () => begin(db, rows(1000)));
    await eventually(async () => (await imports()) >= 10, "ten imports under way");
    const refused = await send(db, csv, "email\na\n");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "10"]);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => (await send(db, csv, "email\na\n")).status === 201, "an import is taken again");
  });

  test("loses its place to a new import when all are taken and it trickles", async () => {
    const db = await newDb();
    const sockets = Array.from({ length: 10 }, () => begin(db, rows(1000)));
    const answers = sockets.map(() => "");
    for (const [at, socket] of sockets.entries()) socket.on("data", (piece) => (answers[at] += piece.toString()));
    await eventually(async () => (await imports()) >= 10, "ten imports under way");
    const before = await traces(server.app, "records");
    expect((await send(db, csv, "email\na\n")).status).toBe(429);
    expect(await traces(server.app, "records")).toEqual(before);
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
