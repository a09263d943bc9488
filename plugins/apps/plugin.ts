import { definePlugin, setting } from "platform";
import { accounts } from "../accounts/api.ts";
import { flows } from "../flows/api.ts";
import { jsonDatabases } from "../jsondb/api.ts";
import { tokens } from "../tokens/api.ts";
import { createAppActions } from "./actions/act.ts";
import { apps } from "./api.ts";
import { accountSettings } from "./serve/app-origins.ts";
import { actionRoutes } from "./actions/action-routes.ts";
import { appTokenPrefix, createAppTokens } from "./serve/app-token.ts";
import { createBuildStore } from "./build/build-store.ts";
import { createBuilds } from "./build/builds.ts";
import { createCompiler } from "./build/compile.ts";
import { createEmbedStore } from "./serve/embed-store.ts";
import { embedRoutes } from "./serve/embed-routes.ts";
import migration from "./migrations/001_apps.sql" with { type: "text" };
import withoutRuns from "./migrations/002_runs.sql" with { type: "text" };
import accountKeys from "./migrations/003_account_keys.sql" with { type: "text" };
import { pageRoutes } from "./serve/page-routes.ts";
import { previewRoutes } from "./manage/preview-routes.ts";
import { createPreviewStore } from "./manage/preview-store.ts";
import { createPageTokens } from "./serve/page-tokens.ts";
import { createPreviews } from "./manage/preview.ts";
import appsApi from "./prompts/apps_api.md" with { type: "text" };
import appsHtmlApi from "./prompts/apps_html_api.md" with { type: "text" };
import appsJsApi from "./prompts/apps_js_api.md" with { type: "text" };
import appsKaboomApi from "./prompts/apps_kaboom_api.md" with { type: "text" };
import appsPhaserApi from "./prompts/apps_phaser_api.md" with { type: "text" };
import appsReactApi from "./prompts/apps_react_api.md" with { type: "text" };
import appsSvelteApi from "./prompts/apps_svelte_api.md" with { type: "text" };
import appsVueApi from "./prompts/apps_vue_api.md" with { type: "text" };
import { appExample, appRoutes } from "./manage/routes.ts";
import { runtimeRoutes } from "./serve/runtime-routes.ts";
import { loadRuntimes } from "./build/runtimes.ts";
import { createService } from "./manage/service.ts";
import { createServedApps } from "./serve/served-apps.ts";
import { storageRoutes } from "./actions/storage-routes.ts";
import { createStorageStore } from "./actions/storage-store.ts";
import { createAppStore } from "./store.ts";
import { tokenRoutes } from "./serve/token-routes.ts";
import { versionRoutes } from "./manage/version-routes.ts";
import { createVersionStore } from "./manage/version-store.ts";
import { createAppWriter } from "./manage/write.ts";

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
  ],
  privileges: [{ name: "apps", doc: "create and change web apps", roles: ["manager", "user"] }],
  models: [{ name: "Core::App", privilege: "apps", sample: appExample }],
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
      model: "Core::App",
      quiet: ["app_code", "css_code", "toolchain", "failed_build", "app_build_time", "css_build_time"],
    },
    app_versions: false,
    app_previews: false,
    app_runs: false,
  },

  async setup(ctx) {
    const { accounts: people, databases, flows: running } = ctx.services;
    const runtimes = await loadRuntimes();
    const compiler = createCompiler(ctx, runtimes);
    const appStore = createAppStore(ctx.sql);
    const previewStore = createPreviewStore(ctx.sql);
    const buildStore = createBuildStore(ctx.sql);
    const versionStore = createVersionStore(ctx.sql);
    const builds = createBuilds({ log: ctx.log, appStore, buildStore, compiler });
    const servedApps = createServedApps({ ctx, buildStore, builds });
    const pageTokens = createPageTokens({ tokens: createAppTokens(ctx.secrets), servedApps });
    const appWriter = createAppWriter({ ctx, appStore, versionStore, builds, forget: servedApps.forget });
    const previews = createPreviews({ ctx, appStore, previewStore, builds });
    const appActions = createAppActions({ flows: running });
    ctx.services.tokens.acceptCredential(appTokenPrefix, pageTokens.verify);

    const limit = ctx.config.rateLimitActions;
    const limits = {
      runs: ctx.limiter("apps.runs", { limit, windowSeconds }),
      polls: ctx.limiter("apps.polls", { limit: 5 * limit, windowSeconds }),
    };
    const stored = ctx.limiter("apps.storage", { limit, windowSeconds });
    return {
      nameables: [{ model: "Core::App", noun: "app", exists: appStore.exists }],
      uses: { privilege: "apps", find: appStore.naming },
      service: createService({ appStore, appWriter }),
      routes: [
        ...appRoutes({ names: ctx.names, appStore, appWriter }),
        ...versionRoutes({ names: ctx.names, versionStore, appWriter }),
        ...previewRoutes(previews),
        ...actionRoutes({ servedApps, appActions, databases, limits }),
        ...storageRoutes({ ctx, servedApps, storageStore: createStorageStore(ctx.sql), databases, limit: stored }),
        ...tokenRoutes({ servedApps, pageTokens }),
        ...embedRoutes(createEmbedStore(ctx.sql)),
        ...pageRoutes({ runtimes, servedApps, pageTokens, findPreview: previews.find, accounts: people, databases }),
        ...runtimeRoutes(runtimes),
      ],
      schedules: [{ id: "apps.prune", cron: "41 * * * *", run: () => previewStore.prune() }],
      stop: compiler.stop,
    };
  },
});
