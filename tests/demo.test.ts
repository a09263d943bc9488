import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { dimensionsOf } from "../plugins/media/content/dimensions.ts";
import { readFrames } from "../runtime/operations/dump/backup-file.ts";
import { demoIndex, demoIndexText } from "../scripts/demo-files.ts";
import { adminPassword, otherAccount, secretKey, startTestApp, type TestApp } from "./harness.ts";
import { cleanUp, folderWith, fromSource, run, startServer } from "./server-process.ts";

// A machine that runs other tests at the same time may be slow, and each demo compiles six apps.
setDefaultTimeout(600_000);

afterAll(cleanUp);

test("sites/demo/files.js holds every file of the demo: run bun scripts/demo-files.ts", async () => {
  expect(await Bun.file(demoIndex).text()).toBe(await demoIndexText());
});

describe("corestead demo", () => {
  const codes = ["demo-board", "demo-expenses", "demo-guestbook", "demo-poll", "demo-stardust", "demo-weather"];
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.stop());

  const demo = async (options: Record<string, string> = {}) => {
    const lines = await app.app.commands.find(({ name }) => name === "demo")?.run(options);
    return (lines ?? []).join("\n");
  };
  const countOf = async (db: string) => (await app.get(`/core/dbs/${db}/search.json?limit=100`)).json.length;

  test("makes a site and six apps, and says where they are", async () => {
    const said = await demo();
    expect(said).toContain("the apps: 6 made");
    for (const code of codes) expect(said).toContain(`${app.origin}/a/${code}  `);
    for (const code of codes) expect((await app.get(`/a/${code}`)).status).toBe(200);
    expect(await countOf("demo_board")).toBe(7);
  });

  test("puts pictures into the library, which the site shows in all widths and with texts in its languages", async () => {
    const { json: files } = await app.get("/core/media.json?folder=kobalt&limit=50");
    expect(files).toHaveLength(11);
    for (const { mime, is_public, titles, alts } of files) {
      expect([mime, is_public, Object.keys(titles).toSorted()]).toEqual(["image/avif", true, ["de", "en", "pl"]]);
      expect(Object.keys(alts).toSorted()).toEqual(["de", "en", "pl"]);
    }
    const { port } = new URL(app.origin);
    const shown = async (host: string, path: string) =>
      (await fetch(`${app.origin}${path}`, { headers: { host: `${host}:${port}` } })).text();
    const { id, alts, width, height } = files.find(({ name }: { name: string }) => name === "still-life.avif");
    const widths = [160, 320, 640, 960, 1280];
    const sets = widths.map((one) => `/media/${id}/w/${one}.webp ${one}w`).join(", ");
    for (const [locale, host, path] of [
      ["pl", "kobalt.localhost", "/"],
      ["de", "kobalt.localhost", "/?lang=de"],
      ["en", "en.kobalt.localhost", "/"],
    ] as const) {
      const page = await shown(host, path);
      expect(page).toContain(`srcset="${sets}"`);
      expect(page).toContain(`alt="${alts[locale]}" width="1280" height="${Math.round((height * 1280) / width)}"`);
    }
    const small = await fetch(`${app.origin}/media/${id}/w/320.webp`, {
      headers: { host: `kobalt.localhost:${port}` },
    });
    const bytes = await small.bytes();
    expect([small.status, dimensionsOf("image/webp", bytes)?.width]).toEqual([200, 320]);
  });

  test("changes nothing a second time, and says so", async () => {
    const versions = () => Promise.all(codes.map(async (code) => (await app.get(`/core/apps/${code}.json`)).headers));
    const etags = (await versions()).map((headers) => headers.get("etag"));
    const said = await demo();
    expect(said).toContain("the apps: 6 unchanged");
    expect(said).toContain("the pictures: 11 unchanged");
    expect((await versions()).map((headers) => headers.get("etag"))).toEqual(etags);
    expect(await countOf("demo_board")).toBe(7);
  });

  test("leaves people's records alone, and mends what was changed", async () => {
    const [card] = (await app.get("/core/dbs/demo_board/search.json")).json;
    await app.delete(`/core/dbs/demo_board/records/${card.id}.json`);
    await app.patch("/connect/connectors/demo_weather.json", { connector: { url: "https://example.com" } });
    await app.patch("/core/apps/demo-poll.json", { app: { name: "Mine" } });
    const [mug, kiln] = (await app.get("/core/media.json?q=*&folder=kobalt&limit=50")).json;
    await app.patch(`/core/media/${mug.id}.json`, { media: { alts: { en: "Mine" } } });
    await app.delete(`/core/media/${kiln.id}.json`);
    const said = await demo();
    expect(said).toContain("the apps: 2 changed, 4 unchanged");
    expect(said).toContain("the pictures: 1 made, 1 changed, 9 unchanged");
    expect((await app.get(`/core/media/${mug.id}.json`)).json.alts).toEqual(mug.alts);
    expect(await countOf("demo_board")).toBe(6);
    expect((await app.get("/connect/connectors/demo_weather.json")).json.url).toBe("https://api.open-meteo.com");
    expect((await app.get("/core/apps/demo-poll.json")).json.name).toBe("Friday poll");
  });

  test("goes into the account that --account names, and into no other", async () => {
    const other = await otherAccount(app);
    expect((await other.get("/core/apps.json")).json).toEqual([]);
    expect(await demo({ account: other.host })).toContain(`http://kobalt.${other.host}`);
    expect((await other.get("/core/apps.json")).json).toHaveLength(6);
    const nobody: Promise<unknown> = demo({ account: "nobody.test" });
    expect(await nobody.catch((error: unknown) => error)).toMatchObject({
      message: expect.stringContaining("nobody.test"),
    });
  });

  test("works on the database that DATABASE_URL names", async () => {
    const { target } = app;
    if ("url" in target) throw new Error("tests run on the embedded PostgreSQL");
    // The test's own PostgreSQL listens only on a socket.
    const bridge = createServer((client) => {
      const database = connect(`${target.socketDir}/.s.PGSQL.${target.port}`);
      client.pipe(database).pipe(client);
      client.on("error", () => {}).on("close", () => database.destroy());
      database.on("error", () => {}).on("close", () => client.destroy());
    });
    await new Promise<void>((ready) => void bridge.listen(0, "127.0.0.1", ready));
    const address = bridge.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const env = {
      DATABASE_URL: `postgres://corestead@127.0.0.1:${port}/${target.database}`,
      DATA_DIR: "data",
      SECRET_KEY: secretKey,
    };
    expect((await app.delete("/core/apps/demo-poll.json")).status).toBe(204);
    const { code, stdout, stderr } = await run([...fromSource, "demo"], { cwd: folderWith(), env });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("the apps: 1 made, 5 unchanged");
    expect((await app.get("/a/demo-poll")).status).toBe(200);
    bridge.close();
  });
});

