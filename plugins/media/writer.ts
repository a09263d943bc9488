/** Every change of media files: what is stored, under which conditions, and who is told. */
import {
  cacheKey,
  databaseFault,
  HttpError,
  invalid,
  mustMatch,
  tooLarge,
  uuidv7,
  type AppGrant,
  type Caller,
  type Draft,
  type Tx,
} from "platform";
import { toApi } from "./answers.ts";
import { reached, folderOf, nameOf, type MediaPatch } from "./fields.ts";
import { dimensionsOf, moves, tellsPlace } from "./content/dimensions.ts";
import { sniff, xmlEncoding } from "./content/sniff.ts";
import { harmlessSvg, maxSvgBytes } from "./content/svg.ts";
import type { FolderRow, MediaFields, MediaRow } from "./store.ts";
import * as mediaStore from "./store.ts";
import type { MediaContext } from "./context.ts";

/** A file that has arrived and has no row yet. */
export interface Arrived {
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

/** Whose files, and who changes them; null = no person (a command). */
export interface Author {
  readonly account: { readonly id: number };
  readonly user: { readonly id: number | null };
}

/** How a file may be changed: by an app's page only in its folder, and in the version that the caller has seen. */
interface Change {
  readonly app: AppGrant | null;
  readonly expected: number | undefined;
}

/** Contents without a file stay this long: somebody may be reading them, or just be about to use them. */
const graceMs = 24 * 3_600_000;
/** While room is short: an upload that is about to use one takes less. */
const shortGraceMs = 60_000;

export async function create(ctx: MediaContext, { account, user }: Author, arrived: Arrived, given: MediaPatch) {
  const { draft, hash, size, mime, width, height, isAnimated } = arrived;
  const fields = fieldsOf(blank, given);
  await mediaStore.touchContent(ctx.sql, hash, size);
  await draft.keep();
  const same = { accountId: account.id, hash, size, mime, width, height, isAnimated };
  const made = await ctx.transaction(async (tx) => {
    const used = await mediaStore.bytesOf(tx, account.id);
    const twin = await mediaStore.byPlace(tx, account.id, fields.folder, fields.name);
    if (twin?.hash === hash) return { row: twin, isNew: false };
    if (twin) throw invalid({ name: ["has already been taken in this folder"] });
    if (used + size > ctx.quota && !(await mediaStore.hasContent(tx, account.id, hash))) throw overQuota(ctx.quota);
    const row = await mediaStore.insert(tx, user.id, { id: uuidv7(), ...same, ...fields });
    if (!row) throw invalid({ name: ["has already been taken in this folder"] });
    await ctx.changed(eventOf("create", row), tx);
    return { row, isNew: true };
  });
  await ctx.committed(() => ctx.hooks.changed(account.id));
  return made;
}

export async function update(
  ctx: MediaContext,
  { account, user }: Author,
  id: string,
  given: MediaPatch,
  change: Change,
) {
  const row = await ctx.transaction(async (tx) => {
    const before = await held(tx, account.id, id, change);
    const fields = fieldsOf(before, given);
    const twin = await mediaStore.byPlace(tx, account.id, fields.folder, fields.name);
    if (twin && twin.id !== id) throw invalid({ name: ["has already been taken in this folder"] });
    const after = await mediaStore.update(tx, before, user.id, fields);
    await ctx.changed(eventOf("update", after), tx);
    return after;
  });
  await Promise.all([ctx.rows.invalidate(cacheKey(account.id, id)), ctx.hooks.changed(account.id)]);
  return row;
}

export async function remove(ctx: MediaContext, { account }: Author, id: string, change: Change): Promise<void> {
  await ctx.transaction(async (tx) => {
    const row = await held(tx, account.id, id, change);
    await mediaStore.remove(tx, row);
    await ctx.changed(eventOf("destroy", row), tx);
  });
  await Promise.all([ctx.rows.invalidate(cacheKey(account.id, id)), ctx.hooks.changed(account.id)]);
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
    for (const row of rows) await ctx.changed(eventOf("update", row), tx);
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

/** Held until the transaction ends, in the version that the caller has seen. */
async function held(tx: Tx, accountId: number, id: string, { app, expected }: Change): Promise<MediaRow> {
  const row = reached(app, await mediaStore.lock(tx, accountId, id));
  mustMatch(row, expected);
  return row;
}

/** What a form has around its file. */
const formBytes = 100_000;
export const blank: MediaFields = { folder: "", name: "", isPublic: false, titles: {}, alts: {} };

function overQuota(quota: number): HttpError {
  const refusal = tooLarge(quota);
  return new HttpError(413, { error: `the account's files may have ${quota} bytes in all` }, refusal.headers);
}

/** Throws the 422 for a name or folder that cannot be. */
export function fieldsOf(before: MediaFields, given: MediaPatch): MediaFields {
  return {
    name: nameOf(given.name ?? before.name),
    folder: folderOf(given.folder ?? before.folder),
    isPublic: given.is_public ?? before.isPublic,
    titles: given.titles ?? before.titles,
    alts: given.alts ?? before.alts,
  };
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
): Promise<Arrived> {
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

function eventOf(kind: "create" | "update" | "destroy", row: MediaRow) {
  return { accountId: row.accountId, sourceType: "Core::MediaFile", kind, id: row.id, data: toApi(row) };
}
