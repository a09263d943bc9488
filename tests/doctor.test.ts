/** `corestead doctor` beside a server that runs as users run it, and without one. */
// needs: proxies
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, chownSync, existsSync, mkdtempSync, renameSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { plugins } from "../plugins/index.ts";
import { modules } from "../plugins/modules.ts";
import { readConfig } from "../runtime/settings/config.ts";
import { openPool, type Sql } from "../runtime/db/db.ts";
import { parseKeepRule } from "../runtime/settings/prune-rule.ts";
import { judgeArchive, judgeKeep } from "../runtime/operations/doctor/backups.ts";
import { checkClock } from "../runtime/operations/doctor/doctor.ts";
import { doctor, type DoctorOptions } from "../runtime/operations/doctor/doctor.ts";
import { findingLines, type Finding } from "../runtime/plugin/finding.ts";
import { checkPorts, judgeHeaders } from "../runtime/operations/doctor/network.ts";
import { probeWith } from "../runtime/operations/doctor/probe.ts";
import { checkConfig } from "../runtime/operations/doctor/settings.ts";
import { checkDisk } from "../runtime/operations/doctor/storage.ts";
import { runningPostgres } from "../runtime/operations/postgres/running-postgres.ts";
import { eventually } from "./harness.ts";
import { s3Credentials, startS3 } from "./fixtures/s3.ts";
import { cleanUp, folderWith, fromSource, run, startServer, type ServerProcess } from "./server-process.ts";

// A machine that runs other tests at the same time may be slow.
setDefaultTimeout(600_000);

const token = "the-administrator's-token-of-doctor.test.ts";
const cwd = folderWith();
const dataDir = join(cwd, "data");
const children: Bun.Subprocess[] = [];
let server: ServerProcess;
let sql: Sql;
let port: string;
beforeAll(async () => {
  server = await startServer(fromSource, {
    cwd,
    env: { CORE_ADMIN_PASSWORD: "correct horse battery staple", CORE_ADMIN_TOKEN: token },
  });
  port = new URL(server.origin).port;
  const target = await runningPostgres(dataDir);
  if (!target) throw new Error("the server's PostgreSQL does not run");
  sql = openPool(target, { max: 1 });
});
afterAll(async () => {
  for (const child of children) child.kill();
  await Promise.all(children.map((child) => child.exited));
  await cleanUp();
});

async function findings(
  env: Record<string, string> = {},
  given: Partial<DoctorOptions> = {},
): Promise<readonly Finding[]> {
  const all = { DATA_DIR: dataDir, PORT: port, ...env };
  return doctor({ env: all, builtIn: plugins, modules, folder: cwd, ...given });
}

/** What was found about one subject, as `state message`. */
const of = (all: readonly Finding[], check: string) =>
  all.filter((finding) => finding.check === check).map(({ state, message }) => `${state} ${message}`);
const remedies = (all: readonly Finding[], check: string) =>
  all.filter((finding) => finding.check === check).flatMap(({ remedy }) => remedy ?? []);

