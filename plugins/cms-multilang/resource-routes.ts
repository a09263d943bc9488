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
} from "platform";
import type { Caller, Route } from "platform";
import { runEdit, type Author } from "./edit.ts";
import { siteRefOf, type Ref } from "./code.ts";
import { remove, update, type Kind } from "./kind.ts";
import { find, list } from "./kind-store.ts";
import { listReply } from "./lists.ts";
import { checkTokens } from "./input.ts";
import type { CmsContext } from "./context.ts";

const access = { privilege: "cms" } as const;
const ifMatch = "With `If-Match: <etag>`: 412 if it has changed since.";

export function kindRoutes<Row extends Versioned, New, Patch>(ctx: CmsContext, kind: Kind<Row, New, Patch>): Route[] {
  const common = commonOf(kind);
  return [...readRoutes(ctx, kind, common), ...writeRoutes(ctx, kind, common)];
}

interface Versioned {
  readonly id: number;
  readonly version: number;
}

/** What all routes for one record share. */
function commonOf<Row extends Versioned, New, Patch>(kind: Kind<Row, New, Patch>) {
  const { name, inSites, path, toApi } = kind;
  const a = /^[aeiou]/.test(name) ? `an ${name}` : `a ${name}`;
  return {
    // Only the parameter's name matters to the types.
    one: `${path}/:id` as "/cms/records/:id",
    a,
    shown: (row: Row): Parameters<typeof ok> => [toApi(row), { etag: etag(row.id, row.version) }],
    refIn(id: string, query: URLSearchParams): Ref {
      const site = inSites ? siteRefOf(query.get("site_code")) : undefined;
      const ref = kind.refOf(decoded(id), site);
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

type Common<Row extends Versioned> = ReturnType<typeof commonOf<Row, never, never>>;

function readRoutes<Row extends Versioned, New, Patch>(
  ctx: CmsContext,
  kind: Kind<Row, New, Patch>,
  { one, shown, refIn, addressing, ambiguous }: Common<Row>,
): Route[] {
  const { name, plural, path, filters, shownAt, answer: schema, examples } = kind;
  const documented = Object.entries(filters).map(([filter, { doc }]) => [filter, doc] as const);
  return [
    route(
      "GET",
      path,
      {
        summary: `List ${plural}`,
        access,
        query: { ...Object.fromEntries(documented), ...pageQuery },
        answers: { 200: answer.list(schema) },
        responses: { 200: [examples.one] },
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
        ...(shownAt !== undefined && { shownAt }),
        ...addressing,
        answers: { 200: schema },
        responses: { 200: examples.one, 304: null, ...ambiguous },
      },
      async ({ caller, params, query }) => {
        const row = await find(kind, ctx.sql, caller.account.id, refIn(params.id, query));
        if (!row) throw notFound();
        return ok(...shown(row));
      },
    ),
  ];
}

function writeRoutes<Row extends Versioned, New, Patch>(
  ctx: CmsContext,
  kind: Kind<Row, New, Patch>,
  { one, a, shown, refIn, addressing, ambiguous }: Common<Row>,
): Route[] {
  const { name, path, bodies, needs, docs = {}, answer: schema, examples } = kind;
  return [
    route(
      "POST",
      path,
      {
        summary: `Make ${a}`,
        ...(docs.create?.description !== undefined && { description: docs.create.description }),
        access,
        body: { key: name, schema: field.needs(bodies.create, needs) },
        request: examples.request,
        answers: { 201: schema },
        responses: { 201: examples.one, ...docs.create?.refusals },
      },
      async ({ request, caller, host, body }) => {
        refuseTokens(body, request);
        return created(...shown(await runEdit(ctx, authorOf(caller, host), (edit) => kind.create(edit, body))));
      },
    ),
    route(
      "PATCH",
      one,
      {
        summary: `Change ${a}`,
        description: `${ifMatch}${"fields" in bodies.change.properties ? " `fields` replaces the whole object." : ""}`,
        access,
        ifMatch: true,
        body: { key: name, schema: bodies.change },
        request: kind.changes,
        ...addressing,
        answers: { 200: schema },
        responses: { 200: examples.one, ...ambiguous },
      },
      async ({ request, caller, host, params, query, body }) => {
        refuseTokens(body, request);
        const ref = refIn(params.id, query);
        const expected = (id: number) => expectedVersion(request, id);
        return ok(
          ...shown(await runEdit(ctx, authorOf(caller, host), (edit) => update(edit, kind, ref, body, expected))),
        );
      },
    ),
    route(
      "DELETE",
      one,
      {
        summary: `Delete ${a}`,
        description: [docs.delete?.description, ifMatch].filter(Boolean).join(" "),
        access,
        ifMatch: true,
        ...addressing,
        responses: { 204: null, ...ambiguous },
      },
      async ({ request, caller, host, params, query }) => {
        const ref = refIn(params.id, query);
        const expected = (id: number) => expectedVersion(request, id);
        await runEdit(ctx, authorOf(caller, host), (edit) => remove(edit, kind, ref, expected));
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
