/** Resumable uploads: with the protocol's own client, and by hand where a client behaves badly. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Upload } from "tus-js-client";
import { adminToken, eventually, otherAccount, person, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { png } from "../../../tests/fixtures/media-files.ts";

let app: TestApp;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "corestead-tus-"));
  app = await startTestApp({ env: env() });
});
const env = () => ({ DATA_DIR: folder, MEDIA_MAX_BYTES: "3000000", MEDIA_QUOTA_BYTES: "20000000" });
afterAll(async () => {
  await app.stop();
  await rm(folder, { recursive: true });
});

const tus = { "tus-resumable": "1.0.0" };
const base64 = (text: string) => Buffer.from(text).toString("base64");
const metadata = (values: Record<string, string>) =>
  Object.entries(values)
    .map(([key, value]) => `${key} ${base64(value)}`)
    .join(",");
const send = (method: string, path: string, headers: Record<string, string>, body?: BodyInit, token = adminToken) =>
  fetch(`${app.origin}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...(body !== undefined && { body }),
  });
let files = 0;
async function begin(size: number, values: Record<string, string> = { filename: `a${++files}.bin` }): Promise<string> {
  const answer = await send("POST", "/core/media/uploads", {
    ...tus,
    "upload-length": `${size}`,
    "upload-metadata": metadata(values),
  });
  expect([answer.status, await answer.json()]).toEqual([201, expect.objectContaining({ size })]);
  return answer.headers.get("location") ?? "";
}
const append = (path: string, offset: number, body: BodyInit, headers: Record<string, string> = {}) =>
  send(
    "PATCH",
    path,
    { ...tus, "content-type": "application/offset+octet-stream", "upload-offset": `${offset}`, ...headers },
    body,
  );
const offsetOf = async (path: string) => Number((await send("HEAD", path, tus)).headers.get("upload-offset"));
const drafts = () => (existsSync(join(folder, "media/drafts")) ? readdirSync(join(folder, "media/drafts")) : []);
/** Differs from place to place, and between files. */
const content = (bytes: number, seed: number) =>
  Uint8Array.from({ length: bytes }, (_, at) => (at * 31 + (at >> 8) + seed) & 255);

test("the protocol's client sends a file in parts, goes on after a break, and names what it became", async () => {
  const file = content(2_500_000, 1);
  let breaks = 0;
  const done = Promise.withResolvers<string>();
  const upload = new Upload(Buffer.from(file), {
    endpoint: `${app.origin}/core/media/uploads`,
    headers: { authorization: `Bearer ${adminToken}` },
    metadata: { filename: "film.bin", folder: "films", is_public: "true", alts: JSON.stringify({ en: "A film" }) },
    chunkSize: 700_000,
    retryDelays: [0, 0],
    onAfterResponse(request) {
      // As if the second part's answer had been lost.
      if (request.getMethod() === "PATCH" && ++breaks === 2) throw new Error("the connection broke");
    },
    onError: done.reject,
    onSuccess: ({ lastResponse }) => done.resolve(lastResponse.getHeader("location") ?? ""),
  });
  upload.start();
  const made = (await app.get(await done.promise)).json;
  expect(made).toMatchObject({
    name: "film.bin",
    folder: "films",
    size: file.length,
    is_public: true,
    alts: { en: "A film" },
  });
  expect(made.sha256).toBe(new Bun.CryptoHasher("sha256").update(file).digest("hex"));
  const stored = await fetch(`${app.origin}${made.url}`);
  expect(Buffer.from(await stored.bytes()).equals(file)).toBe(true);
  expect(drafts()).toEqual([]);
});

test("what arrived before a connection broke stays", async () => {
  const path = await begin(300_000);
  const stop = new AbortController();
  const piece = content(100_000, 2);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      controller.enqueue(piece);
      await eventually(async () => (await offsetOf(path)) > 0);
      stop.abort();
    },
  });
  const broken = fetch(`${app.origin}${path}`, {
    method: "PATCH",
    signal: stop.signal,
    body,
    headers: {
      ...tus,
      authorization: `Bearer ${adminToken}`,
      "content-type": "application/offset+octet-stream",
      "upload-offset": "0",
    },
  });
  expect(
    await broken.then(
      ({ status }) => status,
      () => "broken",
    ),
  ).toBe("broken");
  const offset = await offsetOf(path);
  expect(offset).toBeGreaterThan(0);
  const rest = Buffer.concat([piece, content(200_000, 3)]).subarray(offset);
  const last = await eventually(async () => {
    const answer = await append(path, await offsetOf(path), rest);
    return answer.status === 204 ? answer : undefined;
  });
  expect(last.headers.get("upload-offset")).toBe("300000");
  expect((await app.get(last.headers.get("location") ?? "")).json).toMatchObject({ size: 300_000 });
});

