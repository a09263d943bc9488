// needs: proxies
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certificate as good } from "./fixtures/outbound.ts";
import { adminPassword, adminToken, eventually, startTestApp, type TestApp } from "./harness.ts";

const production = await Bun.file(`${import.meta.dir}/../docs/production.md`).text();
const scaling = await Bun.file(`${import.meta.dir}/../docs/scaling.md`).text();
const host = "good.example";
const folder = mkdtempSync(join(tmpdir(), "corestead-proxy-"));
const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
writeFileSync(cert, good.cert);
writeFileSync(key, good.key);

let app: TestApp;
const children: Bun.Subprocess[] = [];
beforeAll(async () => {
  // Without BASE_URL, only the headers tell how the client reached the server.
  app = await startTestApp({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
  await app.post("/core/dbs.json", {
    db: { name: "Log", code: "log", public_methods: { create: { auto_fields: { ip: "{ip}" } } } },
  });
});
afterAll(async () => {
  for (const child of children) child.kill();
  await Promise.all(children.map((child) => child.exited));
  await app.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The page's example in this language, with this test's name, files and port of the server. */
function example(language: string, page = production): string {
  const [, text = ""] = page.split(`\n\`\`\`${language}\n`);
  const code = text.slice(0, text.indexOf("\n```"));
  if (code === "") throw new Error(`the page has no example for ${language}`);
  const here = new URL(app.origin).host;
  return code
    .replaceAll("127.0.0.1:3000", here)
    .replaceAll("10.0.0.1:3000", here)
    .replaceAll("10.0.0.2:3000", `127.0.0.1:${freePort()}`)
    .replaceAll("core.example.com", host);
}

function freePort(): number {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port = 0 } = server;
  void server.stop(true);
  return port;
}

type Init = Omit<RequestInit, "headers"> & { readonly headers?: Record<string, string> };
type Ask = (path: string, init?: Init) => Promise<Response>;

/** Sends a request like a client for which the name resolves to this machine. */
const asking =
  (port: number): Ask =>
  (path, { headers, ...init } = {}) =>
    fetch(`https://127.0.0.1:${port}${path}`, {
      ...init,
      redirect: "manual",
      headers: { host, ...headers },
      tls: { ca: good.cert, serverName: host },
    });

async function started(command: string[], port: number): Promise<Ask> {
  const child = Bun.spawn(command, { env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder }, stderr: "pipe" });
  children.push(child);
  const ask = asking(port);
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`${command[0]}: ${await new Response(child.stderr).text()}`);
    return ask("/health").then(
      ({ status }) => status === 200,
      () => false,
    );
  }, `${command[0]} answers`);
  return ask;
}

function nginx(server: string): Promise<Ask> {
  const port = freePort();
  const own = mkdtempSync(join(folder, "nginx-"));
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${own}/${name};`,
  );
  const here = server
    .replace("listen 443 ssl;", `listen 127.0.0.1:${port} ssl;`)
    .replace(/ssl_certificate [^;]*;/, `ssl_certificate ${cert};`)
    .replace(/ssl_certificate_key [^;]*;/, `ssl_certificate_key ${key};`);
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const head = `daemon off; ${user} pid ${own}/pid; error_log stderr; events {}`;
  writeFileSync(join(own, "nginx.conf"), `${head} http { access_log off; ${temporary.join(" ")}\n${here}\n}`);
  return started([Bun.which("nginx") ?? "/usr/sbin/nginx", "-p", own, "-c", join(own, "nginx.conf")], port);
}

function caddy(site: string): Promise<Ask> {
  const port = freePort();
  const here = site.replace(`${host} {`, `https://${host}:${port} {\n  bind 127.0.0.1\n  tls ${cert} ${key}`);
  const file = join(folder, "Caddyfile");
  writeFileSync(file, `{\n  admin off\n  auto_https disable_redirects\n}\n${here}\n`);
  return started(["caddy", "run", "--config", file, "--adapter", "caddyfile"], port);
}

const form = (headers: Record<string, string> = {}): Init => ({
  method: "POST",
  body: new URLSearchParams({ login: "admin", password: adminPassword }),
  headers: { origin: `https://${host}`, "sec-fetch-site": "same-origin", ...headers },
});
const bearer = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };

describe.each([
  ["nginx as docs/production.md has it", () => nginx(example("nginx"))],
  ["Caddy as docs/production.md has it", () => caddy(example("caddyfile"))],
  ["Caddy before two machines, of which one is off", () => caddy(example("caddyfile", scaling))],
])("behind %s", (_, start) => {
  let ask: Ask;
  beforeAll(async () => {
    ask = await start();
  });

  test("people sign in, and their cookie is for https alone", async () => {
    const answer = await ask("/login", form());
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/"]);
    expect(answer.headers.get("set-cookie")).toContain("; Secure");
  });

  test("a request has its client's address, and a client cannot choose the host", async () => {
    const forwarded = { "x-forwarded-for": "203.0.113.9", "x-forwarded-host": "evil.example" };
    const made = await ask("/core/db/log/create", {
      method: "POST",
      body: JSON.stringify({ data: {} }),
      headers: { "content-type": "application/json", ...forwarded },
    });
    const { data } = await made.json();
    // Caddy trusts nobody. nginx passes on the header, and Corestead takes the last address that is not a trusted
    // proxy.
    expect(["203.0.113.9", "127.0.0.1"]).toContain(data.ip);
    expect((await ask("/login", form(forwarded))).status).toBe(303);
  });

  test("large bodies come in, and live changes go out at once", async () => {
    const stream = await ask("/core/dbs/log/events", { headers: bearer });
    const reader = stream.body?.getReader();
    const large = `${" ".repeat(3_000_000)}{"record":{"data":{"text":"x"}}}`;
    const made = await ask("/core/dbs/log/records.json", { method: "POST", body: large, headers: bearer });
    expect([stream.status, made.status]).toEqual([200, 201]);
    const { id } = await made.json();
    const decoder = new TextDecoder();
    let seen = "";
    while (!seen.includes(id)) {
      const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
      if (done) throw new Error(`the stream ended: ${seen.slice(0, 200)}`);
      seen = seen.slice(-100) + decoder.decode(value, { stream: true });
    }
    await reader?.cancel();
  });
});

