import { createTurnsByKey, definePlugin, setting } from "platform";
import { accounts } from "../accounts/api.ts";
import { flows } from "../flows/api.ts";
import { jsonDatabases } from "../jsondb/api.ts";
import { tokens } from "../tokens/api.ts";
import { apps } from "./api.ts";
import type { AppsContext } from "./context.ts";
import { accountSettings } from "./serve/around.ts";
import { actionRoutes } from "./actions/action-routes.ts";
import { appTokenPrefix, verify } from "./serve/token.ts";
import { createCompiler } from "./build/compile.ts";
import { embedRoutes, runtimeRoutes, tokenRoutes } from "./serve/routes.ts";
import migration from "./migrations/001_apps.sql" with { type: "text" };
import withoutRuns from "./migrations/002_runs.sql" with { type: "text" };
import accountKeys from "./migrations/003_account_keys.sql" with { type: "text" };
import buildDefaults from "./migrations/004_build_defaults.sql" with { type: "text" };
import look from "./migrations/005_look.sql" with { type: "text" };
import { pageRoutes } from "./serve/page-routes.ts";
import { previewRoutes, loadPreview } from "./manage/preview-routes.ts";
import appsApi from "./prompts/apps_api.md" with { type: "text" };
import appsHtmlApi from "./prompts/apps_html_api.md" with { type: "text" };
import appsJsApi from "./prompts/apps_js_api.md" with { type: "text" };
import appsKaboomApi from "./prompts/apps_kaboom_api.md" with { type: "text" };
import appsPhaserApi from "./prompts/apps_phaser_api.md" with { type: "text" };
import appsReactApi from "./prompts/apps_react_api.md" with { type: "text" };
import appsSvelteApi from "./prompts/apps_svelte_api.md" with { type: "text" };
import appsVueApi from "./prompts/apps_vue_api.md" with { type: "text" };
import { App, appsService } from "./manage/app.ts";
import { appRoutes } from "./manage/routes.ts";
import { loadRuntimes } from "./build/runtimes.ts";
import { loadMeta, loadPage } from "./serve/served-apps.ts";
import { storageRoutes } from "./actions/storage-routes.ts";
import * as appStore from "./store.ts";

const windowSeconds = 10;

/** Web apps: compiled, sandboxed and served. behaviour 2.3 and 4.3, B.10. */
export default definePlugin({
  name: "apps",
  needs: { accounts, tokens, databases: jsonDatabases, flows },
  provides: apps,
  config: {
    rateLimitActions: setting.integer(
      "RATE_LIMIT_ACTIONS",
      300,
      "Public actions and stored values of apps per client address in 10 s, without sign-in",
      { min: 1, max: 1e9 },
    ),
  },
  accountSettings,
  migrations: [
    { name: "001_apps", sql: migration },
    { name: "002_runs", sql: withoutRuns },
    { name: "003_account_keys", sql: accountKeys },
    { name: "004_build_defaults", sql: buildDefaults },
    { name: "005_look", sql: look },
  ],
  privileges: [{ name: "apps", doc: "create and change web apps", roles: ["manager", "user"] }],
  resources: [App],
  models: [{ name: App.model, privilege: "apps", sample: App.examples.one }],
  prompts: {
    "apps_api.md": appsApi,
    "apps_html_api.md": appsHtmlApi,
    "apps_js_api.md": appsJsApi,
    "apps_kaboom_api.md": appsKaboomApi,
    "apps_phaser_api.md": appsPhaserApi,
    "apps_react_api.md": appsReactApi,
    "apps_svelte_api.md": appsSvelteApi,
    "apps_vue_api.md": appsVueApi,
  },
  children: { compile: () => import("./compiler/main.ts") },
  activity: {
    apps: {
      ...App.activity,
      quiet: ["app_code", "css_code", "toolchain", "failed_build", "app_build_time", "css_build_time"],
    },
    app_versions: false,
    app_previews: false,
    app_runs: false,
  },

  async setup(ctx) {
    const runtimes = await loadRuntimes();
    const limit = ctx.config.rateLimitActions;
    const shared: AppsContext = {
      ...ctx,
      accounts: ctx.services.accounts,
      databases: ctx.services.databases,
      flows: ctx.services.flows,
      runtimes,
      compiler: createCompiler(ctx, runtimes),
      // The builds: at most 400 kB each.
      pages: ctx.cache({ name: "apps.pages", max: 200, load: (key) => loadPage(shared, key) }),
      metas: ctx.cache({ name: "apps.metas", max: 10_000, load: (key) => loadMeta(shared, key) }),
      previews: ctx.cache({ name: "apps.previews", max: 50, load: (key) => loadPreview(shared, key) }),
      saving: createTurnsByKey(),
      limits: {
        runs: ctx.limiter("apps.runs", { limit, windowSeconds }),
        polls: ctx.limiter("apps.polls", { limit: 5 * limit, windowSeconds }),
        stored: ctx.limiter("apps.storage", { limit, windowSeconds }),
      },
    };
    ctx.services.tokens.acceptCredential(appTokenPrefix, (token) => verify(shared, token));
    ctx.services.flows.registerTriggers({
      privilege: "apps",
      kinds: { action: ["app", "action"] },
      list: async (caller, code) => {
        const rows = await appStore.actionsOf(ctx.sql, caller.account.id, code);
        return rows.map(({ id, app, action, active }) => ({
          id: `action-${app}-${action}`,
          kind: "action",
          app,
          action,
          active,
          path: `/core/apps/${id}.json`,
        }));
      },
    });
    return {
      nameables: [
        { model: "Core::App", noun: "app", exists: (accountId, key) => appStore.exists(ctx.sql, accountId, key) },
      ],
      uses: { privilege: "apps", find: (accountId, named, most) => appStore.naming(ctx.sql, accountId, named, most) },
      service: appsService(shared),
      routes: [
        ...appRoutes(shared),
        ...previewRoutes(shared),
        ...actionRoutes(shared),
        ...storageRoutes(shared),
        ...tokenRoutes(shared),
        ...embedRoutes(shared),
        ...pageRoutes(shared),
        ...runtimeRoutes(runtimes),
      ],
      schedules: [{ id: "apps.prune", cron: "41 * * * *", run: () => appStore.prunePreviews(ctx.sql) }],
      stop: shared.compiler.stop,
    };
  },
});
