/**
 * What the log of activity adds to a change, in processor time of the server and PostgreSQL: `bun scripts/bench/activity.ts
 * [--quick] [--write] [--only record,prompt] [--connections 1,16] [--rounds 9] [--seconds 2]`. The same PATCH with and
 * without the log on one server, by short turns; of each side the tenth percentile, which other work on the machine disturbs
 * least. What is done once a second for all entries is held back and measured apart.
 */
import { readdirSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { openPool } from "../../runtime/db.ts";
import { runLoop } from "./client.ts";
import { median } from "./compare.ts";
import { pick, randomSequence } from "./contacts.ts";
import { operations, type Exchange, type Target } from "./operations.ts";
import { adminToken, cpuOf, cpuOfPostgres, postgresOf, startCorestead, temporaryFolder } from "./processes.ts";
import { measuredWith, number, publish, table, verdict, verdictTable, versionOf, type Verdict } from "./report.ts";
import { seedCorestead } from "./seed.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    only: { type: "string", default: "record,prompt" },
    connections: { type: "string", default: "1,16" },
    rounds: { type: "string" },
    seconds: { type: "string", default: "2" },
  },
});
const rounds = Number(options.rounds ?? (options.quick ? 3 : 9));
const seconds = Number(options.seconds);
const total = options.quick ? 20_000 : 100_000;
const prompts = 200;
/** Of a round, for each side. */
const turns = 10;

interface Case {
  readonly name: string;
  readonly next: (random: () => number) => Exchange;
  readonly turn: (isLogged: boolean) => Promise<unknown>;
  /** Of the processor time of a change, in the change itself; undefined if there is no such target. */
  readonly most?: number;
}

/** Processor milliseconds of a change. */
interface Cost {
  readonly server: number;
  readonly postgres: number;
}

const dataDir = await temporaryFolder();
const server = await startCorestead(dataDir);
const { target: database, pid: postgresPid } = await postgresOf(dataDir);
const sql = openPool(database, { max: 2 });
await seedCorestead(server, sql, "contacts", total);
const { port } = server;
const target: Target = { kind: "corestead", port, token: adminToken, path: "/core/dbs/contacts", total };
const cases = [record(), await prompt()].filter(({ name }) => options.only.split(",").includes(name));

const rows: string[][] = [];
const verdicts: Verdict[] = [];
for (const one of cases) {
  await load(one, 16, 3, 1);
  for (const connections of options.connections.split(",").map(Number)) await measure(one, connections);
}
const how = `Processor ms of a PATCH; the tenth percentile of ${rounds * turns} turns of ${number(seconds / turns, 1)} s for each side, ${number(total, 0)} records. What is done once a second, for all entries together, is "afterwards" (median of ${rounds}).`;
const head = [
  "PATCH of",
  "connections",
  "without: server",
  "PostgreSQL",
  "with: server",
  "PostgreSQL",
  "dearer",
  "afterwards",
  "dearer with that",
];
const report = [measuredWith(await versionOf(sql)), how, table(head, rows), verdictTable(verdicts)].join("\n\n");
await sql.end();
await server.stop();
await publish("activity", report, options.write);
process.exit(0);

function record(): Case {
  const turn = (isLogged: boolean) =>
    send("PATCH", "/account/settings.json", { settings: { activity_databases: isLogged ? "*" : "-" } });
  return { name: "record", next: (random) => operations.patch(target, random), turn, most: 3 };
}

