import { definePlugin } from "platform";
import { loadFiles } from "./files.ts";
import { studioRoutes } from "./routes.ts";

/** The account's user interface: a client of the public API. See the README beside this file. */
export default definePlugin({
  name: "studio",

  async setup() {
    return { routes: studioRoutes(await loadFiles()) };
  },
});
