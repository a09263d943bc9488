import {
  answer,
  badRequest,
  createSha256,
  flagOf,
  HttpError,
  jsonText,
  ok,
  route,
  tooLarge,
  tooMany,
  Type,
  unsupportedType,
  warned,
  type BaseContext,
  type Log,
  type Reply,
  type Route,
} from "platform";
import { BatchResults, Imported, ImportRefused, ShownRecord, UnknownTable } from "../records/answers.ts";
import { operationHints, readOperations, type Batches } from "./batch.ts";
import type { BulkStore } from "./bulk-store.ts";
import { separators } from "./csv.ts";
import { nullTableHints, tableForSearch, tableForWrite, type Database } from "../databases/database.ts";
import { exportFormats, exportTexts, type ExportFormat } from "./export.ts";
import { textOf } from "./import-body.ts";
import { csvRows } from "./import-csv.ts";
import { jsonRows, ndjsonRows } from "./import-json.ts";
import type { RowReader } from "./import-rows.ts";
import type { ImportReport, Imports } from "./import.ts";
import { databaseAt, recordExample, unknownTable } from "../records/record-routes.ts";
import { noTable } from "../databases/schema.ts";
import type { Databases } from "../databases/database-store.ts";

const access = { privilege: "dbs" } as const;

const Operations = Type.Object({ operations: Type.Array(Type.Unknown()) });

const rowFault = { row: 3, line: 4, field: "email", message: "is required" };
const maxImportsAtOnce = 10;
const idleMs = 60_000;
const totalMs = 3_600_000;
// Few imports run at once: one that trickles must not keep its place from the others.
const pace = { minBytesPerSecond: 16_000, graceMs: 20_000 };

interface Needed {
  readonly ctx: Pick<BaseContext, "maxImportBytes" | "stopping" | "log">;
  readonly databases: Databases;
  readonly bulkStore: BulkStore;
  readonly imports: Imports;
  readonly batches: Batches;
}

/** Many records at once; `:id` of a database is an id or a code. */
export function bulkRoutes({ ctx, databases, bulkStore, imports, batches }: Needed): Route[] {
  let running = 0;
  return [
    route(
      "POST",
      "/core/dbs/:id/import",
      {
        summary: "Import records",
        description:
          "The body is text/csv (the first line names the fields), application/json (an array of data objects, or of { data, table_name }) or application/x-ndjson. All rows are stored or none, unless `partial=true`. A CSV cell is converted by its field's type; an empty one is absent. The columns id, created_at and updated_at of an exported file are left out: every row becomes a new record.",
        access,
        input: "stream",
        idempotency: "own",
        query: {
          table_name: "the table of every row; else each row may say its own",
          partial: Type.Boolean({ description: "`true` stores the good rows and reports the others" }),
          separator: "CSV: `,`, `;` or `tab`; default: found from the header",
        },
        takes: [answer.text("text/csv"), Type.Array(Type.Object({})), answer.text("application/x-ndjson")],
        request: "email,age\r\nann@example.com,34\r\nbob@example.com,51\r\n",
        answers: { 200: Imported, 201: Imported, 422: Type.Union([ImportRefused, answer.fieldErrors]) },
        responses: {
          200: { imported: 1, failed: 1, total: 2, errors: [rowFault] },
          201: { imported: 2 },
          400: { error: "`separator` must be `,`, `;` or `tab`" },
          408: { error: "the rows arrive too slowly" },
          415: { error: "send text/csv, application/json or application/x-ndjson" },
          422: { errors: [rowFault], failed: 1, total: 2 },
          429: { error: "too many requests, try again in 10 s" },
        },
      },
      async ({ account, caller, params, query, request, once }) => {
        const db = await databaseAt(databases, account.id, params.id);
        const reading = readerOf(db, request.headers, query);
        const tableName = query.get("table_name") || undefined;
        if (tableName !== undefined) tableForWrite(db, tableName);
        if (Number(request.headers.get("content-length") ?? 0) > ctx.maxImportBytes) throw tooLarge(ctx.maxImportBytes);
        if (running >= maxImportsAtOnce) throw tooMany(10);
        running += 1;
        try {
          const limits = { maxBytes: ctx.maxImportBytes, idleMs, totalMs, ...pace, stopping: ctx.stopping };
          const partial = query.get("partial") === "true";
          const options = { ...reading, tableName, partial, signal: request.signal };
          const { texts, hash } = hashed(textOf(request.body, limits));
          const run = async () => {
            const report = await imports(db, texts, options);
            return warned(
              imported(report, partial),
              nullTableHints(db, report.withoutTable, "with each row, or in the address"),
            );
          };
          return await once(`token:${caller.tokenId}`, run, hash);
        } finally {
          running -= 1;
        }
      },
    ),
    route(
      "GET",
      "/core/dbs/:id/export",
      {
        summary: "Export all records",
        description:
          "In the order of their ids, page by page: a record that changes meanwhile is exported either before or after its change. CSV has the columns id, table_name (where the schema has tables), the fields of the schema, other keys that are found, created_at and updated_at; a field named like one of the record's own columns is exported as `data.<name>`.",
        access,
        query: {
          format: "csv, json or ndjson; default json",
          table_name: "only this table",
          spreadsheet: Type.Boolean({
            description:
              "CSV: `true` puts an apostrophe before texts that a spreadsheet takes for a formula (those that begin with `=`, `+`, `-`, `@`, a tab or a carriage return); else texts stand as they are, so that an import gives back the same",
          }),
        },
        answers: {
          200: [answer.list(ShownRecord), answer.text("text/csv"), answer.text("application/x-ndjson")],
          400: UnknownTable,
          422: Type.Union([answer.error, answer.fieldErrors]),
        },
        responses: { 200: [recordExample], ...unknownTable },
      },
      async ({ account, params, query }) => {
        const db = await databaseAt(databases, account.id, params.id);
        const format = formatOf(query.get("format"));
        const tableName = db.schema.multiTable ? query.get("table_name") : null;
        const scope =
          tableName === null && db.schema.multiTable
            ? { table: noTable, allTables: true }
            : { table: tableForSearch(db, tableName), allTables: !db.schema.multiTable };
        // `safe` is its former name: who still sends it must not be given formulas.
        const spreadsheet = flagOf(query, "spreadsheet") ?? flagOf(query, "safe") ?? false;
        const texts = await exportTexts(bulkStore, db, { format, scope, safe: spreadsheet });
        return new Response(await streamOf(texts, ctx.log), {
          headers: {
            "content-type": types[format],
            "content-disposition": `attachment; filename="${db.code}.${format}"`,
            "cache-control": "private, no-store",
          },
        });
      },
    ),
    route(
      "POST",
      "/core/dbs/:id/batch",
      {
        summary: "Create, change and delete up to 1,000 records",
        description:
          "In one transaction, in order: all or none. An `update` merges `data` key by key; in a multi-table database send its `table_name` again.",
        access,
        body: { schema: Operations },
        request: {
          operations: [
            { op: "create", data: recordExample.data, table_name: null },
            { op: "update", id: recordExample.id, data: { age: 35 } },
            { op: "delete", id: "019a9c1e-0000-7000-8000-000000000003" },
          ],
        },
        answers: { 200: BatchResults },
        responses: {
          200: {
            results: [recordExample, recordExample, { id: "019a9c1e-0000-7000-8000-000000000003", deleted: true }],
          },
          422: { "operations[0].data.email": ["is required"] },
        },
      },
      async ({ account, params, body }) => {
        const db = await databaseAt(databases, account.id, params.id);
        const operations = readOperations(body.operations);
        const answers = await batches(db, operations);
        const withoutTable = operations.filter((operation) => operation.op !== "delete" && !operation.tableName);
        const hints = [
          ...operationHints(body.operations),
          ...nullTableHints(db, withoutTable.length, "with each operation"),
        ];
        return warned(jsonText(200, `{"results":[${answers.join(",")}]}`), hints);
      },
    ),
  ];
}

