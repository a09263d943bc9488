import * as together from "./together.ts";
import * as records from "./writes.ts";
import {
  etag,
  expectedVersion,
  flagOf,
  jsonText,
  noContent,
  notFound,
  route,
  Type,
  uuidOf,
  warned,
  answer,
  field,
} from "platform";
import type { Queryable, Route } from "platform";
import { nullTableHints, tableForWrite, type Database } from "../databases/database.ts";
import { computedHints, missingRecord, type Data } from "./record.ts";
import { firstVersion, versionDigits } from "./print.ts";
import { filesIn, storedIn } from "./named.ts";
import { dbAccess, openAt, viewerOf, type Viewing } from "../databases/cache.ts";
import type { Write } from "./writes.ts";
import type { Viewer } from "../access/reach.ts";
import type { JsondbContext } from "../context.ts";
import { expandParameter, expandPaths, finished, isUnfinished, nestedIn } from "../links/expand.ts";

/** Not `Type.Record`: that one runs a pattern over every key. */
const DataInput = Type.Unsafe<Data>(Type.Object({}, { additionalProperties: true }));
const TableName = Type.Optional(Type.Union([Type.String({ maxLength: 100 }), Type.Null()]));
const RecordInput = Type.Object({ table_name: TableName, data: DataInput });
const RecordPatch = Type.Object({ table_name: TableName, data: Type.Optional(DataInput) });

/** The hints about a write, set while it runs. */
interface Hints {
  texts: readonly string[];
}

const apps = "the records of its own databases, for a viewer with `dbs`";

export const recordExample = {
  id: "019a9c1e-0000-7000-8000-000000000002",
  data: { email: "ann@example.com", age: 34 },
  table_name: null,
  created_at: "2026-01-31T10:00:00.000Z",
  updated_at: "2026-01-31T10:00:00.000Z",
};

/** behaviour 7. */
export const unknownTable = {
  400: {
    error: "unknown table_name: available tables are orders, lines",
    available_tables: ["orders", "lines"],
  },
};

const missingFile = "the record has no such file";

const inNoTable =
  "In a database with tables the header `Warning` says that the record is in none of them: there no search finds it.";

