import { definePlugin, setting } from "platform";
import { accounts } from "../accounts/api.ts";
import { tokens } from "./api.ts";
import { careRoutes } from "./care-routes.ts";
import { createCareStore } from "./care-store.ts";
import { createTokenCare } from "./care.ts";
import { createTokenWriter } from "./change.ts";
import { tokenCommands, tokenCreate } from "./commands.ts";
import { createTokenEndStore } from "./end-store.ts";
import { invitationRoutes } from "./invitation-routes.ts";
import { createIdentifier } from "./identify.ts";
import { createIdentityStore } from "./identity-store.ts";
import { createTokenIssuer } from "./issue.ts";
import careMigration from "./migrations/007_care.sql" with { type: "text" };
import migration from "./migrations/001_tokens.sql" with { type: "text" };
import invitationsMigration from "./migrations/003_invitations.sql" with { type: "text" };
import openedMigration from "./migrations/002_opened.sql" with { type: "text" };
import versions from "./migrations/004_version.sql" with { type: "text" };
import agents from "./migrations/008_agents.sql" with { type: "text" };
import signedIn from "./migrations/005_signed_in.sql" with { type: "text" };
import idle from "./migrations/006_idle.sql" with { type: "text" };
import instructions from "./prompts/api_tokens_api.md" with { type: "text" };
import { tokenExample, tokenRoutes } from "./routes.ts";
import { createSessionStore } from "./session-store.ts";
import { createSessions } from "./sessions.ts";
import { createTokenStore } from "./store.ts";
import { createUsage } from "./usage.ts";

/** API tokens, and who asks. behaviour 2.2 and 4.2, B.6. */
export default definePlugin({
  name: "tokens",
  needs: { accounts },
  provides: tokens,
  config: {
    adminToken: setting.checked(
      "CORE_ADMIN_TOKEN",
      "",
      "The first API token; empty = generated and printed once",
      visible,
    ),
    warnDays: setting.integer("TOKEN_WARN_DAYS", 7, "Days before a token's end when followers are told of it", {
      min: 1,
      max: 365,
    }),
  },
  migrations: [
    { name: "001_tokens", sql: migration },
    { name: "002_opened", sql: openedMigration },
    { name: "003_invitations", sql: invitationsMigration },
    { name: "004_version", sql: versions },
    { name: "005_signed_in", sql: signedIn },
    { name: "006_idle", sql: idle },
    { name: "007_care", sql: careMigration },
    { name: "008_agents", sql: agents },
  ],
  commands: [tokenCreate],
  privileges: [
    { name: "api_tokens", doc: "create and manage one's own API tokens", roles: ["admin", "manager", "user"] },
  ],
  models: [{ name: "Account::ApiToken", kinds: ["expiring"], privilege: "users", sample: tokenExample }],
  prompts: { "api_tokens_api.md": instructions },
  activity: {
    api_tokens: {
      model: "Account::ApiToken",
      quiet: ["last_used_at", "opened_at", "last_address", "warned_at"],
      by: { column: "purpose", actions: { session: ["sign-in", "sign-out"], invitation: ["create", "delete"] } },
    },
    // The token itself is logged when it is rotated.
    api_token_texts: false,
  },

  setup(ctx) {
    const { accounts: people } = ctx.services;
    const tokenStore = createTokenStore(ctx.sql);
    const tokenEndStore = createTokenEndStore(ctx.sql);
    const identityStore = createIdentityStore(ctx.sql);
    const careStore = createCareStore(ctx.sql);
    const usage = createUsage({ identityStore, log: ctx.log });
    const identifier = createIdentifier({ ctx, identityStore, careStore, accounts: people, usage });
    const care = createTokenCare({
      ctx,
      tokenStore,
      careStore,
      tokenEndStore,
      warnDays: ctx.config.warnDays,
      identifier,
    });
    const tokenWriter = createTokenWriter({
      ctx,
      tokenStore,
      tokenEndStore,
      accounts: people,
      forget: identifier.forget,
    });
    const tokenIssuer = createTokenIssuer({ ctx, tokenStore, tokenEndStore, identifier });

    const sessionStore = createSessionStore(ctx.sql);
    const sessions = createSessions({ ctx, sessionStore, tokenEndStore, usage, forget: identifier.forget });

    people.onAccountCreated(async ({ accountId, userId, first }, tx) => {
      const token = { accountId, userId, name: "first token" };
      const given = first ? ctx.config.adminToken : "";
      if (given) {
        await tokenIssuer.issueGiven(token, given, tx);
        return given.length < 20 ? ["CORE_ADMIN_TOKEN is short: choose one of 20 characters or more"] : [];
      }
      const made = await tokenIssuer.issue(token, tx);
      return made ? [`API token: ${made.token}`] : [];
    });
    people.onPasswordChanged(async (userId, byTokenId, tx) => {
      await tokenEndStore.detachInvited(tx, userId, byTokenId);
      const ended = await tokenEndStore.deleteSessions(tx, userId, byTokenId);
      return () => identifier.forget(ended);
    });

    people.standingBy(sessionStore.standingOf);

    return {
      routes: [
        ...tokenRoutes({ tokenStore, tokenWriter, usage }),
        ...careRoutes({ care, usage }),
        ...invitationRoutes({ accounts: people, tokenIssuer }),
      ],
      identify: identifier.identify,
      commands: tokenCommands({ accounts: people, tokenIssuer }),
      schedules: [
        { id: "tokens.prune", cron: "23 * * * *", run: tokenEndStore.pruneExpired },
        { id: "tokens.texts", cron: "27 * * * *", run: careStore.prune },
        { id: "tokens.warn", cron: "7 * * * *", run: care.warn },
      ],
      service: {
        identify: identifier.identify,
        opener: identifier.opener,
        isInvitation: async ({ account, tokenId }) =>
          (await tokenStore.byId(ctx.sql, account.id, tokenId))?.purpose === "invitation",
        mayDeleteOverMcp: async ({ account, tokenId }) =>
          (await tokenStore.byId(ctx.sql, account.id, tokenId))?.mcpDelete ?? false,
        acceptCredential: identifier.acceptCredential,
        issue: (token) => tokenIssuer.issue(token),
        startSession: tokenIssuer.startSession,
        isFresh: async (caller) => (await sessionStore.standingOf(caller)).isFresh,
        switchOff: tokenWriter.switchOff,
        endSession: tokenIssuer.endSession,
        sessions: sessions.list,
        endSessionById: sessions.end,
        endOtherSessions: sessions.endOthers,
        endSessionsOf: sessions.endOf,
        endSessions: sessions.endThese,
        temporaryToken: tokenIssuer.temporaryToken,
      },
      stop: usage.flush,
    };
  },
});

/** What an Authorization header can carry. */
function visible(token: string): string {
  if (/^[\x21-\x7e]{0,512}$/.test(token)) return token;
  throw new Error("must be at most 512 visible ASCII characters without blanks");
}
