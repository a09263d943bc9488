/** Reads the entries of a ZIP archive, as PKWARE's APPNOTE describes it: no encryption, no parts, no ZIP64. Pure. */
import { FileFault } from "./cells.ts";

export interface Archive {
  readonly has: (name: string) => boolean;
  /** The unpacked bytes of an entry, in pieces. */
  readonly read: (name: string) => AsyncGenerator<Uint8Array>;
}

interface Entry {
  readonly method: number;
  readonly size: number;
  /** The size that the archive says it has unpacked. */
  readonly unpacked: number;
  /** Where its local header begins. */
  readonly at: number;
}

const endMark = 0x06054b50;
const entryMark = 0x02014b50;
const localMark = 0x04034b50;
const endBytes = 22;
const entryBytes = 46;
const localBytes = 30;
const longestComment = 65_535;
const [stored, deflated] = [0, 8];
const encryptedBit = 1;
const mostEntries = 10_000;

/** `mostBytes`: of all entries together when they are unpacked, whatever the archive says of their sizes. */
export function openArchive(bytes: Uint8Array, mostBytes: number): Archive {
  const entries = entriesOf(bytes);
  const said = [...entries.values()].reduce((sum, { unpacked: size }) => sum + size, 0);
  if (said > mostBytes) throw tooMuch(mostBytes);
  let left = mostBytes;
  return {
    has: (name) => entries.has(name),
    async *read(name) {
      const entry = entries.get(name);
      if (!entry) throw damaged();
      for await (const piece of piecesOf(bytes, entry)) {
        left -= piece.length;
        if (left < 0) throw tooMuch(mostBytes);
        yield piece;
      }
    },
  };
}

function entriesOf(bytes: Uint8Array): ReadonlyMap<string, Entry> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = endOf(view);
  const count = Math.min(view.getUint16(end + 10, true), mostEntries);
  const found = new Map<string, Entry>();
  let at = view.getUint32(end + 16, true);
  for (let number = 0; number < count; number++) {
    if (at + entryBytes > bytes.length || view.getUint32(at, true) !== entryMark) throw damaged();
    const flags = view.getUint16(at + 8, true);
    if (flags & encryptedBit) throw new FileFault("is protected by a password: save it without one");
    const nameBytes = view.getUint16(at + 28, true);
    const name = new TextDecoder().decode(bytes.subarray(at + entryBytes, at + entryBytes + nameBytes));
    found.set(name.replaceAll("\\", "/").replace(/^\//, ""), {
      method: view.getUint16(at + 10, true),
      size: view.getUint32(at + 20, true),
      unpacked: view.getUint32(at + 24, true),
      at: view.getUint32(at + 42, true),
    });
    at += entryBytes + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return found;
}

function endOf(view: DataView): number {
  const first = Math.max(0, view.byteLength - endBytes - longestComment);
  for (let at = view.byteLength - endBytes; at >= first; at--) if (view.getUint32(at, true) === endMark) return at;
  throw damaged();
}

async function* piecesOf(bytes: Uint8Array, { method, size, at }: Entry): AsyncGenerator<Uint8Array> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (at + localBytes > bytes.length || view.getUint32(at, true) !== localMark) throw damaged();
  const from = at + localBytes + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
  const packed = bytes.slice(from, from + size);
  if (packed.length !== size || (method !== stored && method !== deflated)) throw damaged();
  if (method === stored) yield packed;
  else yield* inflated(packed);
}

async function* inflated(packed: Uint8Array<ArrayBuffer>): AsyncGenerator<Uint8Array> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read().catch((cause: unknown) => {
        throw Object.assign(damaged(), { cause });
      });
      if (done) return;
      yield value;
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

const tooMuch = (mostBytes: number) => new FileFault(`unpacks to more than ${mostBytes / 1e6} MB`);
const damaged = () => new FileFault("is a damaged workbook: open and save it again");
