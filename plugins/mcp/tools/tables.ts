/** Tools for what databases have beside their records: what belongs to a record, files of people, and what was deleted. */
import { invalid, Type, type InnerAnswer } from "platform";
import { resultOf, type ToolResult } from "../answer.ts";
import { idInput, segment, tool, type Session, type Tool } from "./tool.ts";

const database = idInput("id or code of the database");
const record = idInput("the record's id");
const parts = ["linked", "comments", "history"] as const;
const fileTypes = {
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  json: "application/json",
  ndjson: "application/x-ndjson",
} as const;
const anyObject = (description: string) => Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description }));

export const tableTools: readonly Tool[] = [
  tool({
    name: "get_record",
    title: "Read a record with what belongs to it",
    description:
      "One record with its `etag`, the records that its links lead to, those that link to it, its comments and its history.",
    reads: true,
    input: Type.Object({
      db: database,
      id: record,
      expand: Type.Optional(
        Type.Array(Type.String({ maxLength: 300 }), {
          maxItems: 10,
          description: "links to follow: customer, customer.owner",
        }),
      ),
      with: Type.Optional(
        Type.Array(Type.Union(parts.map((part) => Type.Literal(part))), {
          description: "shown beside it; history needs `history: true` in the schema",
        }),
      ),
    }),
    routes: ["GET /core/dbs/:db_id/records/:id"],
    run: async ({ db, id, expand = [], with: wanted = [] }, session) => {
      const path = pathOf(db, `records/${segment("id", id)}`);
      const query = expand.length > 0 ? `?${new URLSearchParams({ expand: expand.join(",") })}` : "";
      const answer = await session.ask({ method: "GET", path: `${path}${query}` });
      if (answer.status >= 400 || wanted.length === 0) return resultOf(answer);
      let body = `{"record":${answer.body}`;
      for (const part of new Set(wanted)) {
        const one = await session.ask({ method: "GET", path: `${path}/${part}` });
        if (one.status >= 400) return resultOf(one);
        body += `,"${part}":${one.body}`;
      }
      return resultOf(answer, `${body}}`);
    },
  }),
  tool({
    name: "comment_record",
    title: "Comment on a record",
    description: "Adds a comment; `@login` in it tells that person, if they may read the record.",
    input: Type.Object({ db: database, id: record, text: Type.String({ minLength: 1, description: "Markdown" }) }),
    routes: ["POST /core/dbs/:db_id/records/:id/comments"],
    run: async ({ db, id, text }, session) => {
      const path = pathOf(db, `records/${segment("id", id)}/comments`);
      return resultOf(await session.ask({ method: "POST", path, body: { comment: { text } } }));
    },
  }),
  tool({
    name: "import_records",
    title: "Import a table",
    description:
      "Without `store` shows what a text holds: its columns, the field and type of each, and what is doubtful. `dry_run` checks each row and names all faults. `store` imports, all rows or none. Where a column's name is no field's, `mapping` says where it goes; `formats` as shown.",
    input: Type.Object({
      db: database,
      text: Type.String({ minLength: 1, description: "the file: its first line names the columns, or JSON" }),
      type: Type.Optional(
        Type.Union(
          Object.keys(fileTypes).map((type) => Type.Literal(type)),
          { default: "csv" },
        ),
      ),
      table_name: Type.Optional(Type.String({ maxLength: 200 })),
      mapping: anyObject("column to field, or null to leave it out"),
      formats: anyObject("column to its `format`"),
      partial: Type.Optional(Type.Boolean({ description: "store the good rows if others are faulty" })),
      dry_run: Type.Optional(Type.Boolean({ description: "stores nothing" })),
      store: Type.Optional(Type.Boolean()),
    }),
    routes: ["POST /core/dbs/:db_id/import"],
    run: async (
      { db, text, type = "csv", table_name: table, mapping, formats, partial, dry_run: dry, store },
      session,
    ) => {
      const headers = { "content-type": contentType(type) };
      const query = new URLSearchParams(table === undefined ? {} : { table_name: table });
      if (mapping) query.set("mapping", JSON.stringify(mapping));
      if (formats) query.set("formats", JSON.stringify(formats));
      if (store !== true && dry !== true) {
        query.set("db", String(db));
        const path = `/core/dbs/import/preview?${query}` as const;
        const answer = await session.ask({ method: "POST", path, headers, text });
        return resultOf(answer, answer.body, otherType(type, answer.body));
      }
      if (partial === true) query.set("partial", "true");
      if (dry === true) query.set("dry_run", "true");
      return resultOf(await session.ask({ method: "POST", path: `${pathOf(db, "import")}?${query}`, headers, text }));
    },
  }),
  tool({
    name: "list_deleted",
    title: "List what was deleted",
    description: "Deleted records of a database, or without `db` deleted databases, the newest first.",
    reads: true,
    input: Type.Object({
      db: Type.Optional(database),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
      offset: Type.Optional(Type.Integer({ minimum: 0 })),
    }),
    routes: ["GET /core/dbs/:db_id/trash", "GET /core/db_trash"],
    run: async ({ db, limit = 20, offset = 0 }, session) => {
      const path = db === undefined ? "/core/db_trash" : pathOf(db, "trash");
      return resultOf(await session.ask({ method: "GET", path: `${path}?limit=${limit}&offset=${offset}` }));
    },
  }),
  tool({
    name: "restore",
    title: "Restore what was deleted or changed",
    description:
      "Brings back a deleted record of `db`, or without `db` a deleted database; with `n` a record as it was after that entry of its history.",
    destroys: true,
    input: Type.Object({
      db: Type.Optional(database),
      id: idInput("of the record or database"),
      n: Type.Optional(Type.Integer({ minimum: 1 })),
    }),
    routes: ["POST /core/dbs/:db_id/trash/:id/restore", "POST /core/db_trash/:id/restore"],
    run: restore,
  }),
];

type Restored = {
  readonly db?: string | number | undefined;
  readonly id: string | number;
  readonly n?: number | undefined;
};

async function restore({ db, id, n }: Restored, session: Session): Promise<ToolResult> {
  const one = segment("id", id);
  if (db === undefined && n !== undefined) throw invalid({ n: ["needs `db`: databases have no history"] });
  const within = n === undefined ? `trash/${one}/restore` : `records/${one}/history/${n}/restore`;
  const path = db === undefined ? (`/core/db_trash/${one}/restore` as const) : pathOf(db, within);
  const answer: InnerAnswer = await session.ask({ method: "POST", path });
  return resultOf(answer);
}

/** A preview finds out what a text is, an import takes the type's word for it. */
function otherType(type: string, preview: string): string[] {
  const read = /^\{"format":"(\w{1,10})"/.exec(preview)?.[1] ?? type;
  const isTable = (one: string) => one === "csv" || one === "tsv";
  return read === type || (isTable(read) && isTable(type))
    ? []
    : [`this is shown as ${read}, which it is: with type ${type} it cannot be stored`];
}

function pathOf(db: string | number, rest: string): `/${string}` {
  return `/core/dbs/${segment("db", db)}/${rest}`;
}

function contentType(type: string): string {
  const [, found] = Object.entries(fileTypes).find(([name]) => name === type) ?? [];
  if (found === undefined) throw invalid({ type: [`must be one of ${Object.keys(fileTypes).join(", ")}`] });
  return found;
}
