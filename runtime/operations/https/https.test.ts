import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { readConfig } from "../../settings/config.ts";
import { checkPorts } from "../doctor/network.ts";
import { probeWith } from "../doctor/probe.ts";
import { adminPassword, adminToken, eventually, startTestApp, type TestApp } from "../../../tests/harness.ts";

const folder = mkdtempSync(join(tmpdir(), "corestead-tls-"));
let app: TestApp;

async function run(...command: string[]): Promise<string> {
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "pipe", stdin: "ignore" });
  const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  await child.exited;
  return `${out}${error}`;
}

/** A certificate for these names that signs itself. */
async function certificate(file: string, ...names: string[]): Promise<void> {
  const [key, crt] = [join(folder, `${file}.key`), join(folder, `${file}.crt`)];
  const subject = `subjectAltName=${names.map((name) => `DNS:${name}`).join(",")}`;
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  await run(
    "openssl",
    "req",
    "-x509",
    ...curve,
    "-keyout",
    key,
    "-out",
    crt,
    "-subj",
    `/CN=${file}`,
    "-addext",
    subject,
  );
}

/** What a client sees that asks for this host. */
function handshake(host: string | undefined, ...options: string[]): Promise<string> {
  const place = ["-connect", `127.0.0.1:${app.app.httpsPort}`];
  const name = host === undefined ? ["-noservername"] : ["-servername", host];
  return run("openssl", "s_client", ...place, "-brief", "-verify_quiet", ...name, ...options);
}

function ask(host: string, path: string, ...options: string[]): Promise<string> {
  const port = app.app.httpsPort;
  const place = ["--resolve", `${host}:${port}:127.0.0.1`];
  return run("curl", "-s", "-k", ...place, ...options, `https://${host}:${port}${path}`);
}

beforeAll(async () => {
  await certificate("core", "core.example.com");
  await certificate("sites", "*.example.org", "example.org");
  const env = { HTTPS: "on", HTTPS_PORT: "0", HTTP_PORT: "0", HTTPS_HOST: "::", HSTS_SECONDS: "300" };
  app = await startTestApp({ env: { ...env, BASE_URL: "https://core.example.com", TLS_DIR: folder } });
});
afterAll(async () => {
  await app.stop();
  rmSync(folder, { recursive: true });
});

describe("https with own certificates", () => {
  test("answers as the plain port does, and knows the client", async () => {
    const auth = ["-H", `authorization: Bearer ${adminToken}`];
    const me = await ask("core.example.com", "/core/prompts.json", "-i", ...auth);
    expect(me).toContain("200 OK");
    expect(me.toLowerCase()).toContain("strict-transport-security: max-age=300");
    const login = JSON.stringify({ login: "admin", password: adminPassword });
    const json = ["-H", "content-type: application/json"];
    const cookie = await ask("core.example.com", "/account/session.json", "-i", ...json, "-d", login);
    expect(cookie).toMatch(/set-cookie: __Host-core_session=[^\n]*Secure/i);
  });

  test("is told by the doctor from another program on its ports", async () => {
    const { port, httpsPort = 0 } = app.app;
    const base = `https://core.example.com:${httpsPort}`;
    const env = { HTTPS: "on", BASE_URL: base, PORT: `${port}`, HTTPS_PORT: `${httpsPort}`, HTTP_PORT: "0" };
    const found = async (key: string) => (await checkPorts(readConfig(env), probeWith(key, ""))).findings;
    expect((await found("a secret key of the tests, 32 characters or more")).map(({ message }) => message)).toEqual([
      `PORT ${port} is served by this server`,
      `HTTPS_PORT ${httpsPort} is served by this server`,
    ]);
    expect((await found("another secret key, of 32 characters or more")).map(({ state }) => state)).toEqual([
      "fail",
      "fail",
    ]);
  });

  test("passes the client's address on", async () => {
    const place = ["--connect-to", `core.example.com:${app.app.httpsPort}:[::1]:${app.app.httpsPort}`];
    const login = JSON.stringify({ login: "admin", password: adminPassword });
    const address = `https://core.example.com:${app.app.httpsPort}/account/session.json`;
    await run("curl", "-s", "-k", ...place, "-H", "content-type: application/json", "-d", login, address);
    const [row] = await app.sql`select address from api_tokens where purpose = 'session' order by id desc limit 1`;
    expect(row).toEqual({ address: "::1" });
  });

  test("shows each host its certificate, wildcards too, and none to the host of nobody", async () => {
    expect(await handshake("core.example.com")).toContain("CN = core");
    expect(await handshake("shop.example.org")).toContain("CN = sites");
    expect(await handshake("SHOP.example.org")).toContain("CN = sites");
    expect(await handshake("a.shop.example.org")).not.toContain("CN =");
    expect(await handshake("nobody.test")).not.toContain("CN =");
    // By an address: that of BASE_URL.
    await eventually(async () => (await handshake(undefined)).includes("CN = core"));
  });

  test("takes TLS 1.2 and 1.3 and HTTP/1.1 alone", async () => {
    expect(await handshake("core.example.com", "-tls1_1")).not.toContain("CN =");
    expect(await handshake("core.example.com", "-tls1_2")).toContain("TLSv1.2");
    expect(await handshake("core.example.com", "-alpn", "h2")).toContain("no application protocol");
    expect(await handshake("core.example.com", "-alpn", "acme-tls/1")).toContain("no application protocol");
  });

  test("streams bodies both ways", async () => {
    const body = { prompt: { code: "long", name: "Long", content: "ż".repeat(200_000) } };
    const file = join(folder, "body.json");
    await Bun.write(file, JSON.stringify(body));
    const auth = ["-H", `authorization: Bearer ${adminToken}`, "-H", "content-type: application/json"];
    const made = await ask("core.example.com", "/core/prompts.json", ...auth, "-d", `@${file}`);
    expect(JSON.parse(made).content ?? made).toBe(body.prompt.content);
  });

  test("takes files that are exchanged, while connections go on", async () => {
    const open = connect({
      port: app.app.httpsPort ?? 0,
      host: "127.0.0.1",
      servername: "core.example.com",
      rejectUnauthorized: false,
    });
    await new Promise((resolve) => open.once("secureConnect", resolve));
    let heard = "";
    open.on("data", (bytes) => (heard += String(bytes)));
    const asked = async () => {
      heard = "";
      open.write("GET /health HTTP/1.1\r\nhost: core.example.com\r\n\r\n");
      await eventually(() => heard.includes('"status":"ok"'), "an answer on the open connection");
    };
    await asked();
    const before = open.getPeerCertificate().fingerprint256;
    await certificate("newer", "core.example.com");
    copyFileSync(join(folder, "newer.crt"), join(folder, "core.crt"));
    copyFileSync(join(folder, "newer.key"), join(folder, "core.key"));
    await eventually(async () => (await handshake("core.example.com")).includes("CN = newer"), "the new one", 30_000);
    await asked();
    expect([open.destroyed, open.getPeerCertificate().fingerprint256]).toEqual([false, before]);
    open.destroy();
  });
});
