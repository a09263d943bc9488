import {
  answer,
  created,
  etag,
  expectedVersion,
  field,
  forbidden,
  invalid,
  isObject,
  list,
  noContent,
  notFound,
  ok,
  pageOf,
  pageQuery,
  route,
  Type,
  warned,
  wildcardPattern,
  type Route,
  type Caller,
} from "platform";
import { Db } from "./answers.ts";
import type { Dbs, DbFields, SeenVersion } from "./dbs.ts";
import { replaceInJson } from "./replace.ts";
import { schemaHints } from "./schema.ts";
import { toApi, type DbRow, type DatabaseStore } from "./database-store.ts";

const Code = Type.String({
  pattern: "^(?:[A-Za-z0-9][A-Za-z0-9_-]*)?$",
  maxLength: 100,
  description: "letters, digits, - and _",
});
const JsonObject = Type.Union([
  Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true })),
  Type.Null(),
]);
const uuidForm = "^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$";
const fields = {
  code: Type.Optional(field.nullable(Code)),
  app_id: Type.Optional(field.nullable(Type.String({ pattern: uuidForm, description: "a UUID" }))),
  schema: Type.Optional(JsonObject),
  public_methods: Type.Optional(JsonObject),
  fields: Type.Optional(Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true }))),
};
const DbInput = Type.Object({ name: field.name(), ...fields });
const DbChanges = Type.Object({ name: Type.Optional(field.name()), ...fields });
const replaceable = ["fields", "schema", "public_methods"] as const;
const Replacement = Type.Object({
  field: field.oneOf(replaceable),
  old_string: Type.Optional(Type.String()),
  new_string: Type.Optional(Type.String()),
  old: Type.Optional(Type.String()),
  new: Type.Optional(Type.String()),
  replace_all: Type.Optional(field.nullable(field.flag())),
});

const access = { privilege: "dbs" } as const;
const ifMatch = 'With `If-Match: "<etag>"` of a version that is no longer the latest: 412.';

export const dbExample = {
  id: "019a9c1e-0000-7000-8000-000000000001",
  name: "Customers",
  code: "customers",
  app_id: null,
  schema: { fields: { email: { type: "string", required: true }, age: "integer" }, indexed_fields: ["email", "age"] },
  public_methods: { create: { allowed_fields: ["email"], auto_fields: { visitor: "{cookie_key}" } } },
  fields: {},
  created_by_id: 1,
  updated_by_id: null,
  created_at: "2026-01-31T10:00:00.000Z",
  updated_at: "2026-01-31T10:00:00.000Z",
};

interface Needed {
  readonly databaseStore: DatabaseStore;
  readonly dbs: Dbs;
}

