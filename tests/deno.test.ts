/** The server under Deno does over HTTP what it does under Bun; docs/development.md, "Deno", lists what it does not. */
// needs: deno
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync } from "node:fs";
import { connect } from "node:net";
import { join, resolve } from "node:path";
import { denoEnv, fromSourceByDeno } from "./deno-process.ts";
import { pureTests } from "./deno/pure-tests.ts";
import { followStream } from "./event-stream.ts";
import { modules } from "../plugins/modules.ts";
import { clientOf } from "../runtime/operations/authors/test-client.ts";
import { adminPassword, adminToken, eventually, freePort } from "./harness.ts";
import { startReceiver, type Receiver } from "./receiver.ts";
import { examplePassword, isAsExpected, isForAnyServer, nameOf, operationsOf, runExamples } from "./route-examples.ts";
import { cleanUp, folderWith, run, startServer, type ServerProcess } from "./server-process.ts";
import { siteMaker } from "./sites.ts";

setDefaultTimeout(600_000);
const env = {
  ...denoEnv,
  CORE_ADMIN_PASSWORD: adminPassword,
  CORE_ADMIN_TOKEN: adminToken,
  OUTBOUND_ALLOW: "127.0.0.1",
  SECRET_KEY: "a secret key of the tests, 32 characters or more",
};
const program = fromSourceByDeno();
const root = resolve(import.meta.dir, "..");
const template = join(root, "scripts/new-plugin");
const json = { "content-type": "application/json" };

const cwd = folderWith();
let server: ServerProcess;
let app: ReturnType<typeof clientOf>;
let receiver: Receiver;
beforeAll(async () => {
  receiver = startReceiver();
  cpSync(template, join(cwd, "plugins/sample-plugin"), { recursive: true });
  server = await startServer(program, { cwd, env: { ...env, PLUGINS_DIR: "plugins" } });
  app = clientOf(server.request);
});
afterAll(async () => {
  await receiver.stop();
  await cleanUp();
});

async function made(path: string, body: object) {
  const answer = await app.post(path, body);
  expect([path, answer.status, answer.text]).toEqual([path, 201, expect.any(String)]);
  return answer.json;
}

test("deno.json names the modules that plugins of PLUGINS_DIR import", async () => {
  const files = [...new Bun.Glob("plugins/**/api.ts").scanSync({ cwd: root })];
  const names = Object.keys(modules).map((name) => {
    const end = `/${name.replace("platform/", "")}/api.ts`;
    return [name, `./${files.find((file) => file.endsWith(end))}`];
  });
  const { imports } = await Bun.file(join(root, "deno.json")).json();
  const ours = {
    "bun:test": "./tests/deno/bun-test.ts",
    platform: "./runtime/sdk.ts",
    "studio/exact": "./sites/studio/app/server/exact.ts",
    "studio/page": "./sites/studio/app/kit/page.ts",
    "studio/when": "./sites/studio/app/when.ts",
  };
  expect(imports).toEqual({ ...Object.fromEntries(names), ...ours });
});

test("what needs no server is computed as under Bun: the pure tests", async () => {
  const files = pureTests(root);
  for (const one of ["http/answers/etag", "host/listen", "outbound/outbound", "outbound/outbound-socket"])
    expect(files).toContain(`runtime/${one}.test.ts`);
  expect(files.length).toBeGreaterThan(100);
  const { code, stdout, stderr } = await run([...fromSourceByDeno("tests/deno/run.ts"), ...files], { cwd: root, env });
  expect([code, stderr, stdout]).toEqual([0, "", expect.stringMatching(/^\d{4} passed, 0 failed\n$/)]);
}, 600_000);

