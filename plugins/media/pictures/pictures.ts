/** Pictures in other sizes: made once in a guarded process, then kept in a cache that is bounded by size. */
import { ChildFault, createTurnsByKey, invalid, unavailable } from "platform";
import type { HttpError, BaseContext, Child, Content, Files } from "platform";
import type { MediaRow } from "../store.ts";
import type { Answer } from "./resize.ts";
import { whyNot, type Variant } from "./variants.ts";
import * as mediaStore from "../store.ts";
import type { MediaContext } from "../context.ts";

interface Options {
  readonly child: Child;
  /** Files of variants; a missing one is made again. */
  readonly cacheFiles: Files;
  readonly maxBytes: number;
  /** Called for a picture that cannot be decoded: nobody is told of other sizes again. */
  readonly refused: (source: MediaRow) => Promise<void>;
}

export interface MadePicture {
  readonly content: string;
  readonly size: number;
  readonly bytes: Content | Blob;
}

/** The pictures asked for last are kept in memory: together so many bytes, none of them larger than that. */
const memory = { all: 16_000_000, one: 500_000 } as const;

const maxWaiting = 50;
/** One that has waited longer is refused: clients and proxies do not wait much longer than a minute. */
const maxWaitMs = 20_000;
/** How often it is noted that a variant is in use. */
const usedEveryMs = 3_600_000;

export function createPictures(
  ctx: Pick<MediaContext, "cache" | "contents" | "sql">,
  { child, cacheFiles, maxBytes, refused }: Options,
) {
  const rows = ctx.cache({
    name: "media.variants",
    max: 20_000,
    load: async (key) => {
      const [hash = "", variant = ""] = key.split("/");
      const row = await mediaStore.findVariant(ctx.sql, hash, variant);
      return row && { ...row, notedAt: Date.now() };
    },
  });
  const turns = createTurnsByKey<string>();
  const making = new Map<string, Promise<MadePicture>>();

  const lately = createLately();

  const kept = async (key: string): Promise<MadePicture | undefined> => {
    const row = rows.peek(key) ?? (await rows.get(key));
    const inMemory = row && lately.get(row.content);
    if (row && inMemory && Date.now() - row.notedAt <= usedEveryMs)
      return { content: row.content, size: row.size, bytes: inMemory };
    const bytes = row && (await cacheFiles.find(row.content));
    if (!row || !bytes) return undefined;
    if (row.size <= memory.one) lately.add(row.content, new Blob([await bytes.bytes()]));
    if (Date.now() - row.notedAt > usedEveryMs) {
      row.notedAt = Date.now();
      await mediaStore.variantUsed(ctx.sql, row.hash, row.variant);
    }
    return { content: row.content, size: row.size, bytes };
  };

  const make = async (source: MediaRow, { width, format }: Variant, key: string): Promise<MadePicture> => {
    const found = await ctx.contents.find(source.hash);
    if (!found) throw new Error(`the content of media file ${source.id} is missing`);
    const encoded = (await found.bytes()).toBase64();
    const answer = await child.run({ source: encoded, width, format }).catch(told);
    const made = answer as Answer; // the child's own type
    if ("failure" in made) {
      if (lackOfMemory.test(made.failure)) throw noMemory();
      await refused(source);
      throw invalid({ base: [`the picture cannot be decoded: ${made.failure}`] });
    }
    const draft = await cacheFiles.begin();
    try {
      await draft.write(Uint8Array.fromBase64(made.bytes));
      const { hash: content, size } = await draft.end();
      await draft.keep();
      await mediaStore.putVariant(ctx.sql, source.hash, `${width}.${format}`, content, size);
      await rows.invalidate(key);
      const bytes = await cacheFiles.find(content);
      if (!bytes) throw new Error("a picture that was just made is missing");
      return { content, size, bytes };
    } finally {
      await draft.drop();
    }
  };

  return {
    /** 422 for what cannot be resized, 503 if too many wait or the machine is too busy. */
    async get(source: MediaRow, variant: Variant): Promise<MadePicture> {
      const why = whyNot(source);
      if (why !== undefined) throw invalid({ base: [`the file ${why}`] });
      const key = `${source.hash}/${variant.width}.${variant.format}`;
      const ready = await kept(key);
      if (ready) return ready;
      const underWay = making.get(key);
      if (underWay) return underWay;
      if (making.size >= maxWaiting) throw unavailable("many pictures are being made, try again");
      // One after the other: each may need much memory.
      const by = Date.now() + maxWaitMs;
      const made = turns
        .run("make", async () => {
          if (Date.now() > by) throw unavailable("many pictures are being made, try again");
          return make(source, variant, key);
        })
        .finally(() => making.delete(key));
      making.set(key, made);
      return made;
    },

    /** Removes what was not used for the longest, until the cache fits. */
    async trim(bytes = maxBytes): Promise<void> {
      for (const content of await mediaStore.trimVariants(ctx.sql, bytes)) await cacheFiles.remove(content);
    },
  };
}

/** The guarded process that decodes pictures. */
export function resizing(ctx: Pick<BaseContext, "child">): Child {
  return ctx.child("resize", {
    processes: 1,
    timeLimitMs: 20_000,
    memoryBytes: 1_800_000_000,
    programs: { SHARP_FOLDER: "sharp" },
    // All but the picture's points is small, and address space that is reserved for more would count as data.
    env: { BUN_JSC_forceRAMSize: "100000000", MIMALLOC_ARENA_EAGER_COMMIT: "0" },
    idleMs: 30_000,
  });
}

export type Pictures = ReturnType<typeof createPictures>;

/** By the hash of their content, which never changes. Blobs, because an answer would copy the bytes of an array. */
function createLately() {
  const all = new Map<string, Blob>();
  let held = 0;
  return {
    get(hash: string): Blob | undefined {
      const found = all.get(hash);
      if (!found) return undefined;
      // The map's order is that of use.
      all.delete(hash);
      all.set(hash, found);
      return found;
    },
    add(hash: string, picture: Blob): void {
      if (all.has(hash)) return;
      all.set(hash, picture);
      held += picture.size;
      for (const [oldest, { size }] of all) {
        if (held <= memory.all) return;
        all.delete(oldest);
        held -= size;
      }
    },
  };
}

/**
 * What says that it was no fault of the picture. What ends a process by SIGKILL, and is not us, is the system where
 * memory runs out; allocators abort, or what they did not give is used; and an encoder, whose points are sound, fails for want of memory or threads.
 */
const lackOfMemory = /SIGKILL|SIGABRT|SIGTRAP|SIGSEGV|SIGBUS|memory|alloc|encoder|thread/i;

function noMemory(): HttpError {
  return unavailable("the server has too little memory to make the picture now, try again or choose a smaller size");
}

function told(error: unknown): never {
  if (!(error instanceof ChildFault)) throw error;
  if (error.reason === "crash" && lackOfMemory.test(error.message)) throw noMemory();
  if (error.reason === "busy" || error.reason === "stopped")
    throw unavailable("the server is too busy to make the picture, try again");
  throw Object.assign(invalid({ base: ["the picture cannot be decoded within the limits of time and memory"] }), {
    cause: error,
  });
}
