import {
  answer,
  pageOf,
  pageQuery,
  pageReply,
  uuidOf,
  change,
  edit,
  expectedVersion,
  field,
  invalid,
  isObject,
  ok,
  unavailable,
  refOf,
  resourceRoutes,
  route,
  shown,
  text,
  Type,
  unknownNames,
  warned,
} from "platform";
import type { Caller, ContextOf, Route } from "platform";
import { editOf, replaceInJson, Replacement } from "../api.ts";
import { allOpen, dbAccess, find, openAt } from "./cache.ts";
import { Db, missingDeleted, restoreDb, savedHints, ifMatch, type DbAt } from "./db.ts";
import type { DbRow } from "./fields.ts";
import { schemaKeys } from "./schema.ts";
import * as databaseStore from "./store.ts";
import { reindex } from "./jobs.ts";
import * as naming from "./naming-store.ts";
import { deletedFields, type GivenRenames } from "./renames.ts";
import { rowTypes } from "./row-types.ts";
import { withKeys } from "./switch.ts";

const replaceable = ["fields", "schema", "public_methods"] as const;
const Replacing = Type.Object({ field: field.oneOf(replaceable), ...Replacement.properties });

/** `:id` is an id or a code. behaviour 4.4. */
export function dbRoutes(ctx: ContextOf<DbAt>): Route[] {
  const renames = new WeakMap<Request, GivenRenames>();
  const routes = resourceRoutes(Db, ctx, {
    async change(at, ...given) {
      const rename = at.request && renames.get(at.request);
      const both = await withKeys(ctx, (ready) => change(Db, { ...at, rename, ready }, ...given));
      if (rename) await moved(ctx, both.after);
      return both;
    },
  });
  return [
    ...Object.values({ ...routes, change: changeRoute(ctx, routes.change, renames) }),
    replaceRoute(ctx),
    typesRoute(ctx),
    deletedFieldsRoute(ctx),
    ...trashRoutes(ctx),
  ];
}

const Rename = Type.Optional(
  Type.Record(Type.String(), Type.String(), {
    description:
      "fields of the schema before to their names in the `schema` given, in a database with tables as `table.old`: their values move along, before the answer",
  }),
);

/** The resource's own, with `rename` beside its key. */
function changeRoute(ctx: ContextOf<DbAt>, { spec, run }: Route, renames: WeakMap<Request, GivenRenames>): Route {
  const body = {
    key: Db.name,
    beside: ["rename"],
    schema: Type.Object({ ...Db.bodies.change.properties, rename: Rename }),
  };
  return route("PATCH", "/core/dbs/:id", { ...spec, body }, async (input) => {
    const { rename, ...given } = input.body;
    if (!rename || Object.keys(rename).length === 0) return run({ ...input, body: given });
    renames.set(input.request, rename);
    const before = await find(ctx, input.account.id, input.params.id);
    const reply = await run({ ...input, body: given });
    if (!before || !input.caller || reply instanceof Response) return reply;
    return warned(reply, await stillNaming(ctx, input.caller, before));
  });
}

/** Hints about flows, webhooks and others that use a database, in whose programs and texts fields are not renamed. */
async function stillNaming({ names }: Pick<DbAt, "names">, caller: Caller, { code, id }: { code: string; id: string }) {
  const uses = await names.usedBy(caller, { model: Db.model, keys: [code, id] });
  return uses.map(({ kind, name }) => `the ${kind} "${name}" uses the database and may name fields as before`);
}