test("says what runs it", async () => {
  expect((await run([...program, "version"], { cwd: folderWith(), env })).stdout).toMatch(
    /^corestead \S+ \(.*Deno 2\./,
  );
});

test("the tools for authors say that they need Bun", async () => {
  const { code, stderr } = await run([...program, "plugin", "pack", "a", "b.js"], { cwd, env });
  expect([code, stderr]).toEqual([1, expect.stringContaining("run it with Bun")]);
});

test("signs in and out, and keeps passwords as Bun does", async () => {
  const signIn = (password: string) =>
    app.post(
      "/account/session.json",
      { login: "admin", password },
      { token: null, headers: { origin: server.origin } },
    );
  expect((await signIn("wrong")).status).toBe(401);
  const { status, headers } = await signIn(adminPassword);
  expect(status).toBe(201);
  const cookie = (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const options = { token: null, headers: { cookie, origin: server.origin } };
  expect((await app.get("/account/me.json", options)).json.login).toBe("admin");
  expect((await app.delete("/account/session.json", options)).status).toBe(204);
  expect((await app.get("/account/me.json", options)).status).toBe(401);
});

describe("records", () => {
  test("are made, found, changed with If-Match, followed by events, and removed", async () => {
    const { id: db } = await made("/core/dbs.json", { db: { name: "Orders", code: "orders" } });
    const follower = await followStream(`${server.origin}/core/dbs/${db}/events`);
    expect([follower.status, follower.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    const { id } = await made(`/core/dbs/${db}/records.json`, { record: { data: { title: "Zażółć", n: 1 } } });
    const path = `/core/dbs/${db}/records/${id}.json`;
    const got = await app.get(path);
    expect(got.json.data).toEqual({ title: "Zażółć", n: 1 });
    const headers = { "if-match": got.headers.get("etag") ?? "" };
    expect((await app.patch(path, { record: { data: { n: 2 } } }, { headers })).json.data.n).toBe(2);
    expect((await app.patch(path, { record: { data: { n: 3 } } }, { headers })).status).toBe(412);
    expect((await app.get(`/core/dbs/${db}/search.json?q=zażółć`)).json).toHaveLength(1);
    expect((await app.delete(path)).status).toBe(204);
    await eventually(() => follower.events.length >= 3, "three events");
    await follower.close();
  });

  test("are imported by a stream", async () => {
    const { id: db } = await made("/core/dbs.json", { db: { name: "Imported", code: "imported" } });
    const raw = Array.from({ length: 2_000 }, (_, n) => `{"n":${n}}\n`).join("");
    const headers = { "content-type": "application/x-ndjson" };
    const answer = await app.post(`/core/dbs/${db}/import`, undefined, { raw, headers });
    expect([answer.status, answer.json]).toEqual([201, { imported: 2000 }]);
  });
});

test("an app is compiled in a process of its own, and served", async () => {
  const source_code = "<script>\n  let n = $state(0);\n</script>\n<button onclick={() => n++}>{n}</button>";
  const { url_code } = await made("/core/apps.json", { app: { name: "Counter", source_code, public: true } });
  const page = await app.get(`/a/${url_code}`, { token: null });
  expect([page.status, page.text]).toEqual([200, expect.stringContaining("<script")]);
  const wrong = await app.post("/core/apps.json", { app: { name: "Wrong", source_code: "{#if}" } });
  expect([wrong.status, Object.keys(wrong.json)]).toEqual([422, ["source_code"]]);
});

test("a webhook is delivered, signed, and a flow calls a connector", async () => {
  const webhook = { source_type: "Core::Prompt", kind: "create", url: `${receiver.url}/hook` };
  await made("/account/webhooks.json", { webhook });
  await made("/core/prompts.json", { prompt: { name: "Hello", code: "hello", content: "Hi", kind: "chat" } });
  await eventually(() => receiver.at("/hook").length === 1, "the delivery");
  expect(receiver.at("/hook")[0]?.headers.get("webhook-signature")).toMatch(/^v1,/);

  const methods = { get: { path: "/get/{what}" } };
  await made("/connect/connectors.json", {
    connector: { name: "Remote", code: "remote", url: receiver.url, fields: { methods } },
  });
  receiver.answer = () => Response.json({ temp: 21 });
  const steps = [
    { type: "connector", connector: "remote", method: "get", params: { what: "x" }, as: "got" },
    { type: "return", value: "{{ got.temp }}" },
  ];
  await made("/connect/flows.json", { flow: { name: "Ask", code: "ask", fields: { program: steps } } });
  const answer = await app.post("/connect/flows/ask/run.json?wait=20", {});
  expect([answer.status, answer.json.data, answer.json.error]).toEqual([201, 21, null]);
});

test("a page of a site is rendered, and its files have ranges", async () => {
  const make = siteMaker({ ...app, approve: async () => {} });
  await make.site({ code: "shop" });
  await make.domain({ name: "shop.test", site_code: "shop" });
  await make.page({ site_code: "shop", code: "home", path: "/", content: "<h1>{{ 'a' | upcase }}</h1>" });
  const page = await make.at("shop.test", "/");
  expect([page.status, page.text]).toEqual([200, expect.stringContaining("<h1>A</h1>")]);

  const form = new FormData();
  const bytes = new Uint8Array(3_000_000).map((_, at) => at % 251);
  form.append("file", new Blob([bytes]), "large.bin");
  const { url } = (await app.post("/core/media.json", undefined, { raw: form })).json;
  const whole = await fetch(new URL(url, server.origin), { headers: { authorization: `Bearer ${adminToken}` } });
  expect(Buffer.compare(await whole.bytes(), bytes)).toBe(0);
  const headers = { range: "bytes=1000-1009", authorization: `Bearer ${adminToken}` };
  const part = await fetch(new URL(url, server.origin), { headers });
  expect([part.status, await part.bytes()]).toEqual([206, bytes.slice(1000, 1010)]);
});

test("a plugin of PLUGINS_DIR works, with its page of the Studio", async () => {
  const answer = await app.post("/sample-plugin/items", { item: { title: "Shelf" } });
  expect([answer.status, answer.json.title]).toEqual([201, "Shelf"]);
  const [page] = (await app.get("/studio/-/pages")).json;
  const code = await app.get(page.module);
  expect([code.status, code.text.includes("mount")]).toEqual([200, true]);
});

describe("like Bun's server it refuses", () => {
  const host = "Host: 127.0.0.1\r\n";
  const lines = (count: number) => Array.from({ length: count }, (_, n) => `X-${n}: a\r\n`).join("");
  test.each([
    ["no Host", "GET /health HTTP/1.1\r\n\r\n", 400],
    ["two Hosts", `GET /health HTTP/1.1\r\n${host}Host: b.c\r\n\r\n`, 400],
    ["a Host with a path", "GET /health HTTP/1.1\r\nHost: a/core\r\n\r\n", 400],
    ["a header of 17 kB", `GET /health HTTP/1.1\r\n${host}X: ${"a".repeat(17_000)}\r\n\r\n`, 431],
    ["an address of 20 kB", `GET /health?${"a".repeat(20_000)} HTTP/1.1\r\n${host}\r\n`, 431],
    ["CONNECT", `CONNECT a.b:443 HTTP/1.1\r\n${host}\r\n`, 400],
    ["TRACE", `TRACE /health HTTP/1.1\r\n${host}\r\n`, 405],
    [
      "two lengths",
      `POST /account/session HTTP/1.1\r\n${host}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n`,
      400,
    ],
    [
      "a body of 17 kB of a stranger",
      `POST /account/session HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 17000\r\n\r\n${" ".repeat(17_000)}`,
      413,
    ],
    ["nothing with 100 headers", `GET /health HTTP/1.1\r\n${host}${lines(90)}\r\n`, 200],
    ["nothing with dots in the path", `GET /a/../health HTTP/1.1\r\n${host}\r\n`, 200],
  ])("%s", async (_, request, status) => {
    expect(await statusOf(request)).toBe(status);
  });

  test("another site's page", async () => {
    const headers = { ...json, origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    const { status } = await app.post(
      "/account/session.json",
      { login: "admin", password: adminPassword },
      { token: null, headers },
    );
    expect(status).toBe(403);
  });
});

/** The status of the answer to these bytes. */
function statusOf(request: string): Promise<number> {
  return new Promise((done, reject) => {
    const socket = connect(Number(new URL(server.origin).port), "127.0.0.1", () => socket.write(request));
    socket.once("error", reject);
    socket.once("data", (bytes) => {
      socket.destroy();
      done(Number(bytes.toString("latin1").split(" ")[1]));
    });
  });
}

test("a backup is written beside it", async () => {
  const { code, stdout, stderr } = await run([...program, "backup", "now.backup"], { cwd, env });
  expect([code, stderr, stdout]).toEqual([0, "", expect.stringContaining("the backup is in now.backup")]);
});

test("the examples of all routes do what they say", async () => {
  const settings = { CORE_ADMIN_PASSWORD: examplePassword, SECURITY_CONTACT: "mailto:security@example.com" };
  const examples = await startServer(program, { cwd: folderWith(), env: { ...env, ...settings } });
  const client = clientOf(examples.request);
  const operations = operationsOf((await client.get("/docs")).text).filter(isForAnyServer);
  const ran = await runExamples(operations, { client, receiver, folder: folderWith() });
  expect(ran.length).toBeGreaterThan(250);
  const failed = ran.filter((one) => !isAsExpected(one));
  expect(failed.map((one) => `${one.status} ${nameOf(one)} ${one.body}`)).toEqual([]);
  expect(await examples.stop()).toBe(0);
});

test.each([
  ["every route asks for its privilege", "tests/access-matrix.test.ts"],
  ["pictures are made smaller by WebAssembly, in a process of its own", "plugins/media/pictures.test.ts"],
])(
  "%s",
  async (_, file) => {
    const more = { PATH: process.env["PATH"] ?? "", TEST_RUNTIME: "deno" };
    const { code, stderr } = await run([process.execPath, "test", "--timeout", "120000", join(root, file)], {
      cwd: root,
      env: more,
    });
    expect([code, stderr]).toEqual([0, expect.stringContaining(" 0 fail")]);
  },
  240_000,
);

test("SIGTERM ends it with all that it started", async () => {
  expect(await server.stop()).toBe(0);
});

test("two processes serve on one port, behind https with a certificate of TLS_DIR", async () => {
  const folder = folderWith();
  const files = ["-keyout", join(folder, "a.key"), "-out", join(folder, "a.crt"), "-subj", "/CN=core.test"];
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  await run(["openssl", "req", ...kind, ...files, "-addext", "subjectAltName=DNS:core.test"], { cwd: folder });
  const httpsPort = await freePort();
  const tls = { HTTPS: "on", HTTPS_PORT: `${httpsPort}`, HTTP_PORT: "0", HTTPS_HOST: "127.0.0.1", TLS_DIR: folder };
  const more = { ...tls, WORKERS: "2", BASE_URL: "https://core.test" };
  const two = await startServer(program, { cwd: folderWith(), env: { ...env, ...more } });
  const ask = () =>
    fetch(`https://127.0.0.1:${httpsPort}/account/me.json`, {
      headers: { host: "core.test", authorization: `Bearer ${adminToken}` },
      tls: { rejectUnauthorized: false, serverName: "core.test" },
    });
  const answers = await Promise.all(Array.from({ length: 10 }, ask));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(await two.stop()).toBe(0);
});
