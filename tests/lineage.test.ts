/** A copy is not the original: nothing acts on the outside from a database that was restored or copied. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { startMailReceiver } from "./fixtures/mail-receiver.ts";
import { adminPassword, adminToken, createDatabase, eventually, startTestApp } from "./harness.ts";
import { startReceiver } from "./receiver.ts";
import { cleanUp, folderWith, fromSource, run, startServer, type ServerProcess } from "./server-process.ts";

const cwd = folderWith();
const receiver = startReceiver();
const place = join(cwd, "kept");
const mails = await startMailReceiver();
const env = {
  SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
  MAIL_FROM: "core@example.com",
  BACKUP_DIR: place,
  BACKUP_VERIFY: "off",
  BACKUP_KEY: "a key of the tests with 32 characters or more",
  SECRET_KEY: "a secret key of the tests, 32 characters or more",
  CORE_ADMIN_TOKEN: adminToken,
  CORE_ADMIN_PASSWORD: adminPassword,
  OUTBOUND_ALLOW: "127.0.0.1",
};
const serve = (dataDir: string, words: string[] = [], more: Record<string, string> = {}) =>
  startServer([...fromSource, "serve", ...words], { cwd, env: { ...env, DATA_DIR: dataDir, ...more } });
const corestead = (dataDir: string, ...words: string[]) =>
  run([...fromSource, ...words], { cwd, env: { ...env, DATA_DIR: dataDir } });
const isRehearsal = async ({ request }: ServerProcess) => (await request("GET", "/ready")).json.rehearsal === true;
const makeDb = async ({ request }: ServerProcess, code: string) =>
  expect((await request("POST", "/core/dbs.json", { db: { name: code, code } })).status).toBe(201);
const delivered = (code: string) => receiver.requests.filter(({ body }) => body.includes(`"${code}"`)).length;
/** Waits for a webhook of the original: whatever the copy was to send would have been sent by then. */
const sentByOriginal = async (code: string) => {
  await makeDb(original, code);
  await eventually(() => delivered(code) > 0, "a delivery of the original");
};

async function studioOf({ origin }: ServerProcess): Promise<string> {
  const body = new URLSearchParams({ login: "admin", password: adminPassword });
  const signedIn = await fetch(`${origin}/login`, { method: "POST", body, headers: { origin }, redirect: "manual" });
  const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  return (await fetch(`${origin}/studio`, { headers: { cookie } })).text();
}

let original: ServerProcess;
let backup: string;
beforeAll(async () => {
  original = await serve("original", [], { BACKUP_WAL: "on" });
  const webhook = { source_type: "Core::Db", kind: "create", url: receiver.url };
  expect((await original.request("POST", "/account/webhooks.json", { webhook })).status).toBe(201);
  await eventually(async () => (await readdir(join(place, "wal")).catch(() => [])).length > 1, "an archive");
  const made = await corestead("original", "backup");
  backup = /corestead-\S+\.sealed/.exec(made.stdout)?.[0] ?? made.stderr;
});
afterAll(async () => {
  await cleanUp();
  mails.stop();
  await receiver.stop();
});

/** Its backups, without the pieces that the original adds meanwhile. */
const backups = async () => {
  const names = [...(await readdir(place)), ...(await readdir(join(place, "wal")))];
  return names.filter((name) => !/-[\dA-F]{16}-[\dA-F]{16}-/.test(name)).toSorted();
};

async function rehearses(copy: ServerProcess, dataDir: string, code: string) {
  expect(await isRehearsal(copy)).toBe(true);
  expect(copy.stdout()).toContain("(a rehearsal)");
  const before = await backups();
  await makeDb(copy, `${code}-in-copy`);
  const sent = await copy.request("POST", "/core/mail_server/test.json", { mail: { to: "somebody@example.com" } });
  expect([sent.status, JSON.stringify(sent.json)]).toEqual([422, expect.stringContaining("this is a rehearsal")]);
  const refused = await corestead(dataDir, "backup");
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("it runs no jobs, crons, backups")]);
  expect(mails.mails).toEqual([]);
  expect(await studioOf(copy)).toContain("data-rehearsal>");
  await sentByOriginal(`${code}-in-original`);
  expect(delivered(`${code}-in-copy`)).toBe(0);
  expect(await backups()).toEqual(before);
  expect(await copy.stop()).toBe(0);
}

