import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:tls";
import { createDatabase, eventually, startTestApp, type TestApp } from "../../tests/harness.ts";
import { freePorts, pebbleProgram, startPebble, type Pebble } from "../../tests/fixtures/pebble.ts";

/** What both servers and the authority share. */
interface Place {
  readonly httpPort: number;
  readonly tlsPort: number;
  readonly pebble: Pebble;
}

async function place(env: Readonly<Record<string, string>> = {}): Promise<Place> {
  const [httpPort = 0, tlsPort = 0] = await freePorts(2);
  return { httpPort, tlsPort, pebble: await startPebble({ httpPort, tlsPort, env }) };
}

const settings = ({ httpPort, tlsPort, pebble }: Place) => ({
  HTTPS: "on",
  HTTPS_HOST: "127.0.0.1",
  HTTP_PORT: `${httpPort}`,
  HTTPS_PORT: `${tlsPort}`,
  BASE_URL: "https://core.example.com",
  ACME_DIRECTORY: pebble.directory,
  ACME_EMAIL: "admin@example.com",
  OUTBOUND_CA_FILE: pebble.caFile,
});

const certificateOf = async (app: TestApp, host: string) => (await app.get(`/core/certificates/${host}.json`)).json;
const untilValid = (app: TestApp, host: string) =>
  eventually(async () => {
    const found = await certificateOf(app, host);
    return found.state === "valid" && found;
  }, `a certificate of ${host}`);

async function curl(...words: string[]): Promise<string> {
  const child = Bun.spawn(["curl", "-sS", ...words], { stdout: "pipe", stderr: "pipe" });
  return `${await new Response(child.stdout).text()}${await new Response(child.stderr).text()}`;
}

/** The names of the certificate that a client is shown, or the fault. */
function shown(port: number, servername: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({
      port,
      host: "127.0.0.1",
      servername,
      rejectUnauthorized: false,
      ALPNProtocols: ["http/1.1"],
    });
    socket.once("secureConnect", () => {
      resolve(socket.getPeerCertificate().subjectaltname ?? "none");
      socket.destroy();
    });
    socket.once("error", (error) => resolve(String(error)));
  });
}

