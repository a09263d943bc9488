/**
 * Divides a large table into partitions while servers go on (docs/sharding.md):
 *
 *     bun scripts/partition.ts records --url postgres:///corestead --partitions 16
 *     bun scripts/partition.ts webhook_deliveries --url postgres:///corestead --rows 10000000
 *     bun scripts/partition.ts flow_processes --url postgres:///corestead
 *     bun scripts/partition.ts --ahead --url postgres:///corestead
 *
 * `--ahead`, by cron, makes the partitions that will be needed next and drops old ones that are empty. `--abandon` clears
 * away what a division that was killed has left. `--data-dir` instead of `--url`: a running server's own PostgreSQL.
 */
import { parseArgs } from "node:util";
import { openPool } from "../runtime/db.ts";
import { runningPostgres } from "../runtime/postgres/running-postgres.ts";
import { makeAhead } from "./partition/ahead.ts";
import { abandon, divide } from "./partition/divide.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: "string" },
    "data-dir": { type: "string" },
    partitions: { type: "string", default: "16" },
    rows: { type: "string", default: "10000000" },
    ahead: { type: "boolean", default: false },
    abandon: { type: "boolean", default: false },
  },
});
const target = values.url ? { url: values.url } : await runningPostgres(values["data-dir"] ?? "");
if (!target) throw new Error("--url is needed, the address of PostgreSQL, or --data-dir of a running server");
const sql = openPool(target, { max: 1, statementTimeoutMs: 0 });
const say = (line: string) => process.stdout.write(`${line}\n`);
const [table] = positionals;

if (values.abandon) await abandon(sql);
else if (values.ahead) for (const line of await makeAhead(sql)) say(line);
else if (table) {
  const { copySeconds, indexSeconds, lockMs } = await divide(sql, table, {
    partitions: wholeOf("partitions"),
    rows: wholeOf("rows"),
  });
  say(
    `copied in ${copySeconds.toFixed(0)} s, indexed in ${indexSeconds.toFixed(0)} s, locked for ${lockMs.toFixed(0)} ms`,
  );
  say(`When you are content: drop table undivided.${table}`);
} else throw new Error("name the table that is to be divided, or say --ahead");
await sql.end();

function wholeOf(option: "partitions" | "rows"): number {
  const value = Number(values[option]);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`--${option} must be a number above zero`);
  return value;
}
