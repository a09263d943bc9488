/**
 * How fast flows and actions of apps are: `bun scripts/bench/flows.ts [--quick] [--write]`. A run is one `POST
 * …/run.json`, answered when the process has ended and is stored with all its steps. It is measured alternately with a
 * hand-written version (flow-ceiling.ts) on the same PostgreSQL.
 */
/* oxlint-disable unicorn/no-thenable -- a flow step has a branch with this name */
import { parseArgs } from "node:util";
import { openPool } from "../../runtime/db.ts";
import { runLoop } from "./client.ts";
import { median } from "./compare.ts";
import type { Exchange } from "./operations.ts";
import { adminToken, cpuOf, cpuOfPostgres, postgresOf, startCeiling, startCorestead } from "./processes.ts";
import { temporaryFolder, type Server } from "./processes.ts";
import { measuredWith, number, publish, table, verdict, verdictTable, versionOf } from "./report.ts";

const { values: options } = parseArgs({
  options: { quick: { type: "boolean", default: false }, write: { type: "boolean", default: false } },
});
const rounds = 3;
const seconds = options.quick ? 1 : 3;
// It takes a while until the engine and Liquid are compiled.
const warmUpSeconds = options.quick ? 4 : 12;
/**
 * Measured on this kind of machine without other load: Node-RED, which stores nothing, and five hand-written
 * statements.
 */
const nodeRed = 2681;
const fiveStatements = 1556;

interface Side {
  readonly server: Server;
  readonly exchange: Exchange;
}
interface Round {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Processor milliseconds per request. */
  readonly server: number;
  readonly postgres: number;
}

const folder = await temporaryFolder();
const remote = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => Response.json({ main: { temp: 24 } }) });
const corestead = await startCorestead(folder, { OUTBOUND_ALLOW: "127.0.0.1", RATE_LIMIT_ACTIONS: "1000000000" });
const postgres = await postgresOf(folder);
const sql = openPool(postgres.target, { max: 1 });
await sql`create database ceiling`;
const ceiling = await startHandWritten();
const app = await seed();

const of = (path: string, status: number, token: string | null = adminToken): Side => ({
  server: corestead,
  exchange: exchangeOf(path, status, token),
});
const flow = of("/connect/flows/computing/run.json", 201);
const five: Side = { server: ceiling, exchange: exchangeOf("/five", 201) };
const one: Side = { server: ceiling, exchange: exchangeOf("/one", 201) };
const others = {
  "a flow with a connector step, run": [of("/connect/flows/reaching/run.json", 201), [1, 16]],
  "an action that computes, by token": [of(`/core/apps/${app}/action/computing`, 200), [1, 16]],
  "an action that computes, a visitor": [of(`/core/apps/${app}/action/computing`, 200, null), [1, 16]],
  "an action with a connector step, by token": [of(`/core/apps/${app}/action/reaching`, 200), [1]],
  "an action with a connector step, a visitor": [of(`/core/apps/${app}/action/reaching`, 200, null), [1]],
} as const;

await measure(flow, 16, warmUpSeconds);
for (const side of [five, one]) await measure(side, 16, options.quick ? 1 : 3);
const beside: { connections: number; turns: [flow: Round, five: Round, one: Round][] }[] = [];
for (const connections of [1, 16]) {
  const turns: [flow: Round, five: Round, one: Round][] = [];
  for (let round = 0; round < (options.quick && connections === 1 ? 1 : rounds); round++) {
    turns.push([
      await measure(flow, connections, seconds),
      await measure(five, connections, seconds),
      await measure(one, connections, seconds),
    ]);
  }
  beside.push({ connections, turns });
}
const alone: { kind: string; connections: number; round: Round }[] = [];
for (const [kind, [side, counts]] of Object.entries(others)) {
  await measure(side, 16, options.quick ? 0.5 : 3);
  for (const connections of counts) alone.push({ kind, connections, round: await measure(side, connections, seconds) });
}
const version = await versionOf(sql);
await sql.end({ timeout: 5 });
await ceiling.stop();
await corestead.stop();
await remote.stop(true);
await publish("flows", report(), options.write);
process.exit(0);

async function startHandWritten(): Promise<Server> {
  const target = { ...postgres.target, database: "ceiling" };
  const own = openPool(target, { max: 1 });
  await own`
    create table runs (
      id uuid primary key, status text not null, input json not null, data json, memory json, steps json not null,
      created_at timestamptz not null default now(), finished_at timestamptz
    ) with (fillfactor = 85)`;
  await own.end({ timeout: 5 });
  return startCeiling(target, "flow-ceiling.ts");
}

