import { definePlugin, setting } from "platform";
import { accounts } from "../../plugins/accounts/api.ts";
import { jsonDatabases } from "../../plugins/jsondb/api.ts";
import { frameRoutes } from "./frame-routes.ts";
import { changesRoutes, studioRoutes, searchRoutes } from "./routes.ts";
import { createChanges, followedLists } from "./changes.ts";
import { loadFiles } from "./files.ts";
import { extensionsOf } from "./shell.ts";

/** The account's user interface: a client of the public API. See the README beside this file. */
export default definePlugin({
  name: "studio",
  needs: { accounts, databases: jsonDatabases },
  config: {
    kit: setting.flag("STUDIO_KIT", false, "Whether /studio/kit shows the parts of the Studio, for its developers"),
  },

  async setup(ctx) {
    const files = await loadFiles();
    const models = ctx.plugins.flatMap((plugin) => plugin.models);
    let lists: ReadonlyMap<string, string> | undefined;
    // The routes are known once all plugins are set up.
    const paths = () => (lists ??= followedLists(models, ctx.routes()));
    const changes = createChanges(ctx, paths);
    return {
      routes: [
        ...searchRoutes(ctx.routes, ctx.services.databases),
        ...studioRoutes(files, extensionsOf(ctx.plugins), ctx, ctx.config.kit),
        ...frameRoutes({ accounts: ctx.services.accounts, routes: ctx.routes, now: ctx.now }),
        ...changesRoutes(changes, () => [...paths().values()], ctx.routes),
      ],
    };
  },
});
