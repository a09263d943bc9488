/** Writes a ZIP archive as a stream: sizes follow the data, so nothing is held (PKWARE's APPNOTE, without ZIP64). */

export interface Part {
  readonly name: string;
  readonly content: AsyncIterable<string | Uint8Array<ArrayBuffer>>;
}

interface Written {
  readonly name: Uint8Array;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly at: number;
}

const version = 20;
/** The sizes follow the data, and names are UTF-8. */
const flags = 0x0808;
const deflated = 8;
const mostBytes = 0xffff_0000;

export async function* zipped(parts: AsyncIterable<Part>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const written: Written[] = [];
  let at = 0;
  for await (const { name, content } of parts) {
    const bytes = new TextEncoder().encode(name);
    const start = at;
    const head = joined(numbers(4, 0x04034b50), fixed(0, 0, 0, bytes.length), numbers(2, 0), bytes);
    yield head;
    at += head.length;
    const counted = { crc: 0, size: 0 };
    let packed = 0;
    for await (const piece of deflate(content, counted)) {
      packed += piece.length;
      yield piece;
    }
    at += packed;
    if (at > mostBytes || counted.size > mostBytes) throw new Error("a workbook is larger than an archive may be");
    const sizes = numbers(4, 0x08074b50, counted.crc, packed, counted.size);
    yield sizes;
    at += sizes.length;
    written.push({ name: bytes, crc: counted.crc, packed, size: counted.size, at: start });
  }
  const entries = written.map((one) =>
    joined(
      numbers(4, 0x02014b50),
      numbers(2, version),
      fixed(one.crc, one.packed, one.size, one.name.length),
      numbers(2, 0, 0, 0, 0),
      numbers(4, 0, one.at),
      one.name,
    ),
  );
  const list = joined(...entries);
  yield list;
  const count = written.length;
  yield joined(numbers(4, 0x06054b50), numbers(2, 0, 0, count, count), numbers(4, list.length, at), numbers(2, 0));
}

/** What the header of an entry and its line in the list share. */
function fixed(crc: number, packed: number, size: number, nameLength: number): Uint8Array<ArrayBuffer> {
  return joined(
    numbers(2, version, flags, deflated, 0, dayOf1980),
    numbers(4, crc, packed, size),
    numbers(2, nameLength),
  );
}

/** 1980-01-01, the first day that an archive knows. */
const dayOf1980 = 0x21;

async function* deflate(
  content: AsyncIterable<string | Uint8Array<ArrayBuffer>>,
  counted: { crc: number; size: number },
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const { readable, writable } = new CompressionStream("deflate-raw");
  const writer = writable.getWriter();
  const feed = async () => {
    for await (const piece of content) {
      const bytes = typeof piece === "string" ? encoder.encode(piece) : piece;
      counted.crc = crc32(bytes, counted.crc);
      counted.size += bytes.length;
      await writer.write(bytes);
    }
    await writer.close();
  };
  let failure: unknown;
  const fed = feed().catch(async (error: unknown) => {
    failure = error;
    await writer.abort(error).catch(() => {});
  });
  const reader = readable.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read().catch((error: unknown) => {
        throw failure ?? error;
      });
      if (done) break;
      yield new Uint8Array(value);
    }
    await fed;
    if (failure !== undefined) throw failure;
  } finally {
    void reader.cancel().catch(() => {});
  }
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

function crc32(bytes: Uint8Array, before: number): number {
  let crc = ~before;
  for (let at = 0; at < bytes.length; at++) crc = (crc >>> 8) ^ (crcTable[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0);
  return ~crc >>> 0;
}

/** Each in so many bytes, the lowest first. */
function numbers(width: 2 | 4, ...values: readonly number[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(width * values.length);
  const view = new DataView(bytes.buffer);
  for (const [place, value] of values.entries())
    if (width === 2) view.setUint16(2 * place, value, true);
    else view.setUint32(4 * place, value, true);
  return bytes;
}

function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
