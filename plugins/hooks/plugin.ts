import { definePlugin, on, setting } from "platform";
import { accounts } from "../accounts/api.ts";
import { flows, triggersOf } from "../flows/api.ts";
import { openHooks, startFlows, startWaiting } from "./arrive.ts";
import { Hook } from "./hook.ts";
import migration from "./migrations/001_hooks.sql" with { type: "text" };
import { hookRoutes } from "./routes.ts";
import { naming, prune } from "./store.ts";

/** Messages of other services that start flows. behaviour B.9. */
export default definePlugin({
  name: "hooks",
  needs: { accounts, flows },
  config: {
    retentionDays: setting.integer(
      "HOOK_RETENTION_DAYS",
      7,
      "How long what arrived at hooks can be looked up, and a repeated message is known",
      { min: 1, max: 365 },
    ),
  },
  migrations: [{ name: "001_hooks", sql: migration }],
  resources: [Hook],
  activity: { hook_arrivals: false },

  setup(ctx) {
    const hooks = openHooks(ctx);
    const named = ["name", "scheme", "secret", "verify_token", "header", "algorithm", "encoding", "id_header"] as const;
    const all = [...named, "tolerance_seconds", "max_bytes", "rate_limit"] as const;
    const ownOf = (from: Readonly<Record<string, unknown>>) =>
      Object.fromEntries(all.flatMap((key) => (key in from ? [[key, from[key]]] : [])));
    ctx.services.flows.registerTriggers(
      triggersOf(Hook, hooks, {
        kinds: { hook: all },
        of: (code) => ({ flow_code: code }),
        shown: (row) => ({ kind: "hook", ...ownOf(row), url: row["url"] }),
        given: ownOf,
      }),
    );
    return {
      uses: {
        privilege: "flows",
        find: async (accountId, { model, keys }, limit) => {
          const rows = model === "Core::Flow" ? await naming(ctx.sql, accountId, keys, limit) : [];
          return rows.map(({ id, name }) => ({ kind: "hook", id, name, path: `/connect/hooks/${id}.json` }));
        },
      },
      routes: hookRoutes(hooks),
      handlers: [on(startFlows, (place) => startWaiting(hooks, place), { maxAttempts: 1000 })],
      schedules: [{ id: "hooks.prune", cron: "37 3 * * *", run: () => prune(ctx.sql, ctx.config.retentionDays) }],
    };
  },
});
