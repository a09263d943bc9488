/**
 * Compares a database of 1,000,000 records with one of 10,000 in the same table: `bun scripts/bench/million.ts
 * [--quick] [--write]`. Uses one client, so that times are those of the request alone, and alternates between the
 * sizes.
 */
import { parseArgs } from "node:util";
import { openPool } from "../../runtime/db.ts";
import { median } from "./compare.ts";
import { adminToken, postgresOf, startCorestead, startLoadGenerator, temporaryFolder } from "./processes.ts";
import { number, publish, table, verdict, verdictTable } from "./report.ts";
import { seedCorestead } from "./seed.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    total: { type: "string" },
  },
});
const sizes = [10_000, Number(options.total ?? (options.quick ? 100_000 : 1_000_000))];
const rounds = 3;
const seconds = options.quick ? 0.5 : 2;
const measures = [
  { operation: "get", what: "get" },
  { operation: "recent", what: "filter by one of 70 ages, sort by creation" },
  { operation: "list", what: "filter by a city of 200 contacts, sort by a time" },
  { operation: "filtered", what: "filter by one of 70 ages, sort by a time" },
  { operation: "sorted", what: "sort by a time" },
  { operation: "search", what: "fragment" },
] as const;

interface Times {
  readonly p50: number[];
  readonly p99: number[];
}

const dataDir = await temporaryFolder();
const corestead = await startCorestead(dataDir);
const sql = openPool((await postgresOf(dataDir)).target, { max: 2, statementTimeoutMs: 0 });
for (const size of sizes) await seedCorestead(corestead, sql, `contacts-${size}`, size);
await sql.end();
const load = startLoadGenerator();
const run = (operation: (typeof measures)[number]["operation"], size: number, duration: number, seed: number) =>
  load.run({
    operation,
    target: {
      kind: "corestead",
      port: corestead.port,
      token: adminToken,
      path: `/core/dbs/contacts-${size}`,
      total: size,
    },
    connections: 1,
    seconds: duration,
    maxRequests: 100_000,
    seed,
  });

const results: {
  operation: string;
  what: string;
  small: Times;
  large: Times;
  ratio: number;
}[] = [];
for (const { operation, what } of measures) {
  const bySize = sizes.map((size) => ({ size, p50: [] as number[], p99: [] as number[] }));
  for (const { size } of bySize) await run(operation, size, seconds, 0);
  for (let round = 1; round <= rounds; round++) {
    for (const { size, p50, p99 } of bySize) {
      const measured = await run(operation, size, seconds, round);
      p50.push(measured.p50);
      p99.push(measured.p99);
    }
  }
  const [small, large] = bySize;
  if (!small || !large) throw new Error("two sizes are compared");
  const ratio = median(large.p50.map((time, round) => time / (small.p50[round] ?? NaN)));
  results.push({ operation, what, small, large, ratio });
}
load.stop();
await corestead.stop();

const [few = 0, many = 0] = sizes;
const searched = results.find((one) => one.operation === "search");
const text = [
  `One connection; medians of ${rounds} interleaved rounds of ${seconds} s, in ms.`,
  table(
    ["", `${number(few, 0)} p50`, `${number(many, 0)} p50`, "ratio", `${number(few, 0)} p99`, `${number(many, 0)} p99`],
    results.map(({ what, small, large, ratio }) => [
      what,
      number(median(small.p50), 2),
      number(median(large.p50), 2),
      number(ratio, 2),
      number(median(small.p99), 2),
      number(median(large.p99), 2),
    ]),
  ),
  verdictTable([
    ...results
      .filter(({ operation }) => operation !== "get" && operation !== "search")
      .map(({ what, ratio }) => verdict(`${what}, by its time at ${number(few, 0)}`, ratio, { most: 1.5 })),
    verdict("fragment search, p99", median(searched?.large.p99 ?? []), { most: 50 }, "ms"),
  ]),
];
await publish("million", text.join("\n\n"), options.write);
