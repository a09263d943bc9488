/**
 * A bucket of an S3-compatible server. Every request is signed with the hash of its body, which the server compares, and
 * goes through the guarded fetch, to which the operator's endpoint is allowed.
 *
 *     const bucket = bucketAt({ endpoint, address: "path", bucket: "backups", credentials, fetch });
 *     await bucket.put("a.txt", bytes);
 *     for await (const bytes of bucket.read("a.txt")) …
 */
import type { Fetch, OutboundResponse } from "../../outbound/outbound.ts";
import { retrying, S3Fault, faultOf, type Retrying } from "./retry.ts";
import { encodeKey, queryText, signed, type Credentials } from "./sign.ts";
import { elements, textOf } from "./xml.ts";

export interface BucketOptions extends Retrying {
  /** Scheme, host and port. */
  readonly endpoint: string;
  readonly address: "path" | "host";
  readonly bucket: string;
  readonly credentials: Credentials;
  readonly fetch: Fetch;
  readonly clock?: () => Date;
  /** What `write` sends at once. */
  readonly partBytes?: number;
  /** The size of one request of `read`; default: the same. */
  readonly readBytes?: number;
}

type Bytes = Uint8Array<ArrayBuffer>;

export interface StoredObject {
  readonly key: string;
  readonly bytes: number;
}

export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

interface Upload {
  readonly key: string;
  readonly id: string;
}

