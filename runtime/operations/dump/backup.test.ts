import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, readdir, rm, stat, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createWriteStream } from "node:fs";
import { createZstdCompress } from "node:zlib";
import { parseHeader, readFrames } from "./backup-file.ts";
import { backup, backupMigrations, restore } from "./backup.ts";
import { createFiles } from "../../files/files.ts";
import { roomIn } from "../../system/room.ts";
import { openPool, type Sql } from "../../db/db.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../postgres/embedded-postgres.ts";
import { createLog } from "../../system/log.ts";

// Servers are started and killed here: a busy machine may take its time.
setDefaultTimeout(600_000);

const log = createLog("error", () => {});
let folder: string;
let file: string;
let server: EmbeddedPostgres;
let admin: Sql;
let from: Sql;
let into: Sql;

const schema = `
  create table migrations (plugin text, name text, checksum text, applied_at timestamptz default now(), primary key (plugin, name));
  insert into migrations values ('notes', '001_notes', 'abc'), ('notes', '002_more', 'def');
  -- by name the wrong way round, pointing to itself, and in a circle
  create table a_children (id bigint generated always as identity primary key, parent_id uuid not null, above_id bigint references a_children);
  create table b_parents (id uuid primary key, "odd.Name" text, data jsonb, twice int generated always as (n * 2) stored, n int, at timestamptz, bytes bytea, tags text[]);
  alter table a_children add foreign key (parent_id) references b_parents;
  create table c_first (id serial primary key, other_id int);
  create table c_second (id int primary key, other_id int not null references c_first);
  alter table c_first add constraint circle foreign key (other_id) references c_second;
  create table d_empty (id int);
  create table log_of_parents (id uuid);
  create unlogged table e_passing (id int);
  create function note_parent() returns trigger language plpgsql as 'begin insert into log_of_parents values (new.id); return new; end';
  create trigger note_parent after insert on b_parents for each row execute function note_parent();`;

const rows = `
  insert into b_parents (id, "odd.Name", data, n, at, bytes, tags)
    select gen_random_uuid(), e'tab\\t line\\n back\\\\ żółć \\\\. ' || n, jsonb_build_object('a_b', n), n, now(), decode('00ff0a', 'hex'), array['x', null, 'y,"z']
    from generate_series(1, 500) n;
  insert into b_parents (id, data) values (gen_random_uuid(), null), (gen_random_uuid(), to_jsonb(repeat('long ', 400000)));
  insert into a_children (parent_id, above_id) select id, null from b_parents;
  update a_children set above_id = 503 - id where id < 400;
  insert into c_first (other_id) values (null), (null);
  insert into c_second values (7, 1), (8, 2);
  update c_first set other_id = 9 - id;
  update c_first set other_id = 7 where id = 1;
  update c_first set other_id = 8 where id = 2;`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "corestead-backup-"));
  server = await startEmbeddedPostgres({ dataDir: folder, log });
  admin = openPool(server.target);
});

beforeEach(async () => {
  file = join(folder, `${crypto.randomUUID()}.backup`);
  from = await emptyDatabase();
  await from.unsafe(schema);
  into = await emptyDatabase();
  await into.unsafe(schema);
});

afterEach(async () => {
  await Promise.all([from.end(), into.end()]);
});

afterAll(async () => {
  await admin.end();
  await server.stop();
  await rm(folder, { recursive: true });
});

async function emptyDatabase(): Promise<Sql> {
  const database = `t${crypto.randomUUID().replaceAll("-", "")}`;
  await admin`create database ${admin(database)}`;
  if ("url" in server.target) throw new Error("the embedded server has no address");
  return openPool({ ...server.target, database });
}

async function everything(sql: Sql): Promise<unknown> {
  const tables = ["a_children", "b_parents", "c_first", "c_second", "d_empty", "log_of_parents"];
  return Promise.all(tables.map((name) => sql.unsafe(`select * from ${name} t order by t::text`)));
}

test("a restored database holds what the other one held, and goes on counting where it was", async () => {
  await from.unsafe(rows);
  await backup(from, file, log);
  await restore(into, file, log);
  expect(await everything(into)).toEqual(await everything(from));
  const [next] = await into`insert into c_first default values returning id`;
  expect(next?.["id"]).toBe(3);
  const [child] = await into`insert into a_children (parent_id) select id from b_parents limit 1 returning id`;
  expect(child?.["id"]).toBe(503);
});

test("after a restore keys and triggers work as before", async () => {
  await from.unsafe(rows);
  await backup(from, file, log);
  await restore(into, file, log);
  const refused = await into`insert into c_second values (9, 99)`.catch((error: { code?: string }) => error.code);
  expect(refused).toBe("23503");
  const id = crypto.randomUUID();
  await into`insert into b_parents (id) values (${id})`;
  expect(await into`select 1 from log_of_parents where id = ${id}`).toHaveLength(1);
  const deferrable = await into`select 1 from pg_constraint where condeferrable`;
  expect(deferrable).toHaveLength(0);
});