/** Waits for the values of renamed fields: carries out what a job would, and that goes on if this process dies. */
async function moved(ctx: ContextOf<DbAt>, { id, accountId }: DbRow): Promise<void> {
  const end = Date.now() + mostMovingMs;
  while (Date.now() < end && !ctx.stopping.aborted) {
    if (await reindex(ctx, accountId, id, ctx.stopping)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw unavailable("the values of renamed fields are still being moved: see the database's tasks");
}

const mostMovingMs = 15 * 60_000;

function replaceRoute(ctx: ContextOf<DbAt>): Route {
  return route(
    "PATCH",
    "/core/dbs/:db_id/replace",
    {
      summary: "Replace text in `fields`, `schema` or `public_methods`",
      description:
        "The value as compact JSON, or where `old_string` is not found there, as JSON indented by two. The first occurrence, or with `replace_all` every one. " +
        ifMatch,
      access: dbAccess,
      ifMatch: true,
      body: { schema: Replacing },
      request: { field: "schema", old_string: '"age":"integer"', new_string: '"age":"number"', replace_all: false },
      answers: { 200: Db.answers.one },
      responses: { 200: Db.examples.one, 422: { old_string: ["is not found"] } },
    },
    async (input) => {
      const { caller, params, body, request } = input;
      const replacement = editOf(body);
      const at = { ...ctx, caller };
      await openAt(ctx, input, params.db_id, "manage");
      const work = (current: DbRow) => {
        const before = { fields: current.fields, schema: current.schema, public_methods: current.publicMethods };
        const done = replaceInJson(before[body.field], replacement);
        if ("mistake" in done) throw invalid({ [done.field]: [done.mistake] });
        if (!isObject(done.value)) throw invalid({ [body.field]: ["must be an object"] });
        return { [body.field]: done.value };
      };
      const seen = (id: string) => expectedVersion(request, id);
      const { after } = await withKeys(ctx, (ready) => edit(Db, { ...at, ready }, refOf(Db, params.db_id), work, seen));
      const { schema, publicMethods } = after;
      // The keys of a body are judged by its schema; here they stand in a text.
      const keys = body.field === "schema" && schema ? Object.keys(schema) : [];
      const misspelt = unknownNames(keys, schemaKeys, (name) => `unknown field "${name}" in "schema"`);
      const given = { schema, public_methods: publicMethods, fields: undefined };
      const hints = await savedHints(at, after, { [body.field]: given[body.field] });
      return warned(ok(...(await shown(Db, at, after))), [...misspelt, ...hints]);
    },
  );
}

/** What `corestead client --dbs` writes, as far as the caller may read. */
function typesRoute(ctx: ContextOf<DbAt>): Route {
  return route(
    "GET",
    "/core/db_types.ts",
    {
      summary: "TypeScript types of the records of all databases",
      description:
        "For the typed client, `/client.ts`: a type for each database or table that one may read, without hidden fields.",
      access: { signedIn: "it shows the databases that one may read" },
      answers: { 200: answer.text("text/plain") },
      responses: { 200: "export interface Customer { … }" },
    },
    async (input) => text(200, rowTypes(await allOpen(ctx, input.account.id, input)), "text/plain; charset=utf-8"),
  );
}

const DeletedField = answer.object("DeletedField", {
  table_name: field.nullable(Type.String()),
  name: Type.String(),
  records: Type.Integer(),
  definition: answer.json(),
  guessed: Type.Boolean(),
  position: field.nullable(Type.Integer()),
});

/** What records still hold of fields that are gone. */
function deletedFieldsRoute(ctx: ContextOf<DbAt>): Route {
  return route(
    "GET",
    "/core/dbs/:db_id/deleted_fields",
    {
      summary: "List deleted fields, and other values under names that the schema does not have",
      description:
        "A schema that has such a `definition` again brings the field back with its values; of a name that never was a field it is `guessed`. `position` is its former place among the fields, from 0, if that is known. `records` counts those of the newest 100,000 of a table that have a value. It takes the level `manage`.",
      access: dbAccess,
      answers: { 200: answer.list(DeletedField) },
      responses: {
        200: [
          { table_name: null, name: "city", records: 12, definition: { type: "string" }, guessed: false, position: 1 },
        ],
      },
    },
    async (input) => {
      const db = await openAt(ctx, input, input.params.db_id, "manage");
      const tables = [...db.rules.tables.values()].filter(({ name }) => !db.rules.multiTable || name !== "");
      const found = tables.map(async (table) => {
        const moving = db.renames.flatMap((one) => (one.table === table.name ? [one.from] : []));
        const all = await naming.unknownNames(ctx.sql, db, table.name, [...table.fields.keys(), ...moving]);
        const fields = deletedFields(db.former, table, all);
        return fields.map((one) => ({ table_name: table.name || null, ...one }));
      });
      return ok((await Promise.all(found)).flat());
    },
  );
}

const TrashedDb = answer.object("TrashedDb", {
  id: answer.uuid(),
  code: Type.String(),
  name: Type.String(),
  deleted_at: answer.time(),
  deleted_by_id: field.nullable(Type.Integer()),
  deleted_by_name: field.nullable(Type.String()),
});

const trashedExample = {
  id: "019a9c1e-0000-7000-8000-000000000001",
  code: "customers",
  name: "Customers",
  deleted_at: "2026-01-31T10:00:00.000Z",
  deleted_by_id: 1,
  deleted_by_name: "Ann",
};

/** The store decides. */
const trashAccess = { privilege: "dbs", or: "to have deleted the database, or `manage` in its `access`" } as const;

/** Deleted databases. */
function trashRoutes(ctx: ContextOf<DbAt>): Route[] {
  return [
    route(
      "GET",
      "/core/db_trash",
      {
        summary: "List deleted databases",
        description: "Those that the caller may restore, for 30 days, the newest deletion first.",
        access: trashAccess,
        query: pageQuery,
        answers: { 200: answer.list(TrashedDb) },
        responses: { 200: [trashedExample] },
      },
      async ({ caller, query }) =>
        pageReply(await databaseStore.listDeleted(ctx.sql, caller, pageOf(query)), (row) => ({
          id: row.id,
          code: row.code,
          name: row.name,
          deleted_at: row.deletedAt,
          deleted_by_id: row.deletedById,
          deleted_by_name: row.deletedByName,
        })),
    ),
    route(
      "POST",
      "/core/db_trash/:id/restore",
      {
        summary: "Restore a deleted database with its records",
        description: "For whoever may `manage` it, or deleted it. A code that was taken since gets a number.",
        access: trashAccess,
        answers: { 200: Db.answers.one },
        responses: { 200: Db.examples.one, 409: { error: "its code was taken just now, try again" } },
      },
      async ({ caller, params }) => {
        const at = { ...ctx, caller };
        return ok(...(await shown(Db, at, await restoreDb(at, uuidOf(params.id, missingDeleted)))));
      },
    ),
  ];
}
