import { appEngines, cssEngines } from "../choices.ts";
import {
  answer,
  created,
  etag,
  expectedVersion,
  field,
  flagOf,
  misspeltNames,
  pageReply,
  noContent,
  ok,
  pageOf,
  pageQuery,
  route,
  Type,
  usedByRoute,
  warned,
  wildcardPattern,
  type Names,
  type Route,
} from "platform";
import { Replacement } from "../../jsondb/api.ts";
import { App } from "../answers.ts";
import { limits, editable, edited, type GivenAction } from "./patch.ts";

import { databasesOf, toApi, type AppFilter, type AppRow, type Json } from "../store.ts";
import { authorOf, type SeenVersion } from "./write.ts";
import * as appStore from "../store.ts";
import * as appWriter from "./write.ts";
import type { AppsContext } from "../context.ts";

const JsonObject = Type.Unsafe<Json>(Type.Object({}, { additionalProperties: true }));
const ActionInput = Type.Unsafe<GivenAction>(
  Type.Object({
    action: Type.String({
      pattern: "^[A-Za-z][A-Za-z0-9_-]*$",
      maxLength: 100,
      description: "a name: letters, digits, - and _",
    }),
    flow_code: field.code(),
    description: Type.Optional(field.line(2000)),
    public: Type.Optional(field.nullable(field.flag())),
  }),
);
const optional = {
  url_code: Type.Optional(field.line()),
  description: Type.Optional(field.line(10_000)),
  app_engine: Type.Optional(field.nullable(field.oneOf(appEngines))),
  css_engine: Type.Optional(field.nullable(field.oneOf(cssEngines))),
  public: Type.Optional(field.flag()),
  active: Type.Optional(field.flag()),
  db_code: Type.Optional(
    field.nullable(Type.String({ pattern: "^[A-Za-z0-9_-]*$", maxLength: 100, description: "the code of a database" })),
  ),
  show_in_module: Type.Optional(field.line(100)),
  dashboard_widget: Type.Optional(field.nullable(field.flag())),
  prompt: Type.Optional(field.nullable(Type.String())),
  actions: Type.Optional(field.nullable(Type.Array(ActionInput, { maxItems: limits.actions }))),
  fields: Type.Optional(field.nullable(JsonObject)),
  config: Type.Optional(field.nullable(JsonObject)),
  trusted: Type.Optional(field.flag()),
};
// patch.ts checks the lengths of the source and the prompt.
const source_code = Type.String({ minLength: 1, pattern: String.raw`\S`, description: "not blank" });
const AppInput = Type.Object({ name: field.name(), source_code, ...optional });
export const AppChanges = Type.Object({
  name: Type.Optional(field.name()),
  source_code: Type.Optional(source_code),
  ...optional,
});
const Replacing = Type.Object({
  field: field.oneOf(editable),
  ...Replacement.properties,
});

const source = "<script>\n  let count = $state(0);\n</script>\n<button onclick={() => count++}>{count}</button>";
const saved = {
  name: "Counter",
  url_code: "counter",
  description: "Counts clicks",
  app_engine: "svelte",
  css_engine: "tailwind_all",
  source_code: source,
  public: true,
  active: true,
  db_code: "counter",
  show_in_module: "crm",
  dashboard_widget: true,
  prompt: null,
  actions: [{ action: "weather", flow_code: "weather-advice", description: "Advice by the weather", public: true }],
  fields: { dashboard_widget: true },
  config: {},
};
const created_at = "2026-01-31T10:00:00.000Z";
export const appExample = {
  id: "019a9c1e-0000-7000-8000-000000000003",
  ...saved,
  trusted: false,
  app_build_time: 9,
  css_build_time: 14,
  created_by_id: 1,
  updated_by_id: null,
  created_at,
  updated_at: created_at,
};
export const versionExample = { version: 1, created_at, created_by_id: 1, ...saved };
const updatedExample = { ...appExample, name: "Clicks", updated_by_id: 1 };
const { name, url_code, description, app_engine, css_engine, actions, db_code } = saved;
export const requestExample = {
  name,
  url_code,
  description,
  app_engine,
  css_engine,
  source_code: source,
  public: true,
};
const buildFails = { source_code: ["3:14 Unexpected token"] };

const model = "Core::App";
export const access = { privilege: "apps" } as const;
const ifMatch = 'With `If-Match: "<etag>"`: 412 if that version is no longer the latest.';

