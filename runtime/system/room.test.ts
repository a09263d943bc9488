/** What happens when the disk of DATA_DIR has little room. behaviour B.3.22. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createFiles } from "../files/files.ts";
import { diskFull, isDiskFull, roomIn, stateOfDisk } from "./room.ts";
import { eventually, startTestApp, type TestApp } from "../../tests/harness.ts";

let roomy: TestApp;
let short: TestApp;
beforeAll(async () => {
  roomy = await startTestApp();
  short = await startTestApp({ target: roomy.target, env: { DISK_RESERVE_BYTES: "100000000000000" } });
  await roomy.post("/core/dbs.json", { db: { name: "Rows", code: "rows" } });
});
afterAll(async () => {
  await short.stop();
  await roomy.stop();
});

const full = { error: "no space left in DATA_DIR: nothing was stored" };
const upload = (app: TestApp, name: string) => {
  const form = new FormData();
  form.append("file", new Blob(["a file"]), name);
  return app.post("/core/media.json", undefined, { raw: form });
};

test("uploads and imports leave room to everybody else, who goes on", async () => {
  const tus = { "tus-resumable": "1.0.0" };
  const metadata = { "upload-length": "5", "upload-metadata": `filename ${btoa("a.bin")}` };
  const begun = await short.request("POST", "/core/media/uploads", undefined, { headers: { ...tus, ...metadata } });
  const refused = [
    await upload(short, "a.bin"),
    await short.request("POST", "/core/dbs/rows/import", undefined, {
      raw: "a\n1\n",
      headers: { "content-type": "text/csv" },
    }),
    await short.request("PATCH", begun.headers.get("location") ?? "", undefined, {
      raw: "12345",
      headers: { ...tus, "upload-offset": "0", "content-type": "application/offset+octet-stream" },
    }),
  ];
  expect(refused.map(({ status, json }) => [status, json])).toEqual(refused.map(() => [503, full]));
  expect(refused.map(({ headers }) => headers.get("retry-after"))).toEqual(refused.map(() => "60"));
  const made = await short.post("/core/dbs/rows/records.json", { record: { data: { a: 1 } } });
  expect(made.status).toBe(201);
  expect((await short.delete(`/core/dbs/rows/records/${made.json.id}.json`)).status).toBe(204);
});

test("/ready says it before anything fails", async () => {
  expect((await roomy.get("/ready")).json.disk).toBe("ok");
  const answer = await short.get("/ready");
  expect([answer.status, answer.json.disk]).toEqual([200, "short"]);
});

test("what is deleted is freed at once where room is short, and a day later elsewhere", async () => {
  const file = (await upload(roomy, "b.bin")).json;
  expect((await roomy.delete(`/core/media/${file.id}.json`)).status).toBe(204);
  await roomy.sql`update media_contents set touched_at = now() - interval '2 minutes'`;
  const collected = async (app: TestApp, id: string) => {
    await app.sql`
      insert into jobs (name, run_at, payload, created_at)
      values (${`schedule:${id}`}, now(), ${JSON.stringify({ dueAt: new Date().toISOString() })}::json, now())`;
    await eventually(async () => (await app.sql`select from jobs where name = ${`schedule:${id}`}`).length === 0);
  };
  const contents = async () => (await roomy.sql`select from media_contents`).length;
  await short.stop();
  await collected(roomy, "media.collect");
  await collected(roomy, "media.room");
  expect(await contents()).toBe(1);
  short = await startTestApp({ target: roomy.target, env: { DISK_RESERVE_BYTES: "100000000000000" } });
  await roomy.sql`
    insert into jobs (name, run_at, payload, created_at)
    select 'schedule:media.room', now(), json_build_object('dueAt', now()), now() from generate_series(1, 20)`;
  await eventually(async () => (await contents()) === 0);
});

test.each([
  ["the system", Object.assign(new Error("write"), { code: "ENOSPC" }), true],
  ["a quota", Object.assign(new Error("write"), { code: "EDQUOT" }), true],
  ["PostgreSQL", Object.assign(new Error("could not extend file"), { code: "53100" }), true],
  ["PostgreSQL's log", new Error('could not write to file "pg_wal/xlogtemp.1": No space left on device'), true],
  ["another fault", Object.assign(new Error("denied"), { code: "EACCES" }), false],
  ["no error", "ENOSPC", false],
])("a full disk is told by %s", (_, error, is) => {
  expect(isDiskFull(error)).toBe(is);
});

test("a large upload is stopped when room becomes short meanwhile", async () => {
  let free = true;
  const room = { isShort: async () => !free, mustHave: async () => (free ? undefined : Promise.reject(diskFull())) };
  const draft = await createFiles(`${process.env["TMPDIR"] ?? "/tmp"}/corestead-room-${process.pid}`, room).begin();
  const piece = new Uint8Array(3_000_000);
  await draft.write(piece);
  free = false;
  await draft.write(new Uint8Array(0));
  expect(draft.write(piece)).rejects.toThrow("no space left in DATA_DIR");
  await draft.drop();
});

test("a folder that is not there has room", async () => {
  expect(await roomIn("/no/such/folder", 1e15).isShort()).toBe(false);
  expect(await stateOfDisk({ dataDir: "/no/such/folder", diskReserveBytes: 1 })).toBe("ok");
});