export interface Bucket {
  put(key: string, content: Bytes): Promise<void>;
  /** Of any length, with two parts in memory at most. When it resolves, all is there; if it rejects, nothing is. */
  write(key: string, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** In parts, each of the same version of the object; `to`: before which byte it ends. */
  read(key: string, range?: ByteRange): AsyncGenerator<Uint8Array>;
  /** Undefined if there is no such object. */
  head(key: string): Promise<{ readonly bytes: number; readonly etag: string } | undefined>;
  list(prefix: string): AsyncGenerator<StoredObject>;
  remove(key: string): Promise<void>;
  /** Uploads that nobody has completed: they cost money until they are aborted. */
  unfinished(prefix: string): AsyncGenerator<Upload>;
  abort(upload: Upload): Promise<void>;
}

/** Servers want at least 5 MiB, and at most 10,000 parts of one size: 156 GiB. */
const standardPartBytes = 16 * 1024 * 1024;
const mostParts = 10_000;
const timeoutMs = 300_000;
const maxAnswerBytes = 10_000_000;
const nothing: Bytes = new Uint8Array();

interface Call {
  readonly method: string;
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Bytes;
  readonly maxBytes?: number;
}

type Send = (call: Call) => Promise<OutboundResponse>;

export function bucketAt(options: BucketOptions): Bucket {
  const { partBytes = standardPartBytes, readBytes = partBytes } = options;
  const send = createSend(options);
  const put = async (key: string, body: Bytes) => void (await send({ method: "PUT", key, body }));
  const head: Bucket["head"] = async (key) => {
    const answer = await send({ method: "HEAD", key }).catch(ifMissing);
    if (!answer) return undefined;
    return { bytes: Number(answer.headers.get("content-length") ?? Number.NaN), etag: etagOf(answer) };
  };
  const uploads = createUploads(send, head);
  return {
    put,
    head,
    read: (key, range = { from: 0, to: Number.POSITIVE_INFINITY }) => readParts(send, key, readBytes, range),
    async write(key, chunks) {
      const parts = inParts(chunks, partBytes);
      try {
        const first = (await parts.next()).value ?? nothing;
        const second = await parts.next();
        await (second.done ? put(key, first) : uploads.write(key, following([first, second.value], parts)));
      } finally {
        // An upload that could not begin has read nothing, and the source waits.
        await parts.return(undefined);
      }
    },
    async *list(prefix) {
      for await (const page of pages(
        send,
        { "list-type": "2", prefix },
        ["continuation-token"],
        ["NextContinuationToken"],
      ))
        for (const one of elements(page, "Contents"))
          yield { key: textOf(one, "Key") ?? "", bytes: Number(textOf(one, "Size")) };
    },
    remove: async (key) => void (await send({ method: "DELETE", key }).catch(ifMissing)),
    async *unfinished(prefix) {
      const markers = ["NextKeyMarker", "NextUploadIdMarker"];
      for await (const page of pages(send, { uploads: "", prefix }, ["key-marker", "upload-id-marker"], markers))
        for (const one of elements(page, "Upload"))
          yield { key: textOf(one, "Key") ?? "", id: textOf(one, "UploadId") ?? "" };
    },
    abort: uploads.abort,
  };
}

function createSend(options: BucketOptions): Send {
  const { credentials, fetch, clock = () => new Date() } = options;
  const endpoint = new URL(options.endpoint);
  const isInHost = options.address === "host";
  const host = isInHost ? `${options.bucket}.${endpoint.host}` : endpoint.host;
  return ({ method, key, query = {}, headers = {}, body = nothing, maxBytes = maxAnswerBytes }) => {
    const path = `${isInHost ? "" : `/${encodeKey(options.bucket)}`}/${key === undefined ? "" : encodeKey(key)}`;
    const search = queryText(query);
    const url = `${endpoint.protocol}//${host}${path}${search && `?${search}`}`;
    return retrying(options, async () => {
      const withSignature = signed({ method, host, path, query, headers, body, at: clock() }, credentials);
      const answer = await fetch(url, {
        method,
        headers: withSignature,
        ...(method === "PUT" || method === "POST" ? { body } : {}),
        timeoutMs,
        maxBytes,
      });
      const fault = faultOf(answer, `${method} ${key ?? options.bucket}`);
      if (fault) throw fault;
      return answer;
    });
  };
}

function createUploads(send: Send, head: Bucket["head"]) {
  const begin = async (key: string): Promise<Upload> => {
    const id = textOf((await send({ method: "POST", key, query: { uploads: "" } })).text(), "UploadId");
    if (id === undefined) throw new S3Fault("the server began an upload without an UploadId", { isPassing: false });
    return { key, id };
  };
  const abort: Bucket["abort"] = async ({ key, id }) =>
    void (await send({ method: "DELETE", key, query: { uploadId: id } }).catch(ifMissing));
  const sendParts = async ({ key, id }: Upload, parts: AsyncIterable<Bytes>) => {
    const etags: string[] = [];
    let bytes = 0;
    for await (const body of parts) {
      if (etags.length === mostParts)
        throw new S3Fault(`${key} has more than ${mostParts} parts`, { isPassing: false });
      const query = { partNumber: `${etags.length + 1}`, uploadId: id };
      etags.push(etagOf(await send({ method: "PUT", key, query, body })));
      bytes += body.length;
    }
    return { etags, bytes };
  };
  const complete = async ({ key, id }: Upload, etags: readonly string[], bytes: number): Promise<void> => {
    const lines = etags.map((etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
    const body = Buffer.from(`<CompleteMultipartUpload>${lines.join("")}</CompleteMultipartUpload>`);
    try {
      await send({ method: "POST", key, query: { uploadId: id }, body });
    } catch (error) {
      // The first attempt may have completed it, though its answer was lost.
      const isGone = error instanceof S3Fault && error.status === 404;
      if (!isGone || (await head(key))?.bytes !== bytes) throw error;
    }
  };
  return {
    abort,
    async write(key: string, parts: AsyncIterable<Bytes>): Promise<void> {
      const upload = await begin(key);
      try {
        const { etags, bytes } = await sendParts(upload, parts);
        await complete(upload, etags, bytes);
      } catch (error) {
        // If the server is down, what is left is aborted before the next backup.
        await abort(upload).catch(() => {});
        throw error;
      }
    },
  };
}

/** Each page of a list, by the markers that one answer names for the next request. */
async function* pages(
  send: Send,
  query: Readonly<Record<string, string>>,
  parameters: readonly string[],
  markers: readonly string[],
): AsyncGenerator<string> {
  let next: Readonly<Record<string, string>> = {};
  for (;;) {
    const xml = (await send({ method: "GET", query: { ...query, ...next } })).text();
    yield xml;
    if (textOf(xml, "IsTruncated") !== "true") return;
    const after = markers.map((marker) => textOf(xml, marker) ?? "");
    if (after[0] === "") throw new S3Fault("the server does not say where its list goes on", { isPassing: false });
    next = Object.fromEntries(parameters.map((name, at) => [name, after[at] ?? ""]));
  }
}

/** By ranges, so that a lost connection costs one part, and memory stays flat. */
async function* readParts(send: Send, key: string, size: number, { from, to }: ByteRange): AsyncGenerator<Uint8Array> {
  let etag = "";
  for (let at = from, end = to; at < end;) {
    const range = `bytes=${at}-${Math.min(at + size, end) - 1}`;
    const headers = { range, ...(etag && { "if-match": etag }) };
    const answer = await send({ method: "GET", key, headers, maxBytes: size }).catch(ifEmpty);
    if (!answer) return;
    if (answer.status !== 206) throw new S3Fault("the server knows no ranges", { isPassing: false });
    if (answer.body.length === 0) throw new S3Fault(`${key} ended too early`, { isPassing: false });
    etag ||= etagOf(answer);
    end = Math.min(end, totalOf(answer));
    at += answer.body.length;
    yield answer.body;
  }
}

/** `Content-Range: bytes 0-15/16` */
function totalOf({ headers }: OutboundResponse): number {
  const total = Number(headers.get("content-range")?.split("/")[1]);
  if (!Number.isSafeInteger(total))
    throw new S3Fault("the server does not say how long the object is", { isPassing: false });
  return total;
}

function etagOf({ headers }: OutboundResponse): string {
  const etag = headers.get("etag");
  if (!etag) throw new S3Fault("the server answered without an ETag", { isPassing: false });
  return etag;
}

function ifMissing(error: unknown): undefined {
  if (!(error instanceof S3Fault) || error.status !== 404) throw error;
}

/** An object of no bytes has no range. */
function ifEmpty(error: unknown): undefined {
  if (!(error instanceof S3Fault) || error.status !== 416) throw error;
}

/** All of one size, but for the last. Each is overwritten by the one after the next. */
async function* inParts(chunks: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Bytes, undefined> {
  const spare: Bytes[] = [];
  let part: Bytes = new Uint8Array(size);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      if (filled === size) {
        yield part;
        spare.push(part);
        part = (spare.length > 1 ? spare.shift() : undefined) ?? new Uint8Array(size);
        filled = 0;
      }
      const taken = chunk.subarray(at, at + size - filled);
      part.set(taken, filled);
      filled += taken.length;
      at += taken.length;
    }
  }
  yield part.subarray(0, filled);
  return undefined;
}

async function* following(first: readonly Bytes[], rest: AsyncIterable<Bytes>): AsyncGenerator<Bytes> {
  yield* first;
  yield* rest;
}