/** Databases; `:id` is an id or a code. behaviour 4.4. */
export function dbRoutes({ databaseStore, dbs }: Needed): Route[] {
  const find = async (accountId: number, key: string): Promise<DbRow> => {
    const row = key.length > 100 || key.includes("\0") ? undefined : await databaseStore.find(accountId, key);
    if (!row) throw notFound("there is no such database");
    return row;
  };
  return [
    route(
      "GET",
      "/core/dbs",
      {
        summary: "List databases",
        access,
        query: {
          q: "searches name and code",
          code: "exactly this code",
          ...pageQuery,
        },
        answers: { 200: answer.list(Db) },
        responses: { 200: [dbExample] },
      },
      async ({ account, query }) => {
        const q = query.get("q");
        const filter = { q: q ? wildcardPattern(q) : undefined, code: query.get("code") ?? undefined };
        const { rows, total } = await databaseStore.list(account.id, filter, pageOf(query));
        return list(rows.map(toApi), total);
      },
    ),
    route(
      "POST",
      "/core/dbs",
      {
        summary: "Create a database",
        access,
        body: { key: "db", schema: DbInput },
        request: { name: dbExample.name, schema: dbExample.schema },
        answers: { 201: Db },
        responses: { 201: dbExample, 422: { schema: ["fields.age: must be one of string, text, …"] } },
      },
      async ({ account, caller, body }) => {
        mustNameApp(caller, body.app_id, null);
        return warned(
          created(toApi(await dbs.create(account.id, caller.user.id, { ...inputOf(body), name: body.name }))),
          schemaHints(body.schema),
        );
      },
    ),
    route(
      "GET",
      "/core/dbs/:id",
      { summary: "Show a database", access, answers: { 200: Db }, responses: { 200: dbExample, 304: null } },
      async ({ account, params }) => {
        const row = await find(account.id, params.id);
        return ok(toApi(row), { etag: etag(row.id, row.version) });
      },
    ),
    route(
      "PATCH",
      "/core/dbs/:id",
      {
        summary: "Change a database",
        description:
          "A new `schema` re-indexes existing records in the background; answers stay correct meanwhile. " + ifMatch,
        access,
        ifMatch: true,
        body: { key: "db", schema: DbChanges },
        request: { name: "Clients" },
        answers: { 200: Db },
        responses: { 200: dbExample },
      },
      async ({ account, caller, params, body, request }) => {
        const seen: SeenVersion = (id) => expectedVersion(request, id);
        const work = (current: DbRow): DbFields => {
          mustNameApp(caller, body.app_id, current.appId);
          return inputOf(body);
        };
        const row = await dbs.update(account.id, params.id, caller.user.id, work, seen);
        return warned(ok(toApi(row), { etag: etag(row.id, row.version) }), schemaHints(body.schema));
      },
    ),
    route(
      "DELETE",
      "/core/dbs/:id",
      {
        summary: "Delete a database with its records",
        description: ifMatch,
        access,
        ifMatch: true,
        responses: { 204: null },
      },
      async ({ account, params, request }) => {
        await dbs.delete(account.id, params.id, (id) => expectedVersion(request, id));
        return noContent();
      },
    ),
    route(
      "PATCH",
      "/core/dbs/:id/replace",
      {
        summary: "Replace text in `fields`, `schema` or `public_methods`",
        description:
          "The value as compact JSON, or where `old_string` is not found there, as JSON indented by two. The first occurrence, or with `replace_all` every one. " +
          ifMatch,
        access,
        ifMatch: true,
        body: { schema: Replacement },
        request: { field: "schema", old_string: '"age":"integer"', new_string: '"age":"number"', replace_all: false },
        answers: { 200: Db },
        responses: { 200: dbExample, 422: { old_string: ["is not found"] } },
      },
      async ({ account, caller, params, body, request }) => {
        const edit = editOf(body);
        const work = (current: DbRow): DbFields => {
          const before = { fields: current.fields, schema: current.schema, public_methods: current.publicMethods };
          const done = replaceInJson(before[body.field], edit);
          if ("mistake" in done) throw invalid({ [done.field]: [done.mistake] });
          if (!isObject(done.value)) throw invalid({ [body.field]: ["must be an object"] });
          return inputOf({ [body.field]: done.value });
        };
        const seen: SeenVersion = (id) => expectedVersion(request, id);
        const row = await dbs.update(account.id, params.id, caller.user.id, work, seen);
        return ok(toApi(row), { etag: etag(row.id, row.version) });
      },
    ),
  ];
}

/** Throws the 403 where the caller newly links an app without being let near apps. */
function mustNameApp(caller: Caller, appId: string | null | undefined, before: string | null): void {
  if (appId && appId.toLowerCase() !== before && !caller.privileges.has("apps"))
    throw forbidden("`app_id`: linking an app needs the privilege `apps`");
}

interface Body {
  readonly name?: string;
  readonly code?: string | null;
  readonly app_id?: string | null;
  readonly schema?: Record<string, unknown> | null;
  readonly public_methods?: Record<string, unknown> | null;
  readonly fields?: Record<string, unknown>;
}

function inputOf(body: Body): DbFields {
  return {
    name: body.name,
    code: body.code === null || body.code === "" ? undefined : body.code,
    appId: body.app_id,
    schema: body.schema,
    publicMethods: body.public_methods,
    fields: body.fields,
  };
}

/** behaviour 4.3 shows `old` and `new` for apps and accepts both spellings; so does this. */
function editOf(body: {
  old_string?: string;
  old?: string;
  new_string?: string;
  new?: string;
  replace_all?: boolean | null;
}) {
  const oldString = body.old_string ?? body.old;
  const newString = body.new_string ?? body.new;
  if (!oldString) throw invalid({ old_string: ["can't be blank"] });
  if (newString === undefined) throw invalid({ new_string: ["is required"] });
  return { oldString, newString, all: body.replace_all === true };
}
