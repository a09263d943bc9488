/**
 * Much at once: `bun scripts/bench/transfer.ts [--quick] [--only import,export,workbook,upload,picture]`.
 *
 * Imports and exports of contacts beside COPY of the same rows in the same PostgreSQL. The rows that COPY reads are
 * finished ones, with their ids and index columns, and go into a copy of the table with the same indexes; so it is the
 * least that storing them can cost. Then a workbook and the process that reads it, the memory of the server while large files arrive, and a resized picture
 * beside the same bytes as a static file of a Bun server that does nothing else.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import sharp from "sharp";
import { openPool } from "../../runtime/db/db.ts";
import { contactOf, narrowSchema, schema as wideSchema, type Contact } from "./contacts.ts";
import * as harness from "./harness.ts";
import { adminToken, median, number } from "./harness.ts";
import { runLoop } from "./load.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", default: "import,export,workbook,upload,picture" },
  },
});
const total = options.quick ? 20_000 : 100_000;
const rounds = options.quick ? 2 : 3;
const wanted = (part: string) => options.only.split(",").includes(part);
const databases = { narrow: narrowSchema, wide: wideSchema };
const types = { csv: "text/csv", ndjson: "application/x-ndjson", json: "application/json" } as const;
type Format = keyof typeof types;

/** The records of the last import, as COPY reads them. */
let finished: readonly Buffer[] = [];

const dataDir = await harness.temporaryFolder();
const server = await harness.startCorestead(dataDir);
const origin = `http://127.0.0.1:${server.port}`;
const authorization = `Bearer ${adminToken}`;
const { target, pid: postmaster } = await harness.postgresOf(dataDir);
const sql = openPool(target, { max: 2, statementTimeoutMs: 0 });
await harness.printMeasuredWith(sql);
if (wanted("import")) await imports();
if (wanted("export")) await exports();
if (wanted("workbook")) await workbooks();
if (wanted("upload")) await uploads();
if (wanted("picture")) await pictures();
await sql.end();
await server.stop();
process.exit();

async function imports(): Promise<void> {
  await sql`create table copied (like records including all)`;
  const idle = harness.memoryOf(server.pid).now;
  const rows = [];
  for (const [code, schema] of Object.entries(databases)) {
    await harness.api(server, "POST", "/core/dbs.json", { db: { name: code, code, schema } });
    for (const format of ["csv", "ndjson"] as const) {
      const body = bodyOf(format);
      const what = `import of ${format}, ${schema.indexed_fields.length} indexed fields`;
      rows.push(await besideCopy(what, () => imported(code, format, body), readBack, copiedIn));
    }
    const formats = Object.fromEntries(
      Object.keys(schema.fields).map((name) => [name, { decimal: ".", thousands: "" }]),
    );
    const query = `?${new URLSearchParams({ formats: JSON.stringify(formats) })}`;
    const mapped = `import of csv with formats, ${schema.indexed_fields.length} indexed fields`;
    const file = bodyOf("csv");
    rows.push(await besideCopy(mapped, () => imported(code, "csv", file, query), readBack, copiedIn));
    const shown = `preview and import of csv with what it shows, ${schema.indexed_fields.length} indexed fields`;
    const both = async () => imported(code, "csv", file, await previewed(code, file));
    rows.push(await besideCopy(shown, both, readBack, copiedIn));
  }
  printBesideCopy(rows);
  harness.bound("memory of the server above idle", harness.memoryOf(server.pid).peak - idle, { most: 200 }, " MB");
}

async function exports(): Promise<void> {
  if (!wanted("import")) {
    await harness.api(server, "POST", "/core/dbs.json", { db: { name: "wide", code: "wide", schema: wideSchema } });
    await imported("wide", "csv", bodyOf("csv"));
  }
  // As autovacuum does within a minute: PostgreSQL plans for records that have been there for a while.
  await sql`vacuum analyze records`;
  const rows = [];
  for (const format of ["csv", "ndjson", "json"] as const) {
    const nothing = async () => {};
    rows.push(
      await besideCopy(
        `export of ${format}`,
        () => exported(format),
        nothing,
        () => copiedOut(format),
      ),
    );
  }
  printBesideCopy(rows);
}

