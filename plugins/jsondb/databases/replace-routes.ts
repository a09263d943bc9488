import { etag, field, invalid, isObject, ok, route, Type, unknownNames, warned, type Route } from "platform";
import { Db } from "./database.ts";
import * as dbs from "./dbs.ts";
import { inputOf, access, dbExample, ifMatch, targetOf } from "./routes.ts";
import { editOf, replaceInJson, Replacement } from "../api.ts";
import { databaseHints } from "./hints.ts";
import { toApi, type DbInput, type DbRow } from "./store.ts";
import type { DatabaseContext } from "./cache.ts";
import { schemaKeys } from "./schema.ts";

const replaceable = ["fields", "schema", "public_methods"] as const;
const Replacing = Type.Object({
  field: field.oneOf(replaceable),
  ...Replacement.properties,
});

/** `:id` is an id or a code. */
export function replaceRoute(ctx: DatabaseContext): Route {
  return route(
    "PATCH",
    "/core/dbs/:db_id/replace",
    {
      summary: "Replace text in `fields`, `schema` or `public_methods`",
      description:
        "The value as compact JSON, or where `old_string` is not found there, as JSON indented by two. The first occurrence, or with `replace_all` every one. " +
        ifMatch,
      access,
      ifMatch: true,
      body: { schema: Replacing },
      request: { field: "schema", old_string: '"age":"integer"', new_string: '"age":"number"', replace_all: false },
      answers: { 200: Db },
      responses: { 200: dbExample, 422: { old_string: ["is not found"] } },
    },
    async ({ caller, params, body, request }) => {
      const edit = editOf(body);
      const work = (current: DbRow): DbInput => {
        const before = { fields: current.fields, schema: current.schema, public_methods: current.publicMethods };
        const done = replaceInJson(before[body.field], edit);
        if ("mistake" in done) throw invalid({ [done.field]: [done.mistake] });
        if (!isObject(done.value)) throw invalid({ [body.field]: ["must be an object"] });
        return inputOf({ [body.field]: done.value });
      };
      const row = await dbs.update(ctx, targetOf({ caller, request }, params.db_id), work);
      const given = { schema: row.schema, public_methods: row.publicMethods, fields: undefined };
      // The keys of a body are judged by its schema; here they stand in a text.
      const keys = body.field === "schema" && row.schema ? Object.keys(row.schema) : [];
      const misspelt = unknownNames(keys, schemaKeys, (name) => `unknown field "${name}" in "schema"`);
      const hints = databaseHints(row, { [body.field]: given[body.field] });
      return warned(ok(toApi(row), { etag: etag(row.id, row.version) }), [...misspelt, ...hints]);
    },
  );
}
