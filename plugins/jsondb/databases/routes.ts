import * as databaseStore from "./store.ts";
import * as dbs from "./dbs.ts";
import {
  answer,
  created,
  etag,
  expectedVersion,
  pageReply,
  noContent,
  notFound,
  ok,
  pageOf,
  pageQuery,
  route,
  usedByRoute,
  warned,
  wildcardPattern,
  field,
  forbidden,
  Type,
  type Route,
  type Caller,
  type RequestInput,
} from "platform";
import { Db } from "./database.ts";
import type { JsondbContext } from "../context.ts";
import { databaseHints } from "./hints.ts";
import { toApi, type DbInput as DbFields, type DbRow } from "./store.ts";
import { operations } from "./public-methods.ts";
import { schemaKeys } from "./schema.ts";

const model = "Core::Db";
export const access = { privilege: "dbs" } as const;
export const ifMatch = 'With `If-Match: "<etag>"` of a version that is no longer the latest: 412.';

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

/** Databases; `:id` is an id or a code. behaviour 4.4. */
export function dbRoutes(ctx: JsondbContext): Route[] {
  const { names, sql } = ctx;
  const find = async (accountId: number, key: string): Promise<DbRow> => {
    const row = await databaseStore.find(sql, accountId, key);
    if (!row) throw notFound("there is no such database");
    return row;
  };
  const appHints = (accountId: number, key: string | null | undefined) =>
    names.unknown(accountId, key ? [{ place: "app_id", model: "Core::App", key }] : []);
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
        return pageReply(await databaseStore.list(sql, account.id, filter, pageOf(query)), toApi);
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
        const row = await dbs.create(ctx, account.id, caller.user.id, { ...inputOf(body), name: body.name });
        return warned(created(toApi(row)), [...(await appHints(account.id, body.app_id)), ...databaseHints(row, body)]);
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
        body: { key: "db", schema: DbPatchInput },
        request: { name: "Clients" },
        answers: { 200: Db },
        responses: { 200: dbExample },
      },
      async ({ account, caller, params, body, request }) => {
        let before = "";
        const work = (current: DbRow): DbFields => {
          before = current.code;
          mustNameApp(caller, body.app_id, current.appId);
          return inputOf(body);
        };
        const row = await dbs.update(ctx, targetOf({ caller, request }, params.id), work);
        const hints = [
          ...(row.code === before ? [] : await names.lost(caller, { model, keys: [before] })),
          ...(await appHints(account.id, body.app_id)),
          ...databaseHints(row, body),
        ];
        return warned(ok(toApi(row), { etag: etag(row.id, row.version) }), hints);
      },
    ),
    usedByRoute(names, { one: "/core/dbs/:db_id", noun: "a database", ...access }, async ({ account }, key) => {
      const { code, id } = await find(account.id, key);
      return { model, keys: [code, id] };
    }),
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
      async ({ caller, params, request }) => {
        const { code, id } = await dbs.remove(ctx, targetOf({ caller, request }, params.id));
        return warned(noContent(), await names.lost(caller, { model, keys: [code, id] }));
      },
    ),
  ];
}

/** The database that a request changes, by its id or code. */
export function targetOf(
  { caller, request }: Pick<RequestInput, "request"> & { readonly caller: Caller },
  key: string,
) {
  const seenVersion = (id: string) => expectedVersion(request, id);
  return { accountId: caller.account.id, key, userId: caller.user.id, seenVersion };
}

// The body of a request about a database, and its fields as they are stored.

const Code = Type.String({
  pattern: "^(?:[A-Za-z0-9][A-Za-z0-9_-]*)?$",
  maxLength: 100,
  description: "letters, digits, - and _",
});
/** The keys are told to clients; `parseSchema` and `parsePublicMethods` judge the values. */
const objectOf = (keys: readonly string[], description: string) => {
  const properties = Object.fromEntries(keys.map((key) => [key, Type.Optional(Type.Unknown())]));
  return Type.Union([Type.Unsafe<Record<string, unknown>>(Type.Object(properties)), Type.Null()], { description });
};
const schemaText =
  '`fields` and their types, `indexed_fields`, and `sorts`: pairs such as `["category", "-score"]` of a filter and an order that get an index of their own; or `tables` of such';
const uuidForm = "^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$";
const fields = {
  code: Type.Optional(field.nullable(Code)),
  app_id: Type.Optional(field.nullable(Type.String({ pattern: uuidForm, description: "a UUID" }))),
  schema: Type.Optional(objectOf(schemaKeys, schemaText)),
  public_methods: Type.Optional(objectOf(operations, "what visitors may do")),
  fields: Type.Optional(Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true }))),
};
export const DbInput = Type.Object({ name: field.name(), ...fields });
export const DbPatchInput = Type.Object({ name: Type.Optional(field.name()), ...fields });

/** 403 if the caller links another app without the privilege `apps`. */
export function mustNameApp(caller: Caller, appId: string | null | undefined, before: string | null): void {
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

export function inputOf(body: Body): DbFields {
  return {
    name: body.name,
    code: body.code === null || body.code === "" ? undefined : body.code,
    appId: body.app_id,
    schema: body.schema,
    publicMethods: body.public_methods,
    fields: body.fields,
  };
}