describe("behind nginx with its default Host", () => {
  const without = (pattern: RegExp) => nginx(example("nginx").replaceAll(pattern, ""));

  test("sign-in says which header is missing, as a page", async () => {
    const ask = await without(/ *proxy_set_header (X-Forwarded-)?Host [^;]*;/g);
    const answer = await ask("/login", form());
    const page = await answer.text();
    expect([answer.status, answer.headers.get("content-type")]).toEqual([403, "text/html; charset=utf-8"]);
    expect(page).toContain('role="alert"');
    expect(page).toContain("must pass the header Host on");
    expect(page).toContain(`BASE_URL to https://${host}`);
    const json = await ask("/account/session.json", {
      method: "POST",
      body: JSON.stringify({ login: "admin", password: adminPassword }),
      headers: { "content-type": "application/json", origin: `https://${host}` },
    });
    expect([json.status, (await json.json()).error]).toEqual([403, expect.stringContaining("the header Host")]);
  });

  test("another site's form is refused without such advice", async () => {
    const ask = await nginx(example("nginx"));
    for (const headers of [{ origin: "https://evil.example", "sec-fetch-site": "cross-site" }, { origin: "null" }]) {
      const answer = await ask("/login", form(headers));
      expect([answer.status, (await answer.text()).includes("Host")]).toEqual([403, false]);
    }
  });
});

describe("a page that is refused", () => {
  const page = { accept: "text/html,*/*;q=0.8" };

  test("behind nginx's default Host says which header is missing, to people alone", async () => {
    const lines = / *proxy_set_header (X-Forwarded-)?(Host|Proto) [^;]*;/g;
    const ask = await nginx(example("nginx").replaceAll(lines, ""));
    for (const path of ["/about", "/core/apps/x/y/z"]) {
      const shown = await ask(path, { headers: { ...page, referer: `https://${host}/` } });
      const text = await shown.text();
      expect([shown.status, shown.headers.get("cache-control")]).toEqual([404, "private, no-cache"]);
      expect(text).toContain("does not pass on the header Host");
      // Where the proxy finds the server is nobody's business.
      for (const secret of ["127.0.0.1", new URL(app.origin).port]) expect(text).not.toContain(secret);
      const plain = await ask(path, { headers: { accept: "application/json" } });
      expect([plain.status, await plain.json()]).toEqual([404, { error: "not found" }]);
    }
    const right = await nginx(example("nginx"));
    expect(await (await right("/about", { headers: page })).text()).not.toContain("<code>");
  });

  test("says that a proxy is not trusted, or that the scheme is missing, and names no host, address or account", async () => {
    const strict = await startTestApp({
      target: app.target,
      env: { BASE_URL: "https://core.example.com", TRUSTED_PROXIES: "" },
    });
    const trusting = await startTestApp({
      target: app.target,
      env: { BASE_URL: "https://core.example.com", TRUSTED_PROXIES: "127.0.0.1" },
    });
    const shown = async ({ origin }: TestApp, headers: Record<string, string>) => {
      const answer = await fetch(`${origin}/about`, { headers: { ...page, ...headers } });
      const text = await answer.text();
      expect([answer.status, /core\.example|127\.0\.0\.1|203\.0\.113|Main|<script/.exec(text)]).toEqual([404, null]);
      return [...text.matchAll(/<code>([^<]*)<\/code>/g)].map(([, code]) => code);
    };
    const doctor = "corestead doctor";
    const forwarded = { "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https" };
    const own = { host: "core.example.com" };
    const hostLine = "proxy_set_header Host $http_host;";
    try {
      expect(await shown(strict, {})).toEqual([hostLine, doctor]);
      expect(await shown(strict, { host: "<script>x" })).toEqual([hostLine, doctor]);
      expect(await shown(strict, own)).toEqual([]);
      expect(await shown(strict, { ...own, ...forwarded })).toEqual(["TRUSTED_PROXIES", doctor]);
      expect(await shown(strict, { "x-forwarded-host": "core.example.com" })).toEqual([
        "TRUSTED_PROXIES",
        "proxy_set_header X-Forwarded-Proto $scheme;",
        doctor,
      ]);
      expect(await shown(trusting, { ...own, ...forwarded })).toEqual([]);
      expect(await shown(trusting, { ...own, "x-forwarded-for": "203.0.113.9" })).toEqual([
        "proxy_set_header X-Forwarded-Proto $scheme;",
        doctor,
      ]);
      const polish = await fetch(`${strict.origin}/about`, { headers: { ...page, "accept-language": "pl" } });
      expect(await polish.text()).toContain("nie przekazuje on nagłówka Host");
    } finally {
      await Promise.all([strict.stop(), trusting.stop()]);
    }
  });
});
