/**
 * A strict S3-compatible server in this process, for tests. It checks each signature by a way of its own, compares each
 * body with its signed hash, and keeps to the rules of multipart uploads.
 *
 *     const s3 = startS3({ bucket: "backups" });
 *     s3.answer = ({ method }) => (method === "PUT" ? slowDown() : undefined);
 */
import { createHash, createHmac } from "node:crypto";

export const s3Credentials = {
  region: "eu-test-1",
  accessKey: "AKIDTEST",
  secretKey: "the secret/of+the tests",
} as const;

type Bytes = Uint8Array<ArrayBuffer>;

export interface S3Request {
  readonly method: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: Bytes;
}

export interface S3Double {
  readonly url: string;
  readonly port: number;
  readonly objects: Map<string, Bytes>;
  readonly uploads: Map<string, { readonly key: string; readonly parts: Map<number, Bytes> }>;
  readonly requests: S3Request[];
  /** Whether clients need not sign what a body holds. Ours does. */
  takesUnsigned: boolean;
  /** Before anything else: what is answered instead. */
  answer: ((request: S3Request) => Response | undefined | Promise<Response | undefined>) | undefined;
  /** After the request was carried out. */
  instead: ((request: S3Request, response: Response) => Response) | undefined;
  stop(): Promise<void>;
}

interface Options {
  readonly bucket: string;
  readonly pageSize?: number;
  readonly minPartBytes?: number;
}

class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

export function faultXml(status: number, code: string): Response {
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>&quot;${code}&quot; said the test</Message></Error>`;
  return new Response(xml, { status, headers: { "content-type": "application/xml" } });
}

export function startS3(options: Options): S3Double {
  const double: Omit<S3Double, "url" | "port" | "stop"> = {
    objects: new Map(),
    uploads: new Map(),
    requests: [],
    takesUnsigned: false,
    answer: undefined,
    instead: undefined,
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const url = new URL(request.url);
      const body = await request.bytes();
      const path = keyOf(request.headers.get("host") ?? "", url.pathname, options.bucket);
      const { method, headers } = request;
      const asked = { method, key: path ?? "", query: url.searchParams, headers, body };
      double.requests.push(asked);
      try {
        const early = await double.answer?.(asked);
        if (early) return early;
        verify(request, url, body, new Date(), { ...s3Credentials, takesUnsigned: double.takesUnsigned });
        if (path === undefined) throw new Refusal(404, "NoSuchBucket");
        const response = carryOut(double, asked, options);
        return double.instead?.(asked, response) ?? response;
      } catch (error) {
        if (error instanceof Refusal) return faultXml(error.status, error.code);
        throw error;
      }
    },
  });
  const port = server.port ?? 0;
  return Object.assign(double, { url: `http://127.0.0.1:${port}`, port, stop: () => server.stop(true) });
}

/** The bucket stands before the host or first in the path. Undefined if it is another one. */
function keyOf(host: string, path: string, bucket: string): string | undefined {
  if (host.startsWith(`${bucket}.`)) return decodeURIComponent(path.slice(1));
  if (path === `/${bucket}`) return "";
  return path.startsWith(`/${bucket}/`) ? decodeURIComponent(path.slice(bucket.length + 2)) : undefined;
}

const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");
const hmac = (secret: string | Buffer, text: string) => createHmac("sha256", secret).update(text).digest();

interface Known {
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly takesUnsigned?: boolean;
}

