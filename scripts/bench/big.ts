/**
 * A large installation beside an empty one: time until it serves, its lists, its backup and its restore, and the memory
 * of the processes that make them.
 * `bun scripts/bench/big.ts [--jobs 1000000] [--rounds 3]`. It holds 200 databases, 2,000 webhooks, 5,000 pages, 500 apps,
 * 1,000 people and a million waiting jobs. Linux only.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openPool } from "../../runtime/db.ts";
import { median } from "./compare.ts";
import { adminToken, secretKey, memoryOf, postgresOf, startCorestead, temporaryFolder } from "./processes.ts";
import { number, table, verdict, verdictTable, type Verdict } from "./report.ts";

const { values: options } = parseArgs({
  options: { jobs: { type: "string", default: "1000000" }, rounds: { type: "string", default: "3" } },
});
const rounds = Number(options.rounds);
let slowest = 0;
const folder = await temporaryFolder();
const [empty, big] = [join(folder, "empty"), join(folder, "big")];
const lists = [
  "/core/dbs.json?limit=50",
  "/core/apps.json?limit=50",
  "/core/prompts.json?limit=50",
  "/account/webhooks.json?limit=50",
  "/account/users.json?limit=50",
  "/account/api_tokens.json?limit=50",
  "/cms/pages.json?limit=50",
  "/cms/sites.json?limit=50",
  "/connect/flows.json?limit=50",
  "/connect/flow_processes.json?limit=50",
];

await seed();
const starts = { empty: [] as number[], big: [] as number[] };
for (let round = 0; round < rounds; round += 1)
  for (const [name, dataDir] of Object.entries({ empty, big }) as ["empty" | "big", string][]) {
    const server = await startCorestead(dataDir);
    starts[name].push(server.readyMs);
    if (round === rounds - 1 && name === "big") await measureLists(`http://127.0.0.1:${server.port}`, server.pid);
    await server.stop();
  }
const file = join(folder, "backup");
const backup = await command(big, ["backup", file]);
const restore = await command(join(folder, "restored"), ["restore", file]);
const verdicts: Verdict[] = [
  verdict("start, by an empty one's", median(starts.big) / median(starts.empty), { most: 1.5 }),
  verdict("the first answer of the slowest list", slowest, { most: 400 }, "ms"),
  verdict("memory of a backup", backup.peak, { most: 250 }, "MB"),
  verdict("memory of a restore", restore.peak, { most: 250 }, "MB"),
];
console.log(
  table(
    [`a file of ${number(statSync(file).size / 1e6, 1)} MB`, "seconds", "peak MB"],
    Object.entries({ backup, restore }).map(([name, { seconds, peak }]) => [name, number(seconds, 1), number(peak, 0)]),
  ),
);
console.log(
  table(
    ["start", "ms"],
    Object.entries(starts).map(([name, all]) => [name, number(median(all), 0)]),
  ),
);
console.log(`\n${verdictTable(verdicts)}`);
process.exit(0);

async function measureLists(origin: string, pid: number): Promise<void> {
  const rows: string[][] = [];
  for (const path of lists) {
    const times: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      const began = performance.now();
      const answer = await fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${adminToken}` } });
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
      times.push(performance.now() - began);
    }
    slowest = Math.max(slowest, times[0] ?? NaN);
    rows.push([path, number(times[0] ?? NaN, 0), number(median(times), 0)]);
  }
  console.log(`${table(["list", "first ms", "ms"], rows)}\n\nmemory ${number(memoryOf(pid).now, 0)} MB\n`);
}

/** Its time, and the peak of its process's memory, without PostgreSQL's. */
async function command(dataDir: string, words: readonly string[]): Promise<{ seconds: number; peak: number }> {
  const env = { PATH: Bun.env["PATH"] ?? "", DATA_DIR: dataDir, SECRET_KEY: secretKey, LOG_LEVEL: "error" };
  const began = performance.now();
  const child = Bun.spawn([process.execPath, "plugins/main.ts", ...words], {
    env,
    stdout: "ignore",
    stderr: "inherit",
  });
  if ((await child.exited) !== 0) throw new Error(`corestead ${words.join(" ")} failed`);
  const peak = (child.resourceUsage()?.maxRSS ?? NaN) / 2 ** 20;
  return { seconds: (performance.now() - began) / 1000, peak };
}

