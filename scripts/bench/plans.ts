/**
 * The plans of requests that must never read a whole table: `bun scripts/bench/plans.ts [--write]`. PostgreSQL itself
 * explains the statements of HTTP requests (auto_explain), including those inside functions.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openPool } from "../../runtime/db.ts";
import { cityOf, fragmentOf, idOf, randomSequence } from "./contacts.ts";
import { adminToken, postgresOf, startCorestead, temporaryFolder, type Server } from "./processes.ts";
import { publish } from "./report.ts";
import { seedCorestead } from "./seed.ts";

const { values: options } = parseArgs({
  options: { quick: { type: "boolean", default: false }, write: { type: "boolean", default: false } },
});
const total = options.quick ? 20_000 : 100_000;
const dataDir = await temporaryFolder();

const first = await startCorestead(dataDir);
const { target } = await postgresOf(dataDir);
const sql = openPool(target, { max: 2 });
await seedCorestead(first, sql, "contacts", total);
await seedCorestead(first, sql, "shop", total, { tableName: "customers" });
for (const [name, value] of [
  ["session_preload_libraries", "auto_explain"],
  ["auto_explain.log_min_duration", "0"],
  ["auto_explain.log_analyze", "on"],
  ["auto_explain.log_buffers", "off"],
  ["auto_explain.log_nested_statements", "on"],
]) {
  await sql.unsafe(`alter role corestead set ${name} = '${value}'`);
}
await sql.end();
await first.stop();

const corestead = await startCorestead(dataDir);
const requests = {
  get: `/core/dbs/contacts/records/${idOf(7)}.json`,
  "list by an indexed field": `/core/dbs/contacts/search.json?filter[city]=${encodeURIComponent(cityOf(7, total))}&sort=-joined_at`,
  "range of an indexed field": `/core/dbs/contacts/search.json?filter[age][gte]=87&filter[joined_at][gte]=2024-01-01&sort=-joined_at`,
  "one of several values": `/core/dbs/contacts/search.json?filter[city][in]=${[7, 8].map((at) => encodeURIComponent(cityOf(at, total))).join(",")}`,
  "search of a table": `/core/dbs/shop/search.json?table_name=customers&q=${fragmentOf(7, randomSequence(1))}`,
};
const sections: string[] = [];
const scans: string[] = [];
for (const [name, path] of Object.entries(requests)) {
  const plans = await plansOf(corestead, path);
  sections.push(`#### ${name}\n\n\`GET ${path}\`\n\n\`\`\`\n${plans.join("\n\n")}\n\`\`\``);
  if (plans.some((plan) => plan.includes("Seq Scan"))) scans.push(name);
}
await corestead.stop();
await publish("plans", sections.join("\n\n"), options.write);
if (scans.length > 0) throw new Error(`a sequential scan in the plan of: ${scans.join(", ")}`);

/** The plans of one request's statements, after the server has filled its caches and made its generic plans. */
async function plansOf(server: Server, path: string): Promise<string[]> {
  const request = async () => {
    const headers = { authorization: `Bearer ${adminToken}` };
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers });
    if (response.status !== 200 || (await response.text()) === "[]") throw new Error(`${path}: ${response.status}`);
  };
  // Each of the pool's ten connections plans a statement five times before it may keep a generic plan.
  for (let i = 0; i < 100; i++) await request();
  const before = await logOf();
  await request();
  await Bun.sleep(300);
  const logged = (await logOf()).slice(before.length);
  const entries = logged.split(/^\d{4}-\d\d-\d\d .*? LOG: +/m).slice(1);
  const explained = entries.filter(
    (entry) => entry.includes("plan:\n\tQuery Text:") && /\brecord(s|_candidates)\b/.test(entry),
  );
  if (explained.length === 0) throw new Error(`${path}: no plan was logged`);
  return explained.map(planOnly);
}

/** Without the statement's text, which the plan shows, and the function that called it. */
function planOnly(entry: string): string {
  const lines = entry.split("\n").map((line) => line.replace(/^\t/, ""));
  const start = lines.findIndex((line) => /\(cost=.*\(actual/.test(line));
  const context = lines.findIndex((line) => line.includes(" CONTEXT: "));
  return lines
    .slice(start, context < 0 ? undefined : context)
    .join("\n")
    .trimEnd();
}

async function logOf(): Promise<string> {
  return Bun.file(join(dataDir, "postgres.log")).text();
}
