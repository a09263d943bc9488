import { definePlugin, on } from "platform";
import { mail } from "../../mail/api.ts";
import { accounts } from "../api.ts";
import * as emailStore from "../people/email-store.ts";
import { providers } from "../rooms.ts";
import { sessions } from "../sessions/api.ts";
import { passwords } from "./api.ts";
import type { PasswordsContext } from "./context.ts";
import { emailRoutes } from "./email-routes.ts";
import { invitationByHash, invitationByToken, resetAsked, sendReset, takeUp } from "./links.ts";
import migration from "./migrations/001_password_links.sql" with { type: "text" };
import accountKeys from "./migrations/002_account_keys.sql" with { type: "text" };
import emailChangesMigration from "./migrations/003_email_changes.sql" with { type: "text" };
import { forgotRoutes, passwordRoutes, tokenOf } from "./page-routes.ts";
import { invitationRoutes, resetRoutes } from "./routes.ts";
import { prune } from "./store.ts";

/** Invitations and new passwords by mail. behaviour B.13. */
export default definePlugin({
  name: "passwords",
  needs: { accounts, mail, sessions },
  later: { providers },
  provides: passwords,
  migrations: [
    { name: "001_password_links", sql: migration },
    { name: "002_account_keys", sql: accountKeys },
    { name: "003_email_changes", sql: emailChangesMigration },
  ],
  activity: {
    password_links: { model: "Account::PasswordLink", name: "email", quiet: ["mail_id"] },
    email_changes: { model: "Account::EmailChange", name: "email" },
  },

  setup(base) {
    const resets = base.limiter("passwords.resets", { limit: 20, windowSeconds: 3600, exact: true });
    const ctx: PasswordsContext = { ...base, ...base.services, resets };
    return {
      routes: [
        ...invitationRoutes(ctx),
        ...resetRoutes(ctx),
        ...forgotRoutes(ctx),
        ...passwordRoutes(ctx),
        ...emailRoutes(ctx),
      ],
      service: {
        invitation: ({ account, request, secure }) => invitationByToken(ctx, account, tokenOf(request, secure)),
        invitationByHash: (account, tokenHash) => invitationByHash(ctx, account, tokenHash),
        takeUp: (account, invited, also) => takeUp(ctx, account, invited, also),
      },
      handlers: [on(resetAsked, (reset) => sendReset(ctx, reset), { concurrency: 2 })],
      schedules: [
        {
          id: "passwords.prune",
          cron: "51 * * * *",
          run: async () => {
            await Promise.all([prune(ctx.sql), emailStore.prune(ctx.sql)]);
          },
        },
      ],
    };
  },
});