/** The flows, and an app with actions; its address. */
async function seed(): Promise<string> {
  const methods = { temp: { path: "/" } };
  const connector = { name: "Local", code: "local", url: `http://127.0.0.1:${remote.port}`, fields: { methods } };
  await post("/connect/connectors.json", { connector });
  const advice = { advice: "Take a hat, {{ name }}" };
  const programs = {
    computing: [
      { type: "mutation", set: { temp: "{{ temp }}" } },
      { type: "mutation", set: { fahrenheit: "{{ temp | times: 1.8 | plus: 32 }}" } },
      { type: "if", condition: "temp > 20", then: [{ type: "mutation", set: advice }] },
      { type: "return", value: { advice: "{{ advice }}", fahrenheit: "{{ fahrenheit }}" } },
    ],
    reaching: [
      { type: "connector", connector: "local", method: "temp", as: "answer" },
      { type: "return", value: { temp: "{{ answer.main.temp }}" } },
    ],
    "one-return": [{ type: "return", value: advice }],
    "one-call": [{ type: "connector", connector: "local", method: "temp", as: "answer" }],
  };
  for (const [code, program] of Object.entries(programs))
    await post("/connect/flows.json", { flow: { name: code, code, fields: { program } } });
  const actions = [
    { action: "computing", flow_code: "one-return", public: true },
    { action: "reaching", flow_code: "one-call", public: true },
  ];
  const made = { name: "Bench", app_engine: "html", source_code: "<p>Bench</p>", public: true, actions };
  return (await post("/core/apps.json", { app: made })).id;
}

async function measure(side: Side, connections: number, lasting: number): Promise<Round> {
  const { server, exchange } = side;
  const before = { server: cpuOf(server.pid), postgres: cpuOfPostgres(postgres.pid) };
  const loop = { port: server.port, connections, seconds: lasting, maxRequests: 400_000, next: () => exchange };
  const { requests, seconds: took, latencies } = await runLoop(loop);
  const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? NaN;
  return {
    perSecond: requests / took,
    p50: at(0.5),
    p99: at(0.99),
    server: ((cpuOf(server.pid) - before.server) * 1000) / requests,
    postgres: ((cpuOfPostgres(postgres.pid) - before.postgres) * 1000) / requests,
  };
}

function report(): string {
  const head = ["connections", "requests/s", "p50 ms", "p99 ms", "server CPU ms", "PostgreSQL CPU ms"];
  const cells = (connections: number, turns: readonly Round[]) => {
    const middle = (value: (round: Round) => number, digits: number) => number(median(turns.map(value)), digits);
    const latencies = [middle(({ p50 }) => p50, 2), middle(({ p99 }) => p99, 2)];
    const cost = [middle((round) => round.server, 3), middle((round) => round.postgres, 3)];
    return [`${connections}`, middle(({ perSecond }) => perSecond, 0), ...latencies, ...cost];
  };
  const sides = ["five steps, Corestead", "by hand, five statements", "by hand, one statement"];
  const rows = beside.flatMap(({ connections, turns }) =>
    sides.map((what, at) => [
      what,
      ...cells(
        connections,
        turns.flatMap((turn) => turn[at] ?? []),
      ),
    ]),
  );
  const further = alone.map(({ kind, connections, round }) => [kind, ...cells(connections, [round])]);
  const how = `Medians of ${rounds} rounds of ${seconds} s in turns. A connector step asks a server beside this one.`;
  const parts = [
    measuredWith(version),
    how,
    table(["run of a flow", ...head], rows),
    table(["beside", ...head], further),
  ];
  return [...parts, verdictTable(verdicts())].join("\n\n");
}

function verdicts() {
  const turns = beside.find(({ connections }) => connections === 16)?.turns ?? [];
  const runs = median(turns.map(([own]) => own.perSecond));
  const ratio = median(turns.map(([own, byHand]) => own.perSecond / byHand.perSecond));
  const cost = median(turns.map(([own, byHand]) => (own.server + own.postgres) / (byHand.server + byHand.postgres)));
  const least = Math.round((nodeRed / fiveStatements) * 100) / 100;
  const what = "a flow of five steps at 16";
  return [
    verdict(`${what}, runs/s`, runs, { least: 1200 }, "/s"),
    verdict(`${what}, runs/s, to beat Node-RED`, runs, { least: nodeRed }, "/s"),
    verdict(`${what}, runs/s by those of five statements (Node-RED's are ${least})`, ratio, { least }),
    verdict(`${what}, processor time by that of five statements`, cost, { most: 1 }),
    ...alone
      .filter(({ kind, connections }) => kind.startsWith("an action") && connections === 1)
      .map(({ kind, round }) => verdict(`${kind}, p50`, round.p50, { most: 10 }, "ms")),
  ];
}

function exchangeOf(path: string, status: number, token: string | null = adminToken): Exchange {
  const body = JSON.stringify({ temp: 24, name: "Ewa" });
  const head = [
    `POST ${path} HTTP/1.1`,
    "host: 127.0.0.1",
    ...(token === null ? [] : [`authorization: Bearer ${token}`]),
    "content-type: application/json",
    `content-length: ${body.length}`,
  ];
  const verify = (text: string) => JSON.parse(text).status === "finished";
  return { request: `${head.join("\r\n")}\r\n\r\n${body}`, status, contains: '"finished"', verify };
}

async function post(path: string, body: unknown) {
  const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
  const url = `http://127.0.0.1:${corestead.port}${path}`;
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}
