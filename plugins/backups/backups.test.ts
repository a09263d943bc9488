import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDatabase, eventually, otherAccount, startTestApp, type TestApp } from "../../tests/harness.ts";
import { cleanUp, fromSource, run } from "../../tests/server-process.ts";
import { startReceiver } from "../../tests/receiver.ts";
import { startProxy, type Proxy } from "../../tests/standby.ts";
import { backupsInBucket, backupsInFolder, type BackupStore } from "../../runtime/operations/backups/backup-store.ts";
import { parseAllow } from "../../runtime/net/addresses.ts";
import { fetchOutside } from "../../runtime/outbound/outbound.ts";
import type { BackupSource } from "../../runtime/operations/dump/backup-file.ts";
import { bucketAt } from "../../runtime/operations/s3/s3.ts";
import { faultXml, s3Credentials, startS3 } from "../../tests/fixtures/s3.ts";
import { makeBackup, type BackupContext } from "../../runtime/operations/backups/backups.ts";
import { readConfig } from "../../runtime/settings/config.ts";
import { openPool, type DatabaseTarget } from "../../runtime/db/db.ts";
import { createLog } from "../../runtime/system/log.ts";
import { backupMigrations, restore } from "../../runtime/operations/dump/backup.ts";
import { openFiles } from "../../runtime/operations/s3/open-files.ts";
import { migrate } from "../../runtime/db/migrate.ts";
import { migrationSets } from "../../runtime/db/runtime-migrations.ts";
import { definePlugin, job, type BaseContext } from "../../runtime/sdk.ts";
import { startMailReceiver, type MailReceiver } from "../../tests/fixtures/mail-receiver.ts";
import { plugins } from "../index.ts";

const key = "a key of the tests with 32 characters or more";
const sets = migrationSets(plugins);
const silent = createLog("error", () => {});
const lineage = { id: "0123abcd", isFirst: true, home: null };
const name = "corestead-20260301T033000Z-0123abcd.backup.sealed";
const backups = "/core/backups.json";
let folder: string;
let app: TestApp;
let proxy: Proxy;
let receiver: MailReceiver;
const alarms = startReceiver();
let enqueue: BaseContext["enqueue"];
const clockwork = definePlugin({
  name: "clockwork",
  setup(ctx) {
    enqueue = ctx.enqueue;
    return {};
  },
});
/** What the schedule does when its time comes. */
const fire = () => enqueue(job<{ dueAt: string }>("schedule:runtime.backup"), { dueAt: new Date().toISOString() });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "corestead-backups-"));
  receiver = await startMailReceiver();
  const env = {
    BACKUP_DIR: join(folder, "scheduled"),
    BACKUP_KEY: key,
    SMTP_URL: `smtp://127.0.0.1:${receiver.port}`,
    MAIL_FROM: "core@example.com",
  };
  app = await startTestApp({ plugin: clockwork, env });
  if ("url" in app.target) throw new Error("tests run on the embedded PostgreSQL");
  proxy = await startProxy(`${app.target.socketDir}/.s.PGSQL.${app.target.port}`);
  await app.post("/core/dbs.json", { db: { name: "Orders", code: "orders" } });
  await app.post("/core/dbs/orders/records.json", { record: { data: { order: JSON.rawJSON(digits) } } });
  await app.post("/core/prompts.json", { prompt: { name: "Kept", code: "kept", content: "what must not be lost" } });
  await app.sql`update users set email = 'admin@example.com' where login = 'admin'`;
});
beforeEach(async () => {
  await app.sql`delete from backup_runs`;
});
afterAll(async () => {
  await cleanUp();
  await app.stop();
  await Promise.all([proxy.close(), alarms.stop()]);
  receiver.stop();
  await rm(folder, { recursive: true });
});

const ownFolder = () => join(folder, "own");
function needed(
  env: Record<string, string>,
  { store = backupsInFolder(ownFolder()), ...more }: Partial<BackupContext> & { readonly store?: BackupStore } = {},
): BackupContext {
  const config = readConfig({ BACKUP_KEY: key, ...env });
  const files = { folders: [], open: openFiles(config, silent) };
  const clock = () => new Date("2026-03-01T03:30:00Z");
  const places = { backups: store, wal: backupsInFolder(join(folder, "wal")) };
  return { config, places, lineage, target: app.target, sets, files, log: silent, clock, ...more };
}
/** What a folder of this lineage has beside its backups. */
const owner = "corestead.lineage";
const scratchDatabases = () => app.sql`select datname from pg_database where datname like 'corestead_check_%'`;
const metric = async (named: string) =>
  (await app.get("/metrics")).text
    .split("\n")
    .find((line) => line.startsWith(`${named} `))
    ?.split(" ")[1];