type Run = () => Promise<void>;

/** Seconds, and processor seconds of server and PostgreSQL. */
interface Cost {
  readonly seconds: number;
  readonly server: number;
  readonly postgres: number;
}

async function besideCopy(what: string, ours: Run, between: Run, theirs: Run) {
  const pairs: { ours: Cost; theirs: Cost }[] = [];
  for (let round = 0; round < rounds; round++) {
    const first = await costOf(ours);
    await between();
    pairs.push({ ours: first, theirs: await costOf(theirs) });
  }
  return { what, pairs };
}

async function costOf(run: Run): Promise<Cost> {
  await sql`checkpoint`;
  const before = harness.cpuOf(server.pid, postmaster);
  const ms = await harness.timed(run);
  // Pending entries are counted where they were made.
  await sql`
    select gin_clean_pending_list(indexrelid) from pg_stat_user_indexes
    where indexrelname = 'records_fragments' or indexrelname like 'copied_record_lower%'`;
  const after = harness.cpuOf(server.pid, postmaster);
  return { seconds: ms / 1000, server: after.server - before.server, postgres: after.postgres - before.postgres };
}

function printBesideCopy(all: readonly Awaited<ReturnType<typeof besideCopy>>[]): void {
  const head = [`${number(total)} contacts`, "seconds", "COPY", "ratio", "server CPU s", "PostgreSQL CPU s", "COPY"];
  const rows = all.map(({ what, pairs }) => {
    const middle = (of: (pair: (typeof pairs)[number]) => number) => median(pairs.map(of));
    const ratio = middle((pair) => pair.theirs.seconds / pair.ours.seconds);
    const numbers = [
      middle(({ ours }) => ours.seconds),
      middle(({ theirs }) => theirs.seconds),
      ratio,
      middle(({ ours }) => ours.server),
      middle(({ ours }) => ours.postgres),
      middle(({ theirs }) => theirs.postgres),
    ];
    return { what, ratio, cells: [what, ...numbers.map((one) => number(one, 2))] };
  });
  harness.printTable(
    head,
    rows.map(({ cells }) => cells),
  );
  for (const { what, ratio } of rows) harness.bound(`${what}, rows/s by COPY's`, ratio, { least: 0.5 });
}

/** The parameters of an import as its preview says; the first 5 MB are enough for it. */
async function previewed(code: string, file: string | Uint8Array<ArrayBuffer>, type = "text/csv"): Promise<string> {
  const body = typeof file === "string" ? file.slice(0, 5_000_000) : file;
  const answer = await fetch(`${origin}/core/dbs/import/preview?db=${code}`, {
    method: "POST",
    headers: { authorization, "content-type": type },
    body,
  });
  const { columns, header_row }: Previewed = await answer.json();
  if (answer.status !== 200) throw new Error(`the preview was answered by ${answer.status}`);
  const mapping = Object.fromEntries(columns.map(({ name, field }) => [name, field]));
  const formats = Object.fromEntries(columns.map(({ name, format }) => [name, format]));
  return `?${new URLSearchParams({ mapping: JSON.stringify(mapping), formats: JSON.stringify(formats), header_row: `${header_row}` })}`;
}

interface Previewed {
  readonly columns: readonly { readonly name: string; readonly field: string | null; readonly format: object }[];
  readonly header_row: number;
}

