import * as tasks from "../../tasks/tasks.ts";
import { answer, badRequest, flagOf, found, ok, refOf, route, Type, warned, type Log, type Route } from "platform";
import { ShownRecord, UnknownTable, recordExample, unknownTable } from "../../records/routes.ts";
import { mustBeStored, fieldHints, namesIn, queryLimits, scopeOf, sortOf } from "../../search/query.ts";
import { maxColumns } from "../store.ts";
import { fieldsOfColumns, type ColumnOptions } from "./columns.ts";
import { exportFormats, exportTexts, type ExportFormat } from "./export.ts";
import { filterParameters, namesParameter } from "../../search/routes.ts";
import { endFilters } from "../../links/filters.ts";
import { hiddenAlways } from "../../access/reach.ts";
import { ownFields } from "../../databases/columns.ts";
import { parametersOf, View, type ViewAt } from "../../views/view.ts";
import { headerOfField } from "./csv.ts";
import { dbAccess, openAgain, openAt, viewerOf, viewingAgain } from "../../databases/cache.ts";
import type { JsondbContext } from "../../context.ts";
import type { RunningTask } from "../../tasks/tasks.ts";

/** `:id` of a database is an id or a code. */
export function exportRoute(ctx: JsondbContext): Route {
  return route(
    "GET",
    "/core/dbs/:db_id/export",
    {
      summary: "Export records",
      description:
        "All records, or those that the filters of the list find, in the order of `sort` or else of their ids, page by page: a record that changes meanwhile is exported either before or after its change. CSV has the columns id, table_name (where the schema has tables), the fields of the schema, other keys that are found, created_at and updated_at; a field named like one of the record's own columns is exported as `data.<name>`. XLSX has the same columns: numbers, days, times and booleans have their types, times are those of the account's clocks, numbers of more than 15 digits are texts, and no text is a formula; one of more than 32,767 characters is cut.",
      access: dbAccess,
      exports: true,
      query: {
        format: "csv, json, ndjson or xlsx; default json",
        table_name: "only this table",
        q: "phrase, as in the list of records",
        search_in: namesParameter("fields for `q`"),
        ...filterParameters,
        sort: "as in the list of records; up to 1,000,000 records. Default: by id",
        columns: namesParameter("columns of CSV and XLSX in this order, and no others"),
        view: "the id of a view: its table, filters, first order and, for CSV and XLSX, columns; what the request says itself of table, order and columns takes their place",
        titles: Type.Boolean({
          description:
            "CSV and XLSX: `true` shows links as the titles of their records (at most 1,000 characters); as ids where a record has none, or you may not read it",
        }),
        labels: Type.Boolean({ description: "CSV and XLSX: `true` calls the columns by the labels of the fields" }),
        spreadsheet: Type.Boolean({
          description:
            "CSV: `true` begins the file with a byte order mark, by which Excel knows UTF-8, and puts an apostrophe before texts that a spreadsheet would read as a formula (those that begin with `=`, `@`, a tab or a line break, or with `+` or `-` if they are neither a number nor a telephone number); otherwise texts are exact, so an import restores them",
        }),
      },
      answers: {
        200: [answer.list(ShownRecord), answer.text("text/csv"), answer.text("application/x-ndjson")],
        400: UnknownTable,
        422: Type.Union([answer.error, answer.fieldErrors]),
      },
      responses: { 200: [recordExample], ...unknownTable },
    },
    async (input) => {
      const { account, caller, params } = input;
      const db = await openAt(ctx, input, params.db_id);
      const format = formatOf(input.query.get("format"));
      const query = await withView({ ...ctx, caller, db }, input.query, format);
      const { params: narrowed, ends, hints } = await endFilters(ctx, { db, viewer: viewerOf(input) }, query);
      const scope = { ...scopeOf(db, narrowed), ends };
      const columns = columnsAsked(query, format, account.locale);
      const sort = sortOf(query.get("sort") || "id");
      mustBeStored(scope.table, [sort.field]);
      // `safe` is its former name: clients that still send it must not get formulas.
      const spreadsheet = flagOf(query, "spreadsheet") ?? flagOf(query, "safe") ?? false;
      const made = { kind: "export", accountId: account.id, dbId: db.id, userId: caller.user.id } as const;
      const task = exportTask(() => tasks.beginTask(ctx, made), ctx.log);
      const opened = () => openAgain(ctx, input, db.id);
      const viewer = async () => viewerOf(await viewingAgain(ctx, input));
      const asked = { format, scope, sort, columns, safe: spreadsheet, passed: task.passed, opened, viewer };
      const texts = await exportTexts(ctx, db, asked);
      const unknown = fieldHints(db, scope, fieldsOfColumns(columns.names ?? []));
      const warnings = warned(ok(null), [...unknown, ...hints]).headers;
      return new Response(await streamOf(texts, task, ctx.log), {
        headers: {
          ...warnings,
          "content-type": types[format],
          "content-disposition": `attachment; filename="${db.code}.${format}"`,
          "cache-control": "private, no-store",
        },
      });
    },
  );
}

