/** Files that arrive in several requests: one writes at a time, and what it was told of is on disk. */
import { HttpError, notFound, tooLarge, tooMany, unavailable, uuidv7, type Caller, type Part } from "platform";
import { headerBytes } from "../content/dimensions.ts";
import { blank, fieldsOf } from "../fields.ts";
import { patchOf } from "../media.ts";
import { arrivedFile } from "../writer.ts";
import type { Upload, UploadRow, Writer } from "./store.ts";
import * as uploadStore from "./store.ts";
import * as writer from "../writer.ts";
import * as mediaStore from "../store.ts";
import type { MediaContext } from "../context.ts";

const keptSeconds = 24 * 3600;
const renewMs = 20_000;
const maxOpen = 100;
const swept = 500;

export interface Progress {
  readonly row: UploadRow;
  readonly offset: number;
}

interface UploadResult {
  /** Of the file that it has become. */
  readonly mediaId: string | null;
  /** What was changed in it. */
  readonly hints: readonly string[];
}

export async function find(ctx: MediaContext, caller: Caller, id: string): Promise<UploadRow> {
  const row = await uploadStore.find(ctx.sql, ownerOf(caller), id);
  if (!row) throw notFound("there is no such upload, or it has expired");
  return row;
}

export async function append(ctx: MediaContext, caller: Caller, given: Appended): Promise<Progress & UploadResult> {
  const { id, offset, body } = given;
  return alone(ctx, await find(ctx, caller, id), async (row) => {
    if (row.mediaId !== null) {
      if (offset !== row.size) throw misplaced(row.size);
      return { row, offset: row.size, mediaId: row.mediaId, hints: [] };
    }
    const part = await ctx.contents.resume(id);
    try {
      if (part.size() !== offset) throw misplaced(part.size());
      await write(part, body, { most: row.size, stopping: ctx.stopping });
    } finally {
      await part.close();
    }
    const now = part.size();
    return {
      row,
      offset: now,
      ...(now === row.size ? await complete(ctx, caller, row, part) : { mediaId: null, hints: [] }),
    };
  });
}

/** 413 for a file that will not fit, 429 for too many at once, 422 for what it cannot be called. */
export async function start(
  ctx: MediaContext,
  caller: Caller,
  size: number,
  metadata: Readonly<Record<string, string>>,
): Promise<UploadRow> {
  if (size > ctx.maxBytes) throw tooLarge(ctx.maxBytes);
  const { filename, filetype: _, name = filename, ...form } = metadata;
  const given = patchOf({ ...form, ...(name !== undefined && { name }) });
  const { name: checked } = fieldsOf(blank, given);
  await writer.mustFit(ctx, caller.account.id, size);
  const { accountId, userId } = ownerOf(caller);
  const row = await ctx.transaction(async (tx) => {
    const used = await mediaStore.bytesOf(tx, accountId);
    const open = await uploadStore.open(tx, accountId);
    if (open.count >= maxOpen) throw tooMany(60);
    if (used + open.bytes + size > ctx.quota) throw tooLarge(ctx.quota);
    return uploadStore.insert(
      tx,
      { id: uuidv7(), accountId, userId, size, fields: { ...given, name: checked } },
      keptSeconds,
    );
  });
  if (!row) throw new Error("an insert returns its row");
  return row;
}

export async function progress(ctx: MediaContext, caller: Caller, id: string): Promise<Progress> {
  const row = await find(ctx, caller, id);
  if (row.mediaId !== null) return { row, offset: row.size };
  const part = await ctx.contents.resume(id);
  await part.close();
  return { row, offset: part.size() };
}

export async function end(ctx: MediaContext, caller: Caller, id: string): Promise<void> {
  await alone(ctx, await find(ctx, caller, id), async (row) => {
    await uploadStore.remove(ctx.sql, row);
    await (await ctx.contents.resume(id)).drop();
  });
}

