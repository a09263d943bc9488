/** Values by key, as many as fit into `maxBytes`: those not asked for the longest go first. */
export interface ByteCache<V> {
  get(key: string): V | undefined;
  put(key: string, value: V): void;
  delete(key: string): void;
  readonly bytes: number;
}

/** What an entry takes beside its key and what is counted of its value. */
const overheadBytes = 1000;

/** `charsOf` a value: a character counts as two bytes, which one of another alphabet takes. */
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
      // The order of a Map is that of insertion. While there is room, it does not matter who goes first.
      if (entry && bytes * 2 > maxBytes) {
        entries.delete(key);
        entries.set(key, entry);
      }
      return entry?.value;
    },
    put(key, value) {
      drop(key);
      const size = overheadBytes + 2 * (key.length + charsOf(value));
      // One that leaves no room for others is not worth it.
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
