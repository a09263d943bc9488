import { change, erase, type Author } from "platform";
import { addressOf } from "./fields.ts";
import type { Media, NewFile, PagePicture } from "./api.ts";
import { headerBytes } from "./content/dimensions.ts";
import { widthsOf } from "./pictures/variants.ts";
import type { MediaRow } from "./store.ts";
import { Media as MediaFile } from "./media.ts";
import { arrivedFile, withDrafts } from "./writer.ts";
import * as mediaStore from "./store.ts";
import * as writer from "./writer.ts";
import type { MediaContext } from "./context.ts";

export function mediaService(ctx: MediaContext, sent: Media["sent"]): Media {
  return {
    async put({ accountId, userId }, { bytes, ...fields }) {
      const author = { account: { id: accountId }, user: { id: userId } };
      const found = await mediaStore.byPlace(ctx.sql, accountId, fields.folder, fields.name);
      const hash = await hashOf(bytes);
      const isSame = found?.hash === hash;
      // The row alone is not enough: the folder of files may have been lost.
      const isThere = isSame && (await ctx.contents.find(hash)) !== undefined;
      const at = { ...ctx, caller: author };
      if (found && !isSame) await erase(MediaFile, at, { id: found.id });
      const row = found && isThere ? found : await stored(ctx, author, bytes, fields);
      const isLeft = isLike(row, fields);
      if (!isLeft) await change(MediaFile, at, { id: row.id }, fields);
      return { id: row.id, done: !found ? "made" : isThere && isLeft ? "unchanged" : "changed" };
    },
    async picturesOf(accountId, paths) {
      // PostgreSQL has no NUL, and UTF-8 no half pairs.
      const storable = paths.filter((path) => !path.includes("\0") && path.isWellFormed());
      if (storable.length === 0) return new Map();
      const rows = await mediaStore.publicByPaths(ctx.sql, accountId, storable);
      return new Map(rows.filter(({ mime }) => mime.startsWith("image/")).map((row) => [row.path, pictureOf(row)]));
    },
    existing: mediaStore.existing,
    sent,
    onChanged: ctx.hooks.onChanged,
    addUses: ctx.hooks.addUses,
  };
}

async function stored(
  ctx: MediaContext,
  author: Author,
  bytes: Uint8Array,
  fields: Omit<NewFile, "bytes">,
): Promise<MediaRow> {
  return withDrafts(ctx, async (first, begin) => {
    await first.write(bytes);
    const arrived = await arrivedFile(first, bytes.subarray(0, headerBytes), fields.name, begin);
    return (await writer.create(ctx, author, arrived, fields)).row;
  });
}

async function hashOf(bytes: Uint8Array): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", Uint8Array.from(bytes))).toHex();
}

function isLike(row: MediaRow, { is_public, titles, alts }: Omit<NewFile, "bytes">): boolean {
  const printed = (texts: Readonly<Record<string, string>>) =>
    JSON.stringify(Object.entries(texts).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return row.isPublic === is_public && printed(row.titles) === printed(titles) && printed(row.alts) === printed(alts);
}

function pictureOf(row: MediaRow): PagePicture {
  const smaller = widthsOf(row).map((width) => ({ width, url: `/media/${row.id}/w/${width}.webp` }));
  return { url: addressOf(row), smaller, width: row.width, height: row.height, alts: row.alts };
}
