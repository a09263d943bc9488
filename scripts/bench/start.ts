/**
 * Time until the server is ready, and the memory of its process: `bun scripts/bench/start.ts [--quick] [--only small,large,slow-line]`.
 *
 * Small: an empty folder and a used one, from source, of `dist/corestead` if it has been built, and of the floor: an
 * executable of Bun that only answers. Large: an installation of 200 databases, 1,000 webhooks, 5,000 pages, 500 apps,
 * 1,000 people and a million waiting jobs; its start, its lists, its backup and its restore. Slow line: the Studio's first
 * page and a table of 200 records, opened by a browser that has nothing yet, at 400 kbit/s and 400 ms; it needs Chromium.
 */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium, type BrowserContext } from "playwright-core";
import { openPool } from "../../runtime/db/db.ts";
import * as jobStore from "../../runtime/jobs/job-store.ts";
import { seedCorestead } from "./contacts.ts";
import * as harness from "./harness.ts";
import { adminToken, median, number, root, secretKey, type Server } from "./harness.ts";
import type { Load } from "./load.ts";

const { values: options } = parseArgs({
  options: { quick: { type: "boolean", default: false }, only: { type: "string", default: "small,large" } },
});
/** A tenth of everything. */
const scale = options.quick ? 0.1 : 1;
/** What a person reads first, and the bounds of its milliseconds and requests. */
const slowPages = [
  { name: "home", address: "/studio", readable: "main h1", ms: 3000, requests: 10 },
  { name: "a table", address: "/studio/tables/orders", readable: '[role="gridcell"]', ms: 3500, requests: 14 },
] as const;
if (options.only.includes("small")) await small();
if (options.only.includes("large")) await large();
if (options.only.includes("slow-line")) await slowLine();
process.exit();

async function small(): Promise<void> {
  const binary = join(root, "dist/corestead");
  const programs: Record<string, readonly string[]> = {
    "from source": harness.fromSource,
    ...(existsSync(binary) && { "dist/corestead": [binary, "serve"] }),
    "the floor": [await floor()],
  };
  const rows: string[][] = [];
  for (const [name, command] of Object.entries(programs)) {
    const folder = await harness.temporaryFolder();
    const times = { empty: [] as number[], used: [] as number[] };
    for (let run = 0; run < (options.quick ? 2 : 5); run++)
      for (const which of ["empty", "used"] as const)
        times[which].push(await readyAfter(command, join(folder, `${run}`)));
    const { idle, loaded } = await memoryBy(command, name === "the floor");
    rows.push([name, ...[median(times.empty), median(times.used), idle, loaded].map((one) => number(one))]);
    if (name !== "the floor") harness.bound(`${name}: under load`, loaded, { most: 250 }, " MB");
  }
  harness.printTable(["", "empty folder, ms", "used folder, ms", "idle, MB", "under load, MB"], rows);
  if (existsSync(binary)) process.stdout.write(`dist/corestead has ${number(statSync(binary).size / 1e6)} MB.\n`);
}

async function readyAfter(command: readonly string[], dataDir: string): Promise<number> {
  const server = await harness.startCorestead(dataDir, {}, command);
  await server.stop();
  return server.readyMs;
}

async function floor(): Promise<string> {
  const folder = await harness.temporaryFolder();
  const [source, program] = [join(folder, "empty.ts"), join(folder, "empty")];
  const listens = "const { port } = Bun.serve({ port: 0, fetch: () => new Response() });";
  await Bun.write(source, `${listens}\nconsole.log(\`serves on http://127.0.0.1:\${port}\`);\n`);
  await Bun.build({ entrypoints: [source], target: "bun", bytecode: true, compile: { outfile: program } });
  return program;
}

