/** BACKUP_WAL and `restore --at`, as an administrator uses them: a server with its own PostgreSQL. */
import { afterAll, expect, test } from "bun:test";
import { cp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { adminToken, databaseSettings, eventually } from "./harness.ts";
import { cleanUp, folderWith, fromSource, run, startServer, type ServerProcess } from "./server-process.ts";

afterAll(cleanUp);

const cwd = folderWith();
const env = {
  DATA_DIR: join(cwd, "data"),
  BACKUP_DIR: join(cwd, "kept"),
  BACKUP_KEY: "a key of the tests with 32 characters or more",
  CORE_ADMIN_TOKEN: adminToken,
};
const archiving = { ...env, BACKUP_WAL: "on" };
const serve = (more: Record<string, string> = {}) =>
  startServer([...fromSource, "serve"], { cwd, env: { ...archiving, ...more } });
const corestead = (words: string[], more: Record<string, string> = {}) =>
  run([...fromSource, ...words], { cwd, env: { ...env, ...more } });

const add = async ({ request }: ServerProcess, code: string) => {
  const prompt = { name: code, code, content: "what must not be lost" };
  const { status, json } = await request("POST", "/core/prompts.json", { prompt });
  expect(status).toBe(201);
  return json.id;
};
const codes = async ({ request }: ServerProcess): Promise<string[]> =>
  (await request("GET", "/core/prompts.json")).json.map(({ code }: { code: string }) => code).toSorted();

test("a server is brought back as it was before something was destroyed, though it was killed meanwhile", async () => {
  const first = await serve();
  const base = await eventually(async () => {
    const all = (await first.request("GET", "/core/backups.json")).json;
    return all.find(({ kind, state }: { kind: string; state: string }) => kind === "base" && state === "good");
  }, "a base backup");
  expect(base).toMatchObject({ verified: true, error: null, file: expect.stringMatching(/-base-.*\.wal\.sealed$/) });
  const kept = await add(first, "kept");
  first.kill("SIGKILL");
  await first.exited;

  const second = await serve();
  await add(second, "after-the-crash");
  const moment = new Date().toISOString();
  await add(second, "later");
  expect((await second.request("DELETE", `/core/prompts/${kept}.json`)).status).toBe(204);
  const { text } = await second.request("GET", "/metrics");
  const archived = /^corestead_wal_archived_timestamp_seconds (\S+)$/m.exec(text)?.[1];
  expect(Number(archived)).toBeGreaterThan(Date.parse(base.started_at) / 1000 - 60);
  expect(text).toMatch(/^corestead_wal_waiting_bytes \d/m);
  const { stdout: doctor } = await corestead(["doctor"], { BACKUP_WAL: "on" });
  expect(doctor).toMatch(/ok +backup +changes are archived up to 20\S+Z\n/);
  // What was changed last is archived before it ends.
  expect(await second.stop()).toBe(0);

  const elsewhere = { DATA_DIR: join(cwd, "elsewhere") };
  const wrong = await corestead(["restore", "--at", "2026-01-31 12:30"], elsewhere);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("--at takes a time with its offset")]);
  const killed = await corestead(["restore", "--at", moment], {
    ...elsewhere,
    CORESTEAD_FAILPOINT: "recovered:kill",
  });
  expect([killed.code, await readdir(elsewhere.DATA_DIR)]).toEqual([137, expect.not.arrayContaining(["postgres"])]);
  const notRestored = await corestead(["serve"], elsewhere);
  expect([notRestored.code, notRestored.stderr]).toEqual([1, expect.stringContaining("did not finish")]);
  const restored = await corestead(["restore", "--at", moment], elsewhere);
  expect([restored.stderr, restored.code]).toEqual(["", 0]);
  expect(restored.stdout).toContain(
    `the database is restored in ${elsewhere.DATA_DIR}: the last change in it is of 20`,
  );
  const again = await corestead(["restore", "--at"], elsewhere);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("there is a database in")]);
  await cp(join(env.DATA_DIR, "secret.key"), join(elsewhere.DATA_DIR, "secret.key"));
  // Without archiving: it begins no chain among those of the other.
  const third = await serve({ ...elsewhere, BACKUP_WAL: "off" });
  expect(await codes(third)).toEqual(["after-the-crash", "kept"]);
  expect(await third.stop()).toBe(0);

  const listed = await corestead(["backups"]);
  expect(listed.stdout).toMatch(/any moment: 20\S+Z to 20\S+Z \(corestead restore --at TIME\)\n$/);
  // Turned off, the server starts without the slot.
  const off = await serve({ BACKUP_WAL: "off" });
  expect(await codes(off)).toEqual(["after-the-crash", "later"]);
  expect(await off.stop()).toBe(0);
});

test("with DATABASE_URL or without BACKUP_DIR it is refused, and why is said", async () => {
  const database = await databaseSettings();
  const served = await corestead(["serve"], { ...database, BACKUP_WAL: "on" });
  expect([served.code, served.stderr]).toEqual([1, expect.stringContaining("pg_basebackup and archive_command")]);
  const restored = await corestead(["restore", "--at"], database);
  expect([restored.code, restored.stderr]).toEqual([1, expect.stringContaining("--at is for the embedded PostgreSQL")]);
  const nowhere = await corestead(["serve"], { BACKUP_DIR: "", BACKUP_WAL: "on" });
  expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining("BACKUP_WAL=on needs BACKUP_DIR")]);
});
