/**
 * How fast flows are: `bun scripts/bench/flows.ts [seconds]`. A real server with its own PostgreSQL in a temporary
 * folder; each run is one `POST …/run.json`, answered when the process has ended and is stored.
 */
/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import { runLoop } from "./client.ts";
import type { Exchange } from "./operations.ts";
import { adminToken, cpuOf, cpuOfPostgres, postgresOf, startCorestead, temporaryFolder } from "./processes.ts";

const seconds = Number(process.argv[2] ?? 5);
const folder = await temporaryFolder();
const remote = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => Response.json({ main: { temp: 24 } }) });
const server = await startCorestead(folder, { OUTBOUND_ALLOW: "127.0.0.1" });
const postgres = await postgresOf(folder);
const origin = `http://127.0.0.1:${server.port}`;

await post("/connect/connectors.json", {
  connector: {
    name: "Local",
    code: "local",
    url: `http://127.0.0.1:${remote.port}`,
    fields: { methods: { temp: { path: "/" } } },
  },
});
const computing = [
  { type: "mutation", set: { temp: "{{ temp }}" } },
  { type: "mutation", set: { fahrenheit: "{{ temp | times: 1.8 | plus: 32 }}" } },
  { type: "if", condition: "temp > 20", then: [{ type: "mutation", set: { advice: "Take a hat, {{ name }}" } }] },
  { type: "return", value: { advice: "{{ advice }}", fahrenheit: "{{ fahrenheit }}" } },
];
await post("/connect/flows.json", { flow: { name: "Computing", code: "computing", fields: { program: computing } } });
const reaching = [
  { type: "connector", connector: "local", method: "temp", as: "answer" },
  { type: "mutation", set: { temp: "{{ answer.main.temp }}" } },
  { type: "return", value: { temp: "{{ temp }}" } },
];
await post("/connect/flows.json", { flow: { name: "Reaching", code: "reaching", fields: { program: reaching } } });

console.log("| flow | connections | runs/s | p50 ms | p99 ms | server ms/run | PostgreSQL ms/run |");
console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
for (const code of ["computing", "reaching"]) {
  await measure(code, 16, 3);
  for (const connections of [1, 16]) console.log(await measure(code, connections, seconds));
}
await server.stop();
await remote.stop(true);
process.exit(0);

async function measure(code: string, connections: number, lasting: number): Promise<string> {
  const exchange = runOf(code);
  const before = [cpuOf(server.pid), cpuOfPostgres(postgres.pid)] as const;
  const loop = { port: server.port, connections, seconds: lasting, maxRequests: 200_000, next: () => exchange };
  const { requests, seconds: took, latencies } = await runLoop(loop);
  const at = (share: number) => (latencies[Math.floor((latencies.length - 1) * share)] ?? NaN).toFixed(2);
  const perRun = (used: number, then: number) => (((used - then) * 1000) / requests).toFixed(2);
  const cpu = `${perRun(cpuOf(server.pid), before[0])} | ${perRun(cpuOfPostgres(postgres.pid), before[1])}`;
  return `| ${code} | ${connections} | ${Math.round(requests / took)} | ${at(0.5)} | ${at(0.99)} | ${cpu} |`;
}

function runOf(code: string): Exchange {
  const body = JSON.stringify({ temp: 24, name: "Ewa" });
  const head = [
    `POST /connect/flows/${code}/run.json HTTP/1.1`,
    "host: 127.0.0.1",
    `authorization: Bearer ${adminToken}`,
    "content-type: application/json",
    `content-length: ${body.length}`,
  ];
  const verify = (text: string) => JSON.parse(text).status === "finished";
  return { request: `${head.join("\r\n")}\r\n\r\n${body}`, status: 201, contains: '"finished"', verify };
}

async function post(path: string, body: unknown): Promise<void> {
  const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
  const answer = await fetch(`${origin}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
}