/** An export of 10 columns is read again. */
async function workbooks(): Promise<void> {
  const rows = total / 2;
  const type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
  const names = [...Object.keys(wideSchema.fields), "id"];
  for (const code of ["filled", "book"]) {
    const schema = { ...wideSchema, fields: { ...wideSchema.fields, ...(code === "book" && { id: "string" }) } };
    await harness.api(server, "POST", "/core/dbs.json", { db: { name: code, code, schema } });
  }
  const csv = bodyOf("csv")
    .split("\n", rows + 1)
    .join("\n");
  await harness.api(server, "POST", "/core/dbs/filled/import", csv, { "content-type": "text/csv" });
  const path = `/core/dbs/filled/export?format=xlsx&columns=${names.join(",")}`;
  const file = new Uint8Array(await (await fetch(origin + path, { headers: { authorization } })).arrayBuffer());
  let peak = 0;
  const sampling = setInterval(() => (peak = Math.max(peak, peakOfReader())), 250);
  let query = "";
  const preview = (await harness.timed(async () => (query = await previewed("book", file, type)))) / 1000;
  const store = harness.timed(async () => {
    const headers = { authorization, "content-type": type };
    const answer = await fetch(`${origin}/core/dbs/book/import${query}`, { method: "POST", headers, body: file });
    const { imported: count } = await answer.json();
    if (count !== rows) throw new Error(`${count} records of the workbook were imported`);
  });
  const seconds = (await store) / 1000;
  clearInterval(sampling);
  harness.printTable(
    ["workbook", "MB", "preview, s", "import, s", "process that reads it, MB"],
    [
      [
        `${number(rows)} rows x ${names.length}`,
        ...[file.length / 1e6, preview, seconds].map((one) => number(one, 2)),
        number(peak),
      ],
    ],
  );
  harness.bound("preview of the workbook", preview, { most: 10 }, " s");
  harness.bound("import of the workbook", seconds, { most: 10 }, " s");
  harness.bound("memory of the process that reads it", peak, { most: 300 }, " MB");
}

/** Megabytes; 0 while none runs. */
function peakOfReader(): number {
  const peaks = readdirSync("/proc").map((pid) => {
    try {
      const words = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0") : [];
      const isOurs = words[0] !== "/bin/sh" && words.slice(-4).join(" ") === "child jsondb files ";
      return isOurs ? harness.memoryOf(Number(pid)).peak : 0;
    } catch {
      return 0; // it has ended
    }
  });
  return Math.max(0, ...peaks);
}

async function imported(code: string, format: Format, body: string, query = ""): Promise<void> {
  await sql`truncate records`;
  const path = `/core/dbs/${code}/import${query}`;
  const { imported: count } = await harness.api(server, "POST", path, body, { "content-type": types[format] });
  if (count !== total) throw new Error(`${count} records were imported`);
}

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

async function exported(format: Format): Promise<void> {
  const response = await fetch(`${origin}/core/dbs/wide/export?format=${format}`, { headers: { authorization } });
  let bytes = 0;
  for await (const piece of response.body ?? []) bytes += piece.length;
  if (response.status !== 200 || bytes < total * 100) throw new Error(`the export failed: ${response.status}`);
}

/** Copies the same records out: as JSON, or for CSV the cells of the same file. */
async function copiedOut(format: Format): Promise<void> {
  const cells = Object.keys(wideSchema.fields).map((name) => `data ->> '${name}'`);
  const columns = format === "csv" ? ["id", ...cells] : ["id", "data", "table_name"];
  const text = `
    copy (select ${columns.join(", ")}, created_at, updated_at from records
      where db_id = (select id from dbs where code = 'wide') order by id) to stdout ${format === "csv" ? "csv" : ""}`;
  let bytes = 0;
  for await (const piece of await sql.unsafe(text).readable()) bytes += piece.length;
  if (bytes < total * 100) throw new Error("COPY returned too little");
}

function bodyOf(format: "csv" | "ndjson"): string {
  const contacts = Array.from({ length: total }, (_, n) => contactOf(n, total));
  if (format === "ndjson") return contacts.map((one) => `${JSON.stringify(one)}\n`).join("");
  const cells = (one: Contact) => Object.values(one).map((value) => `"${`${value}`.replaceAll('"', '""')}"`);
  return [Object.keys(wideSchema.fields).join(","), ...contacts.map((one) => cells(one).join(","))].join("\n");
}

