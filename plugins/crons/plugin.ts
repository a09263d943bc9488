import { definePlugin } from "platform";
import { accounts } from "../accounts/api.ts";
import { flows } from "../flows/api.ts";
import { Cron } from "./cron.ts";
import { createFiring } from "./fire.ts";
import migration from "./migrations/001_crons.sql" with { type: "text" };
import versions from "./migrations/002_version.sql" with { type: "text" };
import accountKeys from "./migrations/003_account_keys.sql" with { type: "text" };
import { cronRoutes } from "./routes.ts";
import { createCronStore } from "./store.ts";

// Far longer than any server can be late.
const keptDays = 30;

/** Starts flows on a schedule. behaviour 2.6, B.9. */
export default definePlugin({
  name: "crons",
  needs: { accounts, flows },
  migrations: [
    { name: "001_crons", sql: migration },
    { name: "002_version", sql: versions },
    { name: "003_account_keys", sql: accountKeys },
  ],
  privileges: [{ name: "crons", doc: "start flows on a schedule", roles: ["manager"] }],
  resources: [Cron],

  setup(ctx) {
    const cronStore = createCronStore(ctx.sql);
    const firing = createFiring({ ctx, cronStore, flows: ctx.services.flows });
    return {
      uses: {
        privilege: "crons",
        find: async (accountId, { model, keys }, limit) => {
          const rows = model === "Core::Flow" ? await cronStore.naming(accountId, keys, limit) : [];
          return rows.map(({ id, name }) => ({ kind: "cron", id, name, path: `/account/crons/${id}.json` }));
        },
      },
      routes: cronRoutes({ ...ctx, flows: ctx.services.flows, firing }),
      schedules: [
        // Cron schedules have no seconds: once a minute is on time.
        { id: "crons.check", cron: "* * * * *", run: firing.check },
        { id: "crons.prune", cron: "29 3 * * *", run: () => cronStore.prune(keptDays) },
      ],
    };
  },
});
