import { answer, flagOf, HttpError, invalid, ok, route, tooLarge, Type, unsupportedType, warned } from "platform";
import type { Reply, Route } from "platform";
import { DryRun, Imported, ImportRefused } from "../../records/routes.ts";
import type { FileFormat } from "../files/encodings.ts";
import { receive } from "../files/files.ts";
import { fileQuery, mappingQuery, readFileParameters, separatorOf } from "../files/parameters.ts";
import { tableForWrite, type Database } from "../../databases/database.ts";
import { bodyLimits, bytesOf, textOf } from "./body.ts";
import { csvRows } from "./csv.ts";
import { jsonRows, ndjsonRows } from "./json.ts";
import type { RowReader } from "./reader.ts";
import { referencesOf } from "../../links/references.ts";
import { importRecords, type ImportReport } from "./import.ts";
import { hashed, mappedSource } from "./source.ts";
import { hintsOf, importAsTask } from "./task.ts";
import { dbAccess, openAgain, openAt, viewerOf } from "../../databases/cache.ts";
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
        "The body is text/csv (the first line names the fields), application/json (an array of data objects, or of { data, table_name }), application/x-ndjson, text/tab-separated-values or an XLSX workbook. With `mapping` and `formats`, as the preview gives them, columns go into fields of other names, and values are read as a person has written them. All rows are stored or none, unless `partial=true`. Ten imports run at once; when all places are taken, a client that sends slowly loses its place to a new import (408). A CSV cell is converted by its field's type, in the forms that spreadsheets and databases write; an empty one is absent, the label of a choice stands for its value, and rows without any value are skipped. Where a file has all of the columns id, created_at and updated_at, those that are no fields of the schema are left out (a `Warning` and the task name them): every row becomes a new record. A column `customer:email` gives the link `customer` by the title or a unique field of the record at the other end. The header `X-Task-Id` of the answer names the task that `/core/dbs/:db_id/tasks` shows, also while the import runs.",
      access: dbAccess,
      input: "stream",
      idempotency: "own",
      query: {
        table_name: "the table of every row; without it each row may name its own",
        partial: Type.Boolean({ description: "`true` stores the good rows and reports the others" }),
        dry_run: Type.Boolean({
          description: "`true` checks the rows, counts the good and the faulty ones, and stores nothing",
        }),
        ...fileQuery,
        ...mappingQuery,
      },
      takes: [
        answer.text("text/csv"),
        answer.text("text/tab-separated-values"),
        Type.Array(Type.Object({})),
        answer.text("application/x-ndjson"),
      ],
      request: "email,age\r\nann@example.com,34\r\nbob@example.com,51\r\n",
      answers: {
        200: Type.Union([Imported, DryRun]),
        201: Imported,
        422: Type.Union([ImportRefused, answer.fieldErrors]),
      },
      responses: {
        200: { imported: 1, failed: 1, total: 2, errors: [rowFault] },
        201: { imported: 2 },
        400: { error: "`separator` must be `,`, `;`, `|` or `tab`" },
        408: { error: "the rows arrive too slowly" },
        415: { error: wantedTypes },
        422: { errors: [rowFault], failed: 1, total: 2 },
        429: { error: "too many requests, try again in 10 s" },
        503: { error: "the server is too busy to read the file, try again" },
      },
    },
    async (input) => {
      const { caller, params, query, request, once } = input;
      const db = await openAt(ctx, input, params.db_id, "add");
      const format = formatOf(request.headers);
      const parameters = readFileParameters(query);
      const isMapped = format === "xlsx" || mappingKeys.some((key) => query.get(key));
      if (isMapped) await openAt(ctx, input, db.id, "manage");
      const tableName = query.get("table_name") || undefined;
      const table = tableForWrite(db, tableName);
      if (isMapped && db.schema.multiTable && tableName === undefined)
        throw invalid({ table_name: ["is required to map columns"] });
      if (!isMapped) mustBeUtf8(request.headers);
      if (Number(request.headers.get("content-length") ?? 0) > ctx.maxImportBytes) throw tooLarge(ctx.maxImportBytes);
      const place = ctx.importPlaces.take();
      try {
        const limits = bodyLimits(ctx);
        const viewer = viewerOf(input);
        const source = isMapped
          ? await mappedSource(ctx.fileReader, await receive(bytesOf(request.body, place, limits)), format, {
              ...parameters,
              table,
              references: await referencesOf(ctx, { db, table, viewer }),
            })
          : { ...readerOf(db, format, query), texts: textOf(request.body, place, limits) };
        const partial = query.get("partial") === "true";
        const { texts, hash } = hashed(source.texts);
        const opened = () => openAgain(ctx, input, db.id, isMapped ? "manage" : "add");
        const options = { ...source, viewer, opened, tableName, partial, signal: request.signal };
        if (flagOf(query, "dry_run")) {
          const report = await importRecords(ctx, db, texts, { ...options, ...untold, dry: true });
          return warned(dryRun(report), hintsOf(db, report));
        }
        const run = async () => {
          const { report, task } = await importAsTask(ctx, db, texts, { ...options, userId: caller.user.id });
          return imported(report, partial, warned(ok(null, { "x-task-id": task.id }), hintsOf(db, report)).headers);
        };
        return await once(`token:${caller.tokenId}`, run, hash);
      } finally {
        place.leave();
      }
    },
  );
}

