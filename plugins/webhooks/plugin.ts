import { createTurnsByKey, definePlugin, modelChanged, on, onEvent, setting } from "platform";
import { accounts } from "../accounts/api.ts";
import { connectors } from "../connectors/api.ts";
import { flows } from "../flows/api.ts";
import type { Webhooks } from "./context.ts";
import { deliveryRoutes } from "./deliveries/delivery-routes.ts";
import { clearWebhook, tidy } from "./deliveries/redeliver.ts";
import { trialRoutes } from "./deliveries/trial-routes.ts";
import migration from "./migrations/001_webhooks.sql" with { type: "text" };
import madeBy from "./migrations/002_made_by.sql" with { type: "text" };
import rates from "./migrations/003_rates.sql" with { type: "text" };
import waits from "./migrations/004_waits.sql" with { type: "text" };
import versions from "./migrations/005_version.sql" with { type: "text" };
import accountKeys from "./migrations/006_account_keys.sql" with { type: "text" };
import bytes from "./migrations/007_bytes.sql" with { type: "text" };
import flowWaits from "./migrations/009_flow_waits.sql" with { type: "text" };
import changed from "./migrations/008_changed.sql" with { type: "text" };
import instructions from "./prompts/webhooks_api.md" with { type: "text" };
import { deliveryWriter, fanOut } from "./sending/fan-out.ts";
import { parseWaits, standardWaits } from "./sending/health.ts";
import { createSender } from "./sending/sender.ts";
import { clearQueue, dueTopic, urgedTopic, type WebhookRef } from "./signals.ts";
import { rightsOf } from "./subscriptions/rights.ts";
import { webhookRoutes } from "./subscriptions/routes.ts";
import { webhookTriggers } from "./subscriptions/triggers.ts";
import { anyWait, pruneWaits, webhooksNaming } from "./subscriptions/store.ts";
import { forgetHooks, isOrdered, isWanted, openSubscriptions } from "./subscriptions/subscriptions.ts";
import { Webhook } from "./subscriptions/webhook.ts";
import { serveWaits, waitForStep } from "./waits/wait-for.ts";

// A delivery that is being sent is released when its receiver has answered, at the latest when its lease ends.
const clearAgainMs = 1000;
const waitsKeptDays = 7;
const untilItWorks = {
  concurrency: 100,
  maxAttempts: 1000,
  retry: (failures: number) => Math.min(2 ** failures / 2, 60),
};

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
    { name: "007_bytes", sql: bytes },
    { name: "008_changed", sql: changed },
    { name: "009_flow_waits", sql: flowWaits },
  ],
  privileges: [{ name: "webhooks", doc: "keep webhooks and see what they sent", roles: ["manager"] }],
  prompts: { "webhooks_api.md": instructions },
  resources: [Webhook],
  activity: {
    flow_waits: false,
    webhook_deliveries: false,
    webhook_queue: false,
    webhook_rates: false,
  },

  setup(ctx) {
    const { config, sql } = ctx;
    const models = new Map(
      ctx.plugins.flatMap((plugin) => plugin.models).map((model) => [model.name as string, model]),
    );
    const subscriptions = openSubscriptions(ctx);
    const webhooks: Webhooks = {
      ...ctx,
      models,
      rights: rightsOf(models, ctx.services.accounts, ctx),
      subscriptions,
      write: deliveryWriter(ctx),
      forget: (accountId) => forgetHooks(webhooks, accountId),
      targets: { ...ctx.services.connectors, ...ctx.services.flows },
      flowWaits: ctx.cache({ name: "flow-waits", max: 10_000, load: (accountId) => anyWait(sql, Number(accountId)) }),
      timeoutMs: config.timeoutSeconds * 1000,
      waits: config.waits,
      noting: createTurnsByKey(),
    };
    ctx.services.flows.registerTriggers(webhookTriggers(webhooks));
    ctx.services.flows.registerStep(waitForStep(webhooks));
    const leaseSeconds = 2 * config.timeoutSeconds;
    const sender = createSender(webhooks, { maxInFlight: config.maxInFlight, leaseSeconds });
    ctx.broadcast.on(dueTopic, (text) => sender.wake(webhookOf(text)));
    ctx.broadcast.on(urgedTopic, (text) => sender.urge(webhookOf(text)));
    ctx.stopping.addEventListener("abort", sender.rest);

    return {
      uses: {
        privilege: "webhooks",
        find: (accountId, named, limit) => webhooksNaming(sql, accountId, named, limit),
      },
      routes: [...webhookRoutes(webhooks), ...deliveryRoutes(webhooks), ...trialRoutes(webhooks)],
      handlers: [
        onEvent(modelChanged, "webhooks", (change, { id }) => fanOut(webhooks, change, id), {
          when: (change) => isWanted(subscriptions, change),
          orderKey: (change) =>
            isOrdered(subscriptions, change) ? `${change.accountId} ${change.sourceType} ${change.id}` : undefined,
          ...untilItWorks,
        }),
        onEvent(modelChanged, "flow-waits", (change, { id }) => serveWaits(webhooks, change, id), {
          when: ({ accountId }) => webhooks.flowWaits.peek(`${accountId}`) !== false,
          ...untilItWorks,
        }),
        on(
          clearQueue,
          async (place, { signal }) => {
            const cleared = await clearWebhook(sql, place, signal);
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
            await tidy(sql, config.retentionDays, ctx.stopping);
            await pruneWaits(sql, waitsKeptDays);
          },
        },
      ],
      begin: sender.begin,
      stop: sender.stop,
    };
  },
});

/** `account:webhook`, as broadcasts name a webhook. */
function webhookOf(text: string): WebhookRef {
  const [accountId = 0, webhookId = 0] = text.split(":").map(Number);
  return { accountId, webhookId };
}
