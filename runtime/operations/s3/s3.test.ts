import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { readConfig } from "../../settings/config.ts";
import { createLog } from "../../system/log.ts";
import { fetchOutside, OutboundFault } from "../../outbound/outbound.ts";
import { configuredBucket } from "./configured-bucket.ts";
import { bucketAt, type Bucket, type BucketOptions } from "./s3.ts";
import { faultXml, s3Credentials, startS3, verify, type S3Request } from "../../../tests/fixtures/s3.ts";
import { encodeKey, queryText, signed } from "./sign.ts";
import { parseBucketPlace } from "../../settings/bucket.ts";
import { elements, textOf } from "./xml.ts";

const log = createLog("error", () => {});
const partBytes = 10_000;
const s3 = startS3({ bucket: "backups", pageSize: 2, minPartBytes: partBytes });
const s3Hosts = ["s3.test", "backups.s3.test"];
const outside = {
  allow: { networks: [], hosts: new Set(["127.0.0.1", ...s3Hosts]) },
  log,
  lookup: async () => ["127.0.0.1"],
};
let slept: number[] = [];
const bucketWith = (more: Partial<BucketOptions> = {}): Bucket =>
  bucketAt({
    endpoint: s3.url,
    address: "path",
    bucket: "backups",
    credentials: s3Credentials,
    fetch: (url, request) => fetchOutside(outside, url, request),
    sleep: async (ms) => void slept.push(ms),
    partBytes,
    ...more,
  });
const bucket = bucketWith();

beforeEach(() => {
  s3.answer = undefined;
  s3.instead = undefined;
  s3.takesUnsigned = false;
  s3.objects.clear();
  s3.uploads.clear();
  s3.requests.length = 0;
  slept = [];
});
afterAll(() => s3.stop());

const bytesOf = (length: number) => new Uint8Array(length).map((_, at) => (at * 7 + (at >> 8)) % 251);
async function* chunksOf(bytes: Uint8Array, size = 777): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const gathered = async (chunks: AsyncIterable<Uint8Array>) => Buffer.concat(await Array.fromAsync(chunks));
const faultOf = (done: Promise<unknown>) =>
  done.then(
    () => "none",
    (error: unknown) => (error instanceof Error ? error.message : ""),
  );
const isPart = ({ query }: S3Request, number?: number) =>
  query.has("partNumber") && (number === undefined || query.get("partNumber") === `${number}`);
const isComplete = ({ method, query }: S3Request) => method === "POST" && query.has("uploadId");