describe.skipIf(pebbleProgram === null)("a server with an authority", () => {
  let here: Place;
  let app: TestApp;
  let site: { id: number };
  const target = createDatabase();

  beforeAll(async () => {
    // Some nonces are refused, as an authority may at any time (RFC 8555 6.5).
    here = await place({ PEBBLE_WFE_NONCEREJECT: "15" });
    app = await startTestApp({ env: settings(here), target: await target });
    site = (await app.post("/cms/sites", { site: { name: "Shop", code: "shop", default_locale: "en" } })).json;
  });
  afterAll(async () => {
    await app.stop();
    here.pebble.stop();
  });
  const addDomain = (name: string) =>
    app.post("/cms/domains", { domain: { name, site_code: "shop", locale: "en", primary: false } });

  test("has a certificate for its own host by itself", async () => {
    const found = await untilValid(app, "core.example.com");
    expect(found).toMatchObject({ host: "core.example.com", failures: 0, last_error: null });
    const life = Date.parse(found.expires_at) - Date.parse(found.not_before);
    const age = Date.parse(found.renew_at) - Date.parse(found.not_before);
    expect(age / life).toBeGreaterThan(0.5);
    expect(age / life).toBeLessThan(0.67);
    const rootFile = `${here.pebble.caFile}.root`;
    await Bun.write(rootFile, await here.pebble.root());
    const address = `https://core.example.com:${here.tlsPort}/health`;
    const answer = await curl("--cacert", rootFile, "--resolve", `core.example.com:${here.tlsPort}:127.0.0.1`, address);
    expect(JSON.parse(answer)).toMatchObject({ status: "ok" });
  });

  test("has one for a site's new domain when somebody first comes there", async () => {
    expect((await addDomain("shop.example.org")).status).toBe(201);
    expect(await shown(here.tlsPort, "shop.example.org")).toBe("DNS:shop.example.org");
    expect(await certificateOf(app, "shop.example.org")).toMatchObject({ state: "valid" });
  });

  test("orders nothing for hosts of nobody", async () => {
    const before = await app.sql`select count(*) as orders from certificate_orders`;
    const names = [
      "nobody.example.net",
      "localhost",
      "..",
      `${"x".repeat(200)}.net`,
      "a b.example.com",
      "xn--.example.org",
    ];
    for (const name of names) expect(await shown(here.tlsPort, name)).not.toContain("DNS:");
    expect(await app.sql`select count(*) as orders from certificate_orders`).toEqual(before as never);
    expect((await app.get("/core/certificates/nobody.example.net.json")).status).toBe(404);
    expect((await app.post("/core/certificates/nobody.example.net/order.json")).status).toBe(404);
  });

  test("leads from http to https, and shows challenges alone", async () => {
    const ask = (path: string, ...words: string[]) =>
      curl("-i", "--path-as-is", "-H", "host: core.example.com", ...words, `http://127.0.0.1:${here.httpPort}${path}`);
    const led = await ask("/core/prompts?x=1", "-X", "POST", "-d", "{}");
    expect(led).toContain("308");
    expect(led.toLowerCase()).toContain(`location: https://core.example.com:${here.tlsPort}/core/prompts?x=1`);
    for (const token of ["nothing", "..%2f..%2fetc%2fpasswd", "a/b", "x".repeat(300)])
      expect(await ask(`/.well-known/acme-challenge/${token}`)).toContain("404");
    const strange = ["-H", "host: a b", `http://127.0.0.1:${here.httpPort}/`];
    expect(await curl("-i", ...strange)).toContain("400");
  });

  test("keeps no key that a backup would give away", async () => {
    const rows = await app.sql`
      select key_sealed from certificates where key_sealed is not null union all select key_sealed from certificate_authorities`;
    expect(rows.length).toBeGreaterThan(1);
    expect(JSON.stringify(rows)).not.toContain("PRIVATE KEY");
    expect(JSON.stringify((await app.get("/core/certificates.json")).json)).not.toContain("PRIVATE");
  });

  test("renews what is due while the old one is in use, once for all processes", async () => {
    // Whoever of the two carries the order out, the authority finds the proof at the first one's port.
    const [httpPort] = await freePorts(1);
    const other = await startTestApp({
      target: await target,
      env: { ...settings(here), HTTP_PORT: `${httpPort}`, HTTPS_PORT: "0" },
    });
    try {
      const before = await certificateOf(app, "core.example.com");
      await app.sql`update certificates set renew_at = now() where host = 'core.example.com'`;
      const [orders] = await app.sql`select count(*) as count from certificate_orders`;
      const asked = [app, other].map((one) => one.post("/core/certificates/core.example.com/order.json"));
      for (const { status } of await Promise.all(asked)) expect(status).toBe(202);
      await eventually(async () => (await certificateOf(app, "core.example.com")).ordered_at !== before.ordered_at);
      expect(await certificateOf(other, "core.example.com")).toMatchObject({ state: "valid" });
      const [after] = await app.sql`select count(*) as count from certificate_orders`;
      expect(after?.["count"]).toBe(Number(orders?.["count"]) + 1);
      // Both show the new one, without a restart.
      const [row] = await app.sql<{ chain: string }[]>`select chain from certificates where host = 'core.example.com'`;
      for (const port of [here.tlsPort, other.app.httpsPort ?? 0])
        await eventually(async () => row?.chain.includes(await pemAt(port, "core.example.com")));
    } finally {
      await other.stop();
    }
  });

  test("forgets a domain that is gone: its certificate is not renewed", async () => {
    expect((await app.delete("/cms/domains/shop.example.org")).status).toBe(204);
    await app.sql`update certificates set renew_at = now() where host = 'shop.example.org'`;
    const [before] = await app.sql`select count(*) as count from certificate_orders`;
    await app.post("/core/certificates/shop.example.org/order.json");
    await eventually(async () => (await app.sql`select 1 from jobs where name = 'certificates.order'`).length === 0);
    expect((await app.sql`select count(*) as count from certificate_orders`)[0]).toEqual(before as never);
    expect(site.id).toBeGreaterThan(0);
  });
});

