/** A built-in prompt, rendered through HTTP: `bun scripts/bench/prompts.ts [--quick] [--write]`. */
import { parseArgs } from "node:util";
import { median } from "./compare.ts";
import { adminToken, cpuOf, startCorestead, startLoadGenerator, temporaryFolder } from "./processes.ts";
import { number, publish, table, verdict, verdictTable } from "./report.ts";

const { values: options } = parseArgs({
  options: { quick: { type: "boolean", default: false }, write: { type: "boolean", default: false } },
});
const rounds = 3;
const seconds = options.quick ? 0.5 : 3;
const path = "/core/prompt/common_api.md";

const corestead = await startCorestead(await temporaryFolder());
const load = startLoadGenerator();
const target = { kind: "corestead", port: corestead.port, token: adminToken, path, total: 1 } as const;
const run = (connections: number, duration: number, seed: number) =>
  load.run({ operation: "prompt", target, connections, seconds: duration, maxRequests: 200_000, seed });

await run(16, options.quick ? 1 : 5, 0);
const results = [];
for (const connections of [1, 16, 64]) {
  const before = cpuOf(corestead.pid);
  const measured = [];
  for (let round = 0; round < rounds; round++) measured.push(await run(connections, seconds, round));
  const requests = measured.reduce((sum, one) => sum + one.requests, 0);
  results.push({
    connections,
    perSecond: median(measured.map((one) => one.requests / one.seconds)),
    p50: median(measured.map(({ p50 }) => p50)),
    p99: median(measured.map(({ p99 }) => p99)),
    cpu: ((cpuOf(corestead.pid) - before) / requests) * 1000,
  });
}
load.stop();
await corestead.stop();

const text = [
  `\`GET ${path}\`; medians of ${rounds} rounds of ${seconds} s.`,
  table(
    ["connections", "requests/s", "p50 ms", "p99 ms", "server CPU s per 1,000"],
    results.map(({ connections, perSecond, p50, p99, cpu }) => [
      `${connections}`,
      number(perSecond, 0),
      number(p50, 2),
      number(p99, 2),
      number(cpu, 3),
    ]),
  ),
  verdictTable([verdict("rendered prompts at 16 connections", results[1]?.perSecond ?? NaN, { least: 2000 }, "/s")]),
];
await publish("prompts", text.join("\n\n"), options.write);