describe("beside a running server", () => {
  test("all is well, but for what is not set up", async () => {
    const all = await findings();
    expect(of(all, "ports")).toEqual([`ok PORT ${port} is served by this server`]);
    expect(of(all, "key")).toEqual([expect.stringMatching(/^ok the database's secret key is here \(fingerprint/)]);
    expect(of(all, "database")).toEqual([expect.stringMatching(/^ok PostgreSQL 18\.\d+ answers, UTF8/)]);
    expect(of(all, "clock")).toEqual(["ok it agrees with that of the database"]);
    expect(of(all, "data")).toEqual([`ok ${dataDir} belongs to this server alone`]);
    expect(of(all, "mail")[0]).toContain("warn no mail server is set up");
    expect(all.filter(({ state }) => state === "fail")).toEqual([]);
    // Whatever is not well says what to do.
    expect(all.filter(({ state, remedy }) => state !== "ok" && !remedy)).toEqual([]);
  });

  test("another key, or none, is told from the right one", async () => {
    const other = await findings({ SECRET_KEY: "another secret key, of 32 characters or more" });
    expect(of(other, "key")).toEqual([
      expect.stringContaining("warn SECRET_KEY is another key than the one in"),
      expect.stringMatching(/^fail the secrets of this database are sealed with the key of fingerprint/),
    ]);
    expect(of(other, "ports")).toEqual([
      expect.stringContaining("fail a Corestead with another secret key listens on"),
    ]);
    const [file, away] = [join(dataDir, "secret.key"), join(cwd, "away.key")];
    renameSync(file, away);
    try {
      const none = await findings();
      expect(of(none, "key")).toEqual([expect.stringContaining("secret.key is missing, and the secrets")]);
      expect(of(none, "ports")).toEqual([expect.stringContaining("warn PORT")]);
    } finally {
      renameSync(away, file);
    }
    chmodSync(file, 0o644);
    chmodSync(dataDir, 0o777);
    const open = await findings();
    chmodSync(file, 0o600);
    chmodSync(dataDir, 0o755);
    expect(of(open, "key")[0]).toBe(`fail other users can read ${file}`);
    expect(remedies(open, "key")).toEqual([`chmod 600 ${file}`]);
    expect(of(open, "data")).toEqual([`fail other users can write into ${dataDir}`]);
  });

  test("migrations that are missing, or of a newer version", async () => {
    await sql`update migrations set name = '001_removed' where plugin = 'mail' and name = '001_mail'`;
    const newer = await findings();
    await sql`delete from migrations where plugin = 'mail' and name = '001_removed'`;
    const older = await findings();
    const checksum = new Bun.CryptoHasher("sha256");
    checksum.update(plugins.find(({ name }) => name === "mail")?.migrations[0]?.sql ?? "");
    await sql`insert into migrations (plugin, name, checksum) values ('mail', '001_mail', ${checksum.digest("hex")})`;
    expect(of(newer, "database")).toEqual([
      expect.stringContaining("fail the database has migration mail/001_removed"),
    ]);
    expect(of(older, "database")).toEqual(["warn 1 migrations have not run: mail/001_mail"]);
    // Its tables are not those that it knows: it is not asked.
    expect(of(older, "mail")).toEqual([]);
  });

  test("connections, and what has no effect on the embedded server", async () => {
    const all = await findings({ WORKERS: "10", DATABASE_POOL: "50" });
    expect(of(all, "database")).toEqual([
      expect.stringMatching(/^warn it takes \d+ connections; this server may open 540/),
    ]);
  });

  test("a database that nobody vacuums", async () => {
    await sql`create table neglected (id int) with (autovacuum_enabled = false)`;
    await sql`insert into neglected select generate_series(1, 20000)`;
    await sql`delete from neglected`;
    await sql`select pg_stat_force_next_flush()`;
    await sql`alter system set autovacuum = off`;
    await sql`select pg_reload_conf()`;
    try {
      const found = await eventually(async () => {
        const told = of(await findings(), "database");
        return told.length === 2 && told;
      });
      expect(found).toEqual([
        "warn autovacuum is off: tables and indexes grow with every change",
        "warn more rows are dead than alive in neglected",
      ]);
    } finally {
      await sql`alter system reset autovacuum`;
      await sql`select pg_reload_conf()`;
      await sql`drop table neglected`;
    }
  });

  test("a b-tree that has grown beyond what it holds, though its table is vacuumed", async () => {
    await sql`create table swollen (id int, name text)`;
    await sql`create index swollen_names on swollen (lower(name))`;
    try {
      await sql`insert into swollen select n, n || repeat(md5(n::text), 15) from generate_series(1, 75_000) n`;
      await sql`vacuum analyze swollen`;
      expect(of(await findings(), "database")).toEqual([expect.stringContaining("ok PostgreSQL")]);
      await sql`delete from swollen where id % 50 > 0`;
      // Else PostgreSQL may count what was deleted within a second, after the vacuum.
      await sql`select pg_stat_force_next_flush()`;
      await sql`vacuum analyze swollen`;
      const told = of(await findings(), "database");
      expect(told).toEqual([expect.stringMatching(/^warn indexes are over four times .*: swollen_names \(\d\d MB\)$/)]);
    } finally {
      await sql`drop table swollen`;
    }
  });

  test("mail that cannot be sent", async () => {
    const refused = await findings({
      SMTP_URL: "smtp://127.0.0.1:1",
      MAIL_FROM: "a@example.com",
      OUTBOUND_ALLOW: "127.0.0.1",
    });
    expect(of(refused, "mail")).toEqual([
      expect.stringContaining("fail the mail server 127.0.0.1:1 cannot be reached"),
    ]);
    const half = await findings({ SMTP_URL: "smtp://mail.example.com" });
    expect(of(half, "mail")).toEqual(["fail SMTP_URL needs MAIL_FROM"]);
    using listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
    const right = await findings({
      SMTP_URL: `smtp://127.0.0.1:${listener.port}`,
      MAIL_FROM: "a@example.com",
      OUTBOUND_ALLOW: "127.0.0.1",
    });
    expect(of(right, "mail")).toEqual([`ok 127.0.0.1:${listener.port} answers; mails come from a@example.com`]);
  });

  test("scheduled backups: none, none yet, one that failed, and one that is old", async () => {
    expect(of(await findings(), "backup")).toEqual(["warn none are scheduled"]);
    const env = { BACKUP_DIR: folderWith(), BACKUP_KEY: "a key of 32 characters, or of more" };
    const fresh = of(await findings(env), "backup");
    expect(fresh[0]).toBe("warn none has been made yet");
    await sql`insert into backup_runs (started_at, ended_at, file) values (now() - interval '20 hours', now(), 'a')`;
    expect(of(await findings({ ...env, BACKUP_KEY: "" }), "backup")).toEqual([
      "ok the last one was made 20 hours ago",
      ...fresh.slice(1),
      "warn they are not encrypted: whoever reads the files has all data",
    ]);
    await sql`update backup_runs set started_at = now() - interval '50 hours'`;
    expect(of(await findings(env), "backup")[0]).toBe(
      'fail the last one was made 50 hours ago, and they are due at "30 3 * * *"',
    );
    expect(of(await findings({ ...env, BACKUP_CRON: "30 3 * * 0" }), "backup")[0]).toStartWith("ok");
    await sql`insert into backup_runs (started_at, ended_at, error) values (now(), now(), 'the disk is full')`;
    expect(of(await findings(env), "backup")[0]).toBe("fail the last one failed: the disk is full");
    await sql`delete from backup_runs`;
    const gone = await findings({ ...env, BACKUP_DIR: join(cwd, "not/there") });
    expect(of(gone, "backup")[1]).toEndWith("is not there yet");
    const s3 = startS3({ bucket: "kept" });
    const { accessKey: S3_ACCESS_KEY_ID, secretKey: S3_SECRET_ACCESS_KEY, region: S3_REGION } = s3Credentials;
    const place = { ...env, BACKUP_DIR: "s3://kept/here", S3_ENDPOINT: s3.url, S3_ACCESS_KEY_ID, S3_REGION };
    expect(of(await findings({ ...place, S3_SECRET_ACCESS_KEY }), "backup")).toEqual(["warn none has been made yet"]);
    const refused = of(await findings({ ...place, S3_SECRET_ACCESS_KEY: "wrong" }), "backup");
    expect(refused[1]).toStartWith("fail s3://kept/here cannot be read: S3 answered 403");
    await s3.stop();
  });

  test("backups of a day of which one stays", () => {
    const now = new Date("2026-01-31T12:00:00Z");
    const told = (backupCron: string, keep: string, backupWal: "on" | "off" = "off") =>
      judgeKeep({ backupCron, backupKeep: parseKeepRule(keep), backupWal }, now).map(({ message }) => message);
    expect(told("0 */6 * * *", "7d")).toEqual([expect.stringContaining("keeps the newest of each day alone")]);
    expect(told("*/15 * * * *", "24h 7d")).toEqual([expect.stringContaining("keeps the newest of each hour alone")]);
    expect(told("0 */6 * * *", "7d", "on")).toEqual([]);
    expect(told("0 */6 * * *", "24h 7d")).toEqual([]);
    expect(told("30 3 * * *", "7d")).toEqual([]);
    expect(told("30 3 * * 1", "7d")).toEqual([]);
  });

  test("changes that are archived no more", () => {
    const now = new Date("2026-01-31T12:00:00Z");
    const at = (minutes: number) => now.getTime() / 1000 - minutes * 60;
    for (const [seconds, upMinutes, expected] of [
      [at(1), 600, "ok changes are archived up to 2026-01-31T11:59:00.000Z"],
      [at(20), 600, "fail changes are archived up to 2026-01-31T11:40:00.000Z, and later ones are not"],
      [at(20), 5, "ok changes are archived up to 2026-01-31T11:40:00.000Z"],
      [0, 600, "fail no change is archived yet, and later ones are not"],
      [0, 1, "ok no change is archived yet"],
    ] as const) {
      const { state, message } = judgeArchive({ seconds, upSeconds: upMinutes * 60 }, now);
      expect(`${state} ${message}`).toBe(expected);
    }
  });

  test("names that DNS does not know, or that lead elsewhere", async () => {
    const made = await server.request(
      "POST",
      "/cms/sites.json",
      { site: { code: "s", name: "S", locale: "en" } },
      { token },
    );
    expect(made.status).toBe(201);
    for (const name of ["gone.example.com", "far.example.com"]) {
      const domain = { name, site_code: "s", locale: "en" };
      expect((await server.request("POST", "/cms/domains.json", { domain }, { token })).status).toBe(201);
    }
    const addressesOf = async (name: string) => {
      if (name === "gone.example.com") throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
      return ["192.0.2.7"];
    };
    const all = await findings({ BASE_URL: `http://localhost:${port}` }, { addressesOf });
    expect(of(all, "dns")).toEqual([
      "fail gone.example.com is not known in DNS (ENOTFOUND)",
      expect.stringMatching(/^warn far\.example\.com:\d+ leads to 192\.0\.2\.7, where nobody answers this machine/),
    ]);
  });

  test("plugins of PLUGINS_DIR are asked too, and one that fails is a finding", async () => {
    const folder = folderWith({
      "probe-plugin/plugin.ts": `
        import { definePlugin, findingsOf, setting } from "platform";
        const report = findingsOf("tea");
        export default definePlugin({
          name: "tea",
          config: { cups: setting.integer("TEA_CUPS", 3, "Cups of tea", { min: 0, max: 9 }) },
          checks: async ({ config }) => [report.warn(\`only \${config.cups} cups\`, "boil more")],
          setup: () => ({}),
        });`,
      "torn.ts": `
        import { definePlugin } from "platform";
        export default definePlugin({ name: "torn", checks: async () => { throw new Error("torn\\nin two"); }, setup: () => ({}) });`,
    });
    const all = await findings({ PLUGINS_DIR: folder, TEA_CUPS: "2" });
    expect(of(all, "tea")).toEqual(["warn only 2 cups"]);
    expect(of(all, "torn")).toEqual(["fail could not be looked at: torn\nin two"]);
    expect(findingLines(all).filter((line) => line.includes("torn"))).toEqual([
      expect.stringMatching(/^FAIL {2}torn +could not be looked at: torn in two -> /),
    ]);
    const broken = await findings({ PLUGINS_DIR: folderWith({ "x.ts": "export default 1;" }) });
    expect(of(broken, "plugins")).toEqual([expect.stringContaining("must default-export what definePlugin() returns")]);
  });
});

function freePort(): number {
  const free = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port: taken = 0 } = free;
  void free.stop(true);
  return taken;
}

/** An nginx in front of the server; returns what is found through it. */
async function behindNginx(lines: string, env: Record<string, string> = {}): Promise<readonly Finding[]> {
  const [own, at] = [mkdtempSync(join(cwd, "nginx-")), freePort()];
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${own}/${name};`,
  );
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const place = `listen 127.0.0.1:${at}; location / { proxy_pass http://127.0.0.1:${port}; ${lines} }`;
  const head = `daemon off; ${user} pid ${own}/pid; error_log stderr; events {}`;
  writeFileSync(join(own, "nginx.conf"), `${head} http { access_log off; ${temporary.join(" ")} server { ${place} } }`);
  const command = [Bun.which("nginx") ?? "/usr/sbin/nginx", "-p", own, "-c", join(own, "nginx.conf")];
  const child = Bun.spawn(command, { stderr: "ignore" });
  children.push(child);
  await eventually(
    async () =>
      fetch(`http://127.0.0.1:${at}/health`).then(
        ({ ok }) => ok,
        () => false,
      ),
    "nginx answers",
  );
  return findings({ BASE_URL: `http://localhost:${at}`, ...env });
}

const good = `client_max_body_size 0; proxy_http_version 1.1; proxy_set_header Host $http_host; proxy_buffering off;
  proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_request_buffering off;`;

describe("behind nginx", () => {
  test("as it is by default, it says which header is missing and what else it holds back", async () => {
    const all = await behindNginx("proxy_ignore_headers X-Accel-Buffering;");
    expect(of(all, "proxy")).toEqual([
      expect.stringMatching(/^fail the header Host arrives as 127\.0\.0\.1:\d+, not localhost:\d+$/),
      "fail bodies of 10 MB do not arrive (413)",
      "fail live events arrive late: the proxy collects them",
    ]);
    expect(remedies(all, "proxy").join()).toContain("proxy_set_header Host $http_host;");
  });

  test("a proxy that is not trusted, and one that is", async () => {
    const stranger = await behindNginx(good);
    expect(of(stranger, "proxy")).toEqual([
      "warn the proxy at 127.0.0.1 is not trusted: its headers do not count, and every visitor seems to be the proxy",
    ]);
    expect(remedies(stranger, "proxy")).toEqual(["add 127.0.0.1 to TRUSTED_PROXIES"]);
    const known = await behindNginx(good, { TRUSTED_PROXIES: "127.0.0.1" });
    expect(of(known, "proxy")).toEqual([
      "ok the proxy passes on the host, the client's address, large bodies and events at once",
    ]);
  });

  test("that leads to another server", async () => {
    using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("tea") });
    const all = await findings(
      { BASE_URL: `http://core.localtest:${other.port}` },
      { addressesOf: async () => ["127.0.0.1"] },
    );
    expect(of(all, "proxy")).toEqual([]);
    expect(of(all, "dns")[0]).toStartWith("warn core.localtest");
  });
});

const seen = {
  host: "core.example.com",
  ip: "203.0.113.9",
  forwardedHost: undefined,
  forwardedProto: "https",
  forwardedFor: "203.0.113.9",
  bytes: 0,
};

test.each<[string, Partial<Parameters<typeof judgeHeaders>[0]>, Record<string, string>, RegExp[]]>([
  ["everything", {}, {}, []],
  ["no scheme", { forwardedProto: undefined }, {}, [/X-Forwarded-Proto is missing/]],
  ["http", { forwardedProto: "http" }, {}, [/X-Forwarded-Proto says http/]],
  ["no address", { forwardedFor: undefined, ip: "10.0.0.1" }, {}, [/X-Forwarded-For is missing/]],
  ["nobody trusted", { ip: "10.0.0.1" }, { TRUSTED_PROXIES: "" }, [/10\.0\.0\.1 is not trusted/]],
  ["another trusted", { ip: "10.9.0.1" }, {}, [/10\.9\.0\.1 is not trusted/]],
  ["a chain of proxies", { forwardedFor: "198.51.100.1, 203.0.113.9, 10.0.0.2" }, {}, []],
  ["another host", { host: "127.0.0.1:3000" }, {}, [/Host arrives as 127\.0\.0\.1:3000, not core\.example\.com/]],
  ["https of ours", { forwardedFor: undefined, forwardedProto: undefined }, { HTTPS: "on" }, []],
])("headers of a proxy with %s", (_, change, env, expected) => {
  const config = readConfig({ BASE_URL: "https://core.example.com", TRUSTED_PROXIES: "10.0.0.0/16", ...env });
  const found = judgeHeaders({ ...seen, ...change }, config);
  expect(found.map(({ message }) => message)).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
});

const manyProcesses = availableParallelism() < 64 ? /^warn WORKERS is larger/ : /^ok/;
test.each<[string, Record<string, string>, RegExp[]]>([
  ["right ones", { BASE_URL: "http://localhost:3000" }, [/^ok 1 of \d+ are set/]],
  ["wrong ones", { PORT: "x", WORKERS: "0" }, [/^warn BASE_URL is not set/, /^fail PORT must/, /^fail WORKERS must/]],
  [
    "a misspelt one",
    { BASE_URL: "http://localhost", TRUSTED_PROXY: "1", HOME: "/", HOSTNAME: "x" },
    [/^warn TRUSTED_PROXY is no setting/],
  ],
  ["https without a proxy's name", { BASE_URL: "https://a.example" }, [/^warn https comes from a proxy/]],
  [
    "everybody's word",
    { BASE_URL: "https://a.example", TRUSTED_PROXIES: "0.0.0.0/0" },
    [/^fail TRUSTED_PROXIES names every/],
  ],
  ["plain http", { BASE_URL: "http://a.example" }, [/^warn BASE_URL has http/]],
  ["an open plain port", { BASE_URL: "https://a.example", HTTPS: "on", HOST: "0.0.0.0" }, [/^warn HOST opens/]],
  ["another port", { BASE_URL: "https://a.example:8443", HTTPS: "on" }, [/^warn BASE_URL names another port/]],
  ["one port twice", { BASE_URL: "https://a.example", HTTPS: "on", PORT: "80" }, [/^fail two of PORT/]],
  [
    "what has no effect",
    { BASE_URL: "http://localhost", TLS_DIR: "/x", HSTS_SECONDS: "9", DATABASE_LISTEN_URL: "postgres://a/b" },
    [/^warn TLS_DIR/, /^warn HSTS/, /^warn DATABASE_LISTEN_URL/],
  ],
  [
    "what has none beside DATABASE_URL",
    { BASE_URL: "http://localhost", DATABASE_URL: "postgres://a/b", DATABASE_CACHE_MB: "99" },
    [/^warn DATABASE_CACHE_MB/],
  ],
  ["as many processes as are allowed", { BASE_URL: "http://localhost", WORKERS: "64" }, [manyProcesses]],
])("settings: %s", (_, env, expected) => {
  const { findings: found } = checkConfig({ env, plugins, folder: cwd });
  const told = found.map(({ state, message }) => `${state} ${message}`);
  const patterns = expected.map((pattern) => expect.stringMatching(pattern));
  if (env["PORT"] === "x") expect(told).toEqual(patterns.slice(1));
  else expect(told).toEqual(patterns);
});

test("lines of .env that are no settings, and secrets in it that everybody can read", () => {
  const folder = folderWith({
    ".env": "# mine\nBASE_URL=http://localhost\nexport SMPT_URL=smtp://a\nCOLOR=red\nTZ=UTC\nSECRET_KEY=x\n",
  });
  chmodSync(join(folder, ".env"), 0o644);
  const env = { BASE_URL: "http://localhost", SMPT_URL: "smtp://a", COLOR: "red" };
  const { findings: found } = checkConfig({ env, plugins, folder });
  expect(found.map(({ message }) => message)).toEqual([
    "SMPT_URL is no setting, and has no effect",
    `${join(folder, ".env")}: COLOR is no setting of this server`,
    `every user of this machine can read the secrets in ${join(folder, ".env")}`,
  ]);
});

test("a clock that differs, and a disk that fills up", async () => {
  const at = (seconds: number) => checkClock("the database", new Date(100_000), new Date(100_000 + seconds * 1000));
  expect([0, 5, -5, 6, -30, 31, -3600].map((seconds) => at(seconds).state)).toEqual([
    "ok",
    "ok",
    "ok",
    "warn",
    "warn",
    "fail",
    "fail",
  ]);
  expect(at(31).message).toStartWith("it is 31 s ahead of that of the database");
  expect((await checkDisk({ dataDir, diskReserveBytes: 1 }, 1e18)).message).toContain("a backup may not fit");
  expect((await checkDisk({ dataDir: join(dataDir, "not/there"), diskReserveBytes: 1 }, undefined)).state).toBe("ok");
});

test("ports that others have, that are free, and of hosts that are not here", async () => {
  using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("tea") });
  const probe = probeWith("a secret key of 32 characters or more", "");
  const states = async (env: Record<string, string>, asking = probe) =>
    (await checkPorts(readConfig(env), asking)).findings.map(({ state, message }) => `${state} ${message}`);
  expect(await states({ PORT: `${other.port}` })).toEqual([
    `fail PORT: another program listens on 127.0.0.1:${other.port}`,
  ]);
  expect(await states({ PORT: `${other.port}` }, probeWith(undefined, ""))).toEqual([
    expect.stringContaining("warn PORT"),
  ]);
  const free = freePort();
  expect(await states({ PORT: `${free}` })).toEqual([`ok PORT ${free} is free`]);
  expect(await states({ PORT: "0" })).toEqual([]);
  expect(await states({ PORT: `${free}`, HOST: "203.0.113.1" })).toEqual([
    "fail HOST: this machine has no address 203.0.113.1",
  ]);
});

