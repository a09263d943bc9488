import { definePlugin, on, setting } from "platform";
import { accounts } from "../accounts/api.ts";
import { mail, type MailTemplate } from "./api.ts";
import { builtIn } from "./built-in.ts";
import { mailRoutes, templateRoutes } from "./routes.ts";
import migration from "./migrations/001_mail.sql" with { type: "text" };
import accountKeys from "./migrations/002_account_keys.sql" with { type: "text" };
import { checkMail } from "./checks.ts";
import type { MailContext } from "./context.ts";
import * as servers from "./outgoing.ts";
import * as mails from "./queue.ts";
import { serverRoutes } from "./server-routes.ts";
import { prune } from "./store.ts";
import { Template } from "./template.ts";

/** Mails to people: one outgoing server, texts in their language, a queue with retries, a log. behaviour B.12. */
export default definePlugin({
  name: "mail",
  needs: { accounts },
  provides: mail,
  config: {
    url: setting.text("SMTP_URL", "", "Mail server: `smtp://user:password@host:587` or `smtps://…:465`"),
    from: setting.text("MAIL_FROM", "", "Sender of mails, e.g. `Example <office@example.com>`"),
    replyTo: setting.text("MAIL_REPLY_TO", "", "Where answers to mails go; empty = to the sender"),
    tls: setting.oneOf(
      "SMTP_TLS",
      "",
      "Encryption: required, optional or none; empty = required for public addresses",
      ["", "required", "optional", "none"],
    ),
    hourlyLimit: setting.integer("MAIL_HOURLY_LIMIT", 500, "Mails an account may send in an hour; others wait", {
      min: 1,
      max: 1_000_000,
    }),
    logDays: setting.integer("MAIL_LOG_DAYS", 30, "Days that the log of mails goes back", { min: 1, max: 3650 }),
  },
  migrations: [
    { name: "001_mail", sql: migration },
    { name: "002_account_keys", sql: accountKeys },
  ],
  privileges: [{ name: "mails", doc: "see the log of mails, and change their texts and server", roles: ["admin"] }],
  resources: [Template],
  activity: {
    mail_servers: { model: "Mail::Server", name: "sender" },
    mails: false,
  },
  checks: checkMail,

  setup(ctx) {
    const { config } = ctx;
    const templates = new Map<string, MailTemplate>();
    const registerTemplate = (template: MailTemplate) => {
      if (templates.has(template.code)) throw new Error(`two plugins register the mail template "${template.code}"`);
      templates.set(template.code, template);
    };
    for (const template of builtIn) registerTemplate(template);
    const shared: MailContext = {
      ...ctx,
      accounts: ctx.services.accounts,
      templates,
      standard: servers.standardOf(config),
      serverRows: servers.serverRows(ctx),
      sent: ctx.limiter("mail.sent", { limit: config.hourlyLimit, windowSeconds: 3600 }),
    };
    return {
      routes: [...mailRoutes(shared), ...serverRoutes(shared), ...templateRoutes(shared)],
      handlers: [
        on(mails.sendQueued, (waiting, { signal }) => mails.deliver(shared, waiting, signal), { concurrency: 4 }),
      ],
      schedules: [{ id: "mail.prune", cron: "17 * * * *", run: () => prune(ctx.sql, config.logDays) }],
      service: {
        isSetUp: (accountId) => servers.isSetUp(shared, accountId),
        mustBeSetUp: (accountId) => mails.mustBeSetUp(shared, accountId),
        send: (message, tx) => mails.send(shared, message, tx),
        tell: (message, tx) => mails.tell(shared, message, tx),
        registerTemplate,
      },
    };
  },
});
