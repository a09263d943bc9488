import * as embedStore from "./embed-store.ts";
import * as pageTokens from "./token.ts";
import {
  answer,
  pageQuery,
  invalid,
  list,
  pageReply,
  notFound,
  pageOf,
  route,
  credentialOf,
  ok,
  secret,
  unauthorized,
  webFile,
} from "platform";
import type { Static, Account, Page, Route } from "platform";
import { EmbeddedApp, ModuleApps, AppToken } from "../answers.ts";
import type { AppsContext } from "../context.ts";
import type { EmbeddedRow } from "./embed-store.ts";
import { isModule, isView, modules } from "../choices.ts";
import { appFor } from "./served-apps.ts";
import type { AppRuntimes } from "../build/runtimes.ts";

const access = { signedIn: "every signed-in person may see every app in the account" } as const;
const example = {
  id: "019a9c1e-0000-7000-8000-000000000003",
  name: "Counter",
  url_code: "counter",
  url: "/a/counter?embed=1&module=crm",
  description: "Counts clicks",
  app_engine: "svelte",
  public: false,
  show_in_module: "crm",
  db_code: null,
  home_width: null,
};

/** Lists the apps to embed in modules and views. behaviour 2.3, `show_in_module`. */
export function embedRoutes({ sql }: AppsContext): Route[] {
  const appsIn = async (account: Account, place: string, asked: Page) => {
    return pageReply(await embedStore.shownIn(sql, account.id, place, asked), toApi);
  };
  return [
    route(
      "GET",
      "/core/modules",
      {
        summary: "The modules that have apps, with these",
        description: `Modules: ${modules.join(", ")}.`,
        access,
        query: pageQuery,
        answers: { 200: answer.list(ModuleApps) },
        responses: { 200: [{ name: "crm", apps: [example] }] },
      },
      async ({ account, query }) => {
        const { limit, offset } = pageOf(query);
        const { rows } = await embedStore.inModules(sql, account.id, modules);
        const byModule = Map.groupBy(rows, (row) => row.showInModule);
        const shown = modules
          .map((name) => ({ name, apps: byModule.get(name)?.map(toApi) ?? [] }))
          .filter(({ apps }) => apps.length > 0);
        return list(shown.slice(offset, offset + limit), shown.length);
      },
    ),
    route(
      "GET",
      "/core/tiles",
      {
        summary: "The apps that may be tiles of a dashboard",
        description:
          "Those with `dashboard_widget`. One with `home_width` is on everybody's dashboard, in so many columns, until they hide it.",
        access,
        query: pageQuery,
        answers: { 200: answer.list(EmbeddedApp) },
        responses: { 200: [{ ...example, url: "/a/counter?embed=1", show_in_module: null }] },
      },
      async ({ account, query }) => {
        return pageReply(await embedStore.tiles(sql, account.id, pageOf(query)), (row) =>
          toApi({ ...row, showInModule: null }),
        );
      },
    ),
    route(
      "GET",
      "/core/modules/:module/apps",
      {
        summary: "The apps in a module's menu",
        description: `Modules: ${modules.join(", ")}. Besides \`embed\` and \`module\` the address takes \`record_id\`.`,
        access,
        query: pageQuery,
        answers: { 200: answer.list(EmbeddedApp) },
        responses: { 200: [example], 404: { error: "there is no such module" } },
      },
      async ({ account, params, query }) => {
        if (!isModule(params.module)) throw notFound("there is no such module");
        return appsIn(account, params.module, pageOf(query));
      },
    ),
    route(
      "GET",
      "/core/views",
      {
        summary: "The apps embedded in a view",
        access,
        query: { path: "the view, e.g. tasks/show", ...pageQuery },
        asks: { path: "tasks/show" },
        answers: { 200: answer.list(EmbeddedApp) },
        responses: { 200: [{ ...example, url: "/a/counter?embed=1&view=tasks%2Fshow", show_in_module: "tasks/show" }] },
      },
      async ({ account, query }) => {
        const path = query.get("path")?.replace(/^\//, "") ?? "";
        if (!isView(path)) throw invalid({ path: ["must be a view like tasks/show"] });
        return appsIn(account, path, pageOf(query));
      },
    ),
  ];
}

function toApi(row: EmbeddedRow): Static<typeof EmbeddedApp> {
  const { showInModule: place } = row;
  const where = new URLSearchParams({
    embed: "1",
    ...(place !== null && { [isModule(place) ? "module" : "view"]: place }),
  });
  return {
    id: row.id,
    name: row.name,
    url_code: row.urlCode,
    url: `/a/${row.urlCode}?${where}`,
    description: row.description,
    app_engine: row.appEngine,
    public: row.public,
    show_in_module: place,
    db_code: row.dbCode,
    home_width: row.homeWidth === 1 || row.homeWidth === 2 ? row.homeWidth : null,
  };
}

/** behaviour B.10: keeps the token of an open page valid. */
export function tokenRoutes(ctx: AppsContext): Route[] {
  return [
    route(
      "POST",
      "/core/apps/:id/token",
      {
        summary: "Renew the token of an app's page",
        description:
          "Send the current, valid token. The new one lasts an hour. Renewal is possible while the viewer's session lives, without one while the app is public.",
        access: { open: "the token itself is the credential", partly: true },
        apps: "its own renewal",
        onSites: true,
        answers: { 200: AppToken },
        responses: {
          200: { token: "capp_…", expires_in: 3600, expires_at: "2026-01-31T11:00:00.000Z" },
          401: { error: "send the token of the app's page" },
        },
      },
      async (input) => {
        const app = await appFor(ctx, input, input.params.id);
        const isOwn = input.app?.appId === app.id;
        const renewed = isOwn && pageTokens.renew(ctx, credentialOf(input.request.headers)?.token ?? "");
        if (!renewed) throw unauthorized("send the token of the app's page");
        const { token, expiresAt } = renewed;
        const expires_in = Math.max(0, Math.floor((expiresAt.getTime() - Date.now()) / 1000));
        return secret(ok({ token, expires_in, expires_at: expiresAt }, { "cache-control": "no-store" }));
      },
    ),
  ];
}

// Serves the browser runtimes: immutable, compressed once at build time.

export function runtimeRoutes(runtimes: AppRuntimes): Route[] {
  return [
    route(
      "GET",
      "/_rt/:hash/:name",
      {
        summary: "A file that apps import in the browser",
        access: { open: "the same public libraries for every app" },
        onSites: true,
        answers: { 200: answer.text("text/javascript") },
        responses: { 200: "export …", 304: null, 404: { error: "not found" } },
      },
      async ({ request, params: { hash, name } }) => {
        const read = (suffix: string) => runtimes.read(name, suffix);
        const file = { version: runtimes.hash, type: "text/javascript; charset=utf-8", read };
        if (hash === runtimes.hash) return webFile(request, { ...file, headers: shared });
        // A page of another release, which serves beside this one during an upgrade, or which stayed open.
        if (!hashPattern.test(hash)) throw notFound();
        return webFile(request, { ...file, headers: { ...shared, "cache-control": "no-store" } });
      },
    ),
  ];
}

const hashPattern = /^[\da-f]{16}$/;

const shared = {
  // An app's page has an opaque origin.
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
};
