import { answer, field, flagOf, forbidden, invalid, ok, route, shown, Type, type Route } from "platform";
import type { JsondbContext } from "../../context.ts";
import { fieldTypes } from "../../databases/columns.ts";
import { dbAccess, openAt, viewerOf } from "../../databases/cache.ts";
import { needsDbs, tableForWrite } from "../../databases/database.ts";
import { Db } from "../../databases/db.ts";
import { ImportRefused, RowFault } from "../../records/routes.ts";
import { ListedTask, taskExample, toApi } from "../../tasks/routes.ts";
import { hashed } from "../imports/source.ts";
import { bodyLimits, bytesOf } from "../imports/body.ts";
import { checkFields } from "../imports/mapped.ts";
import { encodings } from "./encodings.ts";
import { previewFile, receive } from "./files.ts";
import { makeDatabase, sourceOfFile } from "./from-file.ts";
import { fileQuery, mappingQuery, readFileParameters } from "./parameters.ts";
import { knownFields, linkColumns, newLinks } from "./link-columns.ts";
import { kinds } from "../../databases/choices.ts";
import { dateOrders, decimals, groupings } from "./values.ts";

const Format = answer.object("ColumnFormat", {
  decimal: Type.Optional(field.oneOf(decimals)),
  thousands: Type.Optional(field.oneOf(groupings)),
  date_order: Type.Optional(field.oneOf(dateOrders)),
  true: Type.Optional(Type.String()),
  false: Type.Optional(Type.String()),
  time_zone: Type.Optional(Type.String()),
  currency: Type.Optional(Type.String()),
  kind: Type.Optional(field.oneOf(kinds)),
  type: Type.Optional(field.oneOf(fieldTypes)),
  link: Type.Optional(Type.String()),
});

const Column = answer.object("PreviewColumn", {
  name: Type.String(),
  field: field.nullable(Type.String()),
  type: field.nullable(field.oneOf(fieldTypes)),
  format: Format,
  empty: Type.Integer(),
  samples: answer.list(Type.String()),
  values: field.nullable(answer.list(Type.String())),
  linked: Type.Optional(
    answer.object("LinkGuess", {
      link: Type.String(),
      by: Type.String(),
      found: Type.Integer(),
      of: Type.Integer(),
    }),
  ),
  doubtful: answer.list(answer.object("Doubt", { row: Type.Integer(), value: Type.String(), why: Type.String() })),
});

const ShownPreview = answer.object("FilePreview", {
  format: field.oneOf(["csv", "tsv", "xlsx", "json", "ndjson"]),
  encoding: field.nullable(field.oneOf(encodings)),
  delimiter: field.nullable(Type.String()),
  sheets: answer.list(Type.String()),
  sheet: field.nullable(Type.String()),
  header_row: Type.Integer(),
  rows: Type.Integer(),
  complete: Type.Boolean(),
  columns: answer.list(Column),
  errors: answer.list(RowFault),
});

export function previewRoute(ctx: JsondbContext): Route {
  return route(
    "POST",
    "/core/dbs/import/preview",
    {
      summary: "Show what a file holds before it is imported",
      description:
        'The body is the file: CSV, TSV, XLSX, a JSON array or NDJSON, whatever its name and type say. Of a file of text the first 5 MB are looked at (`complete` is false if there is more), a workbook must be sent whole (20 MB at most). Nothing is stored. Each column has the name of a field (`field`: of the database `db`, null if none fits; without `db` the one that a new database would get), a type by all of its values, and the `format` in which they are written. A column whose values are found by the title or a unique field of the records that a link leads to has `customer:email` as its `field`. `values` are the different ones, without capitals, where they are at most 200 and short. The `kind` of a text with few of them is `choice` if the whole file was looked at: sent back, a new field has them as its choices. `type` and `kind` in `formats` make another field of a new column: `{"type":"string","kind":"choice"}`. `doubtful` are values that could be read in another way too, and those that cannot be read; with `db` also those outside the choices of the field, and labels of choices with the value that they stand for. Send `field` and `format` back to the import as `mapping` and `formats`; a preview takes them too, and shows what it is with them. `row` is the number of the record, from 1.',
      access: dbAccess,
      input: "stream",
      query: {
        db: "compare with the fields of this database (id or code)",
        table_name: "and of this table of it",
        ...fileQuery,
        ...mappingQuery,
      },
      takes: [answer.text("text/csv"), answer.text("text/tab-separated-values"), answer.text("application/x-ndjson")],
      request: "Name;Price\r\nChair;1 299,00 zł\r\nTable;2 450,50 zł\r\n",
      answers: { 200: ShownPreview, 422: answer.fieldErrors },
      responses: {
        200: {
          format: "csv",
          encoding: "utf-8",
          delimiter: ";",
          sheets: [],
          sheet: null,
          header_row: 1,
          rows: 2,
          complete: true,
          columns: [
            {
              name: "Price",
              field: "price",
              type: "number",
              format: { decimal: ",", thousands: " ", currency: "PLN", kind: "money" },
              empty: 0,
              samples: ["1 299,00 zł", "2 450,50 zł"],
              values: ["1 299,00 zł", "2 450,50 zł"],
              doubtful: [],
            },
          ],
          errors: [],
        },
        404: { error: "there is no such database" },
        408: { error: "the rows arrive too slowly" },
        413: { error: "at most 20000000 bytes" },
        422: { file: ["is a Word document (DOCX)"] },
        429: { error: "too many requests, try again in 10 s" },
        503: { error: "the server is too busy to read the file, try again" },
      },
    },
    async (input) => {
      const { account, caller, query, request } = input;
      const { mapping, formats, ...options } = readFileParameters(query);
      const code = query.get("db");
      if (!code && !caller.privileges.has(dbAccess.privilege)) throw forbidden(needsDbs);
      const db = code ? await openAt(ctx, input, code, "add") : undefined;
      const table = db && tableForWrite(db, query.get("table_name") || undefined);
      const known = db && table && (await knownFields(ctx, { db, table, viewer: viewerOf(input) }));
      if (table && known) checkFields({ table, references: known.references, mapping });
      const place = ctx.importPlaces.take();
      try {
        const body = bytesOf(request.body, place, bodyLimits(ctx));
        const file = await receive(body);
        await body.return(undefined);
        const { locale, timezone: timeZone } = account;
        const said = { placed: mapping && [...mapping], written: formats && [...formats] };
        const asked = { ...options, ...said, fields: known?.fields, locale, timeZone };
        const preview = await previewFile(ctx.fileReader, file, asked);
        const columns = known
          ? await linkColumns(ctx, preview.columns, known.references)
          : await newLinks(ctx, input, preview, { mapping, formats });
        return ok({ ...preview, columns });
      } finally {
        place.leave();
      }
    },
  );
}