/** Idle a few seconds after the start, and the peak while every operation ran at 64 connections. */
async function memoryBy(command: readonly string[], isFloor: boolean): Promise<{ idle: number; loaded: number }> {
  const dataDir = await harness.temporaryFolder();
  const server = await harness.startCorestead(dataDir, {}, command);
  await Bun.sleep(3000);
  const idle = harness.memoryOf(server.pid).now;
  if (!isFloor) {
    const sql = openPool((await harness.postgresOf(dataDir)).target, { max: 2 });
    await seedCorestead(server, sql, 5_000);
    await sql.end();
    const load = harness.startLoadGenerator();
    const target = { kind: "corestead", port: server.port, token: adminToken, total: 5_000 } as const;
    const common: Omit<Load, "operation"> = { target, connections: 64, seconds: options.quick ? 1 : 4, seed: 1 };
    for (const operation of ["get", "list", "search", "patch", "create"] as const)
      await load.run({ ...common, operation });
    load.stop();
  }
  const loaded = harness.memoryOf(server.pid).peak;
  await server.stop();
  return { idle, loaded };
}

async function large(): Promise<void> {
  const folder = await harness.temporaryFolder();
  const [empty, big] = [join(folder, "empty"), join(folder, "big")];
  await (await harness.startCorestead(empty)).stop();
  await fill(big);
  const times = { empty: [] as number[], big: [] as number[] };
  for (let round = 0; round < 3; round++) {
    times.empty.push(await readyAfter(harness.fromSource, empty));
    const server = await harness.startCorestead(big);
    times.big.push(server.readyMs);
    if (round === 2) await lists(server);
    await server.stop();
  }
  const file = join(folder, "backup");
  const rows: string[][] = [];
  for (const [words, dataDir] of [
    [["backup", file], big],
    [["restore", file], join(folder, "restored")],
  ] as const) {
    const { seconds, peak } = await runCommand(dataDir, words);
    rows.push([words[0], number(seconds, 1), number(peak)]);
    harness.bound(`memory of a ${words[0]}`, peak, { most: 250 }, " MB");
  }
  harness.printTable([`a file of ${number(statSync(file).size / 1e6, 1)} MB`, "seconds", "peak MB"], rows);
  const [started, other] = [median(times.big), median(times.empty)];
  process.stdout.write(`\nThe large one is ready after ${number(started)} ms, an empty one after ${number(other)}.\n`);
  harness.bound("start, by an empty one's", started / other, { most: 1.5 });
}

async function lists(server: Server): Promise<void> {
  const names = ["core/dbs", "core/apps", "core/prompts", "account/webhooks", "account/users", "account/api_tokens"];
  const more = ["cms/pages", "cms/sites", "connect/flows", "connect/flow_processes"];
  const rows: string[][] = [];
  let slowest = 0;
  for (const name of [...names, ...more]) {
    const times: number[] = [];
    for (let i = 0; i < 5; i++)
      times.push(await harness.timed(() => harness.api(server, "GET", `/${name}.json?limit=50`)));
    slowest = Math.max(slowest, times[0] ?? NaN);
    rows.push([name, number(times[0] ?? NaN), number(median(times))]);
  }
  harness.printTable(["list", "first ms", "median ms"], rows);
  process.stdout.write(`\nmemory ${number(harness.memoryOf(server.pid).now)} MB\n`);
  harness.bound("the first answer of the slowest list", slowest, { most: 400 }, " ms");
}

/** The time of a command, and the peak of its process's memory, without PostgreSQL's. */
async function runCommand(dataDir: string, words: readonly string[]): Promise<{ seconds: number; peak: number }> {
  const env = { PATH: Bun.env["PATH"] ?? "", DATA_DIR: dataDir, SECRET_KEY: secretKey, LOG_LEVEL: "error" };
  const began = performance.now();
  const program = [process.execPath, "plugins/main.ts", ...words];
  const child = Bun.spawn(program, { cwd: root, env, stdout: "ignore", stderr: "inherit" });
  if ((await child.exited) !== 0) throw new Error(`corestead ${words.join(" ")} failed`);
  return { seconds: (performance.now() - began) / 1000, peak: (child.resourceUsage()?.maxRSS ?? NaN) / 2 ** 20 };
}