describe("own certificates", () => {
  test("that end, that are not the key's, and none", async () => {
    const folder = folderWith({ "torn.crt": "x", "torn.key": "y" });
    const files = ["-keyout", join(folder, "old.key"), "-out", join(folder, "old.crt")];
    const made = Bun.spawn(
      [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "3",
        "-subj",
        "/CN=old",
        ...files,
      ],
      { stderr: "ignore" },
    );
    expect(await made.exited).toBe(0);
    const env = {
      HTTPS: "on",
      HTTPS_PORT: "0",
      HTTP_PORT: "0",
      BASE_URL: "https://localhost",
      ACME_DIRECTORY: "https://127.0.0.1:1/",
    };
    const all = await findings({ ...env, TLS_DIR: folder });
    expect(of(all, "tls")).toEqual([
      expect.stringMatching(/^warn .*old\.crt ends in [23] days$/),
      expect.stringMatching(/^fail .*torn\.crt cannot be used/),
    ]);
    expect(of(all, "certificates")).toEqual([
      "ok 0 are valid, and renewed by themselves",
      expect.stringContaining("fail the authority https://127.0.0.1:1/ does not answer"),
    ]);
    expect(of(await findings({ ...env, TLS_DIR: folderWith() }), "tls")[0]).toContain("has no certificates");
  });

  test("that were not issued, or have ended", async () => {
    await sql`insert into certificates (host, account_id, failures, last_error, expires_at) values
      ('a.example', 1, 2, 'the name does not lead here', null), ('b.example', 1, 0, null, now() - interval '2 days')`;
    const env = {
      HTTPS: "on",
      HTTPS_PORT: "0",
      HTTP_PORT: "0",
      BASE_URL: "https://localhost",
      ACME_DIRECTORY: "https://127.0.0.1:1/",
    };
    const all = await findings(env);
    await sql`delete from certificates`;
    expect(of(all, "certificates").slice(0, 2)).toEqual([
      "warn a.example has none yet; the last order failed: the name does not lead here",
      expect.stringMatching(/^fail that of b\.example ended on \d{4}-/),
    ]);
  });
});

