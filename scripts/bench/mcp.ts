/**
 * A tool call over `/mcp` beside the same call of the REST API, by turns: `bun scripts/bench/mcp.ts [--quick]
 * [--write]`. Uses a real server with its own PostgreSQL in a temporary folder.
 */
import { runLoop } from "./client.ts";
import { median } from "./compare.ts";
import type { Exchange } from "./operations.ts";
import { adminToken, startCorestead, temporaryFolder } from "./processes.ts";
import { number, publish, table, verdict, verdictTable, type Verdict } from "./report.ts";

const quick = process.argv.includes("--quick");
const rounds = quick ? 3 : 5;
const seconds = quick ? 0.5 : 1;
const records = 2_000;
const server = await startCorestead(await temporaryFolder());
const verdicts: Verdict[] = [];

interface Pair {
  readonly name: string;
  readonly rest: Exchange;
  readonly tool: string;
  readonly args: object;
  /** As it is in the text of a tool's answer. */
  readonly contains: string;
}

try {
  const pairs = await prepared();
  const rows: string[][] = [];
  for (const pair of pairs) await warmedUp(pair);
  for (const connections of [1, 16]) {
    for (const pair of pairs) rows.push(...(await measured(pair, connections)));
  }
  const head = ["call", "connections", "REST p50 ms", "2026-07-28", "2025-11-25", "ratio", "ratio of the older"];
  const said = `Medians of ${rounds} interleaved rounds of ${seconds} s after ${quick ? 1 : 2} s of warm-up; each call's p50 beside that of the same REST call in the same round.`;
  await publish(
    "mcp",
    [said, table(head, rows), verdictTable(verdicts)].join("\n\n"),
    process.argv.includes("--write"),
  );
} finally {
  await server.stop();
}
process.exit(0);

/** Compiled code is what a server has that has worked for a while. */
async function warmedUp(pair: Pair): Promise<void> {
  for (const exchange of sidesOf(pair)) await p50(exchange, 16, quick ? 1 : 2);
}

function sidesOf(pair: Pair): Exchange[] {
  return [pair.rest, call(pair, "2026-07-28"), call(pair, "2025-11-25")];
}

async function measured(pair: Pair, connections: number): Promise<string[][]> {
  const sides = sidesOf(pair);
  const found: number[][] = [];
  for (let round = 0; round < rounds; round++) {
    const times: number[] = [];
    for (const exchange of sides) times.push(await p50(exchange, connections, seconds));
    found.push(times);
  }
  const at = (side: number) => median(found.map((times) => times[side] ?? NaN));
  const ratio = (side: number) => median(found.map((times) => (times[side] ?? NaN) / (times[0] ?? NaN)));
  verdicts.push(verdict(`${pair.name}, ${connections} connections, p50 to REST`, ratio(1), { most: 1.5 }));
  const shown = [at(0), at(1), at(2), ratio(1), ratio(2)].map((value) => number(value, 2));
  return [[pair.name, `${connections}`, ...shown]];
}

async function p50(exchange: Exchange, connections: number, duration: number): Promise<number> {
  const options = { port: server.port, connections, seconds: duration, maxRequests: 200_000, next: () => exchange };
  const { latencies } = await runLoop(options);
  return latencies[Math.floor(latencies.length / 2)] ?? NaN;
}

async function prepared(): Promise<Pair[]> {
  const schema = { fields: { city: "string", visits: "integer" }, indexed_fields: ["city", "visits"] };
  await send("/core/dbs.json", { db: { name: "Contacts", code: "contacts", schema } });
  const operations = Array.from({ length: records / 2 }, (_, n) => ({
    op: "create",
    data: { city: `city ${n % 50}`, visits: n },
  }));
  for (let half = 0; half < 2; half++) await send("/core/dbs/contacts/batch.json", { operations });
  const source = "<main>\n  <h1>Counter</h1>\n</main>\n".repeat(200);
  const app: unknown = await send("/core/apps.json", {
    app: { name: "Page", app_engine: "html", source_code: source },
  });
  const id = typeof app === "object" && app !== null && "id" in app ? String(app.id) : "";
  const query = "filter[city]=city%207&sort=-visits&limit=20";
  return [
    pairOf("get of a database", "/core/dbs/contacts.json", "get", { resource: "dbs", id: "contacts" }, "Contacts"),
    pairOf("get of an app of 7 kB", `/core/apps/${id}.json`, "get", { resource: "apps", id }, id),
    pairOf(
      "search of records, 20",
      `/core/dbs/contacts/search.json?${query}`,
      "search_records",
      { db: "contacts", filter: { city: "city 7" }, sort: "-visits", limit: 20 },
      "city 7",
    ),
  ];
}

function pairOf(name: string, path: string, tool: string, args: object, contains: string): Pair {
  const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${adminToken}\r\n\r\n`;
  const verify = (body: string) => body.includes(contains);
  return { name, tool, args, contains, rest: { request, status: 200, contains, verify } };
}

function call({ tool, args, contains }: Pair, revision: "2026-07-28" | "2025-11-25"): Exchange {
  const isNew = revision === "2026-07-28";
  const meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { name: tool, arguments: args, ...(isNew && { _meta: meta }) };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const head = [
    "POST /mcp HTTP/1.1",
    "Host: 127.0.0.1",
    `Authorization: Bearer ${adminToken}`,
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    `MCP-Protocol-Version: ${revision}`,
    ...(isNew ? ["Mcp-Method: tools/call", `Mcp-Name: ${tool}`] : []),
    `Content-Length: ${Buffer.byteLength(body)}`,
  ].join("\r\n");
  const verify = (answer: string) => answer.includes(contains) && !answer.includes('"isError":true');
  return { request: `${head}\r\n\r\n${body}`, status: 200, contains, verify };
}

async function send(path: string, body: unknown): Promise<unknown> {
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}
