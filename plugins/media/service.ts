/** What other plugins may do with media files. */
import type { Files, Sql } from "platform";
import { addressOf } from "./answers.ts";
import type { FileUses, Media, NewFile, PagePicture } from "./api.ts";
import { headerBytes } from "./content/dimensions.ts";
import { widthsOf } from "./pictures/variants.ts";
import type { MediaRow, MediaStore } from "./store.ts";
import { arrivedFile, type Author, type MediaWriter } from "./writer.ts";

export type Changed = (accountId: number) => Promise<void>;

interface Needed {
  readonly sql: Sql;
  readonly files: Files;
  readonly mediaStore: MediaStore;
  readonly writer: MediaWriter;
  readonly listeners: Set<Changed>;
  readonly uses: FileUses[];
}

const anyVersion = { app: null, expected: undefined } as const;

export function createMedia({ sql, files, mediaStore, writer, listeners, uses }: Needed): Media {
  return {
    async put({ accountId, userId }, { bytes, ...fields }) {
      const author = { account: { id: accountId }, user: { id: userId } };
      const found = await mediaStore.byPlace(sql, accountId, fields.folder, fields.name);
      const hash = await hashOf(bytes);
      const isSame = found?.hash === hash;
      // The row alone is not enough: the folder of files may have been lost.
      const isThere = isSame && (await files.find(hash)) !== undefined;
      if (found && !isSame) await writer.remove(author, found.id, anyVersion);
      const row = found && isThere ? found : await stored(files, writer, author, bytes, fields);
      const isLeft = isLike(row, fields);
      if (!isLeft) await writer.update(author, row.id, fields, anyVersion);
      return { id: row.id, done: !found ? "made" : isThere && isLeft ? "unchanged" : "changed" };
    },
    async picturesOf(accountId, paths) {
      // PostgreSQL has no NUL, and UTF-8 no half pairs.
      const storable = paths.filter((path) => !path.includes("\0") && path.isWellFormed());
      if (storable.length === 0) return new Map();
      const rows = await mediaStore.publicByPaths(accountId, storable);
      return new Map(rows.filter(({ mime }) => mime.startsWith("image/")).map((row) => [row.path, pictureOf(row)]));
    },
    onChanged: (run) => void listeners.add(run),
    addUses: (one) => void uses.push(one),
  };
}

async function stored(
  files: Files,
  writer: MediaWriter,
  author: Author,
  bytes: Uint8Array,
  fields: Omit<NewFile, "bytes">,
): Promise<MediaRow> {
  const drafts = [await files.begin()];
  const begin = async () => {
    const draft = await files.begin();
    drafts.push(draft);
    return draft;
  };
  try {
    const [first] = drafts;
    if (!first) throw new Error("a draft was begun");
    await first.write(bytes);
    const arrived = await arrivedFile(first, bytes.subarray(0, headerBytes), fields.name, begin);
    return (await writer.create(author, arrived, fields)).row;
  } finally {
    for (const draft of drafts) await draft.drop();
  }
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
