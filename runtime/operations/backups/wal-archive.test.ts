import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../settings/config.ts";
import { openPool, type Sql } from "../../db/db.ts";
import { createLog } from "../../system/log.ts";
import { parseAllow } from "../../net/addresses.ts";
import { fetchOutside } from "../../outbound/outbound.ts";
import { jsonFrame, packed } from "../dump/backup-file.ts";
import { startEmbeddedPostgres, type EmbeddedPostgres } from "../postgres/embedded-postgres.ts";
import { migrate } from "../../db/migrate.ts";
import { migrationSets } from "../../db/runtime-migrations.ts";
import { bucketAt } from "../s3/s3.ts";
import { faultXml, s3Credentials, startS3 } from "../../../tests/fixtures/s3.ts";
import { backupsInFolder, backupsInBucket, type BackupStore, type BackupPlaces } from "./backup-store.ts";
import { recover, type Recovery } from "./recovery.ts";
import type { BackupRun } from "./run-store.ts";
import { createWalArchive, type ArchiveContext, type WalArchive } from "./wal-archive.ts";
import { parseWalName } from "./wal-names.ts";
import { endChains } from "./wal-store.ts";

// Servers are started and killed here: a busy machine may take its time.
setDefaultTimeout(600_000);

const key = "a key of the tests with 32 characters or more";
const log = createLog("error", () => {});
const timeIn = (name: string) => parseWalName(name)?.at;
const lineage = { id: "0123abcd", isFirst: true, home: null };
const folders: string[] = [];
let dataDir: string;
let server: EmbeddedPostgres;
let sql: Sql;
let restarted: () => void = () => {};

beforeAll(async () => {
  dataDir = await newFolder();
  server = await start(dataDir);
  sql = openPool(server.target, { max: 2 });
  await migrate(sql, migrationSets([]), log);
  await sql`create table kept (what text)`;
});
beforeEach(async () => {
  await endChains(sql);
  await sql`delete from backup_runs`;
  await sql`delete from runtime_state`;
  await sql`delete from kept`;
});
afterAll(async () => {
  await sql.end();
  await server.stop();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "corestead-wal-"));
  folders.push(folder);
  return folder;
}

function start(folder: string): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDir: folder, log, archived: true, onRestart: () => restarted() });
}

interface Archived {
  readonly archive: WalArchive;
  readonly store: BackupStore;
  readonly place: string;
  readonly ended: BackupRun[];
}

type More = Partial<ArchiveContext> & { readonly store?: BackupStore };

async function archiveInto({ store: given, ...more }: More = {}, env: Record<string, string> = {}): Promise<Archived> {
  const place = await newFolder();
  const store = given ?? backupsInFolder(place, timeIn);
  const config = readConfig({ DATA_DIR: dataDir, BACKUP_KEY: key, ...env });
  const ended: BackupRun[] = [];
  const archive = createWalArchive({
    config,
    target: server.target,
    log,
    ended: async (run) => void ended.push(run),
    places: await placesWith(store),
    lineage,
    ...more,
  });
  return { archive, store, place, ended };
}

async function placesWith(wal: BackupStore): Promise<BackupPlaces> {
  return { backups: backupsInFolder(await ownedFolder()), wal };
}

async function ownedFolder(): Promise<string> {
  const folder = await newFolder();
  await writeFile(join(folder, "corestead.lineage"), lineage.id);
  return folder;
}

/** With a chain that has a base. */
async function begun(more: More = {}, env: Record<string, string> = {}): Promise<Archived> {
  const archived = await archiveInto(more, env);
  await archived.archive.look(true);
  await archived.archive.makeBase();
  expect(archived.ended.at(-1)).toMatchObject({ kind: "base", verified: true, error: null });
  return archived;
}

const add = (what: string) => sql`insert into kept (what) values (${what})`;
/** A moment between two changes. */
async function moment(): Promise<Date> {
  const [row] = await sql<{ at: Date }[]>`select pg_sleep(0.05), clock_timestamp() as at`;
  await sql`select pg_sleep(0.05)`;
  return row?.at ?? new Date();
}

