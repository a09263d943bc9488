/**
 * Imports and exports of contacts beside COPY of the same rows in the same PostgreSQL: `bun scripts/bench/transfer.ts
 * [--quick] [--write]`. The rows that COPY reads are finished ones, with their ids and index columns, and go into a copy
 * of the table with the same indexes; so it is the least that storing them can cost.
 */
import { parseArgs } from "node:util";
import { openPool } from "../../runtime/db.ts";
import { median } from "./compare.ts";
import { contactOf, narrowSchema, schema as wideSchema, type Contact } from "./contacts.ts";
import {
  adminToken,
  cpuOf,
  cpuOfPostgres,
  memoryOf,
  postgresOf,
  startCorestead,
  temporaryFolder,
} from "./processes.ts";
import { measuredWith, number, publish, table, verdict, verdictTable, versionOf } from "./report.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    total: { type: "string" },
    rounds: { type: "string" },
    only: { type: "string" },
  },
});
const total = Number(options.total ?? (options.quick ? 20_000 : 100_000));
const rounds = Number(options.rounds ?? (options.quick ? 2 : 3));
const databases = [
  { code: "narrow", indexed: 3, schema: narrowSchema },
  { code: "wide", indexed: 6, schema: wideSchema },
] as const;
const formats = ["csv", "ndjson", "json"] as const;
type Format = (typeof formats)[number];
const types = { csv: "text/csv", ndjson: "application/x-ndjson", json: "application/json" } as const;

const dataDir = await temporaryFolder();
const server = await startCorestead(dataDir);
const { target, pid: postgresPid } = await postgresOf(dataDir);
const sql = openPool(target, { max: 2, statementTimeoutMs: 0 });
await sql`create table copied (like records including all)`;
for (const { code, schema } of databases) await made(code, schema);

const idle = memoryOf(server.pid).now;
const bodies = new Map(formats.map((format) => [format, bodyOf(format)]));
/** What COPY reads. */
let finished: readonly Buffer[] = [];
const chosen = databases.flatMap((one) => formats.map((format) => ({ ...one, format })));
const wanted = (what: string) => options.only === undefined || options.only.split(",").includes(what);
const imports = [];
for (const one of chosen.filter(({ format }) => format !== "json" && wanted("import")))
  imports.push(await compared(`${one.format}, ${one.indexed} indexed fields`, () => imported(one), copiedIn, readBack));
const importPeak = memoryOf(server.pid).peak;
const exports = [];
if (wanted("export") && !wanted("import")) await imported({ code: "wide", format: "csv" });
// As autovacuum does within a minute: PostgreSQL plans for records that have been there for a while.
if (wanted("export")) await sql`vacuum analyze records`;
for (const format of formats.filter(() => wanted("export")))
  exports.push(
    await compared(
      format,
      () => exported("wide", format),
      () => copiedOut(format),
    ),
  );
const peak = memoryOf(server.pid).peak;

const report = [
  measuredWith(await versionOf(sql)),
  `${number(total, 0)} contacts; medians of ${rounds} interleaved rounds. An import by HTTP beside COPY FROM of the finished rows into a copy of the table with the same indexes, an export beside COPY TO of the same records in the order of their ids (of CSV, with the same columns). Processor seconds are those of PostgreSQL with the emptying of the lists of pending entries, and of the server process.`,
  tableOf("import", imports),
  tableOf("export", exports),
  table(
    ["resident memory of the server, MB", "idle", "most while it imports", "most"],
    [["", ...[idle, importPeak, peak].map((one) => number(one, 0))]],
  ),
  verdictTable([
    ...imports.map(({ what, ratio }) => verdict(`import of ${what}, rows/s by COPY's`, ratio, { least: 0.5 })),
    ...exports.map(({ what, ratio }) => verdict(`export of ${what}, records/s by COPY's`, ratio, { least: 0.5 })),
    verdict("memory of the server above idle", peak - idle, { most: 200 }, "MB"),
  ]),
];
await sql.end({ timeout: 5 });
await server.stop();
await publish("transfer", report.join("\n\n"), options.write);
process.exit(0);

interface Cost {
  readonly seconds: number;
  readonly server: number;
  readonly postgres: number;
}

/** By turns; the ratio is that of the speeds, the median of the rounds' ratios. */
async function compared(
  what: string,
  ours: () => Promise<void>,
  theirs: () => Promise<void>,
  between: () => Promise<void> = async () => {},
) {
  const pairs: { ours: Cost; theirs: Cost }[] = [];
  for (let round = 0; round < rounds; round++) {
    const first = await cost(ours);
    await between();
    pairs.push({ ours: first, theirs: await cost(theirs) });
  }
  return {
    what,
    pairs,
    ratio: median(pairs.map((pair) => pair.theirs.seconds / pair.ours.seconds)),
    cpuRatio: median(pairs.map((pair) => pair.theirs.postgres / (pair.ours.server + pair.ours.postgres))),
  };
}

