import { definePlugin, modelChanged, on, onEvent, setting } from "platform";
import { accounts } from "../accounts/api.ts";
import { connectors } from "../connectors/api.ts";
import { flows } from "../flows/api.ts";
import { createAttempt } from "./sending/attempt.ts";
import { deliveryRoutes } from "./deliveries/delivery-routes.ts";
import { createDeliveryStore } from "./deliveries/delivery-store.ts";
import { createFanOut } from "./sending/fan-out.ts";
import { createHealth } from "./sending/health.ts";
import { healthRoutes } from "./deliveries/health-routes.ts";
import { createHealthStore } from "./sending/health-store.ts";
import { createLanes } from "./sending/lanes.ts";
import { createLeaseStore } from "./sending/lease-store.ts";
import migration from "./migrations/001_webhooks.sql" with { type: "text" };
import madeBy from "./migrations/002_made_by.sql" with { type: "text" };
import rates from "./migrations/003_rates.sql" with { type: "text" };
import waits from "./migrations/004_waits.sql" with { type: "text" };
import versions from "./migrations/005_version.sql" with { type: "text" };
import accountKeys from "./migrations/006_account_keys.sql" with { type: "text" };
import instructions from "./prompts/webhooks_api.md" with { type: "text" };
import { createQueueStore } from "./sending/queue-store.ts";
import { createRedelivery } from "./deliveries/redeliver.ts";
import { parseWaits, standardWaits } from "./sending/retry.ts";
import { createRights } from "./subscriptions/rights.ts";
import { webhookRoutes } from "./subscriptions/routes.ts";
import { clearQueue, dueTopic, urgedTopic } from "./signals.ts";
import { webhooksNaming } from "./subscriptions/store.ts";
import { createSubscriptions } from "./subscriptions/subscriptions.ts";
import { Webhook } from "./subscriptions/webhook.ts";
import { clearAll, clearWebhook, pruneAll } from "./deliveries/tidy.ts";
import { trialRoutes } from "./deliveries/trial-routes.ts";
import { createTrials } from "./deliveries/trial.ts";

// A delivery that is being sent is released when its receiver has answered, at the latest when its lease ends.
const clearAgainMs = 1000;

/** Events of records delivered to addresses, connectors and flows. behaviour 2.5, 4.5 and 6, B.8. */
export default definePlugin({
  name: "webhooks",
  needs: { accounts, connectors, flows },
  config: {
    timeoutSeconds: setting.integer("WEBHOOK_TIMEOUT_SECONDS", 15, "How long a receiver may take", { min: 1, max: 60 }),
    waits: setting.checked(
      "WEBHOOK_RETRY_SECONDS",
      standardWaits,
      "Waits between the attempts of a webhook's delivery, about",
      parseWaits,
    ),
    retentionDays: setting.integer("WEBHOOK_RETENTION_DAYS", 30, "How long deliveries can be looked up", {
      min: 1,
      max: 3650,
    }),
    maxInFlight: setting.integer("WEBHOOK_CONCURRENCY", 1000, "Webhook requests at once in a server process", {
      min: 1,
      max: 10_000,
    }),
  },
  migrations: [
    { name: "001_webhooks", sql: migration },
    { name: "002_made_by", sql: madeBy },
    { name: "003_rates", sql: rates },
    { name: "004_waits", sql: waits },
    { name: "005_version", sql: versions },
    { name: "006_account_keys", sql: accountKeys },
  ],
  privileges: [{ name: "webhooks", doc: "keep webhooks and see what they sent", roles: ["manager"] }],
  prompts: { "webhooks_api.md": instructions },
  resources: [Webhook],
  activity: {
    webhook_deliveries: false,
    webhook_queue: false,
    webhook_rates: false,
  },

  setup(ctx) {
    const { config } = ctx;
    const models = new Map(
      ctx.plugins.flatMap((plugin) => plugin.models).map((model) => [model.name as string, model]),
    );
    const deliveryStore = createDeliveryStore(ctx.sql, ctx.read);
    const leaseStore = createLeaseStore(ctx.sql, crypto.randomUUID());
    const queueStore = createQueueStore(ctx.sql);
    const subscriptions = createSubscriptions(ctx);
    const timeoutMs = config.timeoutSeconds * 1000;
    const rights = createRights({ models, accounts: ctx.services.accounts, plugins: ctx.plugins });
    const { refusal } = rights;
    const attempt = createAttempt({
      fetch: ctx.fetch,
      targets: { callForEvent: ctx.services.connectors.callForEvent, startFlow: ctx.services.flows.startFlow },
      timeoutMs,
      refusal,
    });
    const health = createHealth({ ctx, healthStore: createHealthStore(ctx.sql), subscriptions, waits: config.waits });
    const lanes = createLanes({
      leaseStore,
      queueStore,
      subscriptions,
      attempt,
      log: ctx.log,
      maxInFlight: config.maxInFlight,
      leaseSeconds: 2 * config.timeoutSeconds,
      judge: (_, delivery, outcome) => health.judge(delivery, outcome),
      settled: health.note,
    });
    const placed = (run: (accountId: number, webhookId: number) => void) => (place: string) => {
      const [accountId = 0, webhookId = 0] = place.split(":").map(Number);
      run(accountId, webhookId);
    };
    ctx.broadcast.on(dueTopic, placed(lanes.wake));
    ctx.broadcast.on(urgedTopic, placed(lanes.urge));
    ctx.stopping.addEventListener("abort", lanes.rest);
    const management = { ...ctx, forget: subscriptions.forget, models, rights };
    const redelivery = createRedelivery({ ctx, deliveryStore, queueStore });
    const trials = createTrials({ deliveryStore, subscriptions, attempt, models });
    const fanOut = createFanOut({ ctx, queueStore, subscriptions, refusal, switchOff: health.switchOff });

    return {
      uses: {
        privilege: "webhooks",
        find: (accountId, named, limit) => webhooksNaming(ctx.sql, accountId, named, limit),
      },
      routes: [
        ...webhookRoutes(management),
        ...deliveryRoutes({ management, deliveryStore, redelivery, rights }),
        ...trialRoutes({ management, trials }),
        ...healthRoutes({ deliveryStore }),
      ],
      handlers: [
        onEvent(modelChanged, "webhooks", fanOut, {
          when: subscriptions.wanted,
          orderKey: (change) =>
            subscriptions.ordered(change) ? `${change.accountId} ${change.sourceType} ${change.id}` : undefined,
          concurrency: 100,
          maxAttempts: 1000,
          retry: (failures) => Math.min(2 ** failures / 2, 60),
        }),
        on(
          clearQueue,
          async (place, { signal }) => {
            const cleared = await clearWebhook({ queueStore, deliveryStore }, place, signal);
            if (!cleared) await ctx.enqueue(clearQueue, place, { runAt: new Date(Date.now() + clearAgainMs) });
          },
          { concurrency: 1 },
        ),
      ],
      schedules: [
        {
          id: "webhooks.tidy",
          cron: "41 * * * *",
          run: async () => {
            await clearAll(queueStore, ctx.stopping);
            await pruneAll(deliveryStore, config.retentionDays, ctx.stopping);
          },
        },
      ],
      begin: lanes.begin,
      stop: lanes.stop,
    };
  },
});