const types: Record<ExportFormat, string> = {
  csv: "text/csv; charset=utf-8; header=present",
  json: "application/json; charset=utf-8",
  ndjson: "application/x-ndjson; charset=utf-8",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
};

function formatOf(given: string | null): ExportFormat {
  const known = exportFormats.find((format) => format === (given || "json"));
  if (known === undefined) throw badRequest("`format` must be csv, json, ndjson or xlsx");
  return known;
}

/** 400 for a format that has no columns. */
function columnsAsked(query: URLSearchParams, format: ExportFormat, locale: string): ColumnOptions {
  const given = namesIn(query, "columns", queryLimits.name);
  const labels = flagOf(query, "labels") ?? false;
  const titles = flagOf(query, "titles") ?? false;
  if ((given.length > 0 || labels || titles) && !hasColumns(format))
    throw badRequest("`columns`, `labels` and `titles` are for csv and xlsx");
  if (given.length > maxColumns) throw badRequest(`\`columns\` may name at most ${maxColumns} columns`);
  return { names: given.length > 0 ? given : undefined, labels, titles, locale };
}

const hasColumns = (format: ExportFormat) => format === "csv" || format === "xlsx";

/** The parameters with those of the view that they name. 404 for one that the caller does not see. */
async function withView(at: ViewAt, query: URLSearchParams, format: ExportFormat): Promise<URLSearchParams> {
  const id = query.get("view");
  if (!id) return query;
  const { filters, table_name, sort, columns } = parametersOf(
    await found(View, at, refOf(View, id)),
    hiddenAlways(at.db.reach),
  );
  const hasGroups = (of: Iterable<[string, string]>) => [...of].some(([name]) => name.startsWith("any["));
  if (hasGroups(query) && hasGroups(filters)) throw badRequest("the view has groups of filters: leave out `any`");
  const all = new URLSearchParams([...query, ...filters]);
  if (table_name !== null && !query.has("table_name")) all.set("table_name", table_name);
  if (sort !== undefined && !query.has("sort")) all.set("sort", sort);
  const isOwn = query.has("columns") || query.has("columns[]") || !hasColumns(format);
  if (!isOwn) for (const name of columns) all.append("columns[]", ownFields.has(name) ? name : headerOfField(name));
  return all;
}

/** Makes the first piece at once, so that a failure at the start still gets its status. */
async function streamOf(
  texts: AsyncGenerator<string | Uint8Array<ArrayBuffer>>,
  task: ExportTask,
  log: Log,
): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<string | Uint8Array<ArrayBuffer>>> | undefined = Promise.resolve(await texts.next());
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await (next ?? texts.next());
        next = undefined;
        if (done) {
          await task.end();
          controller.close();
        } else controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
      } catch (error) {
        // The answer has begun, so it can only be cut off. Bun would print a reason to standard error.
        log.warn("an export broke off", { error });
        await task.end(error);
        controller.error();
      }
    },
    async cancel() {
      await task.end(badRequest("the client went away"));
      await texts.return(undefined);
    },
  });
}

// An export as a task, from the moment that it takes a while.

export interface ExportTask {
  readonly passed: (records: number) => void;
  /** With an error it has failed. */
  readonly end: (error?: unknown) => Promise<void>;
}

/** A smaller export is over at once. */
const mostUntold = 1000;

export function exportTask(begin: () => Promise<RunningTask>, log: Log): ExportTask {
  let records = 0;
  let task: Promise<RunningTask | undefined> | undefined;
  const progress = () => ({ done: records, stored: 0, failed: 0, errors: [] });

  const begun = async (): Promise<RunningTask | undefined> => {
    try {
      const running = await begin();
      running.follow(progress);
      return running;
    } catch (error) {
      // A database that only reads still exports.
      log.warn("an export is not told as a task", { error });
      return undefined;
    }
  };

  return {
    passed(more) {
      records += more;
      if (records > mostUntold) task ??= begun();
    },
    async end(error) {
      const running = await task;
      if (error === undefined) await running?.end(progress());
      else await running?.fail(error);
    },
  };
}