async function fill(dataDir: string): Promise<void> {
  const server = await harness.startCorestead(dataDir, { RATE_LIMIT_REQUESTS: "100000000" });
  const make = async (count: number, path: string, body: (n: number) => object) => {
    const numbers = Array.from({ length: count * scale }, (_, n) => n).values();
    const worker = async () => {
      for (const n of numbers) await harness.api(server, "POST", `/${path}.json`, body(n));
    };
    await Promise.all(Array.from({ length: 8 }, worker));
  };
  const schema = { fields: { title: "string", amount: "integer" }, indexed_fields: ["title", "amount"] };
  await make(200, "core/dbs", (n) => ({ db: { name: `Database ${n}`, code: `db-${n}`, schema } }));
  const hook = { source_type: "Core::Record", kind: "create" };
  // An account may have 1,000.
  await make(1000, "account/webhooks", (n) => ({ webhook: { ...hook, url: `https://receiver.example/${n}` } }));
  await harness.api(server, "POST", "/cms/sites.json", { site: { code: "site", name: "Site", locale: "en" } });
  const page = { site_code: "site", content: "<p>Text</p>" };
  await make(5000, "cms/pages", (n) => ({ page: { ...page, name: `Page ${n}`, path: `page-${n}` } }));
  const app = { app_engine: "html", css_engine: "none", source_code: "<h1>App</h1>" };
  await make(500, "core/apps", (n) => ({ app: { ...app, name: `App ${n}` } }));
  await make(1000, "account/users", (n) => ({ user: { login: `person-${n}`, name: `Person ${n}`, role: "user" } }));
  const sql = openPool((await harness.postgresOf(dataDir)).target, { max: 1 });
  // They wait for another day, so that no worker takes them.
  const job = { name: "flows.run", payload: {}, runAt: new Date(Date.now() + 86_400_000) };
  const jobs = { sql, worker: "bench" };
  for (let n = 0; n < 1_000_000 * scale; n += 5000)
    await jobStore.insert(
      jobs,
      Array.from({ length: 5000 }, () => job),
    );
  await sql.end();
  await server.stop();
}

async function slowLine(): Promise<void> {
  const server = await harness.startCorestead(await harness.temporaryFolder());
  const schema = { fields: { no: "string", customer: "string", amount: "number" } };
  await harness.api(server, "POST", "/core/dbs.json", { db: { name: "Orders", code: "orders", schema } });
  for (let n = 0; n < 200; n++) {
    const data = { no: `O-${n}`, customer: `Customer ${n}`, amount: n * 7 };
    await harness.api(server, "POST", "/core/dbs/orders/records.json", { record: { data } });
  }
  const browser = await chromium.launch({
    executablePath: Bun.env["CHROMIUM"] || "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  const rows: string[][] = [];
  for (const shown of slowPages) {
    const opened: Awaited<ReturnType<typeof openSlowly>>[] = [];
    for (let run = 0; run < (options.quick ? 2 : 5); run++) {
      const context = await browser.newContext({ locale: "en-US", viewport: { width: 1366, height: 768 } });
      opened.push(await openSlowly(context, `http://127.0.0.1:${server.port}`, shown));
      await context.close();
    }
    const of = (key: "ms" | "bytes" | "requests") => median(opened.map((one) => one[key]));
    rows.push([shown.name, number(of("ms")), number(of("bytes") / 1000, 1), number(of("requests"))]);
    harness.bound(`${shown.name} on a slow line`, of("ms"), { most: shown.ms }, " ms");
    harness.bound(`requests of ${shown.name}`, of("requests"), { most: shown.requests });
  }
  await browser.close();
  await server.stop();
  harness.printTable(["400 kbit/s, 400 ms, cold", "readable after ms", "kB until then", "requests"], rows);
}

/** Signs in, and opens a page with nothing in the cache: how long until it can be read, and what came until then. */
async function openSlowly(context: BrowserContext, origin: string, { address, readable }: (typeof slowPages)[number]) {
  const data = { login: "admin", password: "the password of the benchmark" };
  await context.request.post(`${origin}/account/session.json`, { data, headers: { origin } });
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  let [bytes, requests] = [0, 0];
  cdp.on("Network.requestWillBeSent", () => requests++);
  cdp.on("Network.dataReceived", ({ encodedDataLength }) => (bytes += encodedDataLength));
  await cdp.send("Network.enable");
  const throughput = 400_000 / 8;
  await cdp.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 400,
    downloadThroughput: throughput,
    uploadThroughput: throughput,
  });
  const ms = await harness.timed(async () => {
    await page.goto(origin + address, { waitUntil: "commit" });
    await page.locator(readable).first().waitFor();
  });
  return { ms, bytes, requests };
}
