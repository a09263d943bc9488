/**
 * How fast webhooks are delivered: `bun scripts/bench/webhooks.ts [--quick] [--write]`. The server, its PostgreSQL and
 * the receiver (this process) share the machine's processors.
 */
import { parseArgs } from "node:util";
import { openPool } from "../../runtime/db.ts";
import { median } from "./compare.ts";
import { createDeliveries, startReceiver } from "./deliveries.ts";
import { postgresOf, startCorestead, temporaryFolder } from "./processes.ts";
import { measuredWith, number, publish, table, verdict, verdictTable, versionOf, type Verdict } from "./report.ts";

const { values: options } = parseArgs({
  options: { quick: { type: "boolean", default: false }, write: { type: "boolean", default: false } },
});
const deliveries = options.quick ? 5_000 : 20_000;
const idleChanges = options.quick ? 120 : 500;
const rounds = options.quick ? 1 : 3;
const roundChanges = options.quick ? 120 : 250;
const neighbours = options.quick ? [20] : [1, 20];
const verdicts: Verdict[] = [];
const receiver = startReceiver();
const { arrivals } = receiver;
const dataDir = await temporaryFolder();
const server = await startCorestead(dataDir, { OUTBOUND_ALLOW: "127.0.0.1" });
const { target, pid: postgresPid } = await postgresOf(dataDir);
const sql = openPool(target, { max: 2 });
const { post, webhook, remove, until, bulk } = createDeliveries({ server, sql, postgresPid, receiver });
await post("/core/dbs.json", { db: { name: "Bench", code: "bench" } });

const parts = [await idleLatency(), await throughputs(), await besideHanging()];
const how = "A latency is that from before the change's insert to the receiver, with its commit.";
const report = [measuredWith(await versionOf(sql)), how, ...parts, verdictTable(verdicts)].join("\n\n");
await sql.end({ timeout: 5 });
await server.stop();
await receiver.stop();
await publish("webhooks", report, options.write);
process.exit(0);

/** Sequential changes with pauses between them. A change's time is taken before it is written. */
async function idleLatency(): Promise<string> {
  const hook = await webhook("create", "/idle");
  for (let n = 0; n < 50; n++) await changed(n);
  await until(() => arrivals.get("/idle")?.length === 50);
  arrivals.delete("/idle");
  for (let n = 0; n < idleChanges; n++) {
    await changed(n);
    await Bun.sleep(5 + Math.random() * 10);
  }
  await until(() => arrivals.get("/idle")?.length === idleChanges);
  await remove(hook);
  const { p50, p99 } = latencies("/idle");
  verdicts.push(verdict("from the change to the receiver, idle, p99", p99, { most: 30 }, "ms"));
  return table(["latency", "p50 ms", "p99 ms"], [["one change after another, idle", number(p50, 1), number(p99, 1)]]);
}

async function throughputs(): Promise<string> {
  const shapes = [
    [1, 10],
    [1, 50],
    [10, 10],
  ] as const;
  await bulk({ hooks: 1, concurrency: 10, total: 3_000 }); // warms it up
  const rows = [];
  for (const [hooks, concurrency] of shapes) {
    const {
      perSecond,
      server: ofServer,
      postgres,
      receiver: ofReceiver,
    } = await bulk({
      hooks,
      concurrency,
      total: deliveries,
    });
    const cost = [ofServer, postgres, ofReceiver].map((one) => number(one, 3));
    rows.push([`${hooks}, ${concurrency} at once each`, number(perSecond, 0), ...cost]);
    if (hooks === 1) verdicts.push(verdict(`to one, ${concurrency} at once`, perSecond, { least: 2000 }, "/s"));
  }
  const head = ["receivers", "deliveries/s", "server CPU ms each", "PostgreSQL", "receiver"];
  return table(head, rows);
}

/** The effect of hanging receivers on a healthy one, alternated with responsive ones, which are as much work. */
async function besideHanging(): Promise<string> {
  const rows: string[][] = [];
  for (const count of neighbours) {
    const turns: [fine: Latencies, hang: Latencies][] = [];
    for (let round = 0; round < rounds; round++)
      turns.push([await healthyBeside(count, `/fine${round}`), await healthyBeside(count, `/hang${round}`)]);
    const middle = (value: (turn: (typeof turns)[number]) => number) => median(turns.map(value));
    const answering = [middle(([fine]) => fine.p50), middle(([fine]) => fine.p99)];
    const hanging = [middle(([, hang]) => hang.p50), middle(([, hang]) => hang.p99)];
    rows.push([`${count}`, ...[...answering, ...hanging].map((one) => number(one, 1))]);
    const ratio = middle(([fine, hang]) => hang.p50 / fine.p50);
    const tail = middle(([fine, hang]) => hang.p99 / fine.p99);
    verdicts.push(
      verdict(`a healthy one beside ${count} that hang, p50 by that beside ${count} that answer`, ratio, { most: 1.5 }),
      verdict(`the same, p99`, tail, { most: 2 }),
    );
  }
  const head = ["50 changes/s, others beside it", "answering: p50 ms", "p99 ms", "hanging: p50 ms", "p99 ms"];
  return table(head, rows);
}

async function healthyBeside(count: number, path: string) {
  const healthy = `/healthy${count}${path}`;
  const made = [await webhook("create", healthy)];
  for (let n = 0; n < count; n++) made.push(await webhook("create", `${path}/${count}/${n}`));
  const start = performance.now();
  const sent: Promise<unknown>[] = [];
  for (let n = 0; n < roundChanges; n++) {
    await Bun.sleep(start + n * 20 - performance.now());
    sent.push(changed(n));
  }
  await Promise.all(sent);
  await until(() => arrivals.get(healthy)?.length === roundChanges);
  await Promise.all(made.map(remove));
  return latencies(healthy);
}

async function changed(n: number) {
  await post("/core/dbs/bench/records.json", { record: { data: { n } } });
}

interface Latencies {
  readonly p50: number;
  readonly p99: number;
}

function latencies(path: string): Latencies {
  const sorted = (arrivals.get(path) ?? []).map(({ at, changedAt }) => at - changedAt).toSorted((a, b) => a - b);
  const at = (p: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? NaN;
  return { p50: at(0.5), p99: at(0.99) };
}
