import { definePlugin, on, setting } from "platform";
import { accounts } from "../accounts/api.ts";
import { mail, type MailTemplate } from "./api.ts";
import { builtIn, testTemplate } from "./built-in.ts";
import { mailRoutes } from "./mail-routes.ts";
import migration from "./migrations/001_mail.sql" with { type: "text" };
import accountKeys from "./migrations/002_account_keys.sql" with { type: "text" };
import { checkMail } from "./checks.ts";
import { createServers, standardOf } from "./outgoing.ts";
import { createMails, sendQueued } from "./queue.ts";
import { createRenderer } from "./render.ts";
import { serverRoutes } from "./server-routes.ts";
import { createServerStore } from "./server-store.ts";
import { createMailStore } from "./store.ts";
import { Template } from "./template.ts";
import { templateRoutes } from "./template-routes.ts";

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
    const { config, sql } = ctx;
    const mailStore = createMailStore(sql);
    const serverStore = createServerStore(sql);
    const templates = new Map<string, MailTemplate>();
    const registerTemplate = (template: MailTemplate) => {
      if (templates.has(template.code)) throw new Error(`two plugins register the mail template "${template.code}"`);
      templates.set(template.code, template);
    };
    for (const template of builtIn) registerTemplate(template);
    const renderer = createRenderer();
    const servers = createServers({ ctx, serverStore, standard: standardOf(config) });
    const mails = createMails({
      ctx,
      accounts: ctx.services.accounts,
      mailStore,
      serverStore,
      servers,
      templates,
      renderer,
      hourlyLimit: config.hourlyLimit,
    });
    return {
      routes: [
        ...mailRoutes({ sql, mailStore, mails }),
        ...serverRoutes({ servers, mails, testTemplate }),
        ...templateRoutes({ ...ctx, templates, renderer }, mails),
      ],
      handlers: [on(sendQueued, (waiting, { signal }) => mails.deliver(waiting, signal), { concurrency: 4 })],
      schedules: [{ id: "mail.prune", cron: "17 * * * *", run: () => mailStore.prune(config.logDays) }],
      service: {
        isSetUp: servers.isSetUp,
        mustBeSetUp: mails.mustBeSetUp,
        send: mails.send,
        tell: mails.tell,
        registerTemplate,
      },
    };
  },
});