/** The newest entry of the log of activity. */
const noted = async (action: string) =>
  eventually(async () => (await app.get(`/core/activity.json?action=${action}&limit=1`)).json[0], "an entry");

const digits = "1234567890123456789012345678901234567890";

/** With a record beside them whose number is whole. */
async function promptsIn(target: DatabaseTarget): Promise<number> {
  const sql = openPool(target, { max: 2 });
  try {
    return (
      await sql`
      select 1 from prompts, records where code = 'kept' and data->>'order' = ${digits}`
    ).length;
  } finally {
    await sql.end();
  }
}

async function restored(file: BackupSource, withKey: string): Promise<{ fault: string; prompts: number }> {
  const target = await createDatabase();
  const sql = openPool(target, { max: 2 });
  await migrate(sql, sets, silent);
  const fault = await restore(sql, file, silent, { key: withKey }).then(
    () => "",
    (error: unknown) => String(error),
  );
  await sql.end();
  return { fault, prompts: await promptsIn(target) };
}

test("a backup is made when its time comes, verified and shown, and can be restored elsewhere with its key alone", async () => {
  const before = Math.floor(Date.now() / 1000);
  await fire();
  const entry = await noted("backup");
  const [made] = (await app.get(backups)).json;
  expect(made).toMatchObject({ state: "good", verified: true, error: null, removed_at: null });
  expect(entry).toMatchObject({ model: "Core::Backup", record_id: `${made.id}`, name: made.file, actor: "system" });
  expect((await app.get(`/core/backups/${made.id}.json`)).json).toEqual(made);
  const stored = await readdir(join(folder, "scheduled"));
  expect(stored.toSorted()).toEqual([made.file, owner]);
  const file = join(folder, "scheduled", made.file);
  const facts = await stat(file);
  expect([facts.mode & 0o777, facts.size]).toEqual([0o600, made.bytes]);
  expect(file.endsWith(".backup.sealed")).toBe(true);
  expect((await Bun.file(file).bytes()).subarray(0, 8)).toEqual(Buffer.from("CORESEAL"));
  expect(await scratchDatabases()).toHaveLength(0);
  expect(Number(await metric("corestead_backup_last_success_timestamp_seconds"))).toBeGreaterThanOrEqual(before);
  expect(await metric("corestead_backup_failures_total")).toBe("0");
  expect(receiver.mails).toEqual([]);

  expect((await backupMigrations(file, key)).length).toBeGreaterThan(20);
  expect(await restored(file, key)).toEqual({ fault: "", prompts: 1 });
  const wrong = [
    { with: "", fault: "set BACKUP_KEY" },
    { with: `${key}!`, fault: "BACKUP_KEY is not the key" },
  ];
  for (const { with: other, fault } of wrong)
    expect(await restored(file, other)).toEqual({ fault: expect.stringContaining(fault), prompts: 0 });
  const bytes = Buffer.from(await Bun.file(file).arrayBuffer());
  for (const damaged of [
    bytes.subarray(0, -1),
    Buffer.concat([bytes, Buffer.of(0)]),
    Buffer.from(bytes.map((byte, at) => (at === bytes.length - 40 ? byte ^ 1 : byte))),
  ]) {
    await writeFile(join(folder, "damaged"), damaged);
    const fault = expect.stringContaining("nothing was changed");
    expect(await restored(join(folder, "damaged"), key)).toEqual({ fault, prompts: 0 });
  }
});

test("a folder that cannot be written to is a failure that is shown, counted, logged, noted, mailed and sent to a webhook", async () => {
  const webhook = { source_type: "Core::Backup", kind: "failed", url: `${alarms.url}/backups` };
  expect((await app.post("/account/webhooks.json", { webhook })).status).toBe(201);
  await rm(join(folder, "scheduled"), { recursive: true });
  await writeFile(join(folder, "scheduled"), "a file is here");
  await fire();
  const sent = await eventually(() => receiver.mails[0], "a mail");
  expect([sent.to, sent.subject]).toEqual(["admin@example.com", expect.stringContaining("has failed")]);
  expect(sent.text).toContain("ENOTDIR");
  const [failed] = (await app.get(backups)).json;
  expect(failed).toMatchObject({
    state: "failed",
    file: null,
    verified: false,
    error: expect.stringContaining("ENOTDIR"),
  });
  expect(await metric("corestead_backup_failures_total")).toBe("1");
  expect(app.logged.join("")).toContain("a backup has failed");
  expect(await noted("backup%20failed")).toMatchObject({ record_id: `${failed.id}` });
  const alarm = await eventually(() => alarms.requests[0], "an alarm");
  expect(JSON.parse(alarm.body)).toEqual(failed);
  await rm(join(folder, "scheduled"));
});