test("an upload goes on at the process that takes the place of one that stops in the middle of a part", async () => {
  const path = await begin(300_000);
  const file = content(300_000, 4);
  const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(file.slice(0, 100_000)) });
  const cut = append(path, 0, body);
  await eventually(async () => (await offsetOf(path)) > 0);
  const next = await startTestApp({ target: app.target, env: env() });
  await app.stop();
  app = next;
  expect((await cut).status).toBe(503);
  const offset = await offsetOf(path);
  expect(offset).toBeGreaterThan(0);
  const last = await append(path, offset, file.slice(offset));
  expect(last.status).toBe(204);
  const made = (await app.get(last.headers.get("location") ?? "")).json;
  expect(made.sha256).toBe(new Bun.CryptoHasher("sha256").update(file).digest("hex"));
});

test("OPTIONS says what is spoken, without a token, and refusals carry the version", async () => {
  for (const path of ["/core/media/uploads", `/core/media/uploads/${crypto.randomUUID()}`]) {
    const { status, headers } = await fetch(`${app.origin}${path}`, { method: "OPTIONS" });
    const said = ["tus-version", "tus-extension", "tus-max-size"].map((name) => headers.get(name));
    expect([status, ...said]).toEqual([
      204,
      "1.0.0",
      "creation,creation-with-upload,expiration,termination",
      "3000000",
    ]);
  }
  const refused = [
    await send("HEAD", `/core/media/uploads/${crypto.randomUUID()}`, tus),
    await send("POST", "/core/media/uploads", tus),
    await send("PATCH", `/core/media/uploads/${crypto.randomUUID()}`, tus, undefined, "nobody"),
  ];
  expect(refused.map(({ status, headers }) => [status, headers.get("tus-resumable")])).toEqual([
    [404, "1.0.0"],
    [400, "1.0.0"],
    [401, "1.0.0"],
  ]);
});

