import { definePlugin } from "platform";
import { accounts } from "../../plugins/accounts/api.ts";
import { cms } from "../../plugins/cms-multilang/api.ts";
import { demoCommand, demoFacts } from "./commands.ts";

/** What `corestead demo` puts into an account, for people who look around. See the README beside this file. */
export default definePlugin({
  name: "demo",
  needs: { accounts, cms },
  commands: [demoFacts],

  setup(ctx) {
    return { commands: [demoCommand({ ...ctx.services, origin: ctx.origin })] };
  },
});
