/**
 * Reads the body of an answer. We decompress it ourselves, so that a small compressed answer cannot become a huge one.
 */
import { Readable, type Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";

/** The body has more than the allowed bytes. */
export class TooLarge extends Error {}

export interface Body {
  bytes: Uint8Array;
  truncated: boolean;
}

interface ReadOptions {
  readonly overflow?: "fail" | "truncate" | undefined;
  readonly onPart?: ((part: Uint8Array) => void) | undefined;
}

const unpackers: Record<string, () => Transform> = {
  gzip: () => createGunzip(),
  "x-gzip": () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
  zstd: () => createZstdDecompress(),
};
// Each decompressed piece stays small, whatever the compression ratio.
const pieceBytes = 16_384;
// Compressed data may be slightly longer than its content. This stops endless compressed nothing.
const packedSlackBytes = 1_000_000;

/** Reads up to `maxBytes`. A longer body throws TooLarge or is cut off; the rest is never read. */
export async function readBody(
  response: Response,
  maxBytes: number,
  { overflow = "fail", onPart }: ReadOptions = {},
): Promise<Body> {
  const source = packed(response, maxBytes + packedSlackBytes);
  const unpack = unpackers[response.headers.get("content-encoding")?.trim().toLowerCase() ?? ""];
  const parts: Uint8Array[] = [];
  let left = maxBytes;
  try {
    for await (const part of unpack ? unpacked(source, unpack()) : source) {
      parts.push(part.subarray(0, left));
      if (left > 0) onPart?.(part.subarray(0, left));
      left -= part.length;
      if (left < 0) throw new TooLarge(`the answer has more than ${maxBytes} bytes`);
    }
  } catch (error) {
    if (overflow === "truncate" && error instanceof TooLarge) return { bytes: join(parts), truncated: true };
    throw error;
  }
  return { bytes: join(parts), truncated: false };
}

/** The body as received, in small pieces. */
async function* packed(response: Response, maxBytes: number): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (!reader) return;
  let total = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      // Passes on one piece beyond the limit, for the reader to cut.
      if (total > maxBytes) throw new TooLarge(`the answer has more than ${maxBytes} bytes`);
      total += value.length;
      for (let at = 0; at < value.length; at += pieceBytes) yield value.subarray(at, at + pieceBytes);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

async function* unpacked(source: AsyncIterable<Uint8Array>, unpacker: Transform): AsyncGenerator<Uint8Array> {
  const done = pipeline(Readable.from(source), unpacker);
  // The loop below throws the same error and handles it.
  done.catch(() => {});
  for await (const part of unpacker) if (part instanceof Uint8Array) yield part;
  await done;
}

function join(parts: Uint8Array[]): Uint8Array {
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
}

/** The text, by the charset that `content-type` names: UTF-8 if it names none, or one that is unknown here. */
export function textOf(bytes: Uint8Array, contentType: string | null): string {
  const label = /;\s{0,9}charset\s{0,9}=\s{0,9}"?([\w.:-]{1,40})/i.exec(contentType ?? "")?.[1] ?? "utf-8";
  return decoderOf(label).decode(bytes);
}

function decoderOf(label: string): TextDecoder {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}
