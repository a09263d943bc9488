/** Values by key, as many as fit into `maxBytes`. The least recently used go first. */
export interface ByteCache<V> {
  get(key: string): V | undefined;
  put(key: string, value: V): void;
  delete(key: string): void;
  readonly bytes: number;
}

/** The cost of an entry in addition to its key and the counted part of its value. */
const overheadBytes = 1000;

/** `charsOf` returns the length of a value. A character counts as two bytes, because text outside Latin-1 takes two. */
export function createByteCache<V>(maxBytes: number, charsOf: (value: V) => number): ByteCache<V> {
  const entries = new Map<string, { readonly value: V; readonly size: number }>();
  let bytes = 0;
  const drop = (key: string) => {
    bytes -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  };
  return {
    get bytes() {
      return bytes;
    },
    get(key) {
      const entry = entries.get(key);
      // A Map keeps the order of insertion. While there is room, nothing is dropped, so the order does not matter yet.
      if (entry && bytes * 2 > maxBytes) {
        entries.delete(key);
        entries.set(key, entry);
      }
      return entry?.value;
    },
    put(key, value) {
      drop(key);
      const size = overheadBytes + 2 * (key.length + charsOf(value));
      // A value that would crowd out most others is not kept.
      if (size * 4 > maxBytes) return;
      entries.set(key, { value, size });
      bytes += size;
      for (const oldest of entries.keys()) {
        if (bytes <= maxBytes) break;
        drop(oldest);
      }
    },
    delete: drop,
  };
}
