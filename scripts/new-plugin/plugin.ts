import { definePlugin, onEvent, service } from "platform";
import { itemSaved } from "./api.ts";
import { countWords, createItems } from "./items.ts";
import migration from "./migrations/001_sample_plugin.sql" with { type: "text" };
import { itemExample, itemRoutes } from "./routes.ts";
import { createItemStore } from "./store.ts";

/** What SamplePlugin is for, in one sentence. */
export default definePlugin({
  name: "sample-plugin",
  // Its table is referenced by ours, so it must be there first.
  needs: { accounts: service("accounts") },
  migrations: [{ name: "001_sample_plugin", sql: migration }],
  privileges: [{ name: "sample_plugin", doc: "keep items", roles: ["manager", "user"] }],
  models: [{ name: "SamplePlugin::Item", sample: itemExample }],

  setup(ctx) {
    const store = createItemStore(ctx.sql);
    const items = createItems(ctx, store);
    return {
      routes: itemRoutes(store, items),
      handlers: [
        onEvent(itemSaved, "sample-plugin.count-words", async ({ accountId, id, version, text }) => {
          await store.setWords(accountId, id, version, countWords(text));
        }),
      ],
    };
  },
});
