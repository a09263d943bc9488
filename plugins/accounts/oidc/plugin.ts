import { definePlugin, filledIn } from "platform";
import { accounts } from "../api.ts";
import { factors } from "../factors/api.ts";
import { mail } from "../../mail/api.ts";
import { passwords } from "../passwords/api.ts";
import { sessions } from "../sessions/api.ts";
import { tokens } from "../../tokens/api.ts";
import { createAdmission } from "./admission.ts";
import { createAttemptStore } from "./attempt-store.ts";
import { createIdentityStore } from "./identity-store.ts";
import migration from "./migrations/001_sign_in_providers.sql" with { type: "text" };
import accountKeys from "./migrations/002_account_keys.sql" with { type: "text" };
import signOutThere from "./migrations/003_sign_out.sql" with { type: "text" };
import invitation from "./migrations/004_invitation.sql" with { type: "text" };
import { createOriginStore } from "./origin-store.ts";
import { pageRoutes } from "./page-routes.ts";
import { createPeers } from "./peer.ts";
import { Provider } from "./provider.ts";
import { createProviderStore } from "./provider-store.ts";
import { providerPartRoutes, providerRoutes } from "./routes.ts";
import { isOfDomain } from "./rules.ts";
import { createProviderSignIn } from "./sign-in.ts";
import { createSignOut } from "./sign-out.ts";
import { signOutRoutes } from "./sign-out-routes.ts";
import { allWords } from "./words.ts";

/** Signing in by OpenID Connect, with providers of the account's choice. behaviour B.17. */
export default definePlugin({
  name: "oidc",
  needs: { accounts, factors, mail, passwords, sessions, tokens },
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

  setup(ctx) {
    const { services } = ctx;
    const providerStore = createProviderStore(ctx.sql);
    const identityStore = createIdentityStore(ctx.sql);
    const attemptStore = createAttemptStore(ctx.sql);
    const peers = createPeers({ ctx });
    const admission = createAdmission({ ctx, ...services, identityStore });
    const originStore = createOriginStore(ctx.sql);
    const signOut = createSignOut({ ctx, ...services, providerStore, originStore, attemptStore, peers });
    const originOf = signOut.note;
    const signIn = createProviderSignIn({ ctx, providerStore, attemptStore, admission, peers, originOf });
    const around = { ...ctx, ...services, identityStore, originStore, peers };
    const prune = async () => {
      await Promise.all([attemptStore.prune(), originStore.prune()]);
    };

    services.sessions.onStarted(signOut.started);
    services.sessions.onLeaving(signOut.leaving);

    services.sessions.addLoginLink(async ({ id }, language, { returnTo, again }) => {
      const query = new URLSearchParams({ return_to: returnTo, ...(again && { again: "1" }) });
      return (await providerStore.buttons(id)).map(({ code, name, label }) => ({
        href: `/login/with/${code}?${query}`,
        label: label ?? filledIn(allWords[language].by, { provider: name }),
        isButton: true,
      }));
    });

    services.passwords.addInvitationLinks(async ({ id }, language, email) =>
      (await providerStore.buttons(id))
        .filter(({ emailDomains }) => emailDomains.length === 0 || isOfDomain(email, emailDomains))
        .map(({ code, name }) => ({
          href: `/login/with/${code}?invitation=1`,
          label: filledIn(allWords[language].accept, { provider: name }),
          isButton: true,
        })),
    );

    return {
      routes: [
        ...pageRoutes({ ctx, ...services, signIn }),
        ...signOutRoutes({ ctx, ...services, signOut }),
        ...providerRoutes(around),
        ...providerPartRoutes(around),
      ],
      schedules: [{ id: "oidc.prune", cron: "7 * * * *", run: prune }],
    };
  },
});