test("corestead demo works on the embedded database, with and without a server that runs on it, and names its port", async () => {
  const token = "the-administrators-token-of-demo.test.ts";
  const cwd = folderWith();
  const env = { CORE_ADMIN_TOKEN: token, CORE_ADMIN_PASSWORD: adminPassword, DATA_DIR: "data" };
  const demo = async () => {
    const { code, stdout, stderr } = await run([...fromSource, "demo"], { cwd, env: { ...env, PORT: "3000" } });
    expect([code, stderr]).toEqual([0, ""]);
    return stdout;
  };
  const alone = await demo();
  expect(alone).toContain("the apps: 6 made");
  expect(alone).toContain("http://127.0.0.1:3000/a/demo-board");

  const server = await startServer(fromSource, { cwd, env });
  const apps = () => server.request("GET", "/core/apps.json", undefined, { token });
  expect((await apps()).json).toHaveLength(6);
  const { port } = new URL(server.origin);
  const beside = await demo();
  expect(beside).toContain("the apps: 6 unchanged");
  expect(beside).toContain(`http://127.0.0.1:${port}/a/demo-board`);
  expect(beside).not.toContain(":3000");
  const media = await server.request("GET", "/core/media.json?folder=kobalt&limit=50", undefined, { token });
  const backup = await run([...fromSource, "backup", "all.backup"], { cwd, env });
  expect(backup.code).toBe(0);
  const kept = new Set<unknown>();
  for await (const { letter, bytes } of readFrames(join(cwd, "all.backup")))
    if (letter === "F") kept.add(JSON.parse(new TextDecoder().decode(bytes)).hash);
  expect(kept).toEqual(new Set(media.json.map(({ sha256 }: { sha256: string }) => sha256)));
  expect(kept.size).toBe(11);

  const domains = await server.request("GET", "/cms/domains.json?site_code=kobalt", undefined, { token });
  const names = [`en.kobalt.localhost:${port}`, `kobalt.localhost:${port}`];
  expect(domains.json.map(({ name }: { name: string }) => name).toSorted()).toEqual(names);
  const page = await (await fetch(server.origin, { headers: { host: `kobalt.localhost:${port}` } })).text();
  expect(page).toContain(`//en.kobalt.localhost:${port}/`);
  expect(page).not.toContain(":3000");

  // The server sees at once what another process has made.
  expect((await server.request("DELETE", "/core/apps/demo-poll.json", undefined, { token })).status).toBe(204);
  expect((await server.request("GET", "/a/demo-poll", undefined, { token: null })).status).toBe(404);
  expect(await demo()).toContain("the apps: 1 made, 5 unchanged");
  expect((await server.request("GET", "/a/demo-poll", undefined, { token: null })).status).toBe(200);
  expect(await server.stop()).toBe(0);
});
