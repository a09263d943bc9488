import {
  answer,
  column,
  expectedVersion,
  field,
  found,
  integerId,
  notFound,
  ok,
  pageOf,
  pageQuery,
  pageReply,
  refOf,
  resourceRoutes,
  route,
  shown,
  toApi,
  Type,
  warned,
} from "platform";
import type { ContextOf, Route } from "platform";
import { Replacement } from "../../jsondb/api.ts";
import { savedFields } from "../fields.ts";
import * as appStore from "../store.ts";
import { App, changeApp, makeApp, ifMatch, unknownNames, type AppAt, type FullRow } from "./app.ts";
import { editable, edited, patchTo } from "./patch.ts";

const access = { privilege: App.privilege } as const;

/** behaviour 4.3; `:id` is the id or the url_code. */
export function appRoutes(ctx: ContextOf<AppAt>): Route[] {
  const usual = resourceRoutes(App, ctx, {
    create: makeApp,
    change: (at, ref, given, expected) => changeApp(at, ref, () => given, expected),
  });
  return [...Object.values(usual), replaceRoute(ctx), listVersionsRoute(ctx), restoreRoute(ctx)];
}

async function changed(at: AppAt, row: FullRow) {
  return warned(ok(...(await shown(App, at, row))), await unknownNames(at.names, row));
}

const Replacing = Type.Object({ field: field.oneOf(editable), ...Replacement.properties });

function replaceRoute(ctx: ContextOf<AppAt>): Route {
  return route(
    "PATCH",
    "/core/apps/:id/replace",
    {
      summary: "Replace text in `source_code`, `prompt` or `fields`",
      description:
        "Replaces the first occurrence, or all of them with `replace_all`. `old` and `new` are other names for `old_string` " +
        "and `new_string`. `fields` is edited as compact JSON, or as JSON indented by two if `old_string` is not found " +
        `there. ${ifMatch}`,
      access,
      ifMatch: true,
      body: { schema: Replacing },
      request: { field: "source_code", old_string: "count++", new_string: "count += 2" },
      answers: { 200: App.answers.one },
      responses: { 200: App.examples.changed, 422: { old_string: ["is not found"] } },
    },
    async ({ caller, params, body, request }) => {
      const at = { ...ctx, caller, request };
      const expected = (id: string) => expectedVersion(request, id);
      const { after } = await changeApp(at, refOf(App, params.id), (row) => edited(row, body), expected);
      return changed(at, after);
    },
  );
}

// Every save creates a version. behaviour B.10.

const savedShown = Object.entries(savedFields).flatMap(([name, { shown: schema }]) =>
  schema ? [[name, schema] as const] : [],
);
const AppVersion = answer.object("AppVersion", {
  version: Type.Integer(),
  created_at: answer.time(),
  created_by_id: field.nullable(Type.Integer()),
  ...Object.fromEntries(savedShown),
});
const versionShows = {
  shows: ["version", "created_at", "created_by_id", ...Object.keys(savedFields)].map(
    (name) => [name, column.camel(name)] as const,
  ),
};
const versionExample = toApi(
  { shows: ["created_at", "created_by_id", ...Object.keys(savedFields)].map((name) => [name, name]) },
  App.examples.one,
);

function listVersionsRoute(ctx: ContextOf<AppAt>): Route {
  return route(
    "GET",
    "/core/apps/:id/versions",
    {
      summary: "List an app's versions, latest first",
      description: `Every save creates one; the latest ${appStore.keptVersions} are kept.`,
      access,
      query: pageQuery,
      answers: { 200: answer.list(AppVersion) },
      responses: { 200: [{ version: 1, ...versionExample }] },
    },
    async ({ caller, params, query }) => {
      const { id } = await found(App, { ...ctx, caller }, refOf(App, params.id));
      const page = await appStore.listVersions(ctx.sql, caller.account.id, id, pageOf(query));
      return pageReply(page, (row: appStore.VersionRow) => toApi(versionShows, row));
    },
  );
}

function restoreRoute(ctx: ContextOf<AppAt>): Route {
  return route(
    "POST",
    "/core/apps/:id/versions/:n/restore",
    {
      summary: "Restore an earlier version",
      description:
        'Saves it as a new version; `trusted` does not change. With `If-Match: "<etag>"`: 412 if that version is no longer the latest.',
      access,
      ifMatch: true,
      answers: { 200: App.answers.one },
      responses: { 200: { ...App.examples.one, updated_by_id: 1 } },
    },
    async ({ caller, params, request }) => {
      const at = { ...ctx, caller, request };
      const version = integerId(params.n);
      if (version > maxVersion) throw notFound();
      const { id } = await found(App, at, refOf(App, params.id));
      const old = await appStore.findVersion(ctx.sql, caller.account.id, id, version);
      if (!old) throw notFound();
      const { after } = await changeApp(
        at,
        { id },
        () => patchTo(old),
        (seen) => expectedVersion(request, seen),
      );
      return changed(at, after);
    },
  );
}

/** The largest value of the column. */
const maxVersion = 2 ** 31 - 1;
