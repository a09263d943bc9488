import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDatabase, startTestApp, type TestApp } from "../../tests/harness.ts";
import { readConfig } from "../../runtime/settings/config.ts";
import { openPool } from "../../runtime/db/db.ts";
import { createFiles } from "../../runtime/files/files.ts";
import { roomIn } from "../../runtime/system/room.ts";
import { openFiles } from "../../runtime/operations/s3/open-files.ts";
import { createLog } from "../../runtime/system/log.ts";
import { backup, restore } from "../../runtime/operations/dump/backup.ts";
import { migrate } from "../../runtime/db/migrate.ts";
import { migrationSets } from "../../runtime/db/runtime-migrations.ts";
import { faultXml, s3Credentials, startS3 } from "../../tests/fixtures/s3.ts";
import { plugins } from "../index.ts";
import { png } from "../../tests/fixtures/media-files.ts";

const silent = createLog("error", () => {});
const s3 = startS3({ bucket: "core-files" });
let folder: string;
let env: Record<string, string>;
let app: TestApp;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "corestead-bucket-"));
  const { accessKey: S3_ACCESS_KEY_ID, secretKey: S3_SECRET_ACCESS_KEY, region: S3_REGION } = s3Credentials;
  env = { S3_ENDPOINT: s3.url, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY, S3_REGION, DATA_DIR: join(folder, "data") };
  env["FILES_BUCKET"] = "s3://core-files/a";
  // Nothing but the store's own server may be reached.
  app = await startTestApp({ env: { ...env, OUTBOUND_ALLOW: "" } });
});
afterEach(() => {
  s3.answer = undefined;
});
afterAll(async () => {
  await app.stop();
  await s3.stop();
  await rm(folder, { recursive: true });
});

const upload = (name: string, content: Uint8Array<ArrayBuffer>) => {
  const form = new FormData();
  form.append("is_public", "true");
  form.append("file", new Blob([content]), name);
  return app.post("/core/media.json", undefined, { raw: form });
};
const served = async (url: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${app.origin}${url}`, { headers });
  return { status: response.status, headers: response.headers, body: await response.bytes() };
};
/** A text file, so that it is what it says. */
const textOf = (length: number) => new Uint8Array(length).map((_, at) => 97 + ((at * 7 + (at >> 9)) % 26));
const hashOf = (bytes: Uint8Array) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
const keyOf = (hash: string) => `a/media/${hash.slice(0, 2)}/${hash}`;
const draftsLeft = () => readdir(join(folder, "data/media/drafts"));

test("an upload goes to the bucket once, and is served from there with ranges under the same address", async () => {
  const long = textOf(5_500_000);
  const made = await upload("long.txt", long);
  expect(made.status).toBe(201);
  const again = await upload("other.txt", long);
  expect([again.status, again.json.sha256]).toEqual([201, made.json.sha256]);
  expect([...s3.objects.keys()]).toEqual([keyOf(hashOf(long))]);
  expect(s3.requests.filter(({ method }) => method === "PUT")).toHaveLength(1);
  expect(await draftsLeft()).toEqual([]);

  const whole = await served(made.json.url);
  expect([whole.status, Buffer.compare(whole.body, long)]).toEqual([200, 0]);
  const headers = { etag: `"${hashOf(long).slice(0, 32)}"`, "cache-control": "public, max-age=31536000, immutable" };
  expect(Object.fromEntries(whole.headers)).toMatchObject({ ...headers, "accept-ranges": "bytes" });
  for (const [range, from, to] of [
    ["bytes=0-0", 0, 1],
    ["bytes=1999999-2000000", 1_999_999, 2_000_001],
    ["bytes=100-4500000", 100, 4_500_001],
    ["bytes=-10", long.length - 10, long.length],
  ] as const) {
    const part = await served(made.json.url, { range });
    expect(part.status).toBe(206);
    expect(part.headers.get("content-range")).toBe(`bytes ${from}-${to - 1}/${long.length}`);
    expect(Buffer.compare(part.body, long.subarray(from, to))).toBe(0);
  }
  const known = await served(made.json.url, { "if-none-match": headers.etag });
  expect([known.status, (await served(made.json.url, { range: "bytes=9999999-" })).status]).toEqual([304, 416]);
});

test("a store that is down refuses the upload, leaves nothing, and says 503 to readers", async () => {
  const made = await upload("before.txt", textOf(100));
  s3.answer = () => faultXml(403, "AccessDenied");
  const refused = await upload("lost.txt", textOf(101));
  expect([refused.status, refused.json]).toEqual([503, { error: "the store of files cannot be reached, try again" }]);
  expect((await served(made.json.url)).status).toBe(503);
  expect((await app.get("/core/media.json?q=lost")).json).toEqual([]);
  expect(await draftsLeft()).toEqual([]);
  expect(app.logged.join("")).toContain("S3 answered 403");
  s3.answer = undefined;
  expect((await upload("lost.txt", textOf(101))).status).toBe(201);
  expect((await served(made.json.url)).body).toEqual(textOf(100));
  // What has begun to be sent is cut off, so that nobody takes it for the whole.
  const long = await upload("cut.txt", textOf(5_000_001));
  s3.answer = ({ headers }) =>
    headers.get("range")?.startsWith("bytes=2000000-") ? faultXml(403, "AccessDenied") : undefined;
  expect(await served(long.json.url).catch(() => "cut off")).toBe("cut off");
  const content = await openFiles(readConfig(env), silent)("media").find(long.json.sha256);
  const fault = await new Response(content?.stream()).bytes().catch(String);
  expect(fault).toContain("the store of files cannot be reached");
});

test("a content from before the bucket is still served, and what is deleted goes from both", async () => {
  const files = openFiles(readConfig(env), silent)("media");
  const content = textOf(200);
  const draft = await createFiles(join(folder, "data/media"), roomIn(folder, 0)).begin();
  await draft.write(content);
  const { hash } = await draft.end();
  await draft.keep();
  expect(await (await files.find(hash))?.bytes()).toEqual(content);
  const listed = await Array.fromAsync(files.list());
  expect(listed.filter((one) => one === hash)).toHaveLength(1);
  expect(listed).toHaveLength(s3.objects.size + 1);
  const made = await upload("before.png", png(3, 4));
  await files.remove(hash);
  await files.remove(made.json.sha256);
  expect([await files.find(hash), s3.objects.has(keyOf(made.json.sha256))]).toEqual([undefined, false]);
});

test("a backup holds what is in the bucket, and a restore puts it into another one", async () => {
  const foldersOf = (place: string) => ({
    folders: ["media"],
    open: openFiles(readConfig({ ...env, FILES_BUCKET: place, DATA_DIR: join(folder, "other") }), silent),
  });
  const file = join(folder, "all.backup");
  await backup(app.sql, file, silent, foldersOf("s3://core-files/a"));
  const sql = openPool(await createDatabase(), { max: 2 });
  await migrate(sql, migrationSets(plugins), silent);
  await restore(sql, file, silent, { files: foldersOf("s3://core-files/b") });
  await sql.end();
  const under = (prefix: string) =>
    new Set(
      [...s3.objects].flatMap(([key, bytes]) => (key.startsWith(prefix) ? [`${key.slice(2)} ${hashOf(bytes)}`] : [])),
    );
  expect(under("b/").size).toBeGreaterThan(2);
  expect(under("b/")).toEqual(under("a/"));
  expect(await readdir(join(folder, "other/media/drafts"))).toEqual([]);
});