describe("a part", () => {
  test("belongs where the upload is", async () => {
    const path = await begin(10);
    expect((await append(path, 0, "01234")).headers.get("upload-offset")).toBe("5");
    for (const offset of [0, 4, 6, 10]) {
      const answer = await append(path, offset, "x");
      expect([offset, answer.status, answer.headers.get("upload-offset")]).toEqual([offset, 409, "5"]);
    }
    expect((await append(path, 5, "56789")).status).toBe(204);
    // Whoever did not hear of the end asks, and is told that it is there.
    expect(await offsetOf(path)).toBe(10);
    const again = await append(path, 10, "");
    expect([again.status, again.headers.get("location")]).toEqual([204, expect.stringMatching(/^\/core\/media\//)]);
  });

  test("beyond the length that was said leaves nothing", async () => {
    const path = await begin(5);
    expect((await append(path, 0, "012345678")).status).toBe(413);
    expect(await offsetOf(path)).toBe(0);
  });

  test.each<[string, Record<string, string>, number]>([
    ["another version", { "tus-resumable": "0.2.2" }, 412],
    ["another type", { "content-type": "application/json" }, 415],
    ["a wrong offset", { "upload-offset": "-1" }, 400],
    ["an offset that is none", { "upload-offset": "many" }, 400],
  ])("with %s is refused", async (_, headers, status) => {
    const path = await begin(5);
    expect((await append(path, 0, "01234", headers)).status).toBe(status);
    expect(await offsetOf(path)).toBe(0);
  });

  test("of two at once is written by one alone", async () => {
    const path = await begin(200_000);
    const answers = await Promise.all(Array.from({ length: 4 }, (_, n) => append(path, 0, content(100_000, n))));
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    expect(answers.every(({ status }) => [204, 409, 423].includes(status))).toBe(true);
    expect(await offsetOf(path)).toBe(100_000);
  });
});

test("what a process held when it died is free at once, and what a living one holds is not", async () => {
  const path = await begin(10);
  const id = path.slice(path.lastIndexOf("/") + 1);
  const heldBy = (process: string) => app.sql`
    update media_uploads set writer = gen_random_uuid(), writer_process = ${process},
      writes_until = now() + interval '1 hour' where id = ${id}`;
  const [living] = await app.sql`
    select split_part(application_name, ' ', 3) as id from pg_stat_activity
    where application_name like 'corestead listen %' and datname = current_database()`;
  await heldBy(living?.["id"]);
  expect((await append(path, 0, "01234")).status).toBe(423);
  await heldBy(crypto.randomUUID());
  expect((await append(path, 0, "01234")).status).toBe(204);
});

describe("an upload", () => {
  test("with its first part in the same request, and an empty one", async () => {
    const picture = png(20, 10);
    const whole = await send(
      "POST",
      "/core/media/uploads",
      {
        ...tus,
        "content-type": "application/offset+octet-stream",
        "upload-length": `${picture.length}`,
        "upload-metadata": metadata({ filename: "small.png" }),
      },
      picture,
    );
    expect([whole.status, whole.headers.get("upload-offset")]).toEqual([201, `${picture.length}`]);
    const state = (await app.get(`${whole.headers.get("location")}.json`)).json;
    expect((await app.get(`/core/media/${state.media_id}.json`)).json).toMatchObject({ mime: "image/png", width: 20 });
    const empty = await begin(0, { filename: "empty.txt" });
    expect((await app.get(`${empty}.json`)).json).toMatchObject({ size: 0, offset: 0, media_id: expect.any(String) });
  });

  test.each<[Record<string, string>, number]>([
    [{}, 400],
    [{ "upload-length": "x" }, 400],
    [{ "upload-length": "3000001" }, 413],
    [{ "upload-length": "5" }, 422],
    [{ "upload-length": "5", "upload-metadata": "filename %%%" }, 422],
    [{ "upload-length": "5", "upload-metadata": metadata({ filename: "../../etc/passwd" }) }, 422],
    [{ "upload-length": "5", "upload-metadata": metadata({ filename: "a.txt", colour: "red" }) }, 422],
  ])("of %j is refused", async (headers, status) => {
    expect((await send("POST", "/core/media/uploads", { ...tus, ...headers })).status).toBe(status);
    expect((await send("POST", "/core/media/uploads", headers)).status).toBe(412);
  });

  test("that cannot become a file is gone, and says why", async () => {
    const first = await begin(3, { filename: "taken.txt" });
    expect((await append(first, 0, "one")).status).toBe(204);
    const second = await begin(3, { filename: "taken.txt" });
    const refused = await append(second, 0, "two");
    expect([refused.status, await refused.json()]).toEqual([422, { name: ["has already been taken in this folder"] }]);
    expect((await send("HEAD", second, tus)).status).toBe(404);
    // An SVG is made harmless here too.
    const svg = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><circle r="4"/></svg>`;
    const drawn = await append(await begin(svg.length, { filename: "x.svg", is_public: "true" }), 0, svg);
    const { url } = (await app.get(drawn.headers.get("location") ?? "")).json;
    expect(await (await fetch(`${app.origin}${url}`)).text()).not.toContain("script");
  });

  test("is its owner's alone, and ends when they say so", async () => {
    const path = await begin(10);
    await append(path, 0, "01234");
    const manager = await person(app, { role: "manager" });
    const stranger = await otherAccount(app);
    const guest = await person(app, { role: "guest" });
    for (const [token, status] of [
      [manager.token, 404],
      [stranger.adminToken, 404],
      [guest.token, 403],
    ] as const) {
      expect((await send("HEAD", path, tus, undefined, token)).status).toBe(status);
      expect((await send("DELETE", path, tus, undefined, token)).status).toBe(status);
    }
    expect((await send("DELETE", path, tus)).status).toBe(204);
    expect((await send("HEAD", path, tus)).status).toBe(404);
    expect(drafts().some((name) => path.endsWith(name))).toBe(false);
  });

  test("counts towards what the account may have, and there are only so many at once", async () => {
    const big = await Promise.all(
      Array.from({ length: 8 }, () =>
        send("POST", "/core/media/uploads", {
          ...tus,
          "upload-length": "3000000",
          "upload-metadata": metadata({ filename: "big.bin" }),
        }),
      ),
    );
    expect(big.filter(({ status }) => status === 201).length).toBeLessThan(7);
    expect(big.some(({ status }) => status === 413)).toBe(true);
    await app.sql`delete from media_uploads`;
    await Promise.all(Array.from({ length: 100 }, () => begin(1)));
    const beyond = await send("POST", "/core/media/uploads", {
      ...tus,
      "upload-length": "1",
      "upload-metadata": metadata({ filename: "b" }),
    });
    expect(beyond.status).toBe(429);
    await app.sql`update media_uploads set expires_at = now() - interval '1 second'`;
    await begin(1);
  });
});
