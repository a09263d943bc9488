/** Tools for the records of JSON databases. */
import { invalid, Type, unknownNames } from "platform";
import { resultOf } from "../answer.ts";
import { mustMayDelete } from "./deletions.ts";
import { queryOf } from "./filters.ts";
import { idInput, segment, tool, type Tool } from "./tool.ts";

/** `addFilter` judges the values. */
const filterOf = (description: string) => Type.Record(Type.String({ maxLength: 200 }), Type.Unknown(), { description });
const names = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 50, description }));

const database = idInput("id or code of the database");
const chosen = {
  db: database,
  table_name: Type.Optional(Type.String({ maxLength: 200, description: "needed where the schema has tables" })),
  q: Type.Optional(Type.String({ maxLength: 1000, description: "phrase; `*` and `%` are wildcards" })),
  search_in: names("fields for `q`; default: the indexed ones"),
};
const groups = (description: string) =>
  Type.Optional(
    Type.Array(Type.Record(Type.String({ maxLength: 200 }), Type.Unknown()), { maxItems: 20, description }),
  );

export const recordTools: readonly Tool[] = [
  tool({
    name: "search_records",
    title: "Search records",
    description: "Finds records of a database. The answer is flat: the fields beside id, created_at and updated_at.",
    reads: true,
    input: Type.Object({
      ...chosen,
      filter: Type.Optional(
        filterOf(
          'by field: a value, or operators gt, gte, lt, lte, ne, in, null: { age: { gte: 18, lt: 65 }, city: { in: ["Łódź", "Kraków"] }, note: { null: true }, "customer.city": "Łódź" } (through a link)',
        ),
      ),
      any: groups("filters of which one must hold whole"),
      sort: Type.Optional(Type.String({ maxLength: 200, description: "a field; `-` in front = descending" })),
      fields: names("fields to show"),
      expand: names("links to follow: customer, customer.owner"),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
      offset: Type.Optional(Type.Integer({ minimum: 0 })),
      after: Type.Optional(Type.String({ maxLength: 2000, description: "the `next` of the page before" })),
      count: Type.Optional(Type.Boolean({ description: "true: tell how many there are" })),
    }),
    routes: ["GET /core/dbs/:db_id/search"],
    run: async ({ db, ...args }, session) => {
      const path = `/core/dbs/${segment("db", db)}/search?${queryOf(args)}` as const;
      return resultOf(await session.ask({ method: "GET", path }));
    },
  }),
  tool({
    name: "aggregate",
    title: "Count and sum records",
    description: "Counts, sums, averages, minima and maxima by group, without reading the records.",
    reads: true,
    input: Type.Object({
      ...chosen,
      filter: Type.Optional(filterOf("as of search_records")),
      any: groups("as there"),
      group_by: names("up to 3 fields; a time with a unit: created_at:month"),
      sum: names("fields"),
      avg: names("fields"),
      min: names("fields"),
      max: names("fields"),
      sort: Type.Optional(Type.String({ maxLength: 200, description: "-count (default), count, group or -group" })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    }),
    routes: ["GET /core/dbs/:db_id/aggregate"],
    run: async ({ db, ...args }, session) => {
      const path = `/core/dbs/${segment("db", db)}/aggregate?${queryOf(args)}` as const;
      return resultOf(await session.ask({ method: "GET", path }));
    },
  }),
  tool({
    name: "batch_records",
    title: "Write many records",
    description:
      "Creates and changes up to 1,000 records in one transaction: all or none. An update merges `data` key by key and keeps the record's table. Deleting takes a token that may.",
    destroys: true,
    input: Type.Object({
      db: database,
      operations: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
        maxItems: 1000,
        description:
          '{ op: "create", data, table_name? }, { op: "update", id, data, table_name?, if_updated_at? } or { op: "delete", id, if_updated_at? }',
      }),
    }),
    routes: ["POST /core/dbs/:db_id/batch"],
    run: async ({ db, operations }, session) => {
      mustBeOperations(operations);
      if (operations.some(({ op }) => op === "delete")) await mustMayDelete(session);
      const path = `/core/dbs/${segment("db", db)}/batch?keep_table=true` as const;
      return resultOf(await session.ask({ method: "POST", path, body: { operations } }));
    },
  }),
];

const operationKeys = {
  create: ["op", "data", "table_name"],
  update: ["op", "id", "data", "table_name", "if_updated_at"],
  delete: ["op", "id", "if_updated_at"],
};

/** 422 for what the route would leave out: a misspelt `data` would change nothing. Whether `op` is right is its matter. */
function mustBeOperations(operations: readonly Readonly<Record<string, unknown>>[]): void {
  if (operations.length === 0) throw invalid({ operations: ["is empty: it must have at least one operation"] });
  const faults = operations.flatMap((operation, at): [string, string[]][] => {
    const { op } = operation;
    if (op !== "create" && op !== "update" && op !== "delete") return [];
    const wrong = unknownNames(Object.keys(operation), operationKeys[op], (name) => `\`${op}\` has no "${name}"`);
    if (wrong.length > 0) return [[`operations[${at}]`, wrong]];
    const isEmpty = op === "update" && operation["data"] === undefined && operation["table_name"] === undefined;
    return isEmpty ? [[`operations[${at}].data`, ["is required"]]] : [];
  });
  if (faults.length > 0) throw invalid(Object.fromEntries(faults.slice(0, 100)));
}
