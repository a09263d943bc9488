/**
 * The format of a backup: one zstd stream of frames, each a letter, a length and that many bytes. A key seals the
 * whole stream (sealing.ts).
 *
 *     H  the header, JSON: what the database was      T  a table begins, JSON: its name
 *     F  a file begins, JSON (backup-files.ts)        D  rows of it, in COPY's text format; or bytes of the file
 *     Z  the end: SHA-256 of all bytes before it      E  it ends, JSON: how many rows it had
 *
 * The writer holds at most one frame in memory, and the reader never a whole frame of rows.
 */
import { createHash } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { sealed, SealFault, unsealed } from "./sealing.ts";
import { createReadStream } from "node:fs";
import { pipeline as startPipeline, Readable } from "node:stream";
import { constants, createZstdCompress, createZstdDecompress } from "node:zlib";

/** The second has files after the tables. */
const formats = [1, 2] as const;

/** The header of a backup. */
export const Header = Type.Object({
  format: Type.Union(formats.map((format) => Type.Literal(format))),
  application: Type.String(),
  createdAt: Type.String(),
  migrations: Type.Array(Type.Object({ plugin: Type.String(), name: Type.String(), checksum: Type.String() })),
  tables: Type.Array(
    Type.Object({ name: Type.String(), columns: Type.Array(Type.String()), unlogged: Type.Optional(Type.Boolean()) }),
  ),
  sequences: Type.Array(Type.Object({ name: Type.String(), lastValue: Type.String(), isCalled: Type.Boolean() })),
});
export type Header = Static<typeof Header>;

const letters = ["H", "T", "F", "D", "E", "Z"] as const;
type Letter = (typeof letters)[number];
export interface Frame {
  letter: Letter;
  bytes: Uint8Array;
}

const prefixBytes = 5;
const maxFrameBytes = 0x7fff_ffff;
/**
 * Frames other than rows are held whole. Ours have a few kilobytes, but a small malicious file may unpack to gigabytes.
 */
const maxOtherBytes = 4_000_000;

export function jsonFrame(letter: Letter, value: unknown): Frame {
  return { letter, bytes: Buffer.from(JSON.stringify(value)) };
}

type Chunks = AsyncIterable<Uint8Array>;

/** A file's path, or bytes from elsewhere. Each call of `read` begins again. */
export type BackupSource = string | { readonly name: string; readonly read: () => Chunks };

interface PackOptions {
  readonly seal?: (chunks: Chunks, key: string) => Chunks;
  /** Of zstd; default: 3. */
  readonly level?: number;
}

/** The bytes of a backup; `key` seals them. */
export function packed(
  frames: AsyncIterable<Frame>,
  key: string,
  { seal = sealed, level = 3 }: PackOptions = {},
): Chunks {
  // By the usual 16 KiB at once it takes a third longer.
  const compressed = createZstdCompress({
    chunkSize: 256 * 1024,
    params: { [constants.ZSTD_c_compressionLevel]: level },
  });
  startPipeline(encode(frames), compressed, () => {}); // whoever reads `compressed` gets the error
  return key === "" ? compressed : seal(compressed, key);
}

async function* encode(frames: AsyncIterable<Frame>): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  for await (const { letter, bytes } of frames) {
    const prefix = prefixOf(letter, bytes.length);
    hash.update(prefix).update(bytes);
    yield prefix;
    yield bytes;
  }
  const sum = hash.digest();
  yield prefixOf("Z", sum.length);
  yield sum;
}

function prefixOf(letter: Letter, length: number): Uint8Array {
  const prefix = Buffer.alloc(prefixBytes);
  prefix.write(letter, "latin1");
  prefix.writeUInt32BE(length, 1);
  return prefix;
}

/**
 * Reads the frames of a backup. Rows come in pieces as they are unpacked, whatever length their frame claims. Throws
 * where the backup is damaged, or at its end at the latest.
 */
export async function* readFrames(from: BackupSource, key = ""): AsyncGenerator<Frame> {
  const name = typeof from === "string" ? from : from.name;
  const source = typeof from === "string" ? createReadStream(from) : Readable.from(from.read());
  const unpacked = createZstdDecompress();
  const opened = (chunks: Chunks) => unsealed(chunks, key);
  startPipeline(source, opened, unpacked, () => {}); // whoever reads `unpacked` gets the error
  const hash = createHash("sha256");
  let rest: Buffer = Buffer.alloc(0);
  let rowBytes = 0;
  let complete = false;
  try {
    for await (const chunk of unpacked) {
      if (complete) throw new Error("there is data after its end");
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      for (let taken = takeFrame(rest, rowBytes); taken; taken = takeFrame(rest, rowBytes)) {
        if (taken.frame?.letter === "Z") complete = checkEnd(taken.frame.bytes, hash.digest(), rest.length - taken.end);
        if (complete) break;
        hash.update(rest.subarray(0, taken.end));
        if (taken.frame) yield taken.frame;
        rest = rest.subarray(taken.end);
        rowBytes = taken.rowBytes;
      }
    }
    if (!complete) throw new Error("it ends too early");
  } catch (cause) {
    if (cause instanceof SealFault)
      throw new Error(`${name} cannot be read: ${cause.message}; nothing was changed`, { cause });
    if (cause instanceof Error && "syscall" in cause) throw new Error(`${name} cannot be read`, { cause });
    throw new Error(`${name} is not a complete backup: nothing was changed`, { cause });
  } finally {
    source.destroy();
  }
}

interface ParsedFrame {
  /** Undefined at the start of rows. */
  readonly frame?: Frame;
  /** How many bytes were consumed. */
  readonly end: number;
  /** How many bytes of the frame of rows are still to come. */
  readonly rowBytes: number;
}

/** Undefined if more bytes are needed. */
function takeFrame(bytes: Buffer, rowBytes: number): ParsedFrame | undefined {
  if (bytes.length === 0) return undefined;
  if (rowBytes > 0) {
    const end = Math.min(rowBytes, bytes.length);
    return { frame: { letter: "D", bytes: bytes.subarray(0, end) }, end, rowBytes: rowBytes - end };
  }
  if (bytes.length < prefixBytes) return undefined;
  const letter = letters.find((known) => known.charCodeAt(0) === bytes[0]);
  const length = bytes.readUInt32BE(1);
  if (!letter || length > (letter === "D" ? maxFrameBytes : maxOtherBytes))
    throw new Error("the data at this place is not a frame");
  if (letter === "D") return { end: prefixBytes, rowBytes: length };
  const end = prefixBytes + length;
  return bytes.length < end
    ? undefined
    : { frame: { letter, bytes: bytes.subarray(prefixBytes, end) }, end, rowBytes: 0 };
}

function checkEnd(expected: Uint8Array, actual: Uint8Array, bytesAfter: number): true {
  if (!Buffer.from(actual).equals(expected) || bytesAfter > 0) throw new Error("its checksum is wrong");
  return true;
}

/** Reads a header, or throws the reason why this version cannot. */
export function parseHeader({ letter, bytes }: Frame): Header {
  const value: unknown = letter === "H" ? parseJson(bytes) : undefined;
  if (Value.Check(Header, value)) return value;
  if (
    typeof value === "object" &&
    value !== null &&
    "format" in value &&
    !formats.some((format) => format === value.format)
  ) {
    throw new Error(
      `the backup has format ${String(value.format)}, and this version reads ${formats.join(" and ")} only`,
    );
  }
  throw new Error("it is not a backup of Corestead");
}

export function parseJson(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes).toString());
}