/** Throws what AWS answers if the request is not signed right. */
export function verify(request: Request, url: URL, body: Uint8Array, now: Date, known: Known): void {
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]{1,99})\/(\d{8})\/([\w-]{1,99})\/s3\/aws4_request, ?SignedHeaders=([a-z\d;-]{1,999}), ?Signature=([\da-f]{64})$/.exec(
      request.headers.get("authorization") ?? "",
    );
  if (!parts) throw new Refusal(403, "AccessDenied");
  const [, accessKey, day = "", region = "", names = "", signature] = parts;
  if (accessKey !== known.accessKey) throw new Refusal(403, "InvalidAccessKeyId");
  if (region !== known.region) throw new Refusal(400, "AuthorizationHeaderMalformed");
  const signedNames = names.split(";");
  const unsigned = ["host", ...[...request.headers.keys()].filter((name) => name.startsWith("x-amz-"))].find(
    (name) => !signedNames.includes(name),
  );
  if (unsigned) throw new Refusal(403, "AccessDenied");
  const time = request.headers.get("x-amz-date") ?? "";
  const at = new Date(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (!(Math.abs(at.getTime() - now.getTime()) < 15 * 60_000)) throw new Refusal(403, "RequestTimeTooSkewed");
  const contentHash = request.headers.get("x-amz-content-sha256") ?? "";
  const isUnsigned = known.takesUnsigned === true && contentHash === "UNSIGNED-PAYLOAD";
  if (!isUnsigned && contentHash !== sha256(body)) throw new Refusal(400, "XAmzContentSHA256Mismatch");
  const raw = url.search
    .slice(1)
    .split("&")
    .filter((one) => one !== "");
  const query = raw.map((one) => (one.includes("=") ? one : `${one}=`)).toSorted();
  const lines = signedNames.map((name) => `${name}:${(request.headers.get(name) ?? "").trim()}`);
  const canonical = [request.method, url.pathname, query.join("&"), ...lines, "", names, contentHash].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const key = hmac(hmac(hmac(hmac(`AWS4${known.secretKey}`, day), region), "s3"), "aws4_request");
  const expected = hmac(key, `AWS4-HMAC-SHA256\n${time}\n${scope}\n${sha256(canonical)}`).toString("hex");
  if (expected !== signature) throw new Refusal(403, "SignatureDoesNotMatch");
}

type State = Pick<S3Double, "objects" | "uploads">;

function carryOut(state: State, request: S3Request, options: Options): Response {
  const { method, key, query } = request;
  const route = `${method} ${key === "" ? "bucket" : "object"}${query.has("uploads") ? " uploads" : ""}${query.has("uploadId") ? " upload" : ""}`;
  const run = routes[route];
  if (!run) throw new Refusal(405, "MethodNotAllowed");
  return run(state, request, options);
}

const routes: Readonly<Record<string, (state: State, request: S3Request, options: Options) => Response>> = {
  "PUT object": ({ objects }, { key, body }) => {
    objects.set(key, body);
    return new Response(null, { headers: { etag: etagOf(body) } });
  },
  "GET object": ({ objects }, request) => ranged(found(objects, request.key), request.headers),
  "HEAD object": ({ objects }, { key }) => {
    const object = found(objects, key);
    return new Response(object, { headers: { etag: etagOf(object) } });
  },
  "DELETE object": ({ objects }, { key }) => {
    objects.delete(key);
    return new Response(null, { status: 204 });
  },
  "GET bucket": listObjects,
  "GET bucket uploads": listUploads,
  "POST object uploads": ({ uploads }, { key }) => {
    const id = crypto.randomUUID();
    uploads.set(id, { key, parts: new Map() });
    return xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
  },
  "PUT object upload": ({ uploads }, request) => {
    uploadOf(uploads, request).parts.set(Number(request.query.get("partNumber")), request.body);
    return new Response(null, { headers: { etag: etagOf(request.body) } });
  },
  "POST object upload": complete,
  "DELETE object upload": ({ uploads }, request) => {
    uploadOf(uploads, request);
    uploads.delete(request.query.get("uploadId") ?? "");
    return new Response(null, { status: 204 });
  },
};

const etags = new WeakMap<Uint8Array, string>();
/** Counted once: a range of a long object must not cost all of it. */
function etagOf(bytes: Uint8Array): string {
  const etag = etags.get(bytes) ?? `"${createHash("md5").update(bytes).digest("hex")}"`;
  etags.set(bytes, etag);
  return etag;
}

const xml = (text: string) =>
  new Response(`<?xml version="1.0"?>${text}`, { headers: { "content-type": "application/xml" } });
const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

function found(objects: S3Double["objects"], key: string): Bytes {
  const object = objects.get(key);
  if (!object) throw new Refusal(404, "NoSuchKey");
  return object;
}