/** A dry run has no task. */
const untold = { follow: () => {}, refused: async () => {} };

const mappingKeys = ["mapping", "formats", "sheet", "header_row", "encoding"] as const;
const wantedTypes =
  "send text/csv, text/tab-separated-values, application/json, application/x-ndjson or an XLSX workbook";
const workbookType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const formats: Readonly<Record<string, FileFormat>> = {
  "text/csv": "csv",
  "text/tab-separated-values": "tsv",
  "application/json": "json",
  "application/x-ndjson": "ndjson",
  "application/ndjson": "ndjson",
  "application/jsonl": "ndjson",
  [workbookType]: "xlsx",
};

/** 415 another type. */
function formatOf(headers: Headers): FileFormat {
  const [type = ""] = (headers.get("content-type") ?? "").toLowerCase().split(";");
  const format = Object.hasOwn(formats, type.trim()) ? formats[type.trim()] : undefined;
  if (format === undefined) throw unsupportedType(wantedTypes);
  return format;
}

/** 415 another charset: a mapped import has `encoding`. */
function mustBeUtf8(headers: Headers): void {
  const [, ...parameters] = (headers.get("content-type") ?? "").toLowerCase().split(";");
  const charset = parameters.map((text) => /^\s*charset="?([^"\s]*)"?\s*$/.exec(text)?.[1]).find((text) => text);
  if (charset !== undefined && !/^utf-?8$/.test(charset)) throw unsupportedType("send the rows as UTF-8");
}

/** 400 another separator. */
function readerOf(db: Database, format: FileFormat, query: URLSearchParams): { reader: RowReader; asText: boolean } {
  if (format === "json") return { reader: jsonRows(), asText: false };
  if (format === "ndjson") return { reader: ndjsonRows(), asText: false };
  const separator = separatorOf(query.get("separator")) ?? (format === "tsv" ? "\t" : undefined);
  return { reader: csvRows(separator, fieldsOf(db, query)), asText: true };
}

/** The fields of the table of every row, else of each row's own. */
function fieldsOf({ schema: { multiTable, tables } }: Database, query: URLSearchParams) {
  const ofAll = query.get("table_name") || undefined;
  const typeOf = (table: string | null | undefined, field: string) =>
    tables.get(ofAll ?? table ?? "")?.fields.get(field)?.type;
  return { multiTable, typeOf };
}

function dryRun({ total: rows, failed: faulty, errors }: ImportReport): Reply {
  return ok({ rows, good: rows - faulty, faulty, errors });
}

function imported(report: ImportReport, partial: boolean, headers: Record<string, string>): Reply {
  const { imported: count, failed, total, errors, refused } = report;
  if (refused) throw new HttpError(422, { errors, failed, total }, headers);
  if (failed > 0) return ok({ imported: count, failed, total, errors }, headers);
  return { ...ok(partial ? { imported: count, failed, total, errors } : { imported: count }, headers), status: 201 };
}