/** 415 another type or encoding, 400 another separator. */
function readerOf(db: Database, headers: Headers, query: URLSearchParams): { reader: RowReader; asText: boolean } {
  const [type = "", ...parameters] = (headers.get("content-type") ?? "").toLowerCase().split(";");
  const charset = parameters.map((text) => /^\s*charset="?([^"\s]*)"?\s*$/.exec(text)?.[1]).find((text) => text);
  if (charset !== undefined && !/^utf-?8$/.test(charset)) throw unsupportedType("send the rows as UTF-8");
  if (headers.has("content-encoding") && headers.get("content-encoding") !== "identity")
    throw unsupportedType("send the rows without a content-encoding");
  switch (type.trim()) {
    case "text/csv":
      return { reader: csvRows(separatorOf(query.get("separator")), db.schema.multiTable), asText: true };
    case "application/json":
      return { reader: jsonRows(), asText: false };
    case "application/x-ndjson":
    case "application/ndjson":
    case "application/jsonl":
      return { reader: ndjsonRows(), asText: false };
    default:
      throw unsupportedType("send text/csv, application/json or application/x-ndjson");
  }
}

function separatorOf(given: string | null): string | undefined {
  if (given === null || given === "") return undefined;
  const wanted = given === "tab" ? "\t" : given;
  const found = separators.find((separator) => separator === wanted);
  if (found === undefined) throw badRequest("`separator` must be `,`, `;` or `tab`");
  return found;
}

/** The texts, and the hash of all of them; it reads those that nobody has read. */
function hashed(source: AsyncIterable<string>) {
  const sha256 = createSha256();
  async function* read() {
    for await (const text of source) {
      sha256.add(text);
      yield text;
    }
  }
  const texts = read();
  const hash = async () => {
    for await (const _ of texts);
    return sha256.end();
  };
  return { texts, hash };
}

function imported(report: ImportReport, partial: boolean): Reply {
  const { imported: count, failed, total, errors, refused } = report;
  if (refused) throw new HttpError(422, { errors, failed, total });
  if (failed > 0) return ok({ imported: count, failed, total, errors });
  return { ...ok(partial ? { imported: count, failed, total, errors } : { imported: count }), status: 201 };
}

const types: Record<ExportFormat, string> = {
  csv: "text/csv; charset=utf-8; header=present",
  json: "application/json; charset=utf-8",
  ndjson: "application/x-ndjson; charset=utf-8",
};

function formatOf(given: string | null): ExportFormat {
  const found = exportFormats.find((format) => format === (given || "json"));
  if (found === undefined) throw badRequest("`format` must be csv, json or ndjson");
  return found;
}

/** The first piece is made at once, so that what fails from the start still gets its status. */
async function streamOf(texts: AsyncGenerator<string>, log: Log): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<string>> | undefined = Promise.resolve(await texts.next());
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await (next ?? texts.next());
        next = undefined;
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      } catch (error) {
        // The answer has begun: all that is left is to break it off. Bun would print a reason to standard error.
        log.warn("an export broke off", { error });
        controller.error();
      }
    },
    async cancel() {
      await texts.return(undefined);
    },
  });
}