test("a full disk leaves neither half a backup nor fewer old ones", async () => {
  const own = ownFolder();
  const old = "corestead-20250101T033000Z.backup";
  await Bun.write(join(own, old), "an old one");
  await Bun.write(join(own, owner), lineage.id);
  const store = backupsInFolder(own);
  const noRoom = async function* (chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      yield chunk;
      await writeFile("/dev/full", chunk);
    }
  };
  const full = {
    ...store,
    write: (file: string, chunks: AsyncIterable<Uint8Array>) => store.write(file, noRoom(chunks)),
  };
  const [made] = await makeBackup(needed({ BACKUP_KEEP: "1d" }, { store: full }));
  expect(made).toMatchObject({ file: null, verified: false, error: expect.stringContaining("ENOSPC") });
  expect((await readdir(own)).toSorted()).toEqual([old, owner]);
});

test("after a verified backup old ones go by the rule, but nothing else in the folder", async () => {
  const own = ownFolder();
  const foreign = [
    owner,
    "corestead-20250101T033000Z-fedcba98.backup",
    "notes.txt",
    "corestead.backup",
    "corestead-20250101T033000Z.backup.old",
    "corestead-20259901T033000Z.backup",
  ];
  const olds = ["corestead-20250101T033000Z.backup", "corestead-20250102T033000Z.backup.sealed"];
  const partials = ["corestead-20250103T033000Z.backup.partial", `${name}.0a1b2c3d.partial`];
  for (const file of [...foreign, ...olds, ...partials]) await Bun.write(join(own, file), "");
  await Bun.write(join(own, owner), lineage.id);
  await app.sql.unsafe(`create database ${await leftover()}`);

  const [unable] = await makeBackup(needed({ BACKUP_KEEP: "1d" }, { sets: [] }));
  expect(unable).toMatchObject({
    file: name,
    verified: false,
    error: expect.stringContaining("could not be restored"),
  });
  expect((await readdir(own)).toSorted()).toEqual([...foreign, ...olds, name].toSorted());
  expect(await scratchDatabases()).toHaveLength(0);

  const [made] = await makeBackup(needed({ BACKUP_KEEP: "1d" }));
  expect(made).toMatchObject({ file: name, verified: true, error: null });
  expect((await readdir(own)).toSorted()).toEqual([...foreign, name].toSorted());
  expect((await app.get(backups)).json).toHaveLength(2);
});

/** What a run leaves that is killed while it verifies. */
async function leftover(): Promise<string> {
  const [row] = await app.sql`select 'corestead_check_' || left(md5(current_database()), 8) || '_0123abcd' as name`;
  return String(row?.["name"]);
}

test("backups go to a bucket as well, and a server that is down in the middle of an upload leaves nothing there", async () => {
  const s3 = startS3({ bucket: "core-backups", minPartBytes: 1 });
  const bucket = bucketAt({
    endpoint: s3.url,
    address: "path",
    bucket: "core-backups",
    credentials: s3Credentials,
    fetch: (url, request) => fetchOutside({ allow: parseAllow("127.0.0.1"), log: silent }, url, request),
    sleep: async () => {},
    partBytes: 2_000,
  });
  const store = backupsInBucket(bucket, { bucket: "core-backups", prefix: "here/" });
  const old = "here/corestead-20250101T033000Z.backup.sealed";
  s3.objects.set(`here/${owner}`, Buffer.from(lineage.id));
  for (const one of [old, "here/notes.txt", "corestead-20250101T033000Z.backup.sealed"])
    s3.objects.set(one, new Uint8Array(1));
  const before = [...s3.objects.keys()];
  s3.answer = ({ query }) => (query.get("partNumber") === "2" ? faultXml(503, "SlowDown") : undefined);
  const [failed] = await makeBackup(needed({ BACKUP_KEEP: "1d" }, { store }));
  expect(failed).toMatchObject({ file: null, error: expect.stringContaining("SlowDown") });
  s3.answer = () => faultXml(503, "SlowDown");
  const [down] = await makeBackup(needed({ BACKUP_KEEP: "1d" }, { store }));
  expect(down).toMatchObject({ file: null, error: expect.stringContaining("SlowDown") });
  expect([[...s3.objects.keys()], s3.uploads.size]).toEqual([before, 0]);

  s3.answer = undefined;
  // What a process has left that was killed.
  s3.uploads.set("left", { key: "here/corestead-20250102T033000Z.backup.sealed", parts: new Map() });
  s3.uploads.set("other", { key: "here/notes.txt", parts: new Map() });
  const [made] = await makeBackup(needed({ BACKUP_KEEP: "1d" }, { store }));
  expect(made).toMatchObject({ file: name, verified: true, error: null });
  expect([...s3.uploads.keys()]).toEqual(["other"]);
  expect([...s3.objects.keys()].toSorted()).toEqual(
    [...before.filter((one) => one !== old), `here/${name}`].toSorted(),
  );
  expect(await store.list()).toMatchObject([{ name, bytes: made?.bytes }]);
  expect(await restored({ name, read: () => store.read(name) }, key)).toEqual({ fault: "", prompts: 1 });
  // It was put together from many parts, and one byte of it is changed.
  s3.objects.get(`here/${name}`)?.fill(0, 5_000, 5_001);
  const damaged = await restored({ name, read: () => store.read(name) }, key);
  expect(damaged).toEqual({ fault: expect.stringContaining("nothing was changed"), prompts: 0 });
  await s3.stop();
});