/** What the recovered database says. */
async function recovered(store: BackupStore, until?: Date, more: Partial<Recovery> = {}): Promise<string[] | string> {
  const rows: string[] = [];
  const finish = async (there: Sql) => {
    for (const { what } of await there<{ what: string }[]>`select what from kept order by what`) rows.push(what);
  };
  const folder = await newFolder();
  try {
    await recover({ store, key, dataDir: folder, until, log, finish, ...more });
    expect(readdirSync(folder)).toContain("postgres");
    return rows;
  } catch (error) {
    expect(readdirSync(folder).filter((name) => name.startsWith("postgres") && name !== "postgres.log")).toEqual([]);
    return error instanceof Error ? error.message : String(error);
  }
}

describe("point-in-time recovery", () => {
  test("brings back any moment since the base, before and after whatever was destroyed", async () => {
    await add("before the base");
    const early = await moment();
    const { archive, store, place } = await begun();
    await add("first");
    const first = await moment();
    await archive.look(true);
    await add("second");
    const second = await moment();
    await sql`drop table kept`;
    await sql`create table kept (what text)`;
    await add("later");
    await archive.look(true);
    expect(await recovered(store, first)).toEqual(["before the base", "first"]);
    expect(await recovered(store, second)).toEqual(["before the base", "first", "second"]);
    expect(await recovered(store)).toEqual(["later"]);
    expect(await recovered(store, early)).toContain("earlier moments cannot be restored");
    expect(await recovered(store, new Date(Date.now() + 60_000))).toContain("after the last archived change");
    expect(readdirSync(place).every((name) => name.endsWith(".wal.sealed"))).toBe(true);
    await archive.stop();
  });

  test("holds what was acknowledged before PostgreSQL was killed, and its chain goes on", async () => {
    const { archive, store } = await begun();
    await add("before");
    const again = new Promise<void>((resolve) => (restarted = resolve));
    process.kill(server.pid() ?? 0, "SIGKILL");
    await again;
    await add("after");
    await archive.look(true);
    expect(await recovered(store)).toEqual(["after", "before"]);
    expect(new Set((await store.list()).map(({ name }) => parseWalName(name)?.chain)).size).toBe(1);
    await archive.stop();
  });

  test("of a recovered server begins a chain of its own, from which it is recovered again", async () => {
    const { archive, store } = await begun();
    await add("first life");
    await archive.look(true);
    const folder = await newFolder();
    await recover({ store, key, dataDir: folder, until: undefined, log, finish: async () => {} });
    await archive.stop();
    const second = await start(folder);
    const there = openPool(second.target, { max: 2 });
    const again = createWalArchive({
      config: readConfig({ DATA_DIR: folder, BACKUP_KEY: key }),
      target: second.target,
      log,
      places: await placesWith(store),
      lineage,
      ended: async () => {},
    });
    await again.look(true);
    await again.makeBase();
    await there`insert into kept (what) values ('second life')`;
    await again.look(true);
    expect(await recovered(store)).toEqual(["first life", "second life"]);
    await again.stop();
    await there.end();
    await second.stop();
  });

  test("refuses a folder with a database, one in use, and another key", async () => {
    const { archive, store } = await begun();
    await archive.look(true);
    expect(await recovered(store, undefined, { key: "" })).toContain("set BACKUP_KEY");
    expect(await recovered(store, undefined, { key: `${key}!` })).toContain("BACKUP_KEY is not the key");
    const finish = async () => {};
    const into = (folder: string) => recover({ store, key, dataDir: folder, until: undefined, log, finish });
    expect(into(dataDir)).rejects.toThrow("is in use by another corestead process");
    const used = await newFolder();
    await Bun.write(join(used, "postgres", "PG_VERSION"), "18");
    expect(into(used)).rejects.toThrow("there is a database in");
    expect(recovered(backupsInFolder(await newFolder(), timeIn))).resolves.toContain("there is no base backup in");
    await archive.stop();
  });

  test("refuses a piece that is damaged, renamed or missing, and then leaves nothing", async () => {
    const { archive, store, place } = await begun();
    const moments: Date[] = [];
    for (const what of ["one", "two", "three"]) {
      await add(what);
      moments.push(await moment());
      await archive.look(true);
    }
    await archive.stop();
    const names = readdirSync(place)
      .filter((name) => !name.includes("-base-"))
      .toSorted();
    // What was before the base is gone, and the last is of the end.
    const [, two = "", three = ""] = names;
    const bytes = await readFile(join(place, two));
    await writeFile(join(place, two), bytes.with(bytes.length - 30, (bytes.at(-30) ?? 0) ^ 1));
    expect(await recovered(store, moments[1])).toContain(`${two} cannot be read: it was changed or cut off`);
    expect(await recovered(store, moments[0])).toEqual(["one"]);
    await writeFile(join(place, two), await readFile(join(place, three)));
    expect(await recovered(store, moments[1])).toContain(`${two} is not what its name says`);
    await rename(join(place, two), join(place, "elsewhere"));
    expect(await recovered(store, moments[1])).toContain(`the piece before ${three} is missing: only moments before`);
    expect(await recovered(store)).toContain(`the piece before ${three} is missing`);
    expect(await recovered(store, moments[0])).toEqual(["one"]);
  });

  test("refuses a base of another major version, and one that names files outside of the cluster", async () => {
    const place = await newFolder();
    const store = backupsInFolder(place, timeIn);
    const [chain, from] = ["20260131T033000000Z", "0000000003000028"];
    const base = `corestead-${chain}-${from}-base-${chain}.wal`;
    await writeFile(join(place, `corestead-${chain}-${from}-0000000003000030-20260131T033100000Z.wal`), "");
    const header = (postgres: string) => jsonFrame("H", { format: "wal 1", file: base, postgres, timeline: 1 });
    const write = async (...frames: ReturnType<typeof jsonFrame>[]) => {
      async function* all() {
        yield* frames;
      }
      await store.write(base, packed(all(), ""));
    };
    await write(header("17"));
    expect(await recovered(store)).toContain("was made by PostgreSQL 17, and this version has 18");
    await write(header("18"), jsonFrame("F", { path: "../outside", isFolder: false }));
    expect(await recovered(store)).toContain("names a file outside");
    expect(folders.some((folder) => existsSync(join(folder, "outside")))).toBe(false);
  });
});

