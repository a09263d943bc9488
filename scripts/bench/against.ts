/**
 * Compares this tree with another commit: `bun run bench --compare <commit> [--quick] [--only get,patch]`. Makes a
 * work tree of it, starts both servers, each with a PostgreSQL of its own, and lets them do the same requests by turns.
 * The records of both are written by this tree's statements, so it works back to the last change of their table.
 * `--only webhook` compares deliveries of webhooks, and needs no records.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { openPool } from "../../runtime/db.ts";
import { compare, median, warmUp, type Comparison, type Pair, type Side } from "./compare.ts";
import { createDeliveries, startReceiver, type Bulk } from "./deliveries.ts";
import { operationNames } from "./operations.ts";
import { adminToken, postgresOf, startCorestead, startLoadGenerator, temporaryFolder } from "./processes.ts";
import { comparisonTables, measuredWith, number, table, verdict, verdictTable, versionOf } from "./report.ts";
import { seedCorestead } from "./seed.ts";

const { values: options } = parseArgs({
  options: {
    compare: { type: "string" },
    quick: { type: "boolean", default: false },
    only: { type: "string", default: operationNames.join(",") },
    connections: { type: "string", default: "16" },
    rounds: { type: "string" },
    seconds: { type: "string", default: "2" },
    total: { type: "string" },
  },
});
const commit = options.compare;
if (commit === undefined) throw new Error("name a commit: --compare <commit>");
const rounds = Number(options.rounds ?? (options.quick ? 3 : 7));
const seconds = Number(options.seconds);
const total = Number(options.total ?? (options.quick ? 20_000 : 100_000));
const connections = Number(options.connections);
/** By the other's: less is a slower commit, beyond what two runs of one commit differ by on a busy machine. */
const least = 0.85;

const root = resolve(import.meta.dir, "../..");
const other = join(await temporaryFolder(), "tree");
await run(["git", "worktree", "add", "--detach", other, commit], root);
try {
  await run([process.execPath, "install", "--frozen-lockfile", "--silent"], other);
  for (const script of ["scripts/runtimes.ts", "scripts/studio.ts"])
    if (existsSync(join(other, script))) await run([process.execPath, script], other);
  await compareTrees();
} finally {
  await run(["git", "worktree", "remove", "--force", other], root);
}

async function compareTrees(): Promise<void> {
  const here = await side(root);
  const there = await side(other);
  const load = startLoadGenerator();
  const pair: Pair = { corestead: here.side, ceiling: there.side, postgresPid: here.side.postgresPid, load };
  const comparisons: Comparison[] = [];
  const chosen = options.only.split(",");
  const deliveries = chosen.includes("webhook") ? await compareDeliveries(here, there) : undefined;
  for (const operation of operationNames.filter((name) => chosen.includes(name))) {
    for (const one of [pair.corestead, pair.ceiling]) await warmUp(pair, one, operation, options.quick ? 1 : 5);
    comparisons.push(await compare(pair, { operation, connections, rounds, seconds }));
    process.stderr.write(`${operation}: ${number(comparisons.at(-1)?.ratio ?? NaN, 2)}\n`);
  }
  const verdicts = comparisons.map(({ operation, ratio }) => verdict(`${operation}, by ${commit}`, ratio, { least }));
  const how = `This tree beside ${commit}; ${number(total, 0)} records each; medians of ${rounds} interleaved rounds of ${seconds} s.`;
  const tables = comparisons.length > 0 ? [how, comparisonTables(comparisons, commit)] : [];
  if (deliveries) {
    tables.push(deliveries.text);
    verdicts.push(verdict(`processor time of a delivery, ${commit}'s by this tree's`, deliveries.ratio, { least }));
  }
  const parts = [measuredWith(here.version), ...tables, verdictTable(verdicts)];
  process.stdout.write(`\n${parts.join("\n\n")}\n`);
  if (verdicts.some(({ met }) => !met)) process.exitCode = 1;
  load.stop();
  await here.stop();
  await there.stop();
}

type Running = Awaited<ReturnType<typeof side>>;

/** By turns, as many deliveries each; the first turn warms them up. */
async function compareDeliveries(here: Running, there: Running) {
  const receiver = startReceiver();
  const perTurn = options.quick ? 2_000 : 10_000;
  const by = ({ side: { server, postgresPid }, sql }: Running) =>
    createDeliveries({ server, sql, postgresPid, receiver });
  const [ours, theirs] = [by(here), by(there)];
  const turns: { ours: Bulk; theirs: Bulk }[] = [];
  for (let turn = 0; turn <= rounds; turn++) {
    const bulk = { hooks: 1, concurrency: 10, total: perTurn };
    const measured = {
      ours: await ours.bulk({ ...bulk, name: `ours${turn}x` }),
      theirs: await theirs.bulk({ ...bulk, name: `theirs${turn}x` }),
    };
    if (turn > 0) turns.push(measured);
  }
  await receiver.stop();
  const row = (name: string, of: (turn: (typeof turns)[number]) => Bulk) => {
    const middle = (value: (bulk: Bulk) => number) => median(turns.map((turn) => value(of(turn))));
    const [perSecond, server] = [middle((bulk) => bulk.perSecond), middle((bulk) => bulk.server)];
    return [
      name,
      number(perSecond, 0),
      number(server, 3),
      number(
        middle((bulk) => bulk.postgres),
        3,
      ),
    ];
  };
  const head = ["deliveries to one receiver, 10 at once", "a second", "server CPU ms each", "PostgreSQL"];
  const rows = [row("this tree", (turn) => turn.ours), row(`${commit}`, (turn) => turn.theirs)];
  return { text: table(head, rows), ratio: median(turns.map((turn) => turn.theirs.server / turn.ours.server)) };
}

async function side(tree: string) {
  const dataDir = await temporaryFolder();
  const server = await startCorestead(dataDir, { OUTBOUND_ALLOW: "127.0.0.1" }, undefined, tree);
  const { target, pid } = await postgresOf(dataDir);
  const sql = openPool(target, { max: 2 });
  if (operationNames.some((name) => options.only.split(",").includes(name)))
    await seedCorestead(server, sql, "contacts", total);
  const asked = { kind: "corestead", port: server.port, token: adminToken, path: "/core/dbs/contacts", total } as const;
  const version = await versionOf(sql);
  const stop = async () => {
    await sql.end();
    await server.stop();
  };
  return { side: { server, target: asked, postgresPid: pid } satisfies Side, sql, version, stop };
}

async function run(command: readonly string[], cwd: string): Promise<void> {
  const child = Bun.spawn([...command], { cwd, stdout: "ignore", stderr: "inherit" });
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed`);
}
