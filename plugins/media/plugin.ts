import { cacheKey, definePlugin, find, parseCacheKey, setting } from "platform";
import migration from "./migrations/001_media.sql" with { type: "text" };
import uploadsMigration from "./migrations/003_uploads.sql" with { type: "text" };
import variants from "./migrations/002_variants.sql" with { type: "text" };
import writers from "./migrations/005_writers.sql" with { type: "text" };
import accountKeys from "./migrations/004_account_keys.sql" with { type: "text" };
import { media } from "./api.ts";
import { createHooks, type MediaContext } from "./context.ts";
import { Media } from "./media.ts";
import { mediaRoutes } from "./routes.ts";
import { sender, serveRoutes } from "./serve-routes.ts";
import * as mediaStore from "./store.ts";
import type { MediaRow } from "./store.ts";
import { createPictures, resizing } from "./pictures/pictures.ts";
import { mediaService } from "./service.ts";
import { uploadRoutes } from "./uploads/routes.ts";
import { prune } from "./uploads/uploads.ts";
import { collect } from "./writer.ts";

/** Files of an account: uploaded once, served forever. behaviour B.15. */
export default definePlugin({
  name: "media",
  provides: media,
  config: {
    maxBytes: setting.integer("MEDIA_MAX_BYTES", 5_000_000_000, "Largest media file in bytes", {
      min: 1_000,
      max: 5e12,
    }),
    quota: setting.integer("MEDIA_QUOTA_BYTES", 20_000_000_000, "Bytes that the media files of an account may have", {
      min: 0,
      max: 1e15,
    }),
    cacheBytes: setting.integer(
      "MEDIA_CACHE_BYTES",
      1_000_000_000,
      "Bytes that pictures in other sizes may take; the least used go first",
      { min: 0, max: 1e13 },
    ),
  },
  migrations: [
    { name: "001_media", sql: migration },
    { name: "002_variants", sql: variants },
    { name: "003_uploads", sql: uploadsMigration },
    { name: "004_account_keys", sql: accountKeys },
    { name: "005_writers", sql: writers },
  ],
  children: { resize: () => import("./pictures/resize.ts") },
  privileges: [{ name: "media", doc: "upload, change and delete media files", roles: ["manager"] }],
  files: ["media"],
  resources: [Media],
  models: [{ name: Media.model, privilege: "media", sample: Media.examples.one }],
  // The file that an upload becomes is logged.
  activity: { media_uploads: false },

  setup(ctx) {
    const { config, sql } = ctx;
    const rows = ctx.cache<MediaRow>({
      name: "media",
      max: 10_000,
      load: async (key) => {
        const { accountId, name } = parseCacheKey(key);
        return find(Media, sql, accountId, { id: name });
      },
    });
    const { maxBytes, quota } = config;
    const shared: MediaContext = {
      ...ctx,
      contents: ctx.files("media"),
      rows,
      maxBytes,
      quota,
      hooks: createHooks(),
    };
    const child = resizing(ctx);
    const cacheFiles = ctx.files("media/cache");
    const pictures = createPictures(shared, {
      child,
      cacheFiles,
      maxBytes: config.cacheBytes,
      async refused(source) {
        for (const id of await mediaStore.undecodable(sql, source))
          await rows.invalidate(cacheKey(source.accountId, id));
        await shared.hooks.changed(source.accountId);
      },
    });
    /** What is no longer used goes at once when the disk has little room. */
    const makeRoom = async () => {
      if (!(await cacheFiles.isShort())) return;
      await collect(shared, true);
      await pictures.trim(0);
    };
    return {
      routes: [...mediaRoutes(shared), ...uploadRoutes(shared), ...serveRoutes(shared, pictures)],
      schedules: [
        { id: "media.collect", cron: "47 * * * *", run: () => collect(shared) },
        { id: "media.room", cron: "* * * * *", run: makeRoom },
        { id: "media.uploads", cron: "17 * * * *", run: () => prune(shared) },
        { id: "media.trim", cron: "*/10 * * * *", run: () => pictures.trim() },
      ],
      service: mediaService(shared, sender(shared, pictures)),
      stop: child.stop,
    };
  },
});
