import { before, definePlugin, invalid, modelChanged, onEvent, setting } from "platform";
import { accounts } from "platform/accounts";
import { flows } from "platform/flows";
import { items } from "./api.ts";
import { countWords, itemModel, remove } from "./items.ts";
import migration from "./migrations/001_sample_plugin.sql" with { type: "text" };
import instructions from "./prompts/sample_plugin_api.md" with { type: "text" };
import { itemExample, itemRoutes } from "./routes.ts";
import { countWordsStep } from "./steps.ts";
import * as itemStore from "./store.ts";

const dayMs = 86_400_000;
const count = { name: "sample-plugin count", usage: "sample-plugin count", doc: "how many items there are" };

/** What SamplePlugin is for, in one sentence. */
export default definePlugin({
  name: "sample-plugin",
  platform: "^1", // the versions of "platform" that it works with
  needs: { accounts, flows }, // other plugins' services, typed; they are started first
  provides: items,
  config: {
    keepDays: setting.integer("SAMPLE_PLUGIN_KEEP_DAYS", 0, "Days an item is kept; 0 = for ever", {
      min: 0,
      max: 3650,
    }),
  },
  migrations: [{ name: "001_sample_plugin", sql: migration }], // applied once, in order; never edited once landed
  privileges: [{ name: "sample_plugin", doc: "keep items", roles: ["manager", "user"] }],
  models: [{ name: itemModel, privilege: "sample_plugin", sample: itemExample }], // webhooks may follow it
  prompts: { "sample_plugin_api.md": instructions }, // how an agent uses it
  commands: [count], // setup returns what they do
  studio: [
    {
      path: "sample-plugin/overview", // in the menu of the Studio, which lists the items too, as the API describes them
      title: { en: "SamplePlugin", pl: "SamplePlugin", de: "SamplePlugin" },
      privilege: "sample_plugin",
      view: "sample_plugin/overview", // apps may be injected
      icon: "list",
      module: new URL("./studio/overview.page.ts", import.meta.url), // one module is made of it and what it imports
    },
  ],

  setup(ctx) {
    const { sql, services } = ctx;
    services.flows.registerStep(countWordsStep);

    const prune = async (dueAt: Date) => {
      if (ctx.config.keepDays === 0) return;
      const old = await itemStore.unchangedSince(sql, new Date(dueAt.getTime() - ctx.config.keepDays * dayMs));
      for (const { accountId, id } of old) await remove(ctx, accountId, id);
    };

    return {
      service: { count: (accountId) => itemStore.count(sql, accountId) },
      routes: itemRoutes(ctx),
      // Durable: runs at least once for each change, even after a crash.
      handlers: [
        onEvent(
          modelChanged,
          "sample-plugin.count-words",
          async ({ accountId, id }) => {
            const row = await itemStore.byId(sql, accountId, `${id}`);
            if (row) await itemStore.setWords(sql, accountId, row.id, row.version, countWords(row.text ?? ""));
          },
          { when: ({ sourceType, kind }) => sourceType === itemModel && kind !== "destroy" },
        ),
      ],
      // Runs in the transaction of the change, and may refuse it by field.
      hooks: [
        before("Account::User", "destroy", async ({ accountId, id }, tx) => {
          if (await itemStore.isCreator(tx, accountId, Number(id)))
            throw invalid({ base: ["has items of SamplePlugin: delete them first"] });
        }),
      ],
      // Runs once, however many server processes there are.
      schedules: [{ id: "sample-plugin.prune", cron: "5 3 * * *", timezone: "Europe/Warsaw", run: prune }],
      commands: [
        {
          ...count,
          run: async () => [`${await itemStore.count(sql, (await services.accounts.defaultAccount()).id)} items`],
        },
      ],
    };
  },
});
