import { before, definePlugin, on } from "platform";
import { accounts } from "../api.ts";
import { mail } from "../../mail/api.ts";
import { sessions } from "../sessions/api.ts";
import { passwords, type InvitationLinks } from "./api.ts";
import { createEmailChanges } from "./email-changes.ts";
import { emailRoutes } from "./email-routes.ts";
import { createEmailStore } from "./email-store.ts";
import { createInvitations } from "./invitations.ts";
import { createLinks } from "./links.ts";
import migration from "./migrations/001_password_links.sql" with { type: "text" };
import accountKeys from "./migrations/002_account_keys.sql" with { type: "text" };
import emailChangesMigration from "./migrations/003_email_changes.sql" with { type: "text" };
import { forgotRoutes, passwordRoutes, tokenOf } from "./page-routes.ts";
import { createResets, resetAsked } from "./resets.ts";
import { invitationRoutes, resetRoutes } from "./routes.ts";
import { createLinkStore } from "./store.ts";
import { createTakingUp } from "./taking-up.ts";
import { allWords } from "./words.ts";

/** Invitations and new passwords by mail. behaviour B.13. */
export default definePlugin({
  name: "passwords",
  needs: { accounts, mail, sessions },
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

  setup(ctx) {
    const { services } = ctx;
    const linkStore = createLinkStore(ctx.sql);
    const links = createLinks({ ...services, linkStore });
    const invitations = createInvitations({ ctx, ...services, linkStore, links });
    const resets = createResets({ ctx, ...services, linkStore, links });
    const takingUp = createTakingUp({ ...services, linkStore, links });
    const emailStore = createEmailStore(ctx.sql);
    const emailChanges = createEmailChanges({ ctx, ...services, emailStore });
    const ways: InvitationLinks[] = [];
    const pages = { ctx, ...services, links, resets, takingUp, ways };

    services.sessions.addLoginLink(async ({ id }, language) =>
      (await services.mail.isSetUp(id)) ? { href: "/forgot_password", label: allWords[language].forgot } : undefined,
    );
    // However a password is set, links that would set another one end.
    services.accounts.onPasswordChanged(async (userId, _, tx) => {
      await linkStore.deleteAll(tx, userId);
      await emailStore.endOf(tx, userId);
      return async () => {};
    });

    services.accounts.confirmEmailsBy(emailChanges.confirmation);

    const prune = async () => {
      await Promise.all([linkStore.prune(), emailStore.prune()]);
    };
    return {
      routes: [
        ...invitationRoutes(invitations),
        ...resetRoutes({ resets }),
        ...forgotRoutes(pages),
        ...passwordRoutes(pages),
        ...emailRoutes({ ctx, ...services, emailChanges }),
      ],
      service: {
        invitation: ({ account, request, secure }) => takingUp.byToken(account, tokenOf(request, secure)),
        invitationByHash: takingUp.byHash,
        takeUp: takingUp.takeUp,
        addInvitationLinks: (way) => void ways.push(way),
      },
      handlers: [on(resetAsked, resets.send, { concurrency: 2 })],
      hooks: [
        before("Account::User", "update", ({ accountId, id, data }, tx) =>
          linkStore.follow(tx, accountId, Number(id), {
            active: data["active"] === true,
            email: typeof data["email"] === "string" ? data["email"] : null,
          }),
        ),
      ],
      schedules: [{ id: "passwords.prune", cron: "51 * * * *", run: prune }],
    };
  },
});
