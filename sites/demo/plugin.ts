import { definePlugin } from "platform";
import { accounts } from "../../plugins/accounts/api.ts";
import { apps } from "../../plugins/apps/api.ts";
import { cms } from "../../plugins/cms-multilang/api.ts";
import { connectors } from "../../plugins/connectors/api.ts";
import { flows } from "../../plugins/flows/api.ts";
import { jsonDatabases } from "../../plugins/jsondb/api.ts";
import { media } from "../../plugins/media/api.ts";
import { demoCommand, demoFacts } from "./commands.ts";

/** What `corestead demo` puts into an account, for people who look around. See the README beside this file. */
export default definePlugin({
  name: "demo",
  needs: { accounts, apps, cms, connectors, databases: jsonDatabases, flows, media },
  commands: [demoFacts],

  setup(ctx) {
    return { commands: [demoCommand({ ...ctx.services, transaction: ctx.transaction })] };
  },
});
