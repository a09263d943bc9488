import { definePlugin } from "platform";
import { loadFiles } from "./files.ts";
import { extensionsOf } from "./extensions.ts";
import { studioRoutes } from "./routes.ts";
import { searchRoutes } from "./search-routes.ts";

/** The account's user interface: a client of the public API. See the README beside this file. */
export default definePlugin({
  name: "studio",

  async setup(ctx) {
    const files = await loadFiles();
    return { routes: [...studioRoutes(files, extensionsOf(ctx.plugins)), ...searchRoutes(ctx.routes)] };
  },
});
