import { definePlugin } from "platform";
import { jsonDatabases } from "../../plugins/jsondb/api.ts";
import { changesRoutes, studioRoutes, searchRoutes } from "./routes.ts";
import { createChanges, followedLists } from "./changes.ts";
import { loadFiles } from "./files.ts";
import { extensionsOf } from "./shell.ts";

/** The account's user interface: a client of the public API. See the README beside this file. */
export default definePlugin({
  name: "studio",
  needs: { databases: jsonDatabases },

  async setup(ctx) {
    const files = await loadFiles();
    const models = ctx.plugins.flatMap((plugin) => plugin.models);
    let lists: ReadonlyMap<string, string> | undefined;
    // The routes are known once all plugins are set up.
    const paths = () => (lists ??= followedLists(models, ctx.routes()));
    const changes = createChanges(ctx, paths);
    return {
      routes: [
        ...studioRoutes(files, extensionsOf(ctx.plugins), ctx),
        ...searchRoutes(ctx.routes, ctx.services.databases),
        ...changesRoutes(changes, () => [...paths().values()], ctx.routes),
      ],
    };
  },
});
