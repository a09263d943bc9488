import * as tasks from "../../tasks/tasks.ts";
import {
  answer,
  createSha256,
  HttpError,
  ok,
  route,
  tooLarge,
  Type,
  unsupportedType,
  warned,
  type Reply,
  type Route,
} from "platform";
import { Imported, ImportRefused } from "../../records/routes.ts";
import { separatorOf } from "../files/parameters.ts";
import { nullTableHints, tableForWrite, type Database } from "../../databases/database.ts";
import { ownNameHints } from "../../databases/schema.ts";
import { bodyLimits, textOf } from "./body.ts";
import { csvRows } from "./csv.ts";
import { jsonRows, ndjsonRows } from "./json.ts";
import type { RowReader } from "./rows.ts";
import { importRecords, type ImportReport } from "./import.ts";
import { dbAccess, openAt } from "../../databases/cache.ts";
import type { RunningTask } from "../../tasks/tasks.ts";
import type { JsondbContext } from "../../context.ts";

const rowFault = { row: 3, line: 4, field: "email", message: "is required" };

/** `:id` of a database is an id or a code. */
export function importRoute(ctx: JsondbContext): Route {
  return route(
    "POST",
    "/core/dbs/:db_id/import",
    {
      summary: "Import records",
      description:
        "The body is text/csv (the first line names the fields), application/json (an array of data objects, or of { data, table_name }) or application/x-ndjson. All rows are stored or none, unless `partial=true`. Ten imports run at once; when all places are taken, a client that sends slowly loses its place to a new import (408). A CSV cell is converted by its field's type, in the forms that spreadsheets and databases write; an empty one is absent, and rows without any value are skipped. Where a file has all of the columns id, created_at and updated_at, those that are no fields of the schema are left out (a `Warning` and the task name them): every row becomes a new record. The header `X-Task-Id` of the answer names the task that `/core/dbs/:db_id/tasks` shows, also while the import runs.",
      access: dbAccess,
      input: "stream",
      idempotency: "own",
      query: {
        table_name: "the table of every row; without it each row may name its own",
        partial: Type.Boolean({ description: "`true` stores the good rows and reports the others" }),
        separator: "CSV: `,`, `;`, `|` or `tab`; default: found from the header, or from a line `sep=;` before it",
      },
      takes: [answer.text("text/csv"), Type.Array(Type.Object({})), answer.text("application/x-ndjson")],
      request: "email,age\r\nann@example.com,34\r\nbob@example.com,51\r\n",
      answers: { 200: Imported, 201: Imported, 422: Type.Union([ImportRefused, answer.fieldErrors]) },
      responses: {
        200: { imported: 1, failed: 1, total: 2, errors: [rowFault] },
        201: { imported: 2 },
        400: { error: "`separator` must be `,`, `;`, `|` or `tab`" },
        408: { error: "the rows arrive too slowly" },
        415: { error: "send text/csv, application/json or application/x-ndjson" },
        422: { errors: [rowFault], failed: 1, total: 2 },
        429: { error: "too many requests, try again in 10 s" },
      },
    },
    async (input) => {
      const { account, caller, params, query, request, once } = input;
      const db = await openAt(ctx, input, params.db_id, "add");
      const reading = readerOf(db, request.headers, query);
      const tableName = query.get("table_name") || undefined;
      if (tableName !== undefined) tableForWrite(db, tableName);
      if (Number(request.headers.get("content-length") ?? 0) > ctx.maxImportBytes) throw tooLarge(ctx.maxImportBytes);
      const place = ctx.importPlaces.take();
      try {
        const partial = query.get("partial") === "true";
        const options = { ...reading, tableName, partial, signal: request.signal };
        const { texts, hash } = hashed(textOf(request.body, place, bodyLimits(ctx)));
        const run = async () => {
          const task = await tasks.beginTask(ctx, {
            kind: "import",
            accountId: account.id,
            dbId: db.id,
            userId: caller.user.id,
          });
          const report = await followed(db, task, () =>
            importRecords(ctx, db, texts, { ...options, follow: task.follow, refused: task.refuse }),
          );
          return warned(imported(report, partial, { "x-task-id": task.id }), hintsOf(db, report));
        };
        return await once(`token:${caller.tokenId}`, run, hash);
      } finally {
        place.leave();
      }
    },
  );
}

/** 415 another type or charset, 400 another separator. */
function readerOf(db: Database, headers: Headers, query: URLSearchParams): { reader: RowReader; asText: boolean } {
  const [type = "", ...parameters] = (headers.get("content-type") ?? "").toLowerCase().split(";");
  const charset = parameters.map((text) => /^\s*charset="?([^"\s]*)"?\s*$/.exec(text)?.[1]).find((text) => text);
  if (charset !== undefined && !/^utf-?8$/.test(charset)) throw unsupportedType("send the rows as UTF-8");
  switch (type.trim()) {
    case "text/csv":
      return { reader: csvRows(separatorOf(query.get("separator")), fieldsOf(db, query)), asText: true };
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

/** The fields of the table of every row, else of each row's own. */
function fieldsOf({ schema: { multiTable, tables } }: Database, query: URLSearchParams) {
  const ofAll = query.get("table_name") || undefined;
  const has = (table: string | null | undefined, field: string) =>
    tables.get(ofAll ?? table ?? "")?.fields.has(field) ?? false;
  return { multiTable, has };
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

async function followed(db: Database, task: RunningTask, run: () => Promise<ImportReport>): Promise<ImportReport> {
  const report = await run().catch(async (error: unknown) => {
    await task.fail(error);
    throw error;
  });
  const { imported: stored, total: done, failed, errors, refused } = report;
  const error = refused ? "nothing was stored: some rows are wrong" : undefined;
  await task.end({ done, stored, failed, errors }, { error, warnings: hintsOf(db, report) });
  return report;
}

function hintsOf(db: Database, { withoutTable, leftOut, shadowed }: ImportReport): string[] {
  const names = leftOut.join(", ");
  return [
    ...nullTableHints(db, withoutTable, "with each row, or in the address"),
    ...(names === "" ? [] : [`left out: ${names}: each row is a new record with an id and times of its own`]),
    ...ownNameHints(shadowed),
  ];
}

function imported(report: ImportReport, partial: boolean, headers: Record<string, string>): Reply {
  const { imported: count, failed, total, errors, refused } = report;
  if (refused) throw new HttpError(422, { errors, failed, total }, headers);
  if (failed > 0) return ok({ imported: count, failed, total, errors }, headers);
  return { ...ok(partial ? { imported: count, failed, total, errors } : { imported: count }, headers), status: 201 };
}
