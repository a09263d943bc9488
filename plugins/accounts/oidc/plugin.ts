import { definePlugin, filledIn } from "platform";
import { mail } from "../../mail/api.ts";
import { tokens } from "../../tokens/api.ts";
import { accounts } from "../api.ts";
import { factors } from "../factors/api.ts";
import { passwords } from "../passwords/api.ts";
import { providers } from "../rooms.ts";
import { sessions } from "../sessions/api.ts";
import type { OidcContext } from "./context.ts";
import migration from "./migrations/001_sign_in_providers.sql" with { type: "text" };
import accountKeys from "./migrations/002_account_keys.sql" with { type: "text" };
import signOutThere from "./migrations/003_sign_out.sql" with { type: "text" };
import invitation from "./migrations/004_invitation.sql" with { type: "text" };
import { pageRoutes, signOutRoutes } from "./page-routes.ts";
import { createPeers } from "./peer.ts";
import { Provider } from "./provider.ts";
import { allWords } from "./refusal.ts";
import { providerPartRoutes, providerRoutes } from "./routes.ts";
import { isOfDomain } from "./rules.ts";
import { leaving } from "./sign-out.ts";
import { buttons, pruneAttempts, pruneOrigins } from "./store.ts";

/** Signing in by OpenID Connect, with providers of the account's choice. behaviour B.17. */
export default definePlugin({
  name: "oidc",
  needs: { accounts, factors, mail, passwords, sessions, tokens },
  provides: providers,
  migrations: [
    { name: "001_sign_in_providers", sql: migration },
    { name: "002_account_keys", sql: accountKeys },
    { name: "003_sign_out", sql: signOutThere },
    { name: "004_invitation", sql: invitation },
  ],
  privileges: [
    {
      name: "sign_in_providers",
      doc: "see by which providers people sign in; only administrators change them",
      roles: ["admin"],
    },
  ],
  resources: [Provider],
  activity: {
    // A sign-in shows as its use.
    sign_in_identities: { model: "Account::SignInIdentity", name: "email" },
    sign_in_attempts: false,
    // Sessions are logged themselves.
    sign_in_origins: false,
    sign_in_logouts: false,
  },

  setup(base) {
    const ctx: OidcContext = { ...base, ...base.services, oidc: createPeers(base) };
    const { sql } = ctx;
    return {
      routes: [...pageRoutes(ctx), ...signOutRoutes(ctx), ...providerRoutes(ctx), ...providerPartRoutes(ctx)],
      service: {
        loginLinks: async ({ id }, language, { returnTo, again }) => {
          const query = new URLSearchParams({ return_to: returnTo, ...(again && { again: "1" }) });
          return (await buttons(sql, id)).map(({ code, name, label }) => ({
            href: `/login/with/${code}?${query}`,
            label: label ?? filledIn(allWords[language].by, { provider: name }),
            isButton: true,
          }));
        },
        invitationLinks: async ({ id }, language, email) =>
          (await buttons(sql, id))
            .filter(({ emailDomains }) => emailDomains.length === 0 || isOfDomain(email, emailDomains))
            .map(({ code, name }) => ({
              href: `/login/with/${code}?invitation=1`,
              label: filledIn(allWords[language].accept, { provider: name }),
              isButton: true,
            })),
        leaving: (caller) => leaving(ctx, caller),
      },
      schedules: [
        {
          id: "oidc.prune",
          cron: "7 * * * *",
          run: async () => {
            await Promise.all([pruneAttempts(sql), pruneOrigins(sql)]);
          },
        },
      ],
    };
  },
});
