import { definePlugin } from "platform";
import { accounts } from "../accounts/api.ts";
import { flows, triggersOf } from "../flows/api.ts";
import { Cron } from "./cron.ts";
import { fireDue, newMemory } from "./fire.ts";
import migration from "./migrations/001_crons.sql" with { type: "text" };
import versions from "./migrations/002_version.sql" with { type: "text" };
import accountKeys from "./migrations/003_account_keys.sql" with { type: "text" };
import { cronRoutes } from "./routes.ts";
import { naming, prune } from "./store.ts";

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
    const crons = { ...ctx, flows: ctx.services.flows };
    const memory = newMemory(ctx);
    ctx.services.flows.registerTriggers(
      triggersOf(Cron, crons, {
        kinds: { cron: ["name", "schedule", "timezone", "missed"] },
        of: (code) => ({ target_code: code }),
        shown: ({ name, schedule, timezone, missed, next_run_at, last_error: trouble }) => ({
          kind: "cron",
          name,
          schedule,
          timezone,
          missed,
          next_run_at,
          trouble,
        }),
        given: ({ name, schedule, timezone, missed }) => ({ kind: "flow", name, schedule, timezone, missed }),
      }),
    );
    return {
      uses: {
        privilege: "crons",
        find: async (accountId, { model, keys }, limit) => {
          const rows = model === "Core::Flow" ? await naming(ctx.sql, accountId, keys, limit) : [];
          return rows.map(({ id, name }) => ({ kind: "cron", id, name, path: `/account/crons/${id}.json` }));
        },
      },
      routes: cronRoutes(crons),
      schedules: [
        // Cron schedules have no seconds: once a minute is on time.
        { id: "crons.check", cron: "* * * * *", run: () => fireDue(crons, memory) },
        { id: "crons.prune", cron: "29 3 * * *", run: () => prune(ctx.sql, keptDays) },
      ],
    };
  },
});
