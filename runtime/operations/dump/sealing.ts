/**
 * Sealed backups: AES-256-GCM in chunks, so that memory stays flat and nothing unauthenticated is ever passed on.
 *
 *     CORESEAL, version (1 byte), salt (16), check (16), then chunks of 64 KiB, each with its tag (16)
 *
 * Key and check come from BACKUP_KEY and the salt, by scrypt. A chunk's nonce is its position and whether it is the
 * last, so a chunk that is cut off, swapped, repeated or taken from another backup is found. The header is
 * authenticated with every chunk.
 *
 * Version 2 is of files of a series, which would pay scrypt for each: they share a salt, and the header ends with a salt
 * of the file's own (16), by which HKDF makes its key.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, scrypt, timingSafeEqual } from "node:crypto";

type Chunks = AsyncIterable<Uint8Array>;

const magic = Buffer.from("CORESEAL");
const [single, ofSeries] = [1, 2];
const saltBytes = 16;
const checkBytes = 16;
const tagBytes = 16;
const headerBytes = magic.length + 1 + saltBytes + checkBytes;
const chunkBytes = 64 * 1024;
/** 32 MB and a tenth of a second for each guess. */
const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

/** What the reader of a sealed backup can mend: the key, or the file. */
export class SealFault extends Error {}

/** `key`: BACKUP_KEY. */
export async function* sealed(chunks: Chunks, key: string): AsyncGenerator<Uint8Array> {
  const salt = randomBytes(saltBytes);
  const { cipherKey, check } = await keysOf(key, salt);
  const header = Buffer.concat([magic, Buffer.of(single), salt, check]);
  yield header;
  yield* sealedChunks(chunks, cipherKey, header);
}

const seriesSalt = randomBytes(saltBytes);

/** The same for the many files of a series. */
export async function* sealedOfSeries(chunks: Chunks, key: string): AsyncGenerator<Uint8Array> {
  const own = randomBytes(saltBytes);
  const { cipherKey, check } = await seriesKeysOf(key, seriesSalt);
  const header = Buffer.concat([magic, Buffer.of(ofSeries), seriesSalt, check, own]);
  yield header;
  yield* sealedChunks(chunks, ownKey(cipherKey, own), header);
}

/** The bytes that were sealed; those of a backup that is not sealed unchanged. */
export async function* unsealed(chunks: Chunks, key: string): AsyncGenerator<Uint8Array> {
  const source = chunks[Symbol.asyncIterator]();
  let begin: Buffer = Buffer.alloc(0);
  while (begin.length < headerBytes + saltBytes) {
    const next = await source.next();
    if (next.done) break;
    begin = Buffer.concat([begin, next.value]);
  }
  const rest = following(begin, source);
  if (begin.subarray(0, magic.length).equals(magic)) {
    const length = begin[magic.length] === ofSeries ? headerBytes + saltBytes : headerBytes;
    const header = begin.subarray(0, length);
    yield* unsealedChunks(rest(length), await cipherKeyFor(header, key), header);
  } else {
    yield* rest(0);
  }
}

function following(begin: Buffer, source: AsyncIterator<Uint8Array>) {
  return async function* (from: number): AsyncGenerator<Uint8Array> {
    yield begin.subarray(from);
    for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
  };
}

async function cipherKeyFor(header: Buffer, key: string): Promise<Buffer> {
  if (header.length < headerBytes) throw new SealFault("it ends too early");
  const made = header[magic.length];
  if (made !== single && made !== ofSeries)
    throw new SealFault(`it is sealed by version ${made} of the format, and this one reads 1 and 2 only`);
  if (key === "") throw new SealFault("it is sealed: set BACKUP_KEY to the key that it was made with");
  const saltFrom = magic.length + 1;
  const salt = header.subarray(saltFrom, saltFrom + saltBytes);
  const { cipherKey, check } = await (made === ofSeries ? seriesKeysOf : keysOf)(key, salt);
  if (!timingSafeEqual(check, header.subarray(saltFrom + saltBytes, headerBytes)))
    throw new SealFault("BACKUP_KEY is not the key that it was made with");
  return made === ofSeries ? ownKey(cipherKey, header.subarray(headerBytes)) : cipherKey;
}

function ownKey(seriesKey: Uint8Array, own: Uint8Array): Buffer {
  return Buffer.from(hkdfSync("sha256", seriesKey, own, "corestead", 32));
}

interface Keys {
  readonly cipherKey: Buffer;
  readonly check: Buffer;
}
let latest: { readonly key: string; readonly salt: string; readonly keys: Promise<Keys> } | undefined;

/** Keeps the keys of the latest series: the next file is of the same. */
function seriesKeysOf(key: string, salt: Uint8Array): Promise<Keys> {
  const text = Buffer.from(salt).toString("hex");
  if (latest?.key !== key || latest.salt !== text) latest = { key, salt: text, keys: keysOf(key, salt) };
  return latest.keys;
}

async function keysOf(key: string, salt: Uint8Array): Promise<Keys> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  scrypt(key, salt, 32 + checkBytes, cost, (error, made) => (error ? reject(error) : resolve(made)));
  const bytes = await promise;
  return { cipherKey: bytes.subarray(0, 32), check: bytes.subarray(32) };
}

/** Exported for tests, which cannot pay scrypt for each case. */
export async function* sealedChunks(chunks: Chunks, key: Uint8Array, header: Uint8Array): AsyncGenerator<Uint8Array> {
  let position = 0;
  for await (const { bytes, isLast } of pieces(chunks, chunkBytes)) {
    const cipher = createCipheriv("aes-256-gcm", key, nonceOf(position++, isLast)).setAAD(header);
    yield Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }
}

export async function* unsealedChunks(chunks: Chunks, key: Uint8Array, header: Uint8Array): AsyncGenerator<Uint8Array> {
  let position = 0;
  for await (const { bytes, isLast } of pieces(chunks, chunkBytes + tagBytes)) {
    if (bytes.length < tagBytes) throw new SealFault("it ends too early");
    const decipher = createDecipheriv("aes-256-gcm", key, nonceOf(position++, isLast), { authTagLength: tagBytes });
    decipher.setAAD(header).setAuthTag(bytes.subarray(-tagBytes));
    const content = decipher.update(bytes.subarray(0, -tagBytes));
    try {
      decipher.final();
    } catch (cause) {
      throw new SealFault("it was changed or cut off after it was made", { cause });
    }
    yield content;
  }
}

/** A key seals one backup only, so positions never repeat under it. */
function nonceOf(position: number, isLast: boolean): Uint8Array {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(position, 5, 6);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

/** All of one size, but for the last. */
async function* pieces(chunks: Chunks, size: number): AsyncGenerator<{ bytes: Buffer; isLast: boolean }> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    for (; rest.length > size; rest = rest.subarray(size)) yield { bytes: rest.subarray(0, size), isLast: false };
  }
  yield { bytes: rest, isLast: true };
}