// The last one: it stops the server.
describe("without a server", () => {
  test("the database is started for it, and what needs the server is said", async () => {
    await sql.end();
    expect(await server.stop()).toBe(0);
    const all = await findings({ BASE_URL: `http://localhost:${port}` });
    expect(of(all, "database")).toEqual([expect.stringMatching(/^ok PostgreSQL/)]);
    expect(of(all, "ports")).toEqual([`ok PORT ${port} is free`]);
    expect(of(all, "proxy")).toEqual(["warn the server does not run: what a proxy passes on is not known"]);
    expect(existsSync(join(dataDir, "postgres/postmaster.pid"))).toBe(false);
  });

  test("as a command: lines or JSON, and the exit code", async () => {
    // Beside the key, the two domains that no DNS knows.
    const failing = await run([...fromSource, "doctor"], { cwd, env: { PORT: port, SECRET_KEY: "x".repeat(32) } });
    expect([failing.code, failing.stderr]).toEqual([1, ""]);
    expect(failing.stdout).toMatch(/^FAIL {2}key /m);
    expect(failing.stdout).toMatch(/^3 failed, \d warnings, \d ok$/m);
    const empty = folderWith();
    const fresh = await run([...fromSource, "doctor", "--json"], { cwd: empty, env: { PORT: port } });
    expect([fresh.code, fresh.stderr]).toEqual([0, ""]);
    const { state, version, findings: found } = JSON.parse(fresh.stdout);
    expect([state, version]).toEqual(["warn", expect.stringContaining("corestead ")]);
    expect(of(found, "database")).toEqual(["ok there is none yet: the first start makes it"]);
    expect(existsSync(join(empty, "data"))).toBe(false);
    const wrong = await run([...fromSource, "doctor"], { cwd: empty, env: { PORT: "x" } });
    expect([wrong.code, wrong.stdout]).toEqual([1, expect.stringContaining("FAIL  settings  PORT must be")]);
  });

  test.if(process.getuid?.() === 0)("root starts nothing in the folder of another user", async () => {
    chownSync(dataDir, 65_534, 65_534);
    const all = await findings();
    chownSync(dataDir, 0, 0);
    expect(of(all, "database")).toEqual(["warn it is stopped, and belongs to another user"]);
  });

  test("in another folder than the service's", async () => {
    const root = folderWith({ "etc/systemd/system/corestead.service": "" });
    const env = { PORT: port, BASE_URL: "http://localhost" };
    const other = await doctor({ env, builtIn: plugins, modules, folder: folderWith(), root });
    expect(of(other, "settings")[1]).toContain("not of the service in /var/lib/corestead");
    const right = await doctor({ env: { ...env, DATA_DIR: dataDir }, builtIn: plugins, modules, folder: cwd, root });
    expect(of(right, "settings")).toHaveLength(1);
  });

  test("an unreachable DATABASE_URL", async () => {
    const all = await findings({ DATABASE_URL: "postgres://core:secret@127.0.0.1:1/core" });
    expect(of(all, "database")).toEqual([expect.stringContaining("fail it does not answer")]);
    expect(JSON.stringify(all)).not.toContain("secret@");
  });
});