type Compared = Awaited<ReturnType<typeof compared>>;

async function cost(run: () => Promise<void>): Promise<Cost> {
  await sql`checkpoint`;
  const before = { server: cpuOf(server.pid), postgres: cpuOfPostgres(postgresPid) };
  const began = performance.now();
  await run();
  const seconds = (performance.now() - began) / 1000;
  // What is pending is paid for by whoever has made it.
  await sql`select gin_clean_pending_list(indexrelid) from pg_stat_user_indexes
    where indexrelname = 'records_fragments' or indexrelname like 'copied_record_lower%'`;
  return {
    seconds,
    server: cpuOf(server.pid) - before.server,
    postgres: cpuOfPostgres(postgresPid) - before.postgres,
  };
}

function tableOf(operation: string, all: readonly Compared[]): string {
  return table(
    [operation, "seconds", "COPY", "ratio", "server CPU s", "PostgreSQL CPU s", "COPY", "CPU ratio"],
    all.map(({ what, pairs, ratio, cpuRatio }) => [
      what,
      number(median(pairs.map(({ ours }) => ours.seconds)), 2),
      number(median(pairs.map(({ theirs }) => theirs.seconds)), 2),
      number(ratio, 2),
      number(median(pairs.map(({ ours }) => ours.server)), 2),
      number(median(pairs.map(({ ours }) => ours.postgres)), 2),
      number(median(pairs.map(({ theirs }) => theirs.postgres)), 2),
      number(cpuRatio, 2),
    ]),
  );
}

async function imported({ code, format }: { readonly code: string; readonly format: Format }): Promise<void> {
  await sql`truncate records`;
  const response = await call(`/core/dbs/${code}/import`, bodies.get(format) ?? "", types[format]);
  if (response.status !== 201) throw new Error(`the import failed: ${await response.text()}`);
  const { imported: count } = await response.json();
  if (count !== total) throw new Error(`${count} records were imported`);
}

/** The records of the last import, as they are. */
async function readBack(): Promise<void> {
  finished = await Array.fromAsync<Buffer>(await sql`copy records to stdout`.readable());
}

async function copiedIn(): Promise<void> {
  await sql`truncate copied`;
  const writable = await sql`copy copied from stdin`.writable();
  for (const rows of finished) if (!writable.write(rows)) await new Promise((done) => writable.once("drain", done));
  const stored = new Promise((done, failed) => writable.once("finish", done).once("error", failed));
  writable.end();
  await stored;
}

async function exported(code: string, format: Format): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${server.port}/core/dbs/${code}/export?format=${format}`, {
    headers: { authorization: `Bearer ${adminToken}` },
  });
  let bytes = 0;
  for await (const piece of response.body ?? []) bytes += piece.length;
  if (response.status !== 200 || bytes < total * 100) throw new Error(`the export failed: ${response.status}`);
}

/** The same records: as their JSON, or for CSV the cells of the same file. */
async function copiedOut(format: Format): Promise<void> {
  const cells = Object.keys(wideSchema.fields).map((name) => `data ->> '${name}'`);
  const columns = format === "csv" ? ["id", ...cells] : ["id", "data", "table_name"];
  const text = `
    copy (select ${columns.join(", ")}, created_at, updated_at from records
      where db_id = (select id from dbs where code = 'wide') order by id) to stdout ${format === "csv" ? "csv" : ""}`;
  let bytes = 0;
  for await (const piece of await sql.unsafe(text).readable()) bytes += piece.length;
  if (bytes < total * 100) throw new Error("COPY gave too little");
}

function bodyOf(format: Format): string {
  const contacts = Array.from({ length: total }, (_, n) => contactOf(n, total));
  if (format === "json") return JSON.stringify(contacts);
  if (format === "ndjson") return contacts.map((one) => `${JSON.stringify(one)}\n`).join("");
  const names = Object.keys(wideSchema.fields);
  const cells = (one: Contact) => Object.values(one).map((value) => `"${`${value}`.replaceAll('"', '""')}"`);
  return [names.join(","), ...contacts.map((one) => cells(one).join(","))].join("\n");
}

async function made(code: string, schema: object): Promise<void> {
  const response = await call("/core/dbs.json", JSON.stringify({ db: { name: code, code, schema } }));
  if (response.status !== 201) throw new Error(`the database was not made: ${await response.text()}`);
}

function call(path: string, body: string, type = "application/json"): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminToken}`, "content-type": type },
    body,
  });
}