/** Records on the private API; `:db_id` is an id or a code. behaviour 4.4. The list is in search/routes.ts. */
export function recordRoutes(ctx: JsondbContext): Route[] {
  return [
    route(
      "POST",
      "/core/dbs/:db_id/records",
      {
        summary: "Create a record",
        access: dbAccess,
        apps,
        description: inNoTable,
        body: { key: "record", schema: RecordInput },
        request: { data: recordExample.data },
        answers: { 201: ShownRecord },
        responses: { 201: recordExample, 422: { email: ["is required"] } },
      },
      async (input) => {
        const { body } = input;
        const db = await openAt(ctx, input, input.params.db_id, "add");
        const hints: Hints = { texts: [] };
        const make = (current: Database) => hinted(hints, current, viewerOf(input), body.table_name, body.data);
        const made = await records.create(ctx, db, make);
        // Of a request with a key nothing is committed yet.
        const read = (on: Queryable) => records.createdText(on, db, made);
        const text = await (ctx.keyed() ? ctx.transaction(read) : read(ctx.sql));
        const { body: shown, headers } = await whole(ctx, input, db, made.id, firstVersion(made.createdAt), text);
        return warned(jsonText(201, shown, headers), hints.texts);
      },
    ),
    route(
      "GET",
      "/core/dbs/:db_id/records/:id",
      {
        summary: "Show a record",
        query: { expand: expandParameter },
        access: dbAccess,
        apps,
        answers: { 200: ShownRecord },
        responses: { 200: recordExample, 304: null },
      },
      async (input) => {
        const db = await openAt(ctx, input, input.params.db_id);
        const id = uuidOf(input.params.id, missingRecord);
        const found = await together.get(ctx, db, id);
        if (!found) throw notFound(missingRecord);
        const { body, headers } = await whole(
          ctx,
          input,
          db,
          id,
          found.version,
          found.answer,
          expandPaths(input.query),
        );
        return jsonText(200, body, headers);
      },
    ),
    route(
      "GET",
      "/core/dbs/:db_id/records/:id/files/:file_id",
      {
        summary: "The bytes of a file of a record",
        description:
          "Of a file that stands in a field of the format `file` which you may read: also a private one, without the privilege `media`. `Content-Disposition` has its name. Range requests and `If-Range` are answered.",
        query: { size: "of a picture: another size, as `320.webp` (`/media/:id/w/:variant`)" },
        access: dbAccess,
        answers: { 200: answer.text("application/octet-stream"), 206: answer.text("application/octet-stream") },
        responses: { 200: "…", 206: "…", 304: null, 416: { error: "the file has 284113 bytes" } },
      },
      async (input) => {
        const { params, query, account, request } = input;
        const db = await openAt(ctx, input, params.db_id);
        const [id, file] = [uuidOf(params.id, missingRecord), uuidOf(params.file_id, missingFile)];
        const found = await together.get(ctx, db, id);
        if (!found) throw notFound(missingRecord);
        const { table, data } = storedIn(db.rules, found.answer);
        if (!filesIn(table, data).includes(file)) throw notFound(missingFile);
        return ctx.media.sent(account.id, file, request, query.get("size") ?? undefined);
      },
    ),
    route(
      "PATCH",
      "/core/dbs/:db_id/records/:id",
      {
        summary: "Change fields of a record",
        description:
          "`data` is merged key by key. In a multi-table database send `table_name` again, inside `record`: without it the record goes to the null table. " +
          inNoTable,
        access: dbAccess,
        apps,
        ifMatch: true,
        query: { keep_table: "`true`: without `table_name` the record stays in its table" },
        body: { key: "record", schema: RecordPatch },
        request: { data: { age: 35 } },
        answers: { 200: ShownRecord },
        responses: { 200: recordExample, 422: { age: ["must be a whole number"] } },
      },
      async (input) => {
        const { request, params, query, body } = input;
        const db = await openAt(ctx, input, params.db_id, "edit");
        const id = uuidOf(params.id, missingRecord);
        const { table_name: tableName, data = {} } = body;
        const keepsTable = tableName === undefined && flagOf(query, "keep_table") === true;
        const hints: Hints = { texts: [] };
        const expected = expectedVersion(request, id, versionDigits);
        const make = async (current: Database) => {
          const write = keepsTable
            ? await records.inItsTable(ctx.sql, current, id, { data, viewer: viewerOf(input) })
            : hinted(hints, current, viewerOf(input), tableName, data);
          if (keepsTable) hints.texts = computedHints([write.table], Object.keys(data));
          return { ...write, expected };
        };
        const changed = await records.update(ctx, db, id, make, { form: "nested" });
        const { body: shown, headers } = await whole(ctx, input, db, id, changed.version, changed.answer);
        return warned(jsonText(200, shown, headers), hints.texts);
      },
    ),
    route(
      "DELETE",
      "/core/dbs/:db_id/records/:id",
      {
        summary: "Delete a record",
        description:
          "Links to it are cleared, refuse the deletion (409: `records` are those that you may see) or take their records along, as their schema says (`on_delete`).",
        access: dbAccess,
        apps,
        ifMatch: true,
        answers: { 409: HeldByLinks },
        responses: { 204: null, ...heldByLinks },
      },
      async (input) => {
        const id = uuidOf(input.params.id, missingRecord);
        const expected = expectedVersion(input.request, id, versionDigits);
        await records.remove(ctx, await openAt(ctx, input, input.params.db_id, "edit"), id, {
          expected,
          viewer: viewerOf(input),
        });
        return noContent();
      },
    ),
  ];
}

