import { definePlugin } from "platform";
import { accounts } from "../accounts/api.ts";
import { sessions } from "../sessions/api.ts";
import { createAdmission } from "./admission.ts";
import { createAttemptStore } from "./attempt-store.ts";
import { createIdentityStore } from "./identity-store.ts";
import migration from "./migrations/001_sign_in_providers.sql" with { type: "text" };
import accountKeys from "./migrations/002_account_keys.sql" with { type: "text" };
import { pageRoutes } from "./page-routes.ts";
import { createPeers } from "./peer.ts";
import { createProviders } from "./providers.ts";
import { createProviderStore } from "./provider-store.ts";
import { providerPartRoutes, providerRoutes } from "./routes.ts";
import { createProviderSignIn } from "./sign-in.ts";
import { allWords } from "./words.ts";

/** Signing in by OpenID Connect, with providers of the account's choice. behaviour B.17. */
export default definePlugin({
  name: "oidc",
  needs: { accounts, sessions },
  migrations: [
    { name: "001_sign_in_providers", sql: migration },
    { name: "002_account_keys", sql: accountKeys },
  ],
  privileges: [
    {
      name: "sign_in_providers",
      doc: "see by which providers people sign in; only administrators change them",
      roles: ["admin"],
    },
  ],
  activity: {
    sign_in_providers: { model: "Account::SignInProvider" },
    // A sign-in shows as its use.
    sign_in_identities: { model: "Account::SignInIdentity", name: "email" },
    sign_in_attempts: false,
  },

  setup(ctx) {
    const { services } = ctx;
    const providerStore = createProviderStore(ctx.sql);
    const identityStore = createIdentityStore(ctx.sql);
    const attemptStore = createAttemptStore(ctx.sql);
    const peers = createPeers({ ctx });
    const admission = createAdmission({ ctx, ...services, identityStore });
    const signIn = createProviderSignIn({ ctx, providerStore, attemptStore, admission, peers });
    const providers = createProviders({ ctx, ...services, providerStore, identityStore, peers });

    services.sessions.addLoginLink(async ({ id }, language, { returnTo, again }) => {
      const query = new URLSearchParams({ return_to: returnTo, ...(again && { again: "1" }) });
      return (await providerStore.buttons(id)).map(({ code, name, label }) => ({
        href: `/login/with/${code}?${query}`,
        label: label ?? allWords[language].by(name),
        isButton: true,
      }));
    });

    return {
      routes: [
        ...pageRoutes({ ctx, ...services, signIn }),
        ...providerRoutes({ providers, providerStore, identityStore }),
        ...providerPartRoutes({ providers, providerStore, identityStore }),
      ],
      schedules: [{ id: "oidc.prune", cron: "7 * * * *", run: attemptStore.prune }],
    };
  },
});