test("one backup is made at a time in the whole installation", async () => {
  const own = backupsInFolder(ownFolder());
  const first = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const slow = { ...own, tidy: () => (began.resolve(), first.promise) };
  const making = makeBackup(needed({ BACKUP_VERIFY: "off" }, { store: slow }));
  await began.promise;
  expect((await app.get(backups)).json).toMatchObject([{ state: "running", ended_at: null }]);
  expect(await makeBackup(needed({}))).toEqual([]);
  first.resolve();
  expect(await making).toMatchObject([{ verified: false, error: null }]);
});

test("kill -9 in the middle leaves nothing that counts as a backup, and the command line makes, lists, verifies and restores", async () => {
  const cwd = join(folder, "cli");
  const place = join(cwd, "kept");
  const old = "corestead-20250101T033000Z.backup";
  await Bun.write(join(place, old), "of nobody");
  const addressOf = (target: DatabaseTarget) =>
    `postgres://${"url" in target ? "" : target.user}@127.0.0.1:${proxy.port}/${"url" in target ? "" : target.database}`;
  const env = { BACKUP_DIR: place, BACKUP_KEY: key, DATABASE_URL: addressOf(app.target), DATA_DIR: "data" };
  const corestead = (words: string[], more: Record<string, string> = {}) =>
    run([...fromSource, ...words], { cwd, env: { ...env, ...more } });

  const refused = await corestead(["backup"]);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("belongs to another installation")]);
  expect(await readdir(place)).toEqual([old]);
  expect((await corestead(["adopt"])).stdout).toEndWith(`${place} is its own\n`);

  expect((await corestead(["backup"], { CORESTEAD_FAILPOINT: "backup chunk:kill" })).code).toBe(137);
  expect((await readdir(place)).toSorted()).toEqual([old, expect.stringMatching(/sealed\.\w{8}\.partial$/), owner]);
  expect((await corestead(["backup"], { CORESTEAD_FAILPOINT: "backup written:kill" })).code).toBe(137);
  const made = await corestead(["backup"]);
  expect([made.stderr, made.code]).toEqual(["", 0]);
  const file = /corestead-\d{8}T\d{6}Z-\w{8}\.backup\.sealed/.exec(made.stdout)?.[0] ?? "";
  // The one that was never verified goes, and so does the partial one.
  const states = (await app.get(backups)).json.map(({ state, error }: { state: string; error: string }) => [
    state,
    error,
  ]);
  const interrupted = ["failed", "its process ended before it was done"];
  expect(states.slice(0, 3)).toEqual([["good", null], interrupted, interrupted]);
  expect((await readdir(place)).toSorted()).toEqual([file, old, owner].toSorted());

  const listed = await corestead(["backups"]);
  expect(listed.stdout).toMatch(/sealed +0 minutes old +\d+\.\d kB +verified\n.*2025.* unknown here\n$/);
  expect((await corestead(["backups", "verify"])).stdout).toBe(`${file} could be restored\n`);
  const unlike = await corestead(["backups", "verify", old]);
  expect([unlike.code, unlike.stderr]).toEqual([1, expect.stringContaining("is not a complete backup")]);
  const target = await createDatabase();
  const back = await corestead(["restore", file], { DATABASE_URL: addressOf(target) });
  expect([back.stderr, back.stdout]).toEqual(["", expect.stringContaining(`${file} is restored`)]);
  expect(await promptsIn(target)).toBe(1);
});

test("the administrators of other accounts see none", async () => {
  await makeBackup(needed({ BACKUP_VERIFY: "off" }));
  const other = await otherAccount(app);
  const [own] = (await app.get(backups)).json;
  expect((await other.get(backups)).json).toEqual([]);
  expect((await other.get(`/core/backups/${own.id}.json`)).status).toBe(404);
});
