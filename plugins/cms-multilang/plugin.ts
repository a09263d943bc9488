import { definePlugin } from "platform";
import { jsonDatabases } from "../jsondb/api.ts";
import { media } from "../media/api.ts";
import { accounts } from "../accounts/api.ts";
import { cms } from "./api.ts";
import type { CmsContext } from "./context.ts";
import { careRoutes } from "./care/routes.ts";
import { cmsRoutes } from "./routes.ts";
import { domainApprove, domainCommands, keepHosts } from "./sites/domain.ts";
import { kinds } from "./resources.ts";
import { fileUses, uses } from "./file-use-store.ts";
import migration from "./migrations/001_cms.sql" with { type: "text" };
import domainStatus from "./migrations/002_domain_status.sql" with { type: "text" };
import previews from "./migrations/003_previews.sql" with { type: "text" };
import redirectRules from "./migrations/004_redirect_rules.sql" with { type: "text" };
import fieldTimes from "./migrations/005_field_times.sql" with { type: "text" };
import accountKeys from "./migrations/006_account_keys.sql" with { type: "text" };
import look from "./migrations/007_look.sql" with { type: "text" };
import cmsApi from "./prompts/cms_api.md" with { type: "text" };
import { siteCommandFacts, siteCommands } from "./files/commands.ts";
import { migrateRoutes } from "./files/migrate-routes.ts";
import { createSiteEngine } from "./render/templates/engine.ts";
import { hosts as hostsOfSites, siteIds, prunePreviews } from "./render/store.ts";
import { createSiteCache } from "./render/door/cache.ts";
import { createDoor, warnOfOwnHost } from "./render/door/door.ts";
import { draftRoutes, previewRoutes } from "./render/routes.ts";
import { bare, cmsService } from "./service.ts";

/** Sites in several languages over several domains. behaviour 2.7, 4.6 and A, B.11. */
export default definePlugin({
  name: "cms-multilang",
  needs: { accounts, jsonDatabases, media },
  provides: cms,
  migrations: [
    { name: "001_cms", sql: migration },
    { name: "002_domain_status", sql: domainStatus },
    { name: "003_previews", sql: previews },
    { name: "004_redirect_rules", sql: redirectRules },
    { name: "005_field_times", sql: fieldTimes },
    { name: "006_account_keys", sql: accountKeys },
    { name: "007_look", sql: look },
  ],
  privileges: [{ name: "cms", doc: "build sites: pages, layouts, articles and domains", roles: ["manager"] }],
  models: [
    { name: "Cms::Page", privilege: "cms", sample: kinds.page.examples.one },
    { name: "Cms::Article", privilege: "cms", sample: kinds.article.examples.one },
  ],
  resources: Object.values(kinds),
  commands: [...siteCommandFacts, domainApprove],
  prompts: { "cms_api.md": cmsApi },
  activity: {
    cms_domains: { ...kinds.domain.activity, secrets: ["proof"] },
    cms_article_categories: { model: "Cms::ArticleCategory" },
    cms_redirects: false,
    cms_previews: false,
  },
  checks: async ({ sql, hosts }) => {
    const rows = await hostsOfSites({ sql });
    return hosts(
      "domains of sites",
      rows.map(({ name }) => bare(name)),
    );
  },

  setup(ctx) {
    const { sql, services } = ctx;
    const sites = createSiteCache(ctx, (id) => services.accounts.accountById(id));
    const { accounts: people, media: pictures, jsonDatabases: databases } = services;
    const shared: CmsContext = {
      ...ctx,
      accounts: people,
      databases,
      media: pictures,
      engine: createSiteEngine(),
      sites,
    };
    pictures.addUses(fileUses(sql));
    pictures.onChanged(async (accountId) => {
      const ids = await siteIds(shared, accountId);
      await Promise.all(ids.map((id) => sites.invalidate(accountId, id)));
    });
    keepHosts(people);
    return {
      uses: uses(sql),
      routes: [
        ...cmsRoutes(shared),
        ...careRoutes(shared),
        ...migrateRoutes(shared),
        ...previewRoutes(shared),
        ...draftRoutes(shared),
      ],
      door: createDoor(shared),
      schedules: [{ id: "cms.prune", cron: "43 * * * *", run: () => prunePreviews(sql) }],
      prepare: sites.load,
      begin: () => warnOfOwnHost(shared),
      commands: [...siteCommands(shared), ...domainCommands(shared)],
      service: cmsService(shared),
    };
  },
});
