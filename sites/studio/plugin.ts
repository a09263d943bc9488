import { definePlugin } from "platform";
import { loadFiles } from "./files.ts";
import { extensionsOf } from "./extensions.ts";
import { studioRoutes } from "./routes.ts";

/** The account's user interface: a client of the public API. See the README beside this file. */
export default definePlugin({
  name: "studio",

  async setup(ctx) {
    return { routes: studioRoutes(await loadFiles(), extensionsOf(ctx.plugins)) };
  },
});
