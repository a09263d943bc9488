/** New media files and renamed folders: what is stored, under which conditions, and who is told. */
import { announce, databaseFault, HttpError, insert, invalid, tooLarge, uuidv7 } from "platform";
import type { Author, Caller, Draft } from "platform";

import { dimensionsOf, moves, tellsPlace } from "./content/dimensions.ts";
import { sniff, xmlEncoding } from "./content/sniff.ts";
import { harmlessSvg, maxSvgBytes } from "./content/svg.ts";
import type { MediaContext } from "./context.ts";
import { addressOf, blank, fieldsOf, type MediaPatch } from "./fields.ts";
import { Media } from "./media.ts";
import type { FolderRow } from "./store.ts";
import * as mediaStore from "./store.ts";

/** A file that has arrived and has no row yet. */
export interface StoredContent {
  readonly draft: Draft;
  readonly hash: string;
  readonly size: number;
  readonly mime: string;
  readonly width: number | null;
  readonly height: number | null;
  readonly isAnimated: boolean;
  /** What was changed in it. */
  readonly hints: readonly string[];
}

/** Contents without a file stay this long: somebody may be reading them, or just be about to use them. */
const graceMs = 24 * 3_600_000;
/** While room is short: an upload that is about to use one takes less. */
const shortGraceMs = 60_000;

export async function create(ctx: MediaContext, author: Author, content: StoredContent, given: MediaPatch) {
  const { account } = author;
  const { draft, hash, size, mime, width, height, isAnimated } = content;
  const fields = fieldsOf(blank, given);
  await mediaStore.touchContent(ctx.sql, hash, size);
  await draft.keep();
  const made = await ctx.transaction(async (tx) => {
    const used = await mediaStore.bytesOf(tx, account.id);
    const twin = await mediaStore.byPlace(tx, account.id, fields.folder, fields.name);
    if (twin?.hash === hash) return { row: twin, isNew: false };
    if (twin) throw invalid({ name: ["has already been taken in this folder"] });
    if (used + size > ctx.quota && !(await mediaStore.hasContent(tx, account.id, hash))) throw overQuota(ctx.quota);
    const row = await insert(Media, tx, author, uuidv7(), { hash, size, mime, width, height, isAnimated, ...fields });
    await announce(Media, ctx, "create", row, tx, { url: addressOf(row) });
    return { row, isNew: true };
  });
  await ctx.committed(() => ctx.hooks.changed(account.id));
  return made;
}

export async function renameFolder(
  ctx: MediaContext,
  { account, user }: Caller,
  from: string,
  to: string,
): Promise<FolderRow> {
  const renamed = await ctx.transaction(async (tx) => {
    const rows = await mediaStore.renameFolder(tx, account.id, user.id, from, to).catch((error: unknown) => {
      throw databaseFault(error) === "unique" ? invalid({ to: ["has files of the same names already"] }) : error;
    });
    if (rows.length === 0) throw invalid({ from: ["is no folder that has files"] });
    for (const row of rows) await announce(Media, ctx, "update", row, tx, { url: addressOf(row) });
    return { path: to, files: rows.length, bytes: rows.reduce((sum, { size }) => sum + size, 0) };
  });
  await ctx.committed(() => ctx.hooks.changed(account.id));
  return renamed;
}

/** 413 before anything is read of a file that cannot fit. */
export async function mustFit(ctx: MediaContext, accountId: number, bytes: number): Promise<void> {
  const used = await ctx.transaction((tx) => mediaStore.bytesOf(tx, accountId));
  if (used >= ctx.quota || bytes - formBytes > ctx.quota) throw overQuota(ctx.quota);
}

/** Removes contents that no file has any more. Others may do the same at the same time. */
export async function collect(ctx: MediaContext, isShort = false): Promise<void> {
  await ctx.contents.sweep(new Date(Date.now() - graceMs));
  const before = new Date(Date.now() - (isShort ? shortGraceMs : graceMs));
  const removeOne = () =>
    ctx.transaction(async (tx) => {
      const [hash] = await mediaStore.unused(tx, before, 1);
      if (hash === undefined) return false;
      // The row is held: whoever stores this content meanwhile waits, and then writes the bytes again.
      await ctx.contents.remove(hash);
      await mediaStore.deleteContent(tx, hash);
      return true;
    });
  while (await removeOne());
}

/** Overhead of a form around its file. */
const formBytes = 100_000;

function overQuota(quota: number): HttpError {
  const refusal = tooLarge(quota);
  return new HttpError(413, { error: `the account's files may have ${quota} bytes in all` }, refusal.headers);
}

const placeHint =
  "the picture says where it was taken (GPS), to everyone who may read the original; its other sizes do not";

/** Runs `work` with a new draft, and with a way to begin more. Those that it does not keep are dropped. */
export async function withDrafts<T>(
  { contents }: Pick<MediaContext, "contents">,
  work: (first: Draft, begin: () => Promise<Draft>) => Promise<T>,
): Promise<T> {
  const drafts: Draft[] = [];
  const begin = async () => {
    const draft = await contents.begin();
    drafts.push(draft);
    return draft;
  };
  try {
    return await work(await begin(), begin);
  } finally {
    for (const draft of drafts) await draft.drop();
  }
}

/**
 * Finds out what has arrived. An SVG is replaced by one without anything that could act: `begin` makes its draft, and
 * the given one is dropped.
 */
export async function arrivedFile(
  draft: Draft,
  head: Uint8Array,
  name: string,
  begin: () => Promise<Draft>,
): Promise<StoredContent> {
  const { hash, size } = await draft.end();
  const mime = sniff(head, name);
  const { width = null, height = null } = dimensionsOf(mime, head) ?? {};
  const found = { mime, width, height, isAnimated: moves(mime, head) };
  if (mime !== "image/svg+xml") {
    const hints = mime.startsWith("image/") && tellsPlace(head) ? [placeHint] : [];
    return { draft, hash, size, ...found, hints };
  }
  if (size > maxSvgBytes) throw invalid({ file: [`an SVG may have at most ${maxSvgBytes} bytes`] });
  const encoding = xmlEncoding(head);
  const { svg, lost } = await harmlessSvg(new TextDecoder(encoding).decode(await draft.content.arrayBuffer()));
  await draft.drop();
  const own = await begin();
  await own.write(new TextEncoder().encode(svg));
  const hints = lost.map((what) => `left out of the SVG: ${what}`);
  if (encoding !== undefined) hints.unshift(`the SVG was converted from ${encoding} to UTF-8`);
  return { draft: own, ...(await own.end()), ...found, hints };
}
