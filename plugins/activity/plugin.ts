import { definePlugin, noticed } from "platform";
import { accounts } from "../accounts/api.ts";
import { jsonDatabases } from "../jsondb/api.ts";
import { parseAtLeast } from "./anchors.ts";
import type { ActivityContext } from "./context.ts";
import migration from "./migrations/001_activity.sql" with { type: "text" };
import inboxMigration from "./migrations/002_inbox.sql" with { type: "text" };
import { note } from "./inbox.ts";
import { accountSettings, createSealer, forgetOld, streamedModel } from "./sealer.ts";
import { isOfRecord } from "./readable.ts";
import { activityExample, activityRoutes } from "./routes.ts";
import { declaredBy, watchTables } from "./watch-store.ts";
import { verifyAll } from "./verify.ts";

/** Tables of the runtime: work, not people's records. */
const ofRuntime = { jobs: false, job_history: false, idempotency_keys: false } as const;

const refusalsPerMinute = 30;

const verifyFacts = {
  name: "activity verify",
  usage: "activity verify [--at-least SEAL]",
  doc: "check that nobody has changed the log of activity, and that its chains have got to a seal (17, or 1:17,2:5 by account)",
  reads: true,
} as const;

/** Who did what to which record: written by triggers, chained, and shown. behaviour B.14. */
export default definePlugin({
  name: "activity",
  needs: { accounts },
  later: { databases: jsonDatabases },
  accountSettings,
  models: [
    {
      name: streamedModel,
      privilege: "activity",
      sample: activityExample,
      confidential: isOfRecord,
      // No entry has it; but a token that opens only some databases follows none.
      partOf: { model: "Core::Db", key: "db_code" },
    },
  ],
  migrations: [
    { name: "001_activity", sql: migration },
    { name: "002_inbox", sql: inboxMigration },
  ],
  privileges: [{ name: "activity", doc: "see who did what", roles: ["admin"] }],
  commands: [verifyFacts],
  activity: { activity: false, activity_inbox: false, activity_seals: false, activity_heads: false, ...ofRuntime },

  setup(ctx) {
    const shared: ActivityContext = {
      ...ctx,
      accounts: ctx.services.accounts,
      sign: (text) => ctx.secrets.derive("activity", text),
      refusals: ctx.limiter("activity.refusals", { limit: refusalsPerMinute, windowSeconds: 60 }),
    };
    const sealer = createSealer(shared);
    ctx.listen(noticed, (notice) => note(shared, notice));
    return {
      routes: activityRoutes(shared),
      schedules: [{ id: "activity.prune", cron: "23 * * * *", run: () => forgetOld(shared) }],
      prepare: () => watchTables(ctx, declaredBy(ctx.plugins)),
      begin: sealer.start,
      stop: sealer.stop,
      commands: [
        {
          ...verifyFacts,
          run: async (options) => {
            const atLeast = parseAtLeast(options["at-least"]);
            await sealer.sealNow();
            const all = await verifyAll(shared, atLeast);
            const broken = all.filter(({ fault }) => fault !== undefined);
            if (broken.length > 0)
              throw new Error(broken.map(({ accountId, fault }) => `account ${accountId}: ${fault}`).join("; "));
            return all.map(
              ({ accountId, entries, seals, last }) =>
                `account ${accountId}: ${entries} entries in ${seals} seals, unchanged; the last is seal ${last}`,
            );
          },
        },
      ],
    };
  },
});