async function seed(): Promise<void> {
  await (await startCorestead(empty)).stop();
  const server = await startCorestead(big, { RATE_LIMIT_REQUESTS: "100000000" });
  const post = poster(`http://127.0.0.1:${server.port}`);
  const many = async (count: number, make: (i: number) => Promise<unknown>) => {
    const indexes = Array.from({ length: count }, (_, i) => i).values();
    await Promise.all(Array.from({ length: 8 }, () => eachOf(indexes, make)));
  };
  const schema = { fields: { title: "string", amount: "integer" }, indexed_fields: ["title", "amount"] };
  await many(200, (i) => post("/core/dbs.json", { db: { name: `Database ${i}`, code: `db-${i}`, schema } }));
  await post("/connect/flows.json", { flow: { name: "F", code: "f", fields: { program: [] } } });
  // An account may have 1,000.
  const other = { host: "other.example", token: await otherAccount() };
  const webhook = { source_type: "Core::Record", kind: "create" };
  await many(2000, (i) =>
    post(
      "/account/webhooks.json",
      { webhook: { ...webhook, url: `https://receiver.example/${i}` } },
      i % 2 ? other : {},
    ),
  );
  await post("/cms/sites.json", { site: { code: "site", name: "Site", locale: "en" } });
  await many(5000, (i) =>
    post("/cms/pages.json", {
      page: { name: `Page ${i}`, path: `page-${i}`, site_code: "site", content: "<p>Text</p>" },
    }),
  );
  const app = { app_engine: "html", css_engine: "none", source_code: "<h1>App</h1>" };
  await many(500, (i) => post("/core/apps.json", { app: { ...app, name: `App ${i}` } }));
  await many(1000, (i) =>
    post("/account/users.json", { user: { login: `person-${i}`, name: `Person ${i}`, role: "user" } }),
  );
  await server.stop();
  await seedJobs();
}

async function eachOf(indexes: Iterator<number>, make: (i: number) => Promise<unknown>): Promise<void> {
  for (let next = indexes.next(); !next.done; next = indexes.next()) await make(next.value);
}

/** Its administrator's token. */
async function otherAccount(): Promise<string> {
  const words = ["plugins/main.ts", "account", "create", "--name", "Other", "--host", "other.example"];
  const env = { PATH: Bun.env["PATH"] ?? "", DATA_DIR: big, SECRET_KEY: secretKey, LOG_LEVEL: "error" };
  const child = Bun.spawn([process.execPath, ...words], { env, stdout: "pipe", stderr: "inherit" });
  const token = /API token: (\S+)/.exec(await new Response(child.stdout).text())?.[1];
  if (token === undefined) throw new Error("no second account was made");
  return token;
}

/** They wait for another day, so that no worker takes them. */
async function seedJobs(): Promise<void> {
  const server = await startCorestead(big);
  const sql = openPool((await postgresOf(big)).target, { max: 1 });
  await sql`
    insert into jobs (name, run_at, payload, created_at)
    select 'flows.run', now() + interval '1 day', '{}', now() from generate_series(1, ${options.jobs}::int)`;
  await sql.end();
  await server.stop();
}

function poster(origin: string) {
  return async (path: string, body: object, as: { host?: string; token?: string } = {}): Promise<void> => {
    const host = as.host ? { host: as.host } : undefined;
    const headers = { authorization: `Bearer ${as.token ?? adminToken}`, "content-type": "application/json", ...host };
    const answer = await fetch(`${origin}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    await answer.arrayBuffer();
  };
}
