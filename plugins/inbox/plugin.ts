import { definePlugin, on } from "platform";
import { accounts, sessions } from "../accounts/api.ts";
import { flows, runFailed } from "../flows/api.ts";
import { jsonDatabases } from "../jsondb/api.ts";
import { mail } from "../mail/api.ts";
import { askStep, toFailure, toItem } from "./ask.ts";
import type { InboxContext } from "./context.ts";
import { askTemplate, failingTemplate, remind, tellOfFailures } from "./mails.ts";
import migration from "./migrations/001_asks.sql" with { type: "text" };
import { pageRoutes } from "./page-routes.ts";
import { subjectsFor } from "./people.ts";
import { askRoutes } from "./routes.ts";
import * as store from "./store.ts";

const keptDays = 90;

/** Questions of flows to people, in their inbox. behaviour B.9. */
export default definePlugin({
  name: "inbox",
  needs: { accounts, databases: jsonDatabases, flows, mail, sessions },
  migrations: [{ name: "001_asks", sql: migration }],
  activity: { asks: { model: "Core::Ask", name: "title", quiet: ["remind_at"] } },

  setup(base) {
    const ctx: InboxContext = { ...base, ...base.services };
    const { databases, flows: programs } = base.services;
    programs.registerStep(askStep(ctx));
    for (const template of [askTemplate, failingTemplate]) base.services.mail.registerTemplate(template);
    databases.addToInbox(async ({ account, user }, { most, open }) => {
      const people = subjectsFor(user, account.id);
      const [failing, waiting, ended] = await Promise.all([
        programs.failing(account.id),
        store.listed(base.sql, account.id, people, most, true),
        open ? [] : store.listed(base.sql, account.id, people, most, false),
      ]);
      const failures = failing.filter(({ to }) => to.some((one) => people.includes(`${account.id}/${one}`)));
      return [...failures.map(toFailure), ...[...waiting, ...ended].map(toItem)];
    });
    return {
      routes: [...askRoutes(ctx), ...pageRoutes(ctx)],
      handlers: [on(runFailed, ({ accountId, flowCode }) => tellOfFailures(ctx, accountId, flowCode))],
      schedules: [
        { id: "inbox.remind", cron: "* * * * *", run: () => remind(ctx) },
        { id: "inbox.prune", cron: "43 3 * * *", run: () => store.prune(base.sql, keptDays) },
      ],
    };
  },
});
