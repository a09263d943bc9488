import { definePlugin, find, setting, type Caller } from "platform";
import { accounts } from "../accounts/api.ts";
import { tokens } from "./api.ts";
import { careRoutes, invitationRoutes, tokenRoutes } from "./routes.ts";
import { warn } from "./care.ts";
import { addText, connect } from "./connect.ts";
import { issue, issueGiven, startSession, switchOff, temporaryToken, tokenCommands, tokenCreate } from "./issue.ts";
import { deleteSessions, detachInvited, pruneExpired } from "./end-store.ts";
import { createIdentifier } from "./identify.ts";
import { createIdentityStore, pruneTexts } from "./store.ts";
import careMigration from "./migrations/007_care.sql" with { type: "text" };
import migration from "./migrations/001_tokens.sql" with { type: "text" };
import invitationsMigration from "./migrations/003_invitations.sql" with { type: "text" };
import openedMigration from "./migrations/002_opened.sql" with { type: "text" };
import versions from "./migrations/004_version.sql" with { type: "text" };
import agents from "./migrations/008_agents.sql" with { type: "text" };
import databases from "./migrations/009_databases.sql" with { type: "text" };
import signedIn from "./migrations/005_signed_in.sql" with { type: "text" };
import idle from "./migrations/006_idle.sql" with { type: "text" };
import instructions from "./prompts/api_tokens_api.md" with { type: "text" };
import { standingOf } from "./session-store.ts";
import * as sessions from "./sessions.ts";
import { Token } from "./token.ts";
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
    { name: "009_databases", sql: databases },
  ],
  commands: [tokenCreate],
  privileges: [
    { name: "api_tokens", doc: "create and manage one's own API tokens", roles: ["admin", "manager", "user"] },
  ],
  models: [{ name: "Account::ApiToken", kinds: ["expiring"], privilege: "users", sample: Token.examples.one }],
  prompts: { "api_tokens_api.md": instructions },
  resources: [Token],
  activity: {
    api_tokens: {
      model: Token.model,
      quiet: ["last_used_at", "opened_at", "last_address", "warned_at"],
      by: { column: "purpose", actions: { session: ["sign-in", "sign-out"], invitation: ["create", "delete"] } },
    },
    // The token itself is logged when it is rotated.
    api_token_texts: false,
  },

  setup(base) {
    const { accounts: people } = base.services;
    const identityStore = createIdentityStore(base.sql);
    const usage = createUsage(identityStore, base.log);
    const identifier = createIdentifier({ ctx: base, identityStore, accounts: people, usage });
    const ctx = { ...base, ...identifier, accounts: people, usage };
    const tokenOf = ({ account, tokenId }: Caller) => find(Token, ctx.sql, account.id, { id: tokenId });

    people.onAccountCreated(async ({ accountId, userId, first }, tx) => {
      const token = { accountId, userId, name: "first token" };
      const given = first ? base.config.adminToken : "";
      if (given) {
        await issueGiven(token, given, tx);
        return given.length < 20 ? ["CORE_ADMIN_TOKEN is short: choose one of 20 characters or more"] : [];
      }
      const made = await issue(ctx, token, tx);
      return made ? [`API token: ${made.token}`] : [];
    });

    return {
      routes: [...tokenRoutes(ctx), ...careRoutes(ctx), ...invitationRoutes(ctx)],
      identify: identifier.identify,
      commands: tokenCommands(ctx),
      schedules: [
        { id: "tokens.prune", cron: "23 * * * *", run: () => pruneExpired(ctx.sql) },
        { id: "tokens.texts", cron: "27 * * * *", run: () => pruneTexts(ctx.sql) },
        { id: "tokens.warn", cron: "7 * * * *", run: () => warn(ctx, base.config.warnDays) },
      ],
      service: {
        identify: identifier.identify,
        opener: identifier.opener,
        acceptCredential: identifier.acceptCredential,
        isInvitation: async (caller) => (await tokenOf(caller))?.purpose === "invitation",
        mayDeleteOverMcp: async (caller) => (await tokenOf(caller))?.mcpDelete ?? false,
        standingOf: (caller) => standingOf(ctx.sql, caller),
        passwordChanged: async (userId, byTokenId, tx) => {
          await detachInvited(tx, userId, byTokenId);
          const ended = await deleteSessions(tx, userId, byTokenId);
          return () => ctx.forget(ended);
        },
        isFresh: async (caller) => (await standingOf(ctx.sql, caller)).isFresh,
        issue: (token) => issue(ctx, token),
        connect: (...connection) => connect(ctx, ...connection),
        addText,
        startSession: (session) => startSession(ctx, session),
        switchOff: (...person) => switchOff(ctx, ...person),
        temporaryToken: (caller) => temporaryToken(ctx, caller),
        sessions: (caller, page) => sessions.list(ctx, caller, page),
        endSession: (caller) => sessions.endOwn(ctx, caller),
        endSessionById: (caller, id) => sessions.end(ctx, caller, id),
        endOtherSessions: (caller) => sessions.endOthers(ctx, caller),
        endSessionsOf: (accountId, userId) => sessions.endOf(ctx, accountId, userId),
        endSessions: async (accountId, idsIn) => void (await sessions.endAll(ctx, accountId, idsIn)),
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