/** behaviour 4.3; `:id` is the id or the url_code. */
export function appRoutes(ctx: AppsContext): Route[] {
  return [
    route(
      "GET",
      "/core/apps",
      {
        summary: "List apps",
        access,
        query: {
          q: "searches name, url_code and description; `*` and `%` are wildcards",
          app_engine: appEngines.join(", "),
          show_in_module: "exactly this module or view",
          dashboard_widget: Type.Boolean({ description: "`true`: only apps that can be dashboard tiles" }),
          active: Type.Boolean({ description: "true or false" }),
          public: Type.Boolean({ description: "true or false" }),
          ...pageQuery,
        },
        answers: { 200: answer.list(App) },
        responses: { 200: [appExample] },
      },
      async ({ account, query }) => {
        return pageReply(await appStore.listApps(ctx.sql, account.id, filterOf(query), pageOf(query)), toApi);
      },
    ),
    route(
      "POST",
      "/core/apps",
      {
        summary: "Create an app",
        description:
          "The source is compiled at once; a failed build is 422 under `source_code`, with line and column. Without a " +
          "`url_code` one is made from the name. The page is at `/a/<url_code>`. `db_code` requires the privilege `dbs`, " +
          "and `actions` require `flows`.",
        access,
        body: { key: "app", schema: AppInput },
        request: { ...requestExample, db_code, actions },
        answers: { 201: App },
        responses: { 201: appExample, 422: buildFails },
      },
      async ({ caller, body, request }) => {
        const row = await appWriter.create(ctx, authorOf(caller, request), body);
        return warned(created(...shown(row)), await unknownNames(ctx.names, row));
      },
    ),
    route(
      "GET",
      "/core/apps/:id",
      { summary: "One app", access, answers: { 200: App }, responses: { 200: appExample, 304: null } },
      async ({ caller, params }) => ok(...shown(await appWriter.find(ctx, caller.account.id, params.id))),
    ),
    route(
      "PATCH",
      "/core/apps/:id",
      {
        summary: "Change an app",
        description:
          "Changes only the given fields. A failed build changes nothing. `fields` is replaced as a whole, but keeps " +
          `\`dashboard_widget\`. ${ifMatch}`,
        access,
        ifMatch: true,
        body: { key: "app", schema: AppChanges },
        request: { name: "Clicks" },
        answers: { 200: App },
        responses: { 200: updatedExample, 422: buildFails },
      },
      async ({ caller, params, body, request }) => {
        const seen: SeenVersion = (id) => expectedVersion(request, id);
        let before = "";
        const work = ({ urlCode }: AppRow) => {
          before = urlCode;
          return body;
        };
        const row = await appWriter.update(ctx, authorOf(caller, request), params.id, work, seen);
        const lost = row.urlCode === before ? [] : await ctx.names.lost(caller, { model, keys: [before] });
        return warned(ok(...shown(row)), [...lost, ...(await unknownNames(ctx.names, row))]);
      },
    ),
    usedByRoute(ctx.names, { one: "/core/apps/:id", noun: "an app", ...access }, async ({ account }, key) => {
      const { urlCode, id } = await appWriter.find(ctx, account.id, key);
      return { model, keys: [urlCode, id] };
    }),
    route(
      "DELETE",
      "/core/apps/:id",
      {
        summary: "Delete an app with its versions and its visitors' stored values",
        description: ifMatch,
        access,
        ifMatch: true,
        responses: { 204: null },
      },
      async ({ caller, params, request }) => {
        const seen: SeenVersion = (id) => expectedVersion(request, id);
        const { urlCode, id } = await appWriter.remove(ctx, authorOf(caller, request), params.id, seen);
        return warned(noContent(), await ctx.names.lost(caller, { model, keys: [urlCode, id] }));
      },
    ),
    route(
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
        answers: { 200: App },
        responses: { 200: updatedExample, 422: { old_string: ["is not found"] } },
      },
      async ({ caller, params, body, request }) => {
        const work = (row: AppRow) => edited(row, body);
        const seen: SeenVersion = (id) => expectedVersion(request, id);
        const row = await appWriter.update(ctx, authorOf(caller, request), params.id, work, seen);
        return warned(ok(...shown(row)), await unknownNames(ctx.names, row));
      },
    ),
  ];
}

export function shown(row: AppRow): Parameters<typeof ok> {
  return [toApi(row), { etag: etag(row.id, row.version) }];
}

/** The keys of `fields` that mean something here; people keep others beside them. */
const readFields = ["dashboard_widget", "dbs"];

/** Hints about databases and flows that the account does not have, and about keys of `fields` that are nearly known. */
export async function unknownNames(names: Names, row: AppRow): Promise<readonly string[]> {
  const { accountId, dbCode, fields } = row;
  const further = databasesOf({ dbCode: null, fields });
  const unknown = await names.unknown(accountId, [
    ...(dbCode === null ? [] : [{ place: "db_code", model: "Core::Db", key: dbCode }]),
    ...further.map((key) => ({ place: "fields.dbs", model: "Core::Db", key })),
    ...row.actions.map(({ flow_code: key }, at) => ({ place: `actions[${at}].flow_code`, model: "Core::Flow", key })),
  ]);
  return [...unknown, ...misspeltNames(Object.keys(fields), readFields, (key) => `unknown field "${key}" in "fields"`)];
}

function filterOf(query: URLSearchParams): AppFilter {
  const q = query.get("q");
  return {
    q: q ? wildcardPattern(q) : undefined,
    appEngine: query.get("app_engine") || undefined,
    showInModule: query.get("show_in_module") || undefined,
    dashboardWidget: flagOf(query, "dashboard_widget"),
    active: flagOf(query, "active"),
    public: flagOf(query, "public"),
  };
}