describe("a signature", () => {
  // The examples of AWS' documentation, "Signature Calculations for the Authorization Header".
  const example = {
    region: "us-east-1",
    accessKey: "AKIAIOSFODNN7EXAMPLE",
    secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  };
  const at = new Date("2013-05-24T00:00:00Z");
  const host = "examplebucket.s3.amazonaws.com";
  const none = {};
  test.each<[string, string, Record<string, string>, Record<string, string>, string, string]>([
    [
      "GET",
      "test.txt",
      none,
      { range: "bytes=0-9" },
      "",
      "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    ],
    [
      "PUT",
      "test$file.text",
      none,
      { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
      "Welcome to Amazon S3.",
      "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
    ],
    ["GET", "", { lifecycle: "" }, none, "", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"],
    [
      "GET",
      "",
      { "max-keys": "2", prefix: "J" },
      none,
      "",
      "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
    ],
  ])("of %s /%s with %p and %p is that of the documentation", (method, key, query, headers, text, expected) => {
    const path = `/${encodeKey(key)}`;
    const body = Buffer.from(text);
    const made = signed({ method, host, path, query, headers, body, at }, example);
    expect(made["authorization"]).toEndWith(`Signature=${expected}`);
    // The double agrees, and refuses any other.
    const url = new URL(`https://${host}${path}?${queryText(query)}`);
    const request = (authorization: string) => new Request(url, { method, headers: { ...made, host, authorization } });
    const right = made["authorization"] ?? "";
    expect(() => verify(request(right), url, body, at, example)).not.toThrow();
    expect(() => verify(request(right.replace(/.$/, "g")), url, body, at, example)).toThrow("AccessDenied");
    expect(() => verify(request(right), url, Buffer.from("other"), at, example)).toThrow("XAmzContentSHA256Mismatch");
    expect(() => verify(request(right), url, body, new Date(), example)).toThrow("RequestTimeTooSkewed");
  });

  test("of another client is taken by the double too, and one with a wrong secret is not", async () => {
    const { region, accessKey: accessKeyId, secretKey: secretAccessKey } = s3Credentials;
    const other = new Bun.S3Client({ region, accessKeyId, secretAccessKey, bucket: "backups", endpoint: s3.url });
    s3.takesUnsigned = true;
    await other.write("theirs/a b.txt", "hello");
    expect((await gathered(bucket.read("theirs/a b.txt"))).toString()).toBe("hello");
    await bucket.put("ours/ż+&.txt", Buffer.from("hi"));
    expect(await other.file("ours/ż+&.txt").text()).toBe("hi");
    const wrong = { ...s3Credentials, secretKey: "wrong" };
    expect(await faultOf(bucketWith({ credentials: wrong }).put("a", Buffer.from("")))).toBe(
      'S3 answered 403 to PUT a: SignatureDoesNotMatch: "SignatureDoesNotMatch" said the test',
    );
    const late = bucketWith({ clock: () => new Date(0) });
    expect(await faultOf(late.put("a", Buffer.from("")))).toContain("RequestTimeTooSkewed");
    expect(slept).toEqual([]);
  });
});

describe("an object", () => {
  test.each(["path", "host"] as const)(
    "is put, found, listed, read and removed, with the bucket in the %s",
    async (address) => {
      const its = bucketWith({ address, endpoint: `http://s3.test:${s3.port}` });
      const keys = ["in/a b.txt", "in/ż/(*'!).txt", "in/c&<d>.txt", "in/e", "in/f"];
      for (const key of [...keys, "out/x"]) await its.put(key, Buffer.from(key));
      expect(await Array.fromAsync(its.list("in/"))).toEqual(
        keys.toSorted().map((key) => ({ key, bytes: Buffer.byteLength(key) })),
      );
      expect(await its.head("in/ż/(*'!).txt")).toEqual({ bytes: 15, etag: expect.stringMatching(/^"[\da-f]{32}"$/) });
      expect((await gathered(its.read("in/c&<d>.txt"))).toString()).toBe("in/c&<d>.txt");
      await its.remove("in/e");
      await its.remove("in/e");
      expect(await its.head("in/e")).toBeUndefined();
      expect(await faultOf(gathered(its.read("in/e")))).toContain("NoSuchKey");
    },
  );

  test.each([0, 1, partBytes - 1, partBytes, partBytes + 1, 2 * partBytes, 3 * partBytes + 5])(
    "of %d bytes is written and read in parts",
    async (length) => {
      await bucket.write("long", chunksOf(bytesOf(length)));
      expect([s3.objects.get("long")?.length, s3.uploads.size]).toEqual([length, 0]);
      expect(Buffer.compare(await gathered(bucket.read("long")), bytesOf(length))).toBe(0);
      expect((await bucket.head("long"))?.bytes).toBe(length);
    },
  );

  test("is sent while it is made, and not gathered before", async () => {
    let made = 0;
    const aheads: number[] = [];
    s3.answer = (request) =>
      void (isPart(request) && aheads.push(made - partBytes * Number(request.query.get("partNumber"))));
    async function* source() {
      for (; made < 8 * partBytes; made += 1_000) yield bytesOf(1_000);
    }
    await bucket.write("long", source());
    expect(aheads).toHaveLength(8);
    expect(Math.max(...aheads)).toBeLessThanOrEqual(partBytes + 1_000);
  });

  test("that is replaced while it is read is not mixed", async () => {
    await bucket.write("long", chunksOf(bytesOf(3 * partBytes)));
    s3.instead = (_, response) => {
      s3.objects.set("long", bytesOf(3 * partBytes - 1));
      return response;
    };
    expect(await faultOf(gathered(bucket.read("long")))).toContain("PreconditionFailed");
  });
});

describe("a failure", () => {
  test("that passes is waited for, longer each time", async () => {
    const faults = [faultXml(503, "SlowDown"), faultXml(500, "InternalError"), faultXml(400, "RequestTimeout")];
    s3.answer = () => faults.shift();
    await bucket.put("a", Buffer.from("hello"));
    expect(s3.requests.map(({ method }) => method)).toEqual(["PUT", "PUT", "PUT", "PUT"]);
    expect(slept).toHaveLength(3);
    expect(slept).toEqual(slept.toSorted((a, b) => a - b));
    expect(s3.objects.has("a")).toBe(true);
  });

  test("that does not is told at once, and so is a redirect", async () => {
    s3.answer = () => faultXml(403, "AccessDenied");
    expect(await faultOf(bucket.put("a", Buffer.from("")))).toContain("AccessDenied");
    s3.answer = () => Response.redirect("http://169.254.169.254/", 307);
    expect(await faultOf(bucket.put("a", Buffer.from("")))).toContain(
      "is S3_ENDPOINT or S3_REGION that of the bucket?",
    );
    expect([s3.requests.length, slept]).toEqual([2, []]);
  });

  test("in a 200 that should complete an upload is one, and passes", async () => {
    const faults = [faultXml(200, "InternalError")];
    s3.answer = (request) => (isComplete(request) ? faults.shift() : undefined);
    await bucket.write("long", chunksOf(bytesOf(2 * partBytes)));
    expect([s3.objects.get("long")?.length, slept.length]).toEqual([2 * partBytes, 1]);
  });

  test("of the answer to a completed upload does not undo it", async () => {
    s3.instead = (request, response) => (isComplete(request) ? faultXml(503, "ServiceUnavailable") : response);
    await bucket.write("long", chunksOf(bytesOf(2 * partBytes)));
    expect(s3.objects.get("long")?.length).toBe(2 * partBytes);
  });

  test("in the middle of an upload that lasts leaves no object, and what is left is found and aborted later", async () => {
    s3.answer = (request) => (isPart(request, 1) || !s3.uploads.size ? undefined : faultXml(503, "SlowDown"));
    expect(await faultOf(bucket.write("long", chunksOf(bytesOf(4 * partBytes))))).toContain("SlowDown");
    expect([s3.objects.size, s3.uploads.size, slept.length]).toEqual([0, 1, 10]);
    s3.answer = undefined;
    for (const key of ["long", "long", "other"]) s3.uploads.set(crypto.randomUUID(), { key, parts: new Map() });
    const left = await Array.fromAsync(bucket.unfinished("long"));
    expect(left.map(({ key }) => key)).toEqual(["long", "long", "long"]);
    for (const upload of left) await bucket.abort(upload);
    for (const upload of left) await bucket.abort(upload);
    expect([...s3.uploads.values()].map(({ key }) => key)).toEqual(["other"]);
  });

  test("of the server from the beginning lets go of the source", async () => {
    let isLetGo = false;
    async function* source() {
      try {
        yield* chunksOf(bytesOf(4 * partBytes));
      } finally {
        isLetGo = true;
      }
    }
    s3.answer = () => faultXml(503, "SlowDown");
    expect(await faultOf(bucket.write("long", source()))).toContain("SlowDown");
    expect(isLetGo).toBe(true);
  });

  test("of the source, or a part that was damaged on its way, aborts the upload", async () => {
    async function* torn() {
      yield bytesOf(3 * partBytes);
      throw new Error("the source is torn");
    }
    expect(await faultOf(bucket.write("long", torn()))).toBe("the source is torn");
    s3.instead = (request, response) => {
      if (isPart(request, 2))
        for (const { parts } of s3.uploads.values()) parts.set(2, bytesOf(partBytes).toReversed());
      return response;
    };
    expect(await faultOf(bucket.write("long", chunksOf(bytesOf(3 * partBytes))))).toContain("InvalidPart");
    expect([s3.objects.size, s3.uploads.size]).toEqual([0, 0]);
  });

  test("of the network costs one part of a download", async () => {
    await bucket.write("long", chunksOf(bytesOf(3 * partBytes)));
    s3.requests.length = 0;
    let cuts = 1;
    const cut: BucketOptions["fetch"] = async (url, request) => {
      if (request?.headers?.["range"]?.startsWith(`bytes=${partBytes}-`) && cuts-- > 0)
        throw new OutboundFault("closed", "the connection was cut");
      return fetchOutside(outside, url, request);
    };
    expect(Buffer.compare(await gathered(bucketWith({ fetch: cut }).read("long")), bytesOf(3 * partBytes))).toBe(0);
    expect([s3.requests.length, slept.length]).toEqual([3, 1]);
    // One that is answered with less than it asks for goes on from there.
    s3.instead = ({ headers }, response) => {
      if (!headers.get("range")?.startsWith(`bytes=${partBytes}-`)) return response;
      return new Response(bytesOf(3 * partBytes).subarray(partBytes, partBytes + 100), response);
    };
    expect(Buffer.compare(await gathered(bucket.read("long")), bytesOf(3 * partBytes))).toBe(0);
  });
});

test("the server of the settings may be in a private network, and nothing else may", async () => {
  const { accessKey, secretKey, region } = s3Credentials;
  const env = { S3_ENDPOINT: s3.url, S3_REGION: region, S3_ACCESS_KEY_ID: accessKey, S3_SECRET_ACCESS_KEY: secretKey };
  await configuredBucket(readConfig(env), "backups", log).put("a", Buffer.from("b"));
  expect(s3.objects.has("a")).toBe(true);
  const elsewhere = bucketAt({
    endpoint: "http://127.0.0.1:1",
    address: "path",
    bucket: "backups",
    credentials: s3Credentials,
    fetch: (url, request) =>
      fetchOutside({ allow: { networks: [], hosts: new Set([`127.0.0.1:${s3.port}`]) }, log }, url, request),
  });
  expect(await faultOf(elsewhere.put("a", Buffer.from("b")))).toContain("not a public address");
});

test.each([
  [{ S3_ENDPOINT: "s3.example.com" }, "S3_ENDPOINT must be an address"],
  [{ S3_ENDPOINT: "https://s3.example.com/bucket" }, "S3_ENDPOINT must be an address"],
  [{ BACKUP_DIR: "s3://Not A Bucket/x" }, "BACKUP_DIR must name a bucket"],
  [
    { BACKUP_DIR: "s3://backups", S3_ENDPOINT: "https://s3.example.com" },
    "S3_ACCESS_KEY_ID must be set for BACKUP_DIR",
  ],
])("settings that cannot work are refused at the start: %p", (env, message) => {
  expect(() => readConfig(env)).toThrow(message);
});

test.each([
  ["s3://my-bucket", { bucket: "my-bucket", prefix: "" }],
  ["s3://my.bucket//a/b/", { bucket: "my.bucket", prefix: "a/b/" }],
  ["/var/backups", undefined],
])("%s is a place in a bucket: %p", (text, place) => {
  expect(parseBucketPlace(text)).toEqual(place);
});

test("texts of XML are read with their entities", () => {
  const xml = "<a><b>1 &lt; 2 &amp;amp; &#x17c;&#380;&quot;&nope;</b><b/><b>3</b><c>";
  expect([textOf(xml, "b"), textOf(xml, "c")]).toEqual(['1 < 2 &amp; żż"&nope;', undefined]);
  expect(elements(xml, "b")).toHaveLength(2);
});