const Made = answer.object("DatabaseOfFile", { db: Db.answers.one, task: ListedTask });

export function fromFileRoute(ctx: JsondbContext): Route {
  return route(
    "POST",
    "/core/dbs/from_file",
    {
      summary: "Make a database of a file",
      description:
        "The body is the file, as for the preview. The database gets the fields that the preview shows, with their types and formats, its first texts, numbers and times are indexed, and its rows are imported: 201 with the database and the task of the import. `mapping` and `formats` change what the preview says. Rows that cannot be read are left out, and the task names them; with `partial=false` nothing is made then. Nothing is left of it if the file cannot be read to its end.",
      access: { privilege: "dbs" },
      input: "stream",
      idempotency: "own",
      query: {
        name: "of the database",
        partial: Type.Boolean({ description: "`false` makes nothing if a row is wrong" }),
        history: Type.Boolean({ description: "`true` keeps every change of its records" }),
        ...fileQuery,
        ...mappingQuery,
      },
      asks: { name: "Products" },
      takes: [answer.text("text/csv"), answer.text("text/tab-separated-values"), answer.text("application/x-ndjson")],
      request: "Name;Price\r\nChair;1 299,00 zł\r\nTable;2 450,50 zł\r\n",
      answers: { 201: Made, 422: Type.Union([ImportRefused, answer.fieldErrors]) },
      responses: {
        201: { db: Db.examples.one, task: taskExample },
        408: { error: "the rows arrive too slowly" },
        413: { error: "at most 20000000 bytes" },
        422: { name: ["is required"] },
        429: { error: "too many requests, try again in 10 s" },
        503: { error: "the server is too busy to read the file, try again" },
      },
    },
    async (input) => {
      const { account, caller, query, request, once } = input;
      const name = query.get("name")?.trim() ?? "";
      if (name === "") throw invalid({ name: ["is required"] });
      const parameters = readFileParameters(query);
      const partial = flagOf(query, "partial") ?? true;
      const history = flagOf(query, "history") ?? false;
      const place = ctx.importPlaces.take();
      try {
        const file = await receive(bytesOf(request.body, place, bodyLimits(ctx)));
        const { locale, timezone: timeZone } = account;
        const preview = await previewFile(ctx.fileReader, file, {
          ...parameters,
          written: [...(parameters.formats ?? [])].filter(([, { type }]) => type !== undefined),
          locale,
          timeZone,
        });
        const source = await sourceOfFile(ctx, file, preview, parameters);
        const schema = { ...source.schema, ...(history && { history }) };
        const { texts, hash } = hashed(source.texts);
        const at = { ...ctx, caller };
        const run = async () => {
          const { row, task } = await makeDatabase(at, {
            ...source,
            viewer: viewerOf(input),
            schema,
            name,
            partial,
            texts,
            signal: request.signal,
          });
          const [db, headers] = await shown(Db, at, row);
          return { ...ok({ db, task: toApi(task) }, { ...headers, "x-task-id": task.id }), status: 201 };
        };
        return await once(`token:${caller.tokenId}`, run, hash);
      } finally {
        place.leave();
      }
    },
  );
}