async function uploads(): Promise<void> {
  const rows: string[][] = [];
  const peaks: number[] = [];
  for (const bytes of options.quick ? [250e6, 500e6] : [1e9, 2e9, 5e9]) {
    const before = harness.memoryOf(server.pid).now;
    let most = before;
    const sampling = setInterval(() => (most = Math.max(most, harness.memoryOf(server.pid).now)), 20);
    const seconds = (await harness.timed(() => upload(bytes))) / 1000;
    clearInterval(sampling);
    peaks.push(most);
    const rate = number(bytes / 1e6 / seconds);
    rows.push([`${number(bytes / 1e9, 2)} GB`, number(seconds, 1), rate, number(before), number(most)]);
  }
  harness.printTable(["upload", "seconds", "MB/s", "memory before, MB", "most, MB"], rows);
  const growth = (peaks.at(-1) ?? NaN) / (peaks[0] ?? NaN);
  harness.bound("most memory at the largest upload by that at the smallest", growth, { most: 1.3 });
}

async function upload(bytes: number): Promise<void> {
  const tus = { authorization, "tus-resumable": "1.0.0" };
  const begun = await fetch(`${origin}/core/media/uploads`, {
    method: "POST",
    headers: { ...tus, "upload-length": `${bytes}`, "upload-metadata": `filename ${btoa(`film ${bytes}.bin`)}` },
  });
  const piece = new Uint8Array(1_000_000).fill(7);
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(piece);
      sent += piece.length;
      if (sent >= bytes) controller.close();
    },
  });
  const headers = { ...tus, "content-type": "application/offset+octet-stream", "upload-offset": "0" };
  const answer = await fetch(origin + begun.headers.get("location"), { method: "PATCH", headers, body });
  if (answer.status !== 204) throw new Error(`the upload was answered by ${answer.status}: ${await answer.text()}`);
}

async function pictures(): Promise<void> {
  const noise = { type: "gaussian", mean: 128, sigma: 40 } as const;
  const image = await sharp({ create: { width: 1200, height: 800, channels: 3, background: "teal", noise } })
    .png()
    .toBuffer();
  const form = new FormData();
  form.append("is_public", "true");
  form.append("file", new Blob([new Uint8Array(image)]), "team.png");
  const made = await fetch(`${origin}/core/media.json`, { method: "POST", headers: { authorization }, body: form });
  const { id } = await made.json();
  const path = `/media/${id}/w/640.webp`;
  const answer = await fetch(origin + path);
  const headers = { ...Object.fromEntries(answer.headers), date: undefined, "content-length": undefined };
  const file = join(await harness.temporaryFolder(), "team.webp");
  await Bun.write(file, answer);
  const source = `
    const options = { headers: ${JSON.stringify(headers)} };
    const { port } = Bun.serve({ port: 0, fetch: () => new Response(Bun.file(${JSON.stringify(file)}), options) });
    console.log("serves on http://127.0.0.1:" + port);`;
  const peer = await harness.startServer([process.execPath, "-e", source], {});
  const turns: [own: number, peer: number][] = [];
  for (let round = 0; round <= rounds * 2; round++) {
    const turn: [number, number] = [await perSecond(server.port, path), await perSecond(peer.port, path)];
    if (round > 0) turns.push(turn); // the first one warms both up
  }
  await peer.stop();
  const ratio = median(turns.map(([own, other]) => own / other));
  const shown = [0, 1].map((side) => number(median(turns.map((turn) => turn[side === 0 ? 0 : 1]))));
  harness.printTable(
    ["640 px from the cache, 16 at once", "requests/s", "static file", "ratio"],
    [[`${number(Bun.file(file).size / 1000)} kB`, ...shown, number(ratio, 2)]],
  );
  harness.bound("a resized picture by a static file, requests/s", ratio, { least: 0.8 });
}

async function perSecond(port: number, path: string): Promise<number> {
  const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
  const next = () => ({ request, status: 200, contains: "WEBP" });
  const { requests, seconds } = await runLoop({ port, connections: 16, seconds: options.quick ? 0.5 : 1.5, next });
  return requests / seconds;
}
