import { definePlugin, parseCacheKey, setting } from "platform";
import migration from "./migrations/001_media.sql" with { type: "text" };
import { createLinks } from "./links.ts";
import { mediaExample, mediaRoutes } from "./routes.ts";
import { serveRoutes } from "./serve-routes.ts";
import { createMediaStore, type MediaRow } from "./store.ts";
import { createMediaWriter } from "./writer.ts";

/** Files of an account: uploaded once, served forever. behaviour B.15. */
export default definePlugin({
  name: "media",
  config: {
    maxBytes: setting.integer("MEDIA_MAX_BYTES", 5_000_000_000, "Largest media file in bytes", {
      min: 1_000,
      max: 5e12,
    }),
    quota: setting.integer("MEDIA_QUOTA_BYTES", 20_000_000_000, "Bytes that the media files of an account may have", {
      min: 0,
      max: 1e15,
    }),
  },
  migrations: [{ name: "001_media", sql: migration }],
  privileges: [{ name: "media", doc: "upload, change and delete media files", roles: ["manager"] }],
  files: ["media"],
  models: [{ name: "Core::MediaFile", privilege: "media", sample: mediaExample }],
  activity: { media: { model: "Core::MediaFile" } },

  setup(ctx) {
    const { config, sql } = ctx;
    const files = ctx.files("media");
    const mediaStore = createMediaStore(sql);
    const links = createLinks(ctx.secrets);
    const rows = ctx.cache<MediaRow>({
      name: "media",
      max: 10_000,
      load: async (key) => {
        const { accountId, name } = parseCacheKey(key);
        return mediaStore.byId(sql, accountId, name);
      },
    });
    const writer = createMediaWriter({ ctx, files, mediaStore, quota: config.quota, forget: rows.invalidate });
    return {
      routes: [
        ...mediaRoutes({ ctx, files, mediaStore, writer, links, maxBytes: config.maxBytes }),
        ...serveRoutes({ files, rows, links }),
      ],
      schedules: [{ id: "media.collect", cron: "47 * * * *", run: writer.collect }],
    };
  },
});