describe("the archive", () => {
  test("that fails is told of once, catches up, and says so", async () => {
    let isDown = false;
    const kept = backupsInFolder(await newFolder(), timeIn);
    const store: BackupStore = {
      ...kept,
      write: (name, chunks) => (isDown ? Promise.reject(new Error("no space left")) : kept.write(name, chunks)),
    };
    const { archive, ended } = await begun({ store, alarmAfterMs: 0 });
    isDown = true;
    for (const what of ["a", "b"]) {
      await add(what);
      await archive.look(true);
    }
    expect(ended.slice(1)).toMatchObject([{ kind: "wal", error: "changes are not archived: no space left" }]);
    isDown = false;
    await archive.look(true);
    expect(ended.slice(2)).toMatchObject([{ kind: "wal", error: null }]);
    expect(await recovered(store)).toEqual(["a", "b"]);
    await archive.stop();
  });

  test("begins again with a new base when PostgreSQL has let go of changes that were waiting", async () => {
    const { archive, store, ended } = await begun();
    await add("lost on the way");
    await sql`alter system set idle_replication_slot_timeout = 1`;
    await sql`select pg_reload_conf(), pg_sleep(2.1)`;
    await sql`checkpoint`;
    const [slot] = await sql`select wal_status from pg_replication_slots`;
    expect(slot).toMatchObject({ walStatus: "lost" });
    await sql`alter system reset idle_replication_slot_timeout`;
    await sql`select pg_reload_conf()`;
    await archive.look(true);
    expect(ended.at(-1)).toMatchObject({ kind: "wal", error: expect.stringContaining("some are gone") });
    await archive.makeBase();
    await add("after");
    await archive.look(true);
    expect(await recovered(store)).toEqual(["after", "lost on the way"]);
    await archive.stop();
  });

  test("keeps no changes waiting on a disk that is nearly full, and begins again once there is room", async () => {
    let free = 1e12;
    const { archive, store, ended } = await begun({ freeBytes: async () => free, alarmAfterMs: 0 });
    free = 1e6;
    await archive.look(true);
    expect(ended.at(-1)).toMatchObject({ error: expect.stringContaining("the disk of DATA_DIR is nearly full") });
    expect(await sql`select 1 from pg_replication_slots`).toHaveLength(0);
    await add("meanwhile");
    free = 1e12;
    await archive.look();
    while (ended.at(-1)?.kind !== "base") await Bun.sleep(20);
    await archive.look(true);
    expect(await recovered(store)).toEqual(["meanwhile"]);
    await archive.stop();
  });

  test("removes old bases where the rule has no days, and the changes that only those need", async () => {
    const { archive, store, place, ended } = await begun({}, { BACKUP_KEEP: "4w" });
    await add("kept");
    await archive.look(true);
    const old = (await store.list()).map(({ name }) => name);
    const foreign = "corestead-20250101T033000000Z-0000000003000000-0000000003A4F2D0-20250101T033100000Z.wal";
    await writeFile(join(place, foreign), "");
    await writeFile(join(place, "notes.txt"), "");
    await archive.makeBase();
    expect(ended.at(-1)).toMatchObject({ kind: "base", error: null });
    const left = readdirSync(place);
    expect(left).toContain("notes.txt");
    expect(left).not.toContain(foreign);
    expect(left.filter((name) => old.includes(name))).toEqual([]);
    await archive.look(true);
    expect(await recovered(store)).toEqual(["kept"]);
    await archive.stop();
  });

  test("makes a new base if somebody has removed the one that it has", async () => {
    const { archive, store, place, ended } = await begun();
    await add("kept");
    await archive.look(true);
    for (const name of readdirSync(place)) if (name.includes("-base-")) await rm(join(place, name));
    await sql`update runtime_state set value = '2026-01-01T00:00:00Z' where key = 'wal_archived'`;
    await archive.look();
    while (ended.length < 2) await Bun.sleep(20);
    await archive.look(true);
    expect(await recovered(store)).toEqual(["kept"]);
    await archive.stop();
  });

  test("is not stored in the folder of another lineage, nor removed from there", async () => {
    const { archive, place } = await begun();
    const before = readdirSync(place);
    const foreign = await placesWith(backupsInFolder(place, timeIn));
    await writeFile(join(foreign.backups.place, "corestead.lineage"), "fedcba98");
    const { archive: other, ended } = await archiveInto({ places: foreign, alarmAfterMs: 0 });
    await other.look(true);
    await other.makeBase();
    const error = expect.stringContaining("belongs to another installation");
    expect(ended).toMatchObject([
      { kind: "wal", error },
      { kind: "base", error },
    ]);
    expect(readdirSync(place)).toEqual(before);
    await Promise.all([archive.stop(), other.stop()]);
  });

  test("begins again if the data folder was put back to an earlier state", async () => {
    const { archive, store, place } = await begun();
    const [chain = ""] = (await store.list()).map(({ name }) => parseWalName(name)?.chain);
    await archive.stop();
    const name = `corestead-${chain}-0000000000000000-00000FFF00000000-20260131T033100000Z.wal`;
    await writeFile(join(place, name), "");
    const { archive: next } = await archiveInto({ store });
    await next.look(true);
    await next.look(true);
    const chains = new Set((await store.list()).map((file) => parseWalName(file.name)?.chain));
    expect(chains.size).toBe(2);
    await next.stop();
  });

  test("is one at a time, and a second process finds nothing to do", async () => {
    const { archive, store } = await begun();
    const other = createWalArchive({
      config: readConfig({ DATA_DIR: dataDir, BACKUP_KEY: key }),
      target: server.target,
      log,
      places: await placesWith(store),
      lineage,
      ended: async () => {},
    });
    const before = (await store.list()).length;
    await Promise.all([other.look(), archive.look(), other.makeBase(), archive.makeBase()]);
    const after = await store.list();
    expect(after.filter(({ name }) => !name.includes("-base-")).length).toBe(before - 1);
    await Promise.all([archive.stop(), other.stop()]);
    expect(await recovered(store)).toEqual([]);
  });

  test("goes to a bucket as well, which may fail in between", async () => {
    const s3 = startS3({ bucket: "core-wal", minPartBytes: 1 });
    const bucket = bucketAt({
      endpoint: s3.url,
      address: "path",
      bucket: "core-wal",
      credentials: s3Credentials,
      fetch: (url, request) => fetchOutside({ allow: parseAllow("127.0.0.1"), log }, url, request),
      sleep: async () => {},
      partBytes: 200_000,
    });
    const store = backupsInBucket(bucket, { bucket: "core-wal", prefix: "here/wal/" }, timeIn);
    const { archive } = await begun({ store });
    await add("in the bucket");
    s3.answer = () => faultXml(503, "SlowDown");
    await archive.look(true);
    s3.answer = undefined;
    await archive.look(true);
    expect([...s3.objects.keys()].every((name) => name.startsWith("here/wal/corestead-"))).toBe(true);
    expect(await recovered(store)).toEqual(["in the bucket"]);
    await archive.stop();
    await s3.stop();
  });
});
