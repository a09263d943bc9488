import { createTurnsByKey, definePlugin } from "platform";
import { mail } from "../../mail/api.ts";
import { tokens } from "../../tokens/api.ts";
import { accounts } from "../api.ts";
import { factors } from "../factors/api.ts";
import { providers } from "../rooms.ts";
import { sessions } from "./api.ts";
import { pageHeaders, hashOf } from "./browser.ts";
import { alertSettings, sessionSettings, type SessionsContext } from "./context.ts";
import migration from "./migrations/001_sessions.sql" with { type: "text" };
import secondStep from "./migrations/002_second_step.sql" with { type: "text" };
import invitedStep from "./migrations/003_invited_step.sql" with { type: "text" };
import devices from "./migrations/004_devices.sql" with { type: "text" };
import accountKeys from "./migrations/005_account_keys.sql" with { type: "text" };
import stepOrigin from "./migrations/006_step_origin.sql" with { type: "text" };
import { ownSessionRoutes } from "./own-routes.ts";
import loginStyle from "./page.css" with { type: "text" };
import { loginRoutes, logoutRoutes } from "./page-routes.ts";
import { passkeyRoutes } from "./passkey-routes.ts";
import { secondRoutes, sessionRoutes } from "./routes.ts";
import { passkeyScript } from "./second-page.ts";
import { admit, secondPageRoutes } from "./second-page-routes.ts";
import { pruneDevices, pruneFailures, pruneSteps } from "./store.ts";

/** Signing in and out, by the API and by a plain page. behaviour B.1. */
export default definePlugin({
  name: "sessions",
  needs: { accounts, tokens, factors, mail },
  later: { providers },
  provides: sessions,
  accountSettings: { ...sessionSettings, ...alertSettings },
  migrations: [
    { name: "001_sessions", sql: migration },
    { name: "002_second_step", sql: secondStep },
    { name: "003_invited_step", sql: invitedStep },
    { name: "004_devices", sql: devices },
    { name: "005_account_keys", sql: accountKeys },
    { name: "006_step_origin", sql: stepOrigin },
  ],
  activity: { sign_in_failures: false, sign_in_steps: false, sign_in_devices: false },

  async setup(base) {
    const styleHash = await hashOf(loginStyle);
    const ctx: SessionsContext = { ...base, ...base.services, turns: createTurnsByKey(), styleHash };
    const prune = async () => {
      await Promise.all([pruneFailures(ctx.sql), pruneSteps(ctx.sql), pruneDevices(ctx.sql)]);
    };
    return {
      routes: [
        ...sessionRoutes(ctx),
        ...secondRoutes(ctx),
        ...ownSessionRoutes(ctx),
        ...loginRoutes(ctx),
        ...secondPageRoutes(ctx),
        ...passkeyRoutes(ctx, await hashOf(passkeyScript)),
        ...logoutRoutes(ctx),
      ],
      service: {
        pageHeaders: pageHeaders(styleHash),
        admit: (input, proven) => admit(ctx, input, proven),
      },
      schedules: [{ id: "sessions.prune", cron: "41 * * * *", run: prune }],
    };
  },
});
