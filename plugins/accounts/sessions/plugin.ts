import { definePlugin } from "platform";
import { accounts } from "../api.ts";
import { factors } from "../factors/api.ts";
import { mail } from "../../mail/api.ts";
import { tokens } from "../../tokens/api.ts";
import { sessions, type Leaving, type LoginLink, type Sessions } from "./api.ts";
import devices from "./migrations/004_devices.sql" with { type: "text" };
import migration from "./migrations/001_sessions.sql" with { type: "text" };
import invitedStep from "./migrations/003_invited_step.sql" with { type: "text" };
import secondStep from "./migrations/002_second_step.sql" with { type: "text" };
import stepOrigin from "./migrations/006_step_origin.sql" with { type: "text" };
import accountKeys from "./migrations/005_account_keys.sql" with { type: "text" };
import { createAlert } from "./alerts.ts";
import { createAdmit } from "./admit.ts";
import { createDeviceStore } from "./device-store.ts";
import { createLeave } from "./leave.ts";
import { loginStyle } from "./page.ts";
import { pageHeaders } from "./page-headers.ts";
import { ownSessionRoutes } from "./own-routes.ts";
import { loginRoutes, logoutRoutes } from "./page-routes.ts";
import { passkeyScript } from "./passkey-page.ts";
import { passkeyRoutes } from "./passkey-routes.ts";
import { alertSettings, sessionSettings } from "./settings.ts";
import { sessionRoutes } from "./routes.ts";
import { createSecondPages, secondPageRoutes } from "./second-page-routes.ts";
import { secondRoutes } from "./second-routes.ts";
import { createSecondStep } from "./second-step.ts";
import { createRefused } from "./refused.ts";
import { createSignIn } from "./sign-in.ts";
import { createStepStore } from "./step-store.ts";
import { createFailureStore } from "./store.ts";

/** Signing in and out, by the API and by a plain page. behaviour B.1. */
export default definePlugin({
  name: "sessions",
  needs: { accounts, tokens, factors, mail },
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

  async setup(ctx) {
    const failureStore = createFailureStore(ctx.sql);
    const styleHash = await hashOf(loginStyle);
    const links: LoginLink[] = [];
    const starts: Parameters<Sessions["onStarted"]>[0][] = [];
    const leavings: Leaving[] = [];
    const leave = createLeave({ ctx, tokens: ctx.services.tokens, leavings });
    const refused = createRefused({ ctx, ...ctx.services });
    const deviceStore = createDeviceStore(ctx.sql);
    const alert = createAlert({ ctx, ...ctx.services, deviceStore });
    const started: Parameters<Sessions["onStarted"]>[0] = async (session, tx) => {
      for (const run of starts) await run(session, tx);
    };
    const signIn = createSignIn({ ...ctx.services, failureStore, alert, refused, started });
    const stepStore = createStepStore(ctx.sql);
    const second = createSecondStep({ ...ctx.services, stepStore, failureStore, refused });
    const pages = createSecondPages({ second, styleHash });
    ctx.services.accounts.onPasswordChanged(async (userId, _by, tx) => {
      await stepStore.endOf(tx, userId);
      return async () => {};
    });
    const prune = async () => {
      await Promise.all([failureStore.prune(), stepStore.prune(), deviceStore.prune()]);
    };
    return {
      routes: [
        ...sessionRoutes({ ...ctx.services, signIn, second, pages, leave }),
        ...secondRoutes({ ...ctx.services, signIn, second }),
        ...ownSessionRoutes(ctx.services),
        ...loginRoutes({ ...ctx.services, signIn, second, pages, styleHash, links }),
        ...secondPageRoutes({ signIn, second, pages }),
        ...passkeyRoutes({ ...ctx.services, ctx, signIn, styleHash, scriptHash: await hashOf(passkeyScript) }),
        ...logoutRoutes({ leave, styleHash }),
      ],
      service: {
        pageHeaders: pageHeaders(styleHash),
        admit: createAdmit({ signIn, second, pages }),
        addLoginLink: (link) => void links.push(link),
        onStarted: (run) => void starts.push(run),
        onLeaving: (leaving) => void leavings.push(leaving),
      },
      schedules: [{ id: "sessions.prune", cron: "41 * * * *", run: prune }],
    };
  },
});

/** As a Content-Security-Policy writes it. */
async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `sha256-${new Uint8Array(digest).toBase64()}`;
}
