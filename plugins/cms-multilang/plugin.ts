import { definePlugin } from "platform";
import { accounts } from "../accounts/api.ts";
import { cms } from "./api.ts";
import { createRunChange } from "./change.ts";
import { articleExample, pageExample } from "./examples.ts";
import migration from "./migrations/001_cms.sql" with { type: "text" };
import cmsApi from "./prompts/cms_api.md" with { type: "text" };
import { siteCommandFacts, siteCommands } from "./files/commands.ts";
import { createPush, pushFiles } from "./files/push.ts";
import { createSiteRendering } from "./render/rendering.ts";
import { createResources } from "./resources.ts";
import { cmsRoutes } from "./routes.ts";
import { createCms } from "./service.ts";
import { createSiteStore } from "./site-store.ts";

/** Sites in several languages over several domains. SPEC 2.7, 4.6 and A, CONTRACT 11. */
export default definePlugin({
  name: "cms-multilang",
  needs: { accounts },
  provides: cms,
  migrations: [{ name: "001_cms", sql: migration }],
  privileges: [{ name: "cms", doc: "build sites: pages, layouts, articles and domains", roles: ["manager"] }],
  models: [
    { name: "Cms::Page", sample: pageExample },
    { name: "Cms::Article", sample: articleExample },
  ],
  commands: siteCommandFacts,
  prompts: { "cms_api.md": cmsApi },

  async setup(ctx) {
    const { sql } = ctx;
    const { sites, door, routes } = await createSiteRendering({ ctx, accounts: ctx.services.accounts });
    const resources = createResources({ ctx, accounts: ctx.services.accounts });
    const run = createRunChange({ ctx, store: createSiteStore(sql), sites });
    const push = createPush({ run, resources });
    return {
      routes: [...cmsRoutes({ sql, run, resources }), ...routes],
      door,
      commands: siteCommands({ ctx, accounts: ctx.services.accounts, resources, push }),
      service: { ...createCms({ sql, run, resources }), pushFiles: pushFiles(push) },
    };
  },
});
