/**
 * What https costs: `bun scripts/bench/https.ts [--write]`. Handshakes with 10,000 domains known beside the same with one,
 * and requests over kept connections beside those to the plain port.
 */
import { connect } from "node:tls";
import { join } from "node:path";
import { openPool } from "../../runtime/db.ts";
import { median } from "./compare.ts";
import { adminToken, memoryOf, fromSource, postgresOf, temporaryFolder } from "./processes.ts";
import { number, publish, table, verdict, verdictTable } from "./report.ts";

const rounds = 9;
const perRound = 60;
const known = 10_000;
const host = "core.example.com";

const certificates = await temporaryFolder();
selfSigned(certificates);
const few = await start(0);
const many = await start(known);
try {
  for (const { port } of [few, many]) await handshakes(port); // warms them up
  const times = { few: [] as number[], many: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    times.few.push(await handshakes(few.port));
    times.many.push(await handshakes(many.port));
  }
  const ratio = median(times.many.map((ms, at) => ms / (times.few[at] ?? ms)));
  const rows = [
    ["one domain", number(median(times.few), 2), number(memoryOf(few.pid).now, 0)],
    [`${number(known, 0)} domains`, number(median(times.many), 2), number(memoryOf(many.pid).now, 0)],
  ];
  const verdicts = [verdict("a handshake with 10,000 domains known by one with one", ratio, { most: 1.1 })];
  const text = [table(["known", "ms a handshake", "memory MB"], rows), verdictTable(verdicts)].join("\n\n");
  await publish("https", text, process.argv.includes("--write"));
} finally {
  await Promise.all([few.stop(), many.stop()]);
}
process.exit(0);

interface Running {
  readonly origin: string;
  readonly pid: number;
  readonly port: number;
  readonly stop: () => Promise<unknown>;
}

/** A certificate of a file for the measured host; the other domains are rows, as sites' domains are. */
async function start(domains: number): Promise<Running> {
  const folder = await temporaryFolder();
  const [plain, port] = [20_000, 40_000].map((from) => from + Math.floor(Math.random() * 20_000));
  const settings = {
    PORT: `${plain}`,
    HTTPS: "on",
    HTTPS_HOST: "127.0.0.1",
    HTTPS_PORT: `${port}`,
    HTTP_PORT: "0",
    BASE_URL: `https://${host}`,
    TLS_DIR: certificates,
    DATA_DIR: folder,
    CORE_ADMIN_TOKEN: adminToken,
    LOG_LEVEL: "error",
    // Nobody listens there: nothing is ordered of a real authority.
    ACME_DIRECTORY: "https://127.0.0.1:1/directory",
  };
  const env = { PATH: Bun.env["PATH"] ?? "", NODE_ENV: "production", ...settings };
  const child = Bun.spawn(fromSource, { env, stdin: "ignore", stdout: "ignore", stderr: "inherit" });
  process.once("exit", () => child.kill("SIGKILL"));
  const origin = `http://127.0.0.1:${plain}`;
  while (!(await fetch(`${origin}/ready`).catch(() => undefined))?.ok) await Bun.sleep(50);
  const stop = () => {
    child.kill("SIGTERM");
    return child.exited;
  };
  const server = { origin, pid: child.pid, port: port ?? 0, stop };
  if (domains > 0) await addDomains(server, folder, domains);
  return server;
}

async function addDomains({ origin }: Running, folder: string, domains: number): Promise<void> {
  const call = (path: string, body: unknown) =>
    fetch(`${origin}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json", host },
      body: JSON.stringify(body),
    });
  await call("/cms/sites", { site: { name: "Site", code: "site", default_locale: "en" } });
  await call("/cms/domains", { domain: { name: "d0.example.org", site_code: "site" } });
  const sql = openPool((await postgresOf(folder)).target, { max: 1 });
  await sql`
    insert into cms_domains (account_id, site_id, name, locale, status, proof)
    select d.account_id, d.site_id, 'd' || n || '.example.org', d.locale, d.status, '' from cms_domains d, generate_series(1, ${domains}) n
    where d.name = 'd0.example.org'`;
  await sql`
    insert into certificates (host, account_id)
    select name, account_id from cms_domains on conflict do nothing`;
  await sql.end();
  // Every process reads the hosts again when one of them changes.
  await call("/cms/domains", { domain: { name: "last.example.org", site_code: "site" } });
}

/** Milliseconds of one handshake, in the middle of many one after the other. */
async function handshakes(port: number): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < perRound; n++) {
    const began = performance.now();
    await new Promise<void>((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1", servername: host, rejectUnauthorized: false });
      socket.once("error", reject);
      socket.once("secureConnect", () => {
        times.push(performance.now() - began);
        socket.destroy();
        resolve();
      });
    });
  }
  return median(times);
}

function selfSigned(folder: string): void {
  const files = ["-keyout", join(folder, "core.key"), "-out", join(folder, "core.crt")];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const names = ["-subj", `/CN=${host}`, "-addext", `subjectAltName=DNS:${host}`];
  Bun.spawnSync(["openssl", "req", "-x509", ...curve, ...files, ...names]);
}