export async function prune(ctx: MediaContext): Promise<void> {
  for (
    let ids = await uploadStore.expired(ctx.sql, swept);
    ids.length > 0;
    ids = await uploadStore.expired(ctx.sql, swept)
  )
    for (const id of ids) await (await ctx.contents.resume(id)).drop();
}

function ownerOf({ account, user }: Caller) {
  return { accountId: account.id, userId: user.id };
}

/** From a process that died while it wrote. */
async function takeOver(ctx: MediaContext, upload: Upload, by: Writer): Promise<UploadRow | undefined> {
  const dead = await uploadStore.writingProcess(ctx.sql, upload);
  if (dead === undefined || (await ctx.peers.isAlive(dead))) return undefined;
  return uploadStore.take(ctx.sql, upload, { ...by, dead });
}

/** Runs `work` as the only writer. 423 while somebody else writes. */
async function alone<T>(ctx: MediaContext, upload: Upload, work: (row: UploadRow) => Promise<T>): Promise<T> {
  const by = { id: crypto.randomUUID(), process: ctx.peers.id };
  const row = (await uploadStore.take(ctx.sql, upload, by)) ?? (await takeOver(ctx, upload, by));
  if (!row) throw new HttpError(423, { error: "another request writes to this upload" });
  const renewal = setInterval(() => void uploadStore.take(ctx.sql, upload, by).catch(() => {}), renewMs);
  try {
    return await work(row);
  } finally {
    clearInterval(renewal);
    await uploadStore.release(ctx.sql, upload, by.id, keptSeconds);
  }
}

/** Turns what has arrived into a media file. */
async function complete(ctx: MediaContext, caller: Caller, row: UploadRow, part: Part): Promise<UploadResult> {
  const drafts = [await part.finish()];
  const begin = async () => {
    const draft = await ctx.contents.begin();
    drafts.push(draft);
    return draft;
  };
  try {
    const [whole] = drafts;
    if (!whole) throw new Error("a draft was begun");
    const head = new Uint8Array(await whole.content.slice(0, headerBytes).arrayBuffer());
    const arrived = await arrivedFile(whole, head, row.fields.name, begin);
    const made = await writer.create(ctx, caller, arrived, row.fields);
    await uploadStore.became(ctx.sql, row, made.row.id);
    return { mediaId: made.row.id, hints: arrived.hints };
  } catch (error) {
    // What cannot be stored is refused for good; a server that cannot store it now is asked again.
    if (error instanceof HttpError && error.status < 500) await uploadStore.remove(ctx.sql, row);
    else drafts.splice(0, 1);
    throw error;
  } finally {
    for (const draft of drafts) await draft.drop();
  }
}

export interface Appended {
  readonly id: string;
  readonly offset: number;
  readonly body: ReadableStream<Uint8Array> | null;
}

interface Limits {
  readonly most: number;
  readonly stopping: AbortSignal;
}

/** What arrived before a connection broke stays. 413 for more than the upload was to have: then nothing of it stays. */
async function write(part: Part, body: Appended["body"], { most, stopping }: Limits): Promise<void> {
  const before = part.size();
  const reader = body?.getReader();
  // Nobody waits for the rest of a refused body.
  const drop = () => void reader?.cancel().catch(() => {});
  // A client that sends slowly must not hold up the end of the server.
  stopping.addEventListener("abort", drop);
  try {
    for (;;) {
      const next = stopping.aborted ? undefined : await reader?.read().catch(() => undefined);
      if (stopping.aborted) throw unavailable("the server is stopping, go on in a moment");
      if (!next?.value) return;
      if (part.size() + next.value.length > most) {
        await part.cut(before);
        throw tooLarge(most - before);
      }
      await part.write(next.value);
    }
  } finally {
    stopping.removeEventListener("abort", drop);
    drop();
  }
}

function misplaced(offset: number): HttpError {
  return new HttpError(409, { error: `the upload goes on at byte ${offset}` }, { "upload-offset": `${offset}` });
}