async function prompt(): Promise<Case> {
  const ids: number[] = [];
  for (let n = 0; n < prompts; n++) {
    const made = await send("POST", "/core/prompts.json", {
      prompt: { name: `p${n}`, code: `p${n}`, content: "one", kind: "chat" },
    });
    ids.push(made.id);
  }
  const next = (random: () => number): Exchange => {
    const content = `Answer in ${pick(random, 2 ** 31)} words. ${"Be brief. ".repeat(20)}`;
    const text = JSON.stringify({ prompt: { content } });
    const request = `PATCH /core/prompts/${ids[pick(random, prompts)]}.json HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${adminToken}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
    return { request, status: 200, contains: '"id":', verify: (body) => JSON.parse(body).content === content };
  };
  const turn = async (isLogged: boolean) => {
    for (const name of ["prompts", "prompt_versions"]) {
      const [found] = await sql`
        select from pg_trigger where tgrelid = ${name}::regclass and tgname = 'activity_note'`;
      if (found) await sql.unsafe(`alter table ${name} ${isLogged ? "enable" : "disable"} trigger activity_note`);
    }
  };
  return { name: "prompt", next, turn };
}

async function measure(one: Case, connections: number): Promise<void> {
  const found: Record<"off" | "on", Cost[]> = { off: [], on: [] };
  const afterwards: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const resume = await holdSealer();
    let logged = 0;
    for (let turn = 0; turn < turns; turn++) {
      // Who is first changes, too: what one leaves to vacuum would always meet the other.
      for (const name of turn % 2 ? (["on", "off"] as const) : (["off", "on"] as const)) {
        const { cost, requests } = await side(one, connections, round * turns + turn + 10, name === "on");
        found[name].push(cost);
        if (name === "on") logged += requests;
      }
    }
    afterwards.push((await afterChanges(resume)) / logged);
  }
  await one.turn(true);
  const off = tenth(found.off);
  const on = tenth(found.on);
  const after = median(afterwards);
  const dearer = (on.both / off.both - 1) * 100;
  const shown = [off.server, off.postgres, on.server, on.postgres].map((cost) => number(cost, 3));
  const withAfter = `${number(((on.both + after) / off.both - 1) * 100, 1)} %`;
  rows.push([one.name, `${connections}`, ...shown, `${number(dearer, 1)} %`, number(after, 3), withAfter]);
  process.stderr.write(`${rows.at(-1)?.join("  ")}\n`);
  if (one.most !== undefined)
    verdicts.push(verdict(`PATCH of a ${one.name} at ${connections}, dearer by`, dearer, { most: one.most }, "%"));
}

function tenth(all: readonly Cost[]) {
  const of = (value: (cost: Cost) => number) =>
    all.map(value).toSorted((a, b) => a - b)[Math.floor(all.length / 10)] ?? Number.NaN;
  return {
    server: of(({ server: ofServer }) => ofServer),
    postgres: of(({ postgres }) => postgres),
    both: of(({ server: ofServer, postgres }) => ofServer + postgres),
  };
}

async function side(one: Case, connections: number, seed: number, isLogged: boolean) {
  await one.turn(isLogged);
  let requests = await load(one, connections, 0.05, seed + 1000);
  const before = used();
  const measured = await load(one, connections, seconds / turns, seed);
  const all = spent(before, used());
  requests += measured;
  return { cost: { server: all.server / measured, postgres: all.postgres / measured }, requests };
}

/** Processor milliseconds until all that was held back is sealed. */
async function afterChanges(resume: () => Promise<void>): Promise<number> {
  // What the server does once a second for the records themselves.
  await Bun.sleep(1_200);
  const all = () => (cpuOf(server.pid) + cpuOfPostgres(postgresPid)) * 1000;
  const before = all();
  await resume();
  await sealed();
  return all() - before;
}

/** Nanoseconds of each process that runs, all its threads together: `cpuOf` has hundredths of a second. */
function used(): Map<number, number> {
  const sessions = readFileSync(`/proc/${postgresPid}/task/${postgresPid}/children`, "utf8")
    .trim()
    .split(" ")
    .map(Number);
  return new Map([server.pid, ...sessions].map((pid) => [pid, nanosecondsOf(pid)]));
}

function nanosecondsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]))
      .reduce((sum, one) => sum + one, 0);
  } catch {
    return 0; // it has ended
  }
}

/** Milliseconds between the two; of a session that has ended meanwhile, none. */
function spent(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): Cost {
  const each = [...after].map(([pid, ns]) => ({ pid, ms: Math.max(0, ns - (before.get(pid) ?? 0)) / 1e6 }));
  const sum = (isServer: boolean) =>
    each.filter(({ pid }) => (pid === server.pid) === isServer).reduce((all, { ms }) => all + ms, 0);
  return { server: sum(true), postgres: sum(false) };
}

async function load({ next }: Case, connections: number, duration: number, seed: number): Promise<number> {
  const random = randomSequence(seed);
  const loop = { port, connections, seconds: duration, maxRequests: 200_000, next: () => next(random) };
  return (await runLoop(loop)).requests;
}

/** As another process that is making entries of the account's changes: the sealer waits for it. */
async function holdSealer(): Promise<() => Promise<void>> {
  const holder = await sql.reserve();
  await holder`select pg_advisory_lock(hashtext('corestead activity inbox'), 1)`;
  return async () => {
    await holder`select pg_advisory_unlock(hashtext('corestead activity inbox'), 1)`;
    holder.release();
  };
}

async function sealed(): Promise<void> {
  for (;;) {
    const [row] = await sql<{ is: boolean }[]>`
      select up_to >= (select coalesce(max(id), 0) from activity) and not exists (select from activity_inbox) as is
      from activity_sealed`;
    if (row?.is) return;
    await Bun.sleep(50);
  }
}

async function send(method: string, path: string, body: unknown) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}
