import { cacheKey, definePlugin, parseCacheKey, setting } from "platform";
import migration from "./migrations/001_media.sql" with { type: "text" };
import uploadsMigration from "./migrations/003_uploads.sql" with { type: "text" };
import variants from "./migrations/002_variants.sql" with { type: "text" };
import writers from "./migrations/005_writers.sql" with { type: "text" };
import accountKeys from "./migrations/004_account_keys.sql" with { type: "text" };
import { media, type FileUses } from "./api.ts";
import { createLinks } from "./links.ts";
import { mediaExample, mediaRoutes } from "./routes.ts";
import { serveRoutes } from "./serve-routes.ts";
import { createMediaStore, type MediaRow } from "./store.ts";
import { createPictures } from "./pictures/pictures.ts";
import { createVariantStore } from "./pictures/variant-store.ts";
import { createMedia, type Changed } from "./service.ts";
import { uploadRoutes } from "./uploads/upload-routes.ts";
import { createUploadStore } from "./uploads/upload-store.ts";
import { createUploads } from "./uploads/uploads.ts";
import { useRoutes } from "./use-routes.ts";
import { createMediaWriter } from "./writer.ts";

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
  models: [{ name: "Core::MediaFile", privilege: "media", sample: mediaExample }],
  // The file that an upload becomes is logged.
  activity: { media: { model: "Core::MediaFile" }, media_uploads: false },

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
    const listeners = new Set<Changed>();
    const uses: FileUses[] = [];
    const changed: Changed = async (accountId) => {
      for (const run of listeners) await run(accountId);
    };
    const writer = createMediaWriter({ ctx, files, mediaStore, quota: config.quota, forget: rows.invalidate, changed });
    const { maxBytes, quota } = config;
    const uploadStore = createUploadStore(sql);
    const uploads = createUploads({ ctx, files, mediaStore, uploadStore, writer, maxBytes, quota });
    const child = ctx.child("resize", {
      processes: 1,
      timeLimitMs: 20_000,
      memoryBytes: 1_800_000_000,
      programs: { SHARP_FOLDER: "sharp" },
      // All but the picture's points is small, and address space that is reserved for more would count as data.
      env: { BUN_JSC_forceRAMSize: "100000000", MIMALLOC_ARENA_EAGER_COMMIT: "0" },
      idleMs: 30_000,
    });
    const pictures = createPictures({
      ctx,
      child,
      files,
      cacheFiles: ctx.files("media/cache"),
      variantStore: createVariantStore(sql),
      maxBytes: config.cacheBytes,
      async refused(source) {
        for (const id of await mediaStore.undecodable(source)) await rows.invalidate(cacheKey(source.accountId, id));
        await changed(source.accountId);
      },
    });
    /** What is no longer used goes at once when the disk has little room. */
    const makeRoom = async () => {
      if (!(await ctx.files("media/cache").isShort())) return;
      await writer.collect(true);
      await pictures.trim(0);
    };
    return {
      routes: [
        ...mediaRoutes({ ctx, files, mediaStore, writer, links, maxBytes }),
        ...useRoutes({ ctx, mediaStore, uses }),
        ...uploadRoutes({ uploads, maxBytes }),
        ...serveRoutes({ files, rows, links, pictures }),
      ],
      schedules: [
        { id: "media.collect", cron: "47 * * * *", run: () => writer.collect() },
        { id: "media.room", cron: "* * * * *", run: makeRoom },
        { id: "media.uploads", cron: "17 * * * *", run: uploads.prune },
        { id: "media.trim", cron: "*/10 * * * *", run: () => pictures.trim() },
      ],
      service: createMedia({ sql, files, mediaStore, writer, listeners, uses }),
      stop: child.stop,
    };
  },
});
