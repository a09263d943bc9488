import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { runningPostgres } from "../runtime/operations/postgres/running-postgres.ts";
import { adminToken, eventually } from "./harness.ts";
import { cleanUp, folderWith, fromSource, startServer, type ServerProcess } from "./server-process.ts";

afterAll(cleanUp);

function start(dataDir: string): Promise<ServerProcess> {
  const env = { DATA_DIR: dataDir, CORE_ADMIN_TOKEN: adminToken, LOG_LEVEL: "error" };
  return startServer(fromSource, { cwd: dataDir, env });
}

const db = { name: "Faults", code: "faults", schema: { fields: { n: "integer" }, indexed_fields: ["n"] } };

/** Writes records, ten at once, until the server is gone; returns the acknowledged numbers. */
async function writeUntilGone(server: ServerProcess, from: number, acknowledged: Set<number>): Promise<void> {
  let n = from;
  let gone = false;
  const writer = async () => {
    while (!gone) {
      const mine = n++;
      const answer = await server
        .request("POST", "/core/dbs/faults/records.json", { record: { data: { n: mine } } })
        .catch(() => undefined);
      if (!answer) gone = true;
      else if (answer.status === 201) acknowledged.add(mine);
    }
  };
  await Promise.all(Array.from({ length: 10 }, writer));
}

async function storedNumbers(server: ServerProcess): Promise<Set<number>> {
  const stored = new Set<number>();
  let after = "";
  for (;;) {
    const page = await server.request("GET", `/core/dbs/faults/records.json?limit=100${after}`);
    expect(page.status).toBe(200);
    for (const record of page.json) stored.add(record.data.n);
    const cursor = page.headers.get("x-next-cursor");
    if (!cursor) return stored;
    after = `&after=${encodeURIComponent(cursor)}`;
  }
}

describe("kill -9 of the server under write load", () => {
  test("loses no acknowledged write, five times over", async () => {
    const dataDir = folderWith();
    const acknowledged = new Set<number>();
    let server = await start(dataDir);
    expect((await server.request("POST", "/core/dbs.json", { db })).status).toBe(201);
    for (let round = 0; round < 5; round++) {
      const before = acknowledged.size;
      const writing = writeUntilGone(server, round * 1_000_000, acknowledged);
      await eventually(() => acknowledged.size > before + 100, "a hundred writes");
      server.kill("SIGKILL");
      await writing;
      await server.exited;
      server = await start(dataDir);
      const stored = await storedNumbers(server);
      expect([...acknowledged].filter((n) => !stored.has(n))).toEqual([]);
    }
    expect(acknowledged.size).toBeGreaterThan(500);
  });
});

describe("a PostgreSQL that is killed under load", () => {
  test("costs nothing but 503 with Retry-After, and service resumes by itself", async () => {
    const dataDir = folderWith();
    const server = await start(dataDir);
    expect((await server.request("POST", "/core/dbs.json", { db })).status).toBe(201);
    const acknowledged = new Set<number>();
    const others: string[] = [];
    let unavailable = 0;
    let n = 0;
    const load = new AbortController();
    const writer = async () => {
      while (!load.signal.aborted) {
        const mine = n++;
        const answer = await server.request("POST", "/core/dbs/faults/records.json", { record: { data: { n: mine } } });
        if (answer.status === 201) acknowledged.add(mine);
        else if (answer.status === 503 && answer.headers.get("retry-after")) unavailable++;
        else others.push(`${answer.status} ${answer.text}`);
      }
    };
    const writing = Promise.all(Array.from({ length: 10 }, writer));
    for (let round = 0; round < 3; round++) {
      const before = acknowledged.size;
      await eventually(() => acknowledged.size > before + 50, "service");
      const seen = unavailable;
      await killPostgres(dataDir);
      await eventually(() => unavailable > seen, "an answer 503");
      expect((await server.request("GET", "/health")).status).toBe(200);
    }
    const before = acknowledged.size;
    await eventually(() => acknowledged.size > before + 50, "service after the last kill");
    load.abort();
    await writing;
    expect(others).toEqual([]);
    const stored = await storedNumbers(server);
    expect([...acknowledged].filter((number) => !stored.has(number))).toEqual([]);
  });
});

async function killPostgres(dataDir: string): Promise<void> {
  const running = await eventually(() => runningPostgres(dataDir), "PostgreSQL");
  expect(running).toBeDefined();
  const pid = Number((await Bun.file(join(dataDir, "postgres", "postmaster.pid")).text()).split("\n")[0]);
  process.kill(pid, "SIGKILL");
}