function uploadOf(uploads: S3Double["uploads"], { key, query }: S3Request) {
  const upload = uploads.get(query.get("uploadId") ?? "");
  if (upload?.key !== key) throw new Refusal(404, "NoSuchUpload");
  return upload;
}

function ranged(object: Bytes, headers: Headers): Response {
  const etag = etagOf(object);
  const match = headers.get("if-match");
  if (match !== null && match !== etag) throw new Refusal(412, "PreconditionFailed");
  const range = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(headers.get("range") ?? "");
  if (!range) return new Response(object, { headers: { etag } });
  const from = Number(range[1]);
  if (from >= object.length) throw new Refusal(416, "InvalidRange");
  const part = object.subarray(from, Number(range[2]) + 1);
  const contentRange = `bytes ${from}-${from + part.length - 1}/${object.length}`;
  return new Response(part, { status: 206, headers: { etag, "content-range": contentRange } });
}

function listObjects({ objects }: State, { query }: S3Request, { pageSize = 1000 }: Options): Response {
  const prefix = query.get("prefix") ?? "";
  const after = query.get("continuation-token") ?? "";
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted();
  const page = keys.slice(0, pageSize);
  const contents = page.map(
    (key) => `<Contents><Key>${escaped(key)}</Key><Size>${objects.get(key)?.length}</Size></Contents>`,
  );
  const isTruncated = keys.length > page.length;
  const next = isTruncated ? `<NextContinuationToken>${escaped(page.at(-1) ?? "")}</NextContinuationToken>` : "";
  return xml(
    `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join("")}</ListBucketResult>`,
  );
}

const markerOf = ({ key, id }: { readonly key: string; readonly id: string }) => `${key} ${id}`;

function listUploads({ uploads }: State, { query }: S3Request, { pageSize = 1000 }: Options): Response {
  const prefix = query.get("prefix") ?? "";
  const after = `${query.get("key-marker") ?? ""} ${query.get("upload-id-marker") ?? ""}`;
  const all = [...uploads]
    .map(([id, { key }]) => ({ id, key }))
    .toSorted((a, b) => (markerOf(a) < markerOf(b) ? -1 : 1));
  const rest = all.filter((one) => one.key.startsWith(prefix) && markerOf(one) > after);
  const page = rest.slice(0, pageSize);
  const isTruncated = rest.length > page.length;
  const last = page.at(-1);
  const next = `<NextKeyMarker>${last?.key}</NextKeyMarker><NextUploadIdMarker>${last?.id}</NextUploadIdMarker>`;
  const items = page.map(({ id, key }) => `<Upload><Key>${escaped(key)}</Key><UploadId>${id}</UploadId></Upload>`);
  return xml(
    `<ListMultipartUploadsResult><IsTruncated>${isTruncated}</IsTruncated>${isTruncated ? next : ""}${items.join("")}</ListMultipartUploadsResult>`,
  );
}

function complete(state: State, request: S3Request, { minPartBytes = 5 * 1024 * 1024 }: Options): Response {
  const { parts } = uploadOf(state.uploads, request);
  const listed = Buffer.from(request.body)
    .toString()
    .matchAll(/<Part>\s{0,9}<PartNumber>(\d{1,5})<\/PartNumber>\s{0,9}<ETag>([^<]{1,99})<\/ETag>\s{0,9}<\/Part>/g);
  const content: Uint8Array[] = [];
  for (const [, number, etag] of listed) {
    const part = parts.get(Number(number));
    if (!part || etagOf(part) !== etag?.replaceAll("&quot;", '"')) throw new Refusal(400, "InvalidPart");
    if (content.some((before) => before.length < minPartBytes)) throw new Refusal(400, "EntityTooSmall");
    content.push(part);
  }
  if (content.length === 0) throw new Refusal(400, "MalformedXML");
  const object = new Uint8Array(Buffer.concat(content));
  state.objects.set(request.key, object);
  state.uploads.delete(request.query.get("uploadId") ?? "");
  return xml(`<CompleteMultipartUploadResult><ETag>${etagOf(object)}</ETag></CompleteMultipartUploadResult>`);
}
