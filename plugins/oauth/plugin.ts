import { definePlugin } from "platform";
import { sessions } from "../accounts/sessions/api.ts";
import { tokens } from "../tokens/api.ts";
import type { OAuthContext } from "./client.ts";
import migration from "./migrations/001_oauth.sql" with { type: "text" };
import { pageRoutes } from "./page-routes.ts";
import { metadataRoutes, oauthRoutes } from "./routes.ts";
import { pruneClients, unusedGrants } from "./store.ts";

/** Apps and agents for which people sign in. behaviour B.20. */
export default definePlugin({
  name: "oauth",
  needs: { sessions, tokens },
  migrations: [{ name: "001_oauth", sql: migration }],
  // What is given is a token, which is logged itself.
  activity: { oauth_clients: false, oauth_grants: false },

  setup(base) {
    const limits = {
      making: base.limiter("oauth.making", { limit: 60, windowSeconds: 3600 }),
      asking: base.limiter("oauth.tokens", { limit: 600, windowSeconds: 60 }),
    };
    const ctx: OAuthContext = { ...base, ...base.services, limits };
    const prune = async () => {
      for (const { accountId, tokenId } of await unusedGrants(ctx.sql))
        await ctx.tokens.endSessions(accountId, async () => [tokenId]);
      await pruneClients(ctx.sql);
    };
    return {
      routes: [...metadataRoutes(ctx), ...oauthRoutes(ctx), ...pageRoutes(ctx)],
      schedules: [{ id: "oauth.prune", cron: "*/10 * * * *", run: prune }],
    };
  },
});
