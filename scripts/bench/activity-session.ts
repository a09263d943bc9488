/**
 * What the log of activity adds to a change in PostgreSQL's session that makes it, in µs of processor time:
 * `bun scripts/bench/activity-session.ts [--rounds 300] [--only eight,alone,prompt]`. A few calls with and without the log by
 * turns on one server; of each side the tenth percentile, which other work on the machine disturbs least.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { databaseOf, tableForWrite } from "../../plugins/jsondb/databases/database.ts";
import type { DbRow } from "../../plugins/jsondb/databases/database-store.ts";
import { indexValues } from "../../plugins/jsondb/records/index-values.ts";
import { createPatchMany } from "../../plugins/jsondb/records/patch-many-store.ts";
import { openPool } from "../../runtime/db.ts";
import { idOf, pick, randomSequence } from "./contacts.ts";
import { adminToken, postgresOf, startCorestead, temporaryFolder } from "./processes.ts";
import { measuredWith, number, table, versionOf } from "./report.ts";
import { seedCorestead } from "./seed.ts";

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "300" },
    only: { type: "string", default: "eight,alone,prompt" },
  },
});
const rounds = Number(options.rounds);
const total = 20_000;
/** Of a turn, after some that are not measured. */
const calls = 12;
/** As long as those of requests are. */
const actor = JSON.stringify({
  kind: "person",
  account: 1,
  user: 1,
  login: "admin",
  token: 1,
  ip: "127.0.0.1",
  agent: "curl/8.14.1",
  request: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e20",
});

interface Case {
  readonly name: string;
  /** Changes that a call makes. */
  readonly each: number;
  run(isLogged: boolean): Promise<unknown>;
}

const dataDir = await temporaryFolder();
const server = await startCorestead(dataDir);
const { target } = await postgresOf(dataDir);
const sql = openPool(target, { max: 1 });
const other = openPool(target, { max: 1 });
await seedCorestead(server, sql, "contacts", total);
const [{ pid } = { pid: 0 }] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
// As another process that is making entries: the sealer waits.
await other`select pg_advisory_lock(hashtext('corestead activity inbox'), 1)`;
await sql`select set_config('corestead.actor', ${actor}, false)`;
const random = randomSequence(7);

const rows: string[][] = [];
for (const one of [await records("eight", 8), await records("alone", 1), await prompt()]) {
  if (options.only.split(",").includes(one.name)) rows.push(await measure(one));
}
process.stdout.write(
  `${[measuredWith(await versionOf(sql)), table(["µs", "without", "with", "the log"], rows)].join("\n\n")}\n`,
);
await Promise.all([sql.end(), other.end()]);
await server.stop();
process.exit(0);

async function records(name: string, each: number): Promise<Case> {
  const [row] = await sql<DbRow[]>`select * from dbs where code = 'contacts'`;
  if (!row) throw new Error("the database is not there");
  const db = databaseOf(row);
  const columns = tableForWrite(db, undefined);
  const patchMany = createPatchMany(sql);
  const patch = (isLogged: boolean) => {
    const data = { visits: pick(random, 100_000), phone: `+48 ${100_000_000 + pick(random, 900_000_000)}` };
    const json = JSON.stringify(data);
    const id = idOf(pick(random, total));
    return { id, json, actor: isLogged ? actor : undefined, index: indexValues(columns, data) };
  };
  const run = async (isLogged: boolean) => {
    const patches = new Map(Array.from({ length: each }, () => patch(isLogged)).map((one) => [one.id, one]));
    await patchMany(db, columns, [...patches.values()]);
  };
  return { name, each, run };
}

async function prompt(): Promise<Case> {
  const ids: string[] = [];
  for (let n = 0; n < 100; n++) ids.push(await makePrompt(`p${n}`));
  await other.unsafe("create table silent (like prompts including all); insert into silent select * from prompts");
  const run = (isLogged: boolean) => {
    const content = `Answer in ${pick(random, 2 ** 31)} words. ${"Be brief. ".repeat(20)}`;
    return sql`
      update ${sql(isLogged ? "prompts" : "silent")} set content = ${content}, version = version + 1, updated_at = now()
      where account_id = 1 and id = ${ids[pick(random, ids.length)] ?? ""}`;
  };
  return { name: "prompt", each: 1, run };
}

async function makePrompt(code: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${server.port}/core/prompts.json`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body: JSON.stringify({ prompt: { name: code, code, content: "one", kind: "chat" } }),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()).id;
}

async function measure(one: Case): Promise<string[]> {
  const found: Record<"off" | "on", number[]> = { off: [], on: [] };
  for (let round = 0; round < rounds; round++) {
    for (const side of round % 2 ? (["on", "off"] as const) : (["off", "on"] as const))
      found[side].push(await slice(one, side === "on"));
    if (round % 30 === 29) {
      await other`truncate activity_inbox`;
      await other`vacuum records, prompts, silent`;
    }
  }
  const [off, on] = [tenth(found.off), tenth(found.on)];
  return [one.name, number(off, 1), number(on, 1), number(on - off, 1)];
}

/** Of one change. */
async function slice(one: Case, isLogged: boolean): Promise<number> {
  for (let n = 0; n < calls / 3; n++) await one.run(isLogged);
  const before = used();
  for (let n = 0; n < calls; n++) await one.run(isLogged);
  return (used() - before) / calls / one.each;
}

/** µs of the session so far. */
function used(): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1000;
}

function tenth(all: readonly number[]): number {
  return all.toSorted((a, b) => a - b)[Math.floor(all.length / 10)] ?? Number.NaN;
}