test("the rows of an unlogged table are not worth a backup: they are left out, and gone after a restore", async () => {
  await from.unsafe(rows);
  await from`insert into e_passing values (1)`;
  await into`insert into e_passing values (2)`;
  await backup(from, file, log);
  await restore(into, file, log);
  expect(await into`select id from e_passing`).toHaveLength(0);
  expect(await everything(into)).toEqual(await everything(from));
});

test("a backup is of one moment while others write, and only its owner can read it", async () => {
  await from.unsafe(rows);
  const stopping = new AbortController();
  const writer = (async () => {
    for (let id = 100; !stopping.signal.aborted; id++) {
      await from.begin(async (tx) => {
        await tx`insert into c_first (id) values (${id})`;
        await tx`insert into c_second values (${id}, ${id})`;
      });
    }
  })();
  await backup(from, file, log);
  stopping.abort();
  await writer;
  await restore(into, file, log); // the keys hold: no pair was torn
  const [counts] =
    await into`select (select count(*) from c_first where id >= 100) as firsts, (select count(*) from c_second where id >= 100) as seconds`;
  expect(counts?.["firsts"]).toBe(counts?.["seconds"]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("a database that holds rows is refused, unless told to replace them", async () => {
  await from.unsafe(rows);
  await backup(from, file, log);
  await into`insert into d_empty values (1)`;
  expect(restore(into, file, log)).rejects.toThrow("table d_empty has rows");
  await restore(into, file, log, { force: true });
  expect(await everything(into)).toEqual(await everything(from));
});

test("rows that a migration wrote are replaced without being told to", async () => {
  await from`insert into migrations values ('notes', '003_state', 'x')`;
  await backup(from, file, log);
  await into.begin(async (tx) => {
    await tx`insert into d_empty values (1)`;
    await tx`insert into migrations values ('notes', '003_state', 'x')`;
  });
  await restore(into, file, log);
  expect(await everything(into)).toEqual(await everything(from));
});

test.each([
  ["is older than migration notes/003_new", `insert into migrations values ('notes', '003_new', 'x')`],
  ["has migration notes/002_more, which this database does not have", `delete from migrations where name = '002_more'`],
  ["has migration notes/001_notes, which", `update migrations set checksum = 'edited' where name = '001_notes'`],
  ["tables of the backup are not those", `alter table d_empty add column more int`],
])("a backup that %s is refused", async (reason, change) => {
  await backup(from, file, log);
  await into.unsafe(change);
  expect(restore(into, file, log)).rejects.toThrow(reason);
  const names = await backupMigrations(file);
  expect(names.map(({ name }) => name)).toEqual(["001_notes", "002_more"]);
});

test("files of plugins are in the backup and come back, all or none; without any the format is the first one", async () => {
  const filesIn = (place: string) => ({
    folders: ["pictures"],
    open: (name: string) => createFiles(join(place, name), roomIn(place, 0)),
  });
  await backup(from, file, log, filesIn(folder));
  expect((await header()).format).toBe(1);
  const source = createFiles(join(folder, "pictures"), roomIn(folder, 0));
  const contents = ["small", "x".repeat(3_000_000), ""];
  const hashes: string[] = [];
  for (const content of contents) {
    const draft = await source.begin();
    await draft.write(Buffer.from(content));
    hashes.push((await draft.end()).hash);
    await draft.keep();
  }
  await backup(from, file, log, filesIn(folder));
  expect((await header()).format).toBe(2);
  const other = join(folder, "other");
  const files = filesIn(other);
  const refusal = async (options = {}) => restore(into, file, log, options).catch((error: unknown) => String(error));
  expect(await refusal()).toContain('files of "pictures", which no plugin here has');
  const whole = await Bun.file(file).bytes();
  await Bun.write(file, whole.subarray(0, whole.length - 30));
  expect(await refusal({ files })).toContain("is not a complete backup");
  expect(await readdir(join(other, "pictures"), { recursive: true })).toEqual(["drafts"]);
  await Bun.write(file, whole);
  await restore(into, file, log, { files });
  const restored = createFiles(join(other, "pictures"), roomIn(other, 0));
  for (const [n, hash] of hashes.entries())
    expect(Buffer.from((await (await restored.find(hash))?.bytes()) ?? "none").toString()).toBe(contents[n] ?? "");
  expect(await readdir(join(other, "pictures", "drafts"))).toEqual([]);
});

async function header() {
  const frames = readFrames(file);
  const first = await frames.next();
  await frames.return(undefined);
  return parseHeader(first.value);
}

test("a damaged file changes nothing, wherever the damage is", async () => {
  await from.unsafe(rows);
  await backup(from, file, log);
  const whole = Buffer.from(await Bun.file(file).bytes());
  await into`insert into d_empty values (42)`;
  const before = await everything(into);
  const damages = [0, 3, 20, 0.1, 0.5, 0.9].map((place) => (place < 1 ? Math.floor(place * whole.length) : place));
  for (const at of damages) {
    const flipped = Buffer.from(whole);
    flipped.writeUInt8(whole.readUInt8(at) ^ 0x55, at);
    await Bun.write(file, flipped);
    expect(
      await restore(into, file, log, { force: true }).then(
        () => `survived ${at}`,
        () => "refused",
      ),
    ).toBe("refused");
    await Bun.write(file, whole);
    await truncate(file, at);
    expect(
      await restore(into, file, log, { force: true }).then(
        () => `survived ${at}`,
        () => "refused",
      ),
    ).toBe("refused");
  }
  // The last nine bytes are an empty zstd frame, after what the checksum has proved complete.
  for (const cut of [16, 40, 400]) {
    await Bun.write(file, whole.subarray(0, whole.length - cut));
    expect(restore(into, file, log, { force: true })).rejects.toThrow("is not a complete backup");
  }
  await Bun.write(file, Buffer.concat([whole, whole]));
  expect(restore(into, file, log, { force: true })).rejects.toThrow("is not a complete backup");
  expect(await everything(into)).toEqual(before);
  // … and no connection is lost on the way.
  await Promise.all(Array.from({ length: 30 }, () => into`select 1`));
});

test("a row that does not fit undoes the whole restore and leaves the pool usable", async () => {
  await from.unsafe(rows);
  await backup(from, file, log);
  await into`alter table c_second add check (id < 8)`;
  for (let round = 0; round < 12; round++) {
    expect(await restore(into, file, log).catch((error: { code?: string }) => error.code)).toBe("23514");
  }
  expect(await into`select 1 from b_parents`).toHaveLength(0);
  await Promise.all(Array.from({ length: 30 }, () => into`select 1`));
});

test("a failed backup leaves no file and puts nothing in the place of an older one", async () => {
  await backup(from, file, log);
  const older = await Bun.file(file).bytes();
  await from`revoke all on b_parents from public`;
  await from.unsafe(
    "create view broken as select 1/0 as x; alter table d_empty add column y int; drop table c_second cascade",
  );
  const stopping = backup(from, join(folder, "nowhere", "x.backup"), log);
  expect(
    await stopping.then(
      () => "written",
      () => "failed",
    ),
  ).toBe("failed");
  expect(await Bun.file(file).bytes()).toEqual(older);
  expect((await readdir(folder)).filter((name) => name.endsWith(".partial"))).toEqual([]);
  await Promise.all(Array.from({ length: 30 }, () => from`select 1`));
});

test("a big table passes through without being held", async () => {
  await from`insert into d_empty select generate_series(1, 2_000_000)`;
  await backup(from, file, log);
  await restore(into, file, log);
  const [row] = await into`select count(*) as count, sum(id) as sum from d_empty`;
  expect({ ...row }).toEqual({ count: 2_000_000, sum: 2_000_001_000_000 });
});

/** A small file that unpacks to one frame of this length. */
async function bomb(letter: string, length: number): Promise<void> {
  async function* bytes() {
    const prefix = Buffer.alloc(5);
    prefix.write(letter, "latin1");
    prefix.writeUInt32BE(length, 1);
    yield prefix;
    for (let at = 0; at < length; at += 1_000_000) yield Buffer.alloc(Math.min(1_000_000, length - at));
  }
  await pipeline(bytes(), createZstdCompress(), createWriteStream(file));
  expect((await stat(file)).size).toBeLessThan(20_000);
}

test("a small file that unpacks to much is read piece by piece", async () => {
  await bomb("D", 200_000_000);
  let largest = 0;
  let bytes = 0;
  const read = async () => {
    for await (const frame of readFrames(file)) {
      largest = Math.max(largest, frame.bytes.length);
      bytes += frame.bytes.length;
    }
  };
  expect(await read().catch(({ cause }) => String(cause))).toBe("Error: it ends too early");
  expect([bytes, largest < 2_000_000]).toEqual([200_000_000, true]);
});

test.each(["H", "T", "E", "Z"])("a frame %s that is longer than any is refused where it begins", async (letter) => {
  await bomb(letter, 200_000_000);
  const read = async () => {
    for await (const frame of readFrames(file)) expect(frame).toBeUndefined();
  };
  expect(await read().catch(({ cause }) => String(cause))).toBe("Error: the data at this place is not a frame");
});
