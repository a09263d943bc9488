import { definePlugin, noticed } from "platform";
import { accounts } from "../accounts/api.ts";
import { moveAnchors, parseAtLeast, type Sealing } from "./anchors.ts";
import { createInbox } from "./inbox.ts";
import { createInboxStore } from "./inbox-store.ts";
import migration from "./migrations/001_activity.sql" with { type: "text" };
import inboxMigration from "./migrations/002_inbox.sql" with { type: "text" };
import { createNoting } from "./noting.ts";
import { accountSettings, createRetention } from "./retention.ts";
import { activityExample, activityRoutes } from "./routes.ts";
import { createSealStore } from "./seal-store.ts";
import { createSealer } from "./sealer.ts";
import { createActivityStore } from "./store.ts";
import { createStream, streamedModel } from "./stream.ts";
import { declaredBy } from "./tables.ts";
import { createVerify } from "./verify.ts";
import { watchTables } from "./watch-store.ts";

/** Tables of the runtime: work, not people's records. */
const ofRuntime = { jobs: false, job_history: false, idempotency_keys: false } as const;

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
  accountSettings,
  models: [{ name: streamedModel, privilege: "activity", sample: activityExample }],
  migrations: [
    { name: "001_activity", sql: migration },
    { name: "002_inbox", sql: inboxMigration },
  ],
  privileges: [{ name: "activity", doc: "see who did what", roles: ["admin"] }],
  commands: [verifyFacts],
  activity: { activity: false, activity_inbox: false, activity_seals: false, activity_heads: false, ...ofRuntime },

  setup(ctx) {
    const { sql, log } = ctx;
    const activityStore = createActivityStore(sql, ctx.read);
    const sealStore = createSealStore(sql);
    const sign = (text: string) => ctx.secrets.derive("activity", text);
    const inbox = createInbox({ ctx, inboxStore: createInboxStore(sql) });
    const tell = createStream({ ctx, activityStore });
    const keep = (sealings: readonly Sealing[]) => moveAnchors({ ctx, sealStore }, sealings);
    const sealer = createSealer({ ctx, log, sealStore, inbox, sign, tell, keep });
    const prune = createRetention({ ctx, ...ctx.services, sealStore, sign });
    const verify = createVerify({ ctx, sealStore, sign });
    const note = createNoting({ ctx, activityStore });
    ctx.listen(noticed, note);
    return {
      routes: activityRoutes({ log, activityStore, inbox }),
      schedules: [{ id: "activity.prune", cron: "23 * * * *", run: prune }],
      prepare: () => watchTables({ ctx, sql, declared: declaredBy(ctx.plugins) }),
      begin: sealer.start,
      stop: sealer.stop,
      commands: [
        {
          ...verifyFacts,
          run: async (options) => {
            const atLeast = parseAtLeast(options["at-least"]);
            await sealer.sealNow();
            const all = await verify(atLeast);
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