/** The first certificate that is shown, as the body of its PEM. */
function pemAt(port: number, servername: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", servername, rejectUnauthorized: false });
    socket.once("secureConnect", () => {
      resolve(socket.getPeerCertificate().raw.toString("base64").slice(0, 60));
      socket.destroy();
    });
    socket.once("error", () => resolve("none"));
  });
}

describe.skipIf(pebbleProgram === null)("where no port answers http", () => {
  test("the authority is shown a proof over TLS, while visitors see what is in use", async () => {
    const here = await place();
    const app = await startTestApp({ env: { ...settings(here), HTTP_PORT: "0" } });
    try {
      const first = await untilValid(app, "core.example.com");
      expect(await shown(here.tlsPort, "core.example.com")).toBe("DNS:core.example.com");
      const old = await pemAt(here.tlsPort, "core.example.com");
      const seen = new Set<string>();
      await app.sql`update certificates set renew_at = now() where host = 'core.example.com'`;
      expect((await app.post("/core/certificates/core.example.com/order.json")).status).toBe(202);
      await eventually(async () => {
        seen.add(await pemAt(here.tlsPort, "core.example.com"));
        return (await certificateOf(app, "core.example.com")).ordered_at !== first.ordered_at && seen.size > 1;
      }, "another certificate");
      expect(await certificateOf(app, "core.example.com")).toMatchObject({ state: "valid", last_error: null });
      // The old one, then the new one, and never the proof between them.
      expect([...seen]).toEqual([old, await pemAt(here.tlsPort, "core.example.com")]);
      expect(await app.sql`select 1 from certificate_challenges`).toHaveLength(0);
      const answer = await curl(
        "-ks",
        "--resolve",
        `core.example.com:${here.tlsPort}:127.0.0.1`,
        `https://core.example.com:${here.tlsPort}/health`,
      );
      expect(JSON.parse(answer)).toMatchObject({ status: "ok" });
    } finally {
      await app.stop();
      here.pebble.stop();
    }
  });
});

describe.skipIf(pebbleProgram === null)("an authority that refuses", () => {
  test("is asked again later, and by hand", async () => {
    const [httpPort = 0, tlsPort = 0, elsewhere = 0] = await freePorts(3);
    // It looks for challenges where nobody listens.
    const pebble = await startPebble({ httpPort: elsewhere, tlsPort: elsewhere });
    const app = await startTestApp({ env: settings({ httpPort, tlsPort, pebble }) });
    try {
      const failed = await eventually(async () => {
        const found = await certificateOf(app, "core.example.com");
        return found.failures === 1 && found;
      });
      expect(failed).toMatchObject({ state: "failed", expires_at: null });
      expect(failed.last_error).toContain("connection refused");
      expect(Date.parse(failed.try_at) - Date.now()).toBeGreaterThan(4 * 60_000);
      // Visitors do not make it try sooner, and do not wait.
      expect(await shown(tlsPort, "core.example.com")).not.toContain("DNS:");
      expect((await certificateOf(app, "core.example.com")).failures).toBe(1);
      expect((await app.post("/core/certificates/core.example.com/order.json")).status).toBe(202);
      await eventually(async () => (await certificateOf(app, "core.example.com")).failures === 2);
      const metrics = await (await fetch(`${app.origin}/metrics`)).text();
      expect(metrics).toContain("corestead_certificates_failing 1");
    } finally {
      await app.stop();
      pebble.stop();
    }
  });
});
