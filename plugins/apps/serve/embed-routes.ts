import {
  answer,
  pageQuery,
  type Static,
  invalid,
  list,
  pageReply,
  notFound,
  pageOf,
  route,
  type Account,
  type Page,
  type Route,
} from "platform";
import { EmbeddedApp, ModuleApps } from "../answers.ts";
import type { AppsContext } from "../context.ts";
import * as embedStore from "./embed-store.ts";
import type { EmbeddedRow } from "./embed-store.ts";
import { isModule, isView, modules } from "../places.ts";

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
        description: "Those with `dashboard_widget`.",
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
  };
}
