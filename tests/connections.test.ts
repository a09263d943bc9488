/** Requests that no browser and no `fetch` sends. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { adminToken, otherAccount, person, startTestApp, type TestApp } from "./harness.ts";
import { startReceiver } from "./receiver.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { LOG_LEVEL: "info" } });
});
afterAll(() => app.stop());

/** The whole answer to these lines. */
function sent(...lines: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(app.app.port, "127.0.0.1", () => socket.write(`${lines.join("\r\n")}\r\n\r\n`));
    socket.on("data", (data) => {
      answer += String(data);
      // The server may or may not close an HTTP/1.0 connection.
      const [head = "", body = ""] = answer.split("\r\n\r\n");
      const length = /content-length: (\d+)/i.exec(head)?.[1];
      if (length !== undefined && body.length >= Number(length)) socket.destroy();
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
  });
}

describe("HTTP/1.0", () => {
  test.each([[[]], [["Host: 127.0.0.1"]], [["Host: x"]]])("is answered with the headers %p", async (headers) => {
    const answer = await sent("GET /health HTTP/1.0", ...headers);
    expect(answer).toMatch(/^HTTP\/1\.[01] 200 OK\r\n[^]*\{"status":"ok"\}$/);
  });

  test("finds what is asked for, by path and query, and signs in", async () => {
    const authorization = `Authorization: Bearer ${adminToken}`;
    expect(await sent("GET /account/users.json?limit=1 HTTP/1.0", authorization)).toContain('"login":"admin"');
    expect(await sent("GET /nothing HTTP/1.0", authorization)).toMatch(/^HTTP\/1\.[01] 404 /);
  });
});

test.each([
  ["a.test", "b.test"],
  ["127.0.0.1", "127.0.0.1"],
])("two Host headers, %s and %s, are refused", async (one, other) => {
  const answer = await sent("GET /health HTTP/1.1", `Host: ${one}`, `Host: ${other}`, "Connection: close");
  expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*\{"error":"send one Host header"\}$/);
});

describe("/metrics on this machine", () => {
  test.each([
    ["127.0.0.1", 200],
    ["localhost:3000", 200],
    ["[::1]:3000", 200],
    ["evil.test", 401],
    ["evil.test:3000", 401],
  ])("by the name %s is %d", async (host, status) => {
    expect((await app.get("/metrics", { token: null, headers: { host } })).status).toBe(status);
  });

  test("is for an administrator under any name", async () => {
    expect((await app.get("/metrics", { headers: { host: "evil.test" } })).status).toBe(200);
  });

  test("is not for the administrator of a further account, whose the installation is not", async () => {
    const other = await otherAccount(app);
    expect((await other.get("/metrics")).status).toBe(401);
    expect((await other.get("/metrics", { headers: { host: "evil.test" } })).status).toBe(401);
    const { token } = await person(app, { role: "manager" });
    expect((await app.get("/metrics", { token, headers: { host: "evil.test" } })).status).toBe(401);
  });
});

test("another server's failure is no error of this one, in the log or in the metrics", async () => {
  const remote = startReceiver();
  remote.answer = () => new Response("no", { status: 500 });
  const fields = { methods: { get: { method: "GET", path: "/", public: true } } };
  const connector = { name: "Remote", code: "remote", kind: "core/custom_connector", url: remote.url, fields };
  expect((await app.post("/connect/connectors.json", { connector })).status).toBe(201);
  const before = app.logged.length;
  const answer = await app.post("/connect/connectors/remote/get", {}, { token: null });
  expect(answer.status).toBe(502);
  expect(app.logged.slice(before).join("\n")).not.toMatch(/"level":"(error|warn)"/);
  const told = (await app.get("/metrics")).text
    .split("\n")
    .filter((line) => line.includes("/connect/connectors/:code"));
  expect(told.join("\n")).toContain('status="502 remote"');
  expect(told.join("\n")).not.toMatch(/status="5\d\d"/);
  await remote.stop();
});
