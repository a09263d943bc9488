/** The usual five routes of a resource. behaviour B.3 and B.11. */
import {
  answer,
  created,
  credentialOf,
  etag,
  expectedVersion,
  field,
  mistakes,
  noContent,
  notFound,
  ok,
  pageOf,
  pageQuery,
  route,
  type Caller,
  type Route,
  type TObject,
} from "platform";
import type { TSchema } from "platform";
import { type Author, runEdit } from "./edit.ts";
import { siteRefOf, type Ref } from "./code.ts";
import { find, list, type KindRow } from "./kind-store.ts";
import { listReply } from "./lists.ts";
import type { Resource } from "./resources.ts";
import { checkTokens } from "./input.ts";
import type { CmsContext } from "./context.ts";

/** What the documentation says of a resource. */
interface Documented {
  /** What creating does apart from storing the fields, and what changing does. */
  readonly about: string;
  readonly deleting?: string;
  /** Where a person sees one, with its fields in braces. */
  readonly shownAt?: string;
  /** The schema of an answer. */
  readonly shows: TSchema;
  /** What a new one must have: one field of each group. */
  readonly needs: readonly (readonly string[])[];
  readonly request: unknown;
  readonly change: unknown;
  readonly example: Readonly<Record<string, unknown>>;
  readonly refusal: Readonly<Record<string, readonly string[]>>;
}

const access = { privilege: "cms" } as const;
const ifMatch = "With `If-Match: <etag>`: 412 if it has changed since.";

export function resourceRoutes<Body extends TObject, Row extends KindRow>(
  ctx: CmsContext,
  resource: Resource<Body, Row>,
  told: Documented,
): Route[] {
  const common = commonOf(resource);
  return [...readRoutes(ctx, resource, told, common), ...writeRoutes(ctx, resource, told, common)];
}

/** What all routes for one record share. */
function commonOf<Body extends TObject, Row extends KindRow>(resource: Resource<Body, Row>) {
  const { inSites, kind } = resource;
  const { name, plural, toApi } = kind;
  const path = `/cms/${plural}` as const;
  const a = /^[aeiou]/.test(name) ? `an ${name}` : `a ${name}`;
  return {
    path,
    // Only the parameter's name matters to the types.
    one: `${path}/:id` as "/cms/records/:id",
    a,
    shown: (row: Row): Parameters<typeof ok> => [toApi(row), { etag: etag(row.id, row.version) }],
    refIn(id: string, query: URLSearchParams): Ref {
      const site = inSites ? siteRefOf(query.get("site_code")) : undefined;
      const ref = resource.refOf(decoded(id), site);
      if (!ref) throw notFound();
      return ref;
    },
    addressing: inSites && {
      query: { site_code: `the record's site; needed only if several sites have ${a} of this code` },
    },
    ambiguous: inSites && {
      409: { error: `several sites have the ${name} main: name the site, e.g. ?site_code=acme or ?site_code=shop` },
    },
  };
}

type Common<Row extends KindRow> = ReturnType<typeof commonOf<TObject, Row>>;

function readRoutes<Body extends TObject, Row extends KindRow>(
  ctx: CmsContext,
  { kind }: Resource<Body, Row>,
  told: Documented,
  { path, one, shown, refIn, addressing, ambiguous }: Common<Row>,
): Route[] {
  const { name, plural } = kind;
  const documented = Object.entries(kind.filters).map(([filter, { doc }]) => [filter, doc] as const);
  return [
    route(
      "GET",
      path,
      {
        summary: `List ${plural}`,
        access,
        query: { ...Object.fromEntries(documented), ...pageQuery },
        answers: { 200: answer.list(told.shows) },
        responses: { 200: [told.example] },
      },
      async ({ request, caller, query, log }) =>
        listReply(await list(kind, ctx.sql, caller.account.id, query, pageOf(query)), {
          toApi: kind.toApi,
          log,
          headOnly: request.method === "HEAD",
        }),
    ),
    route(
      "GET",
      one,
      {
        summary: `One ${name}, by id or code`,
        access,
        ...(told.shownAt !== undefined && { shownAt: told.shownAt }),
        ...addressing,
        answers: { 200: told.shows },
        responses: { 200: told.example, 304: null, ...ambiguous },
      },
      async ({ caller, params, query }) => {
        const row = await find(kind, ctx.sql, caller.account.id, refIn(params.id, query));
        if (!row) throw notFound();
        return ok(...shown(row));
      },
    ),
  ];
}

function writeRoutes<Body extends TObject, Row extends KindRow>(
  ctx: CmsContext,
  { kind: { name }, body: schema, writer }: Resource<Body, Row>,
  told: Documented,
  { path, one, a, shown, refIn, addressing, ambiguous }: Common<Row>,
): Route[] {
  return [
    route(
      "POST",
      path,
      {
        summary: `Make ${a}`,
        description: told.about,
        access,
        body: { key: name, schema: field.needs(schema, told.needs) },
        request: told.request,
        answers: { 201: told.shows },
        responses: { 201: told.example, 422: told.refusal },
      },
      async ({ request, caller, host, body }) => {
        refuseTokens(body, request);
        return created(...shown(await runEdit(ctx, authorOf(caller, host), (edit) => writer.create(edit, body))));
      },
    ),
    route(
      "PATCH",
      one,
      {
        summary: `Change ${a}`,
        description: `${ifMatch}${"fields" in schema.properties ? " `fields` replaces the whole object." : ""}`,
        access,
        ifMatch: true,
        body: { key: name, schema },
        request: told.change,
        ...addressing,
        answers: { 200: told.shows },
        responses: { 200: told.example, ...ambiguous },
      },
      async ({ request, caller, host, params, query, body }) => {
        refuseTokens(body, request);
        const ref = refIn(params.id, query);
        const expected = (id: number) => expectedVersion(request, id);
        const row = await runEdit(ctx, authorOf(caller, host), (edit) => writer.update(edit, ref, body, expected));
        return ok(...shown(row));
      },
    ),
    route(
      "DELETE",
      one,
      {
        summary: `Delete ${a}`,
        description: [told.deleting, ifMatch].filter(Boolean).join(" "),
        access,
        ifMatch: true,
        ...addressing,
        responses: { 204: null, ...ambiguous },
      },
      async ({ request, caller, host, params, query }) => {
        const ref = refIn(params.id, query);
        const expected = (id: number) => expectedVersion(request, id);
        await runEdit(ctx, authorOf(caller, host), (edit) => writer.remove(edit, ref, expected));
        return noContent();
      },
    ),
  ];
}

function authorOf({ account, user }: Caller, host: string): Author {
  return { account, userId: user.id, host };
}

function refuseTokens(body: object, { headers }: Request): void {
  const wrong = mistakes();
  checkTokens(wrong, body, credentialOf(headers)?.token);
  wrong.check();
}

/** A domain's name with its port may be percent-encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
