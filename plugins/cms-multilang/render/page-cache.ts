/** Finished answers by key, as many as fit into `maxBytes`: those not asked for the longest go first. */
import type { Reply } from "platform";

export interface PageEntry {
  readonly reply: Reply;
  /** Milliseconds since 1970 from which on it is no longer right; Infinity where only a change ends it. */
  readonly expiresAt: number;
}

export interface PageCache {
  get(key: string, now: number): PageEntry | undefined;
  put(key: string, entry: PageEntry): void;
  readonly bytes: number;
}

/** What an entry takes beside its text. */
const overheadBytes = 1000;

export function createPageCache(maxBytes: number): PageCache {
  const entries = new Map<string, PageEntry>();
  let bytes = 0;
  const drop = (key: string, entry: PageEntry) => {
    entries.delete(key);
    bytes -= sizeOf(key, entry);
  };
  return {
    get bytes() {
      return bytes;
    },
    get(key, now) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      if (entry.expiresAt <= now) {
        drop(key, entry);
        return undefined;
      }
      // The order of a Map is that of insertion. While there is room, it does not matter who goes first.
      if (bytes * 2 > maxBytes) {
        entries.delete(key);
        entries.set(key, entry);
      }
      return entry;
    },
    put(key, entry) {
      const old = entries.get(key);
      if (old) drop(key, old);
      const size = sizeOf(key, entry);
      if (size * 4 > maxBytes) return;
      entries.set(key, entry);
      bytes += size;
      for (const [oldest, other] of entries) {
        if (bytes <= maxBytes) break;
        drop(oldest, other);
      }
    },
  };
}

function sizeOf(key: string, { reply }: PageEntry): number {
  // A text of another alphabet takes two bytes a character.
  return overheadBytes + 2 * (key.length + (reply.body?.length ?? 0));
}
