import { definePlugin } from "platform";
import { accounts } from "../accounts/api.ts";
import { tokens } from "../tokens/api.ts";
import migration from "./migrations/001_sessions.sql" with { type: "text" };
import { loginStyle } from "./page.ts";
import { ownSessionRoutes } from "./own-routes.ts";
import { loginRoutes, logoutRoutes } from "./page-routes.ts";
import { sessionRoutes } from "./routes.ts";
import { createSignIn } from "./sign-in.ts";
import { createFailureStore } from "./store.ts";

/** Signing in and out, by the API and by a plain page. behaviour B.1. */
export default definePlugin({
  name: "sessions",
  needs: { accounts, tokens },
  migrations: [{ name: "001_sessions", sql: migration }],

  async setup(ctx) {
    const failureStore = createFailureStore(ctx.sql);
    const styleHash = await hashOf(loginStyle);
    const signIn = createSignIn({ ...ctx.services, failureStore });
    return {
      routes: [
        ...sessionRoutes({ ...ctx.services, signIn }),
        ...ownSessionRoutes(ctx.services),
        ...loginRoutes({ signIn, styleHash }),
        ...logoutRoutes({ tokens: ctx.services.tokens, styleHash }),
      ],
      schedules: [{ id: "sessions.prune", cron: "41 * * * *", run: failureStore.prune }],
    };
  },
});

/** As a Content-Security-Policy writes it. */
async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `sha256-${new Uint8Array(digest).toBase64()}`;
}
