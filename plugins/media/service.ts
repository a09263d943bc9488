/** What other plugins may do with media files. */
import { addressOf } from "./answers.ts";
import type { Media, PagePicture } from "./api.ts";
import { widthsOf } from "./pictures/variants.ts";
import type { MediaRow, MediaStore } from "./store.ts";

export type Changed = (accountId: number) => Promise<void>;

export function createMedia(mediaStore: Pick<MediaStore, "publicByPaths">, listeners: Set<Changed>): Media {
  return {
    async picturesOf(accountId, paths) {
      // PostgreSQL has no NUL, and UTF-8 no half pairs.
      const storable = paths.filter((path) => !path.includes("\0") && path.isWellFormed());
      if (storable.length === 0) return new Map();
      const rows = await mediaStore.publicByPaths(accountId, storable);
      return new Map(rows.filter(({ mime }) => mime.startsWith("image/")).map((row) => [row.path, pictureOf(row)]));
    },
    onChanged: (run) => void listeners.add(run),
  };
}

function pictureOf(row: MediaRow): PagePicture {
  const smaller = widthsOf(row).map((width) => ({ width, url: `/media/${row.id}/w/${width}.webp` }));
  return { url: addressOf(row), smaller, width: row.width, height: row.height, alts: row.alts };
}
