/** A server of its own, what it is asked one request at a time, and what PostgreSQL reads for it. */
import { join } from "node:path";
import { openPool, type Sql } from "../../runtime/db.ts";
import { median } from "./compare.ts";
import { adminToken, postgresOf, startCorestead, temporaryFolder } from "./processes.ts";
import { number } from "./report.ts";

export interface Ask {
  readonly what: string;
  readonly count: number;
  readonly send: () => Promise<unknown>;
}

export interface Times {
  readonly what: string;
  readonly middle: number;
  readonly worst: number;
  /** What of the table was read, a line for each node of a plan. */
  readonly plan: readonly string[];
}

export interface Asking {
  readonly sql: Sql;
  request(method: string, path: string, body?: unknown): Promise<{ ms: number; text: string }>;
  measure(asks: readonly Ask[], tables: RegExp): Promise<readonly Times[]>;
  end(): Promise<void>;
}

export const say = (text: string) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);

export async function openAsking(): Promise<Asking> {
  const dataDir = await temporaryFolder();
  let server = await startCorestead(dataDir);
  const { target } = await postgresOf(dataDir);
  const sql = openPool(target, { max: 3, statementTimeoutMs: 0 });
  await sql`alter system set max_wal_size = '8GB'`;
  await sql`select pg_reload_conf()`;

  const restart = async () => {
    await server.stop();
    server = await startCorestead(dataDir);
  };
  const explaining = async (isOn: boolean) => {
    await restart();
    const settings = { session_preload_libraries: "auto_explain", "auto_explain.log_min_duration": "0" };
    const more = { "auto_explain.log_analyze": "on", "auto_explain.log_nested_statements": "on" };
    for (const [name, value] of Object.entries({ ...settings, ...more }))
      await sql.unsafe(`alter role corestead ${isOn ? `set ${name} = '${value}'` : `reset ${name}`}`);
    await restart();
  };
  const log = () => Bun.file(join(dataDir, "postgres.log")).text();
  const planOf = async ({ send }: Ask, tables: RegExp) => {
    for (let i = 0; i < 20; i++) await send();
    const { length } = await log();
    await send();
    await Bun.sleep(500);
    return nodesOf((await log()).slice(length), tables);
  };

  return {
    sql,
    async request(method, path, body) {
      const began = performance.now();
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
        method,
        headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const ms = performance.now() - began;
      if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return { ms, text };
    },
    /** The times first; then the plans, by a server whose PostgreSQL explains what it does. */
    async measure(asks, tables) {
      const measured: Omit<Times, "plan">[] = [];
      for (const ask of asks) measured.push(await timesOf(ask));
      await explaining(true);
      const plans: (readonly string[])[] = [];
      for (const ask of asks) plans.push(await planOf(ask, tables));
      await explaining(false);
      return measured.map((times, at) => ({ ...times, plan: plans[at] ?? [] }));
    },
    async end() {
      await sql.end();
      await server.stop();
    },
  };
}

async function timesOf({ what, count, send }: Ask): Promise<Omit<Times, "plan">> {
  for (let i = 0; i < count / 4; i++) await send();
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const began = performance.now();
    await send();
    times.push(performance.now() - began);
  }
  const worst = times.toSorted((a, b) => a - b)[Math.ceil(count * 0.99) - 1] ?? Number.NaN;
  say(`${what}: ${number(median(times), 2)} ms`);
  return { what, middle: median(times), worst };
}

/** `Index Scan using records_pkey on records: 0.05 ms, 1 row`, of what was really read or written; alike ones together. */
function nodesOf(log: string, tables: RegExp): readonly string[] {
  const found = new Map<string, { names: Set<string>; ms: number; rows: number }>();
  let removed = "";
  for (const line of log.split("\n")) {
    removed = /Subplans Removed: \d+/.exec(line)?.[0] ?? removed;
    const [, node = "", ms, rows, loops] =
      /^[\s>-]*(\S.*?) +\(cost=\S+ rows=\S+ width=\S+\) \(actual time=\S+?\.\.(\S+) rows=(\S+) loops=(\d+)\)/.exec(
        line,
      ) ?? [];
    if (!tables.test(node) || !/Scan|Insert|Update|Delete/.test(node)) continue;
    // Of each partition its own, with an alias that is counted.
    const alike = node.replace(/ \w+_\d+$/, "").replace(/_(p\d{3}|\d{4}_\d{2}|\d+|default)(?=_|\b)/g, "_*");
    const of = found.get(alike) ?? { names: new Set(), ms: 0, rows: 0 };
    of.names.add(node);
    found.set(alike, { ...of, ms: of.ms + Number(ms) * Number(loops), rows: of.rows + Number(rows) * Number(loops) });
  }
  const lines = [...found].map(([alike, { names, ms, rows }]) => {
    const [one = ""] = names;
    const what = names.size === 1 ? one : `${alike}, ${names.size} times`;
    return `${what}: ${number(ms, 2)} ms, ${number(rows, 0)} ${rows === 1 ? "row" : "rows"}`;
  });
  return removed === "" ? lines : [...lines, removed];
}

/** The plans before and after, as text. */
export function plansText(before: readonly Times[], after: readonly Times[]): string {
  const lines = before.flatMap(({ what, plan }, at) => [
    what,
    ...plan.map((node) => `  one table:   ${node}`),
    ...(after[at]?.plan ?? []).map((node) => `  partitioned: ${node}`),
  ]);
  return ["```text", ...lines, "```"].join("\n");
}

/** What rows of `table` say: median and 99 of 100, before and after. */
export function timeRows(before: readonly Times[], after: readonly Times[]): readonly string[][] {
  return before.map(({ what, middle, worst }, at) => [
    what,
    ...[middle, after[at]?.middle ?? Number.NaN, worst, after[at]?.worst ?? Number.NaN].map((ms) => number(ms, 2)),
  ]);
}

export const timeHead = ["request", "median ms", "partitioned", "p99 ms", "partitioned"];