/** The answer with what is worked out when it is read, and its ETag. */
async function whole(
  ctx: JsondbContext,
  input: Viewing,
  db: Database,
  id: string,
  version: number,
  answered: string,
  paths: readonly string[] = [],
) {
  if (!isUnfinished(db, paths)) return { body: answered, headers: { etag: etag(id, version) } };
  // What a link leads to changes without this record.
  const [body = ""] = await finished(
    ctx,
    { db, viewer: viewerOf(input) },
    { records: [answered] },
    paths,
    nestedIn(db),
  );
  return { body, headers: { etag: etag(id, version, body) } };
}

/** The write; `hints` gets the hints about its table. */
function hinted(hints: Hints, db: Database, viewer: Viewer, tableName: string | null | undefined, data: Data): Write {
  const table = tableForWrite(db, tableName);
  hints.texts = [
    ...nullTableHints(db, table.name === "" ? 1 : 0, 'inside "record"'),
    ...computedHints([table], Object.keys(data)),
  ];
  return { table, data, viewer };
}

// The answers of the routes for records.

const text = Type.String();
const time = Type.String({ format: "date-time" });

// PostgreSQL prints records: their times are texts from the start.
const times = { created_at: time, updated_at: time };

/** As the records API shows one: `data` apart. */
export const ShownRecord = answer.object("Record", {
  id: answer.uuid(),
  data: answer.json(),
  table_name: field.nullable(text),
  ...times,
  /** Only where it is asked for: path to a flat record, a list or null. */
  expand: Type.Optional(answer.json()),
});

/** 409 of a deletion: other records link to it. */
export const HeldByLinks = answer.object("HeldByLinks", {
  error: text,
  /** Left out of any other conflict. */
  records: Type.Optional(answer.list(answer.uuid())),
  count: Type.Optional(Type.Integer()),
});
export const heldByLinks = {
  409: { error: "other records link to this one, and do not let it go", records: [recordExample.id], count: 1 },
};

/** As a search shows one: the fields of `data` next to its own. */
export const FlatRecord = Type.Object(
  { id: answer.uuid(), ...times },
  { $id: "FlatRecord", additionalProperties: true },
);

/** As a public method shows one: with the fields that it lets be seen. */
export const PublicRecord = answer.object("PublicRecord", {
  id: answer.uuid(),
  data: answer.json(),
  ...times,
  /** Only where it is asked for: path to a flat record, a list or null. */
  expand: Type.Optional(answer.json()),
});

export const DeletedRecord = answer.object("DeletedRecord", { id: answer.uuid(), deleted: Type.Literal(true) });

/** The answer of a public list, `get` or search. */
export const PublicRead = Type.Union([answer.list(PublicRecord), answer.list(FlatRecord), PublicRecord]);

export const PublicRefusal = answer.object("PublicRefusal", { error: text, errors: answer.fieldErrors });

export const BatchResults = answer.object("BatchResults", {
  results: answer.list(Type.Union([ShownRecord, DeletedRecord])),
});

export const RowFault = answer.object("RowFault", {
  row: Type.Integer(),
  line: Type.Optional(Type.Integer()),
  id: Type.Optional(answer.uuid()),
  field: field.nullable(text),
  message: text,
});
const faults = { failed: Type.Integer(), total: Type.Integer(), errors: answer.list(RowFault) };

/** All rows were stored, or with `partial` the good ones. */
export const Imported = answer.object("Imported", {
  imported: Type.Integer(),
  failed: Type.Optional(faults.failed),
  total: Type.Optional(faults.total),
  errors: Type.Optional(faults.errors),
});

/** None was stored. */
export const ImportRefused = answer.object("ImportRefused", faults);

/** What an import would do. */
export const DryRun = answer.object("DryRun", {
  rows: Type.Integer(),
  good: Type.Integer(),
  faulty: Type.Integer(),
  errors: answer.list(RowFault),
});

const measured = Type.Optional(answer.json());
export const Group = answer.object("Group", {
  group: answer.json(),
  count: Type.Integer(),
  sum: measured,
  avg: measured,
  min: measured,
  max: measured,
});

/** 400 for an unknown table, or for a missing one if the database has several. */
export const UnknownTable = answer.object("UnknownTable", {
  error: text,
  available_tables: Type.Optional(answer.list(text)),
});
