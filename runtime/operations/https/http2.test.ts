/** HTTP2=on: what browsers speak by default then. HTTP/1.1 is tested by https.test.ts. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { adminToken, eventually, startTestApp, type TestApp } from "../../../tests/harness.ts";
import { certificate } from "../../../tests/fixtures/outbound.ts";

const host = "good.example";
const folder = mkdtempSync(join(tmpdir(), "corestead-http2-"));
let app: TestApp;

beforeAll(async () => {
  await Bun.write(join(folder, "good.crt"), certificate.cert);
  await Bun.write(join(folder, "good.key"), certificate.key);
  const env = { HTTPS: "on", HTTP2: "on", HTTPS_PORT: "0", HTTP_PORT: "0", HTTPS_HOST: "127.0.0.1", TLS_DIR: folder };
  app = await startTestApp({ env: { ...env, BASE_URL: `https://${host}` } });
  await app.post("/core/dbs.json", {
    db: { name: "Log", code: "log", public_methods: { create: { auto_fields: { ip: "{ip}" } } } },
  });
});
afterAll(async () => {
  await app.stop();
  rmSync(folder, { recursive: true });
});

function tls(...protocols: string[]) {
  const to = { port: app.app.httpsPort ?? 0, host: "127.0.0.1", servername: host, ca: certificate.cert };
  return connectTls({ ...to, ALPNProtocols: protocols });
}

async function session(): Promise<ClientHttp2Session> {
  const opened = connect(`https://${host}`, { createConnection: () => tls("h2") });
  opened.on("error", () => {}); // one that the server ends
  await new Promise((resolve) => opened.once("connect", resolve));
  return opened;
}

type Headers = Readonly<Record<string, string>>;
const request = (to: ClientHttp2Session, path: string, headers: Headers = {}): ClientHttp2Stream =>
  to.request({ ":path": path, authorization: `Bearer ${adminToken}`, ...headers });

/** The status and the text; a stream that the server refuses rejects. */
function answered(stream: ClientHttp2Stream, body?: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    let [status, text] = [0, ""];
    stream.on("response", (headers) => (status = Number(headers[":status"])));
    stream.on("data", (bytes) => (text += String(bytes)));
    stream.on("end", () => resolve({ status, text }));
    stream.on("error", reject);
    stream.end(body);
  });
}

test("is offered beside HTTP/1.1, and carries many requests at once on one connection", async () => {
  const spoken = await Promise.all(
    [["h2", "http/1.1"], ["http/1.1"]].map(
      (offered) =>
        new Promise((resolve) => {
          const socket = tls(...offered);
          socket.once("secureConnect", () => {
            resolve(socket.alpnProtocol);
            socket.destroy();
          });
        }),
    ),
  );
  expect(spoken).toEqual(["h2", "http/1.1"]);
  const open = await session();
  const all = await Promise.all(Array.from({ length: 50 }, () => answered(request(open, "/account/me.json"))));
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]));
  open.destroy();
});

test("knows the client's address, and takes one host and large bodies", async () => {
  const open = await session();
  const post = { ":method": "POST", "content-type": "application/json" };
  const made = await answered(request(open, "/core/db/log/create", post), JSON.stringify({ data: {} }));
  expect(JSON.parse(made.text).data.ip).toBe("127.0.0.1");
  const body = JSON.stringify({ record: { data: { text: "ż".repeat(500_000) } } });
  expect((await answered(request(open, "/core/dbs/log/records.json", post), body)).status).toBe(201);
  const hosts = { ":authority": host, host: "evil.example" };
  const two = await answered(request(open, "/health", hosts)).catch((error: unknown) => String(error));
  expect(two).toContain("PROTOCOL_ERROR");
  open.destroy();
});

test("sends events as they come, until the client ends their stream", async () => {
  const open = await session();
  const stream = request(open, "/core/dbs/log/events");
  let seen = "";
  stream.on("data", (bytes) => (seen += String(bytes)));
  stream.on("error", () => {});
  await eventually(() => seen.includes(": following"), "it follows");
  const { json } = await app.post("/core/dbs/log/records.json", { record: { data: { text: "news" } } });
  await eventually(() => seen.includes(json.id), "the event");
  stream.close(constants.NGHTTP2_CANCEL);
  expect((await answered(request(open, "/health"))).status).toBe(200);
  open.destroy();
});

test("a client that begins requests only to take them back is cut off, and others are answered", async () => {
  const open = await session();
  for (let n = 0; n < 3000 && !open.destroyed; n++) {
    const stream = request(open, "/core/prompts.json");
    stream.on("error", () => {});
    stream.close(constants.NGHTTP2_CANCEL);
    if (n % 100 === 0) await Bun.sleep(0);
  }
  await eventually(() => open.destroyed || open.closed, "it is cut off");
  const other = await session();
  expect((await answered(request(other, "/health"))).status).toBe(200);
  other.destroy();
});

test("a server that stops does not wait for connections that are silent", async () => {
  const second = await startTestApp({
    target: app.target,
    env: {
      HTTPS: "on",
      HTTP2: "on",
      HTTPS_PORT: "0",
      HTTP_PORT: "0",
      HTTPS_HOST: "127.0.0.1",
      TLS_DIR: folder,
      BASE_URL: `https://${host}`,
    },
  });
  const to = { port: second.app.httpsPort ?? 0, host: "127.0.0.1", servername: host, ca: certificate.cert };
  const open = connect(`https://${host}`, { createConnection: () => connectTls({ ...to, ALPNProtocols: ["h2"] }) });
  open.on("error", () => {});
  expect((await answered(request(open, "/health"))).status).toBe(200);
  await second.stop();
  await eventually(() => open.destroyed || open.closed, "the connection ends");
});