describe("what runs as a rehearsal, beside its original and with its BACKUP_DIR", () => {
  const bothWays = /serve --adopt.*serve --rehearsal/;

  test("a restored backup, which the restore and each start say in one line", async () => {
    const restored = await corestead("restored", "restore", backup);
    expect([restored.code, restored.stdout]).toEqual([0, expect.stringContaining("corestead serve --adopt")]);
    const copy = await serve("restored", [], { BACKUP_WAL: "on" });
    await eventually(() => bothWays.test(copy.stderr()), "both ways");
    expect(copy.stderr()).toContain("this database was restored");
    await rehearses(copy, "restored", "restored");
  });

  test("a copied folder", async () => {
    expect(await original.stop()).toBe(0);
    // Node's own would not keep the owner.
    expect(await Bun.spawn(["cp", "-a", join(cwd, "original"), join(cwd, "copied")]).exited).toBe(0);
    original = await serve("original", [], { BACKUP_WAL: "on" });
    expect([await isRehearsal(original), original.stderr()]).toEqual([false, ""]);
    const copy = await serve("copied");
    const why = `is a copy of the one in ${join(cwd, "original")}`;
    await eventually(() => copy.stderr().includes(why), "why");
    await rehearses(copy, "copied", "copied");
  });

  test("a moment that was restored", async () => {
    // The original archived it when it stopped.
    const restored = await corestead("moment", "restore", "--at");
    expect([restored.stderr, restored.code]).toEqual(["", 0]);
    const copy = await serve("moment");
    await eventually(() => copy.stderr().includes("this database was restored"), "why");
    await rehearses(copy, "moment", "moment");
  });

  test("whatever is told to", async () => {
    const copy = await serve("fresh", ["--rehearsal"]);
    expect(await isRehearsal(copy)).toBe(true);
    await copy.stop();
  });
});

test("a restore that was killed is no installation, and one that is refused leaves what was there", async () => {
  const killing = { cwd, env: { ...env, DATA_DIR: "killed", CORESTEAD_FAILPOINT: "restoring:kill" } };
  expect((await run([...fromSource, "restore", backup], killing)).code).toBe(137);
  for (const words of [["serve"], ["backup", "x.backup"], ["serve", "--adopt"]]) {
    const refused = await corestead("killed", ...words);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("was begun and did not finish")]);
  }
  const restored = await corestead("killed", "restore", backup);
  expect([restored.code, restored.stdout]).toEqual([0, expect.stringContaining("is restored")]);
  const again = await corestead("killed", "restore", backup);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("the database is not empty")]);
  const { code } = await corestead("killed", "activity", "verify");
  expect(code).toBe(0);
});

test("what lists and reads makes no database", async () => {
  const listed = await corestead("none", "backups");
  expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining(backup)]);
  expect((await corestead("none", "backups", "verify", backup)).stdout).toEndWith(`${backup} could be restored\n`);
  for (const words of [
    ["backup"],
    ["backup", "x.backup"],
    ["activity", "verify"],
    ["adopt"],
    ["secret-key", "accept"],
  ]) {
    const refused = await corestead("none", ...words);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("there is no database in")]);
  }
  expect(existsSync(join(cwd, "none"))).toBe(false);
});

test("another installation's BACKUP_DIR is refused, and nothing in it removed", async () => {
  const before = await backups();
  const other = await serve("other");
  await eventually(() => other.stderr().includes("belongs to another installation"), "a line of the log");
  expect(await isRehearsal(other)).toBe(false);
  const refused = await corestead("other", "backup");
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("set another BACKUP_DIR, or take it")]);
  expect(await backups()).toEqual(before);
  await other.stop();
});

test("a moved folder is no copy", async () => {
  await rename(join(cwd, "other"), join(cwd, "moved"));
  const moved = await serve("moved", [], { BACKUP_DIR: "" });
  expect([await isRehearsal(moved), moved.stderr()]).toEqual([false, ""]);
  await moved.stop();
});

test("an adopted copy acts, owns BACKUP_DIR and removes only its own there; the original is refused", async () => {
  const before = await backups();
  const copy = await serve("restored", ["--adopt"], { BACKUP_KEEP: "1d" });
  expect([await isRehearsal(copy), copy.stderr()]).toEqual([false, ""]);
  await makeDb(copy, "adopted");
  await eventually(() => delivered("adopted") > 0, "a delivery of the copy");
  const made = await corestead("restored", "backup");
  expect([made.stderr, made.code]).toEqual(["", 0]);
  expect(await backups()).toEqual(expect.arrayContaining(before));
  const refused = await corestead("original", "backup");
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("belongs to another installation")]);
  expect(await copy.stop()).toBe(0);
  const again = await serve("restored");
  expect([await isRehearsal(again), again.stderr()]).toEqual([false, ""]);
  await again.stop();
});

test("a copied external database is a copy, and a second process on the same one is not", async () => {
  const first = await startTestApp();
  const ready = async () => (await first.get("/ready")).json.rehearsal;
  expect(await ready()).toBeUndefined();
  const second = await startTestApp({ target: first.target });
  expect((await second.get("/ready")).json.rehearsal).toBeUndefined();
  const [row] = await first.sql`select value from runtime_state where key = 'lineage'`;
  await Promise.all([second.stop(), first.stop()]);
  const target = await createDatabase();
  const migrated = await startTestApp({ target });
  await migrated.sql`update runtime_state set value = ${String(row?.["value"])} where key = 'lineage'`;
  await migrated.stop();
  const copy = await startTestApp({ target });
  expect((await copy.get("/ready")).json.rehearsal).toBe(true);
  expect(copy.logged.join("")).toContain("this database is a copy, so it runs no jobs");
  await copy.stop();
});
