import { expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { createPackedText } from "./packed-text.ts";

const text = JSON.stringify({ openapi: "3.1.0", paths: { "/żółw": "x".repeat(10_000) } });
const ask = (headers: Record<string, string> = {}) => new Request("http://a.test/openapi.json", { headers });

test.each([
  ["br", "gzip, deflate, br", (bytes: Uint8Array) => brotliDecompressSync(bytes)],
  ["gzip", "gzip;q=0.5, br;q=0", (bytes: Uint8Array) => gunzipSync(bytes)],
  [null, "", (bytes: Uint8Array) => bytes],
  [null, "zstd", (bytes: Uint8Array) => bytes],
])("as %p to those who take %j", async (encoding, accepted, unpacked) => {
  const packed = createPackedText("application/json", () => text);
  const answer = await packed(ask({ "accept-encoding": accepted }));
  expect([answer.status, answer.headers.get("content-encoding")]).toEqual([200, encoding]);
  expect(answer.headers.get("vary")).toBe("accept-encoding");
  expect(answer.headers.get("cache-control")).toBe("private, no-cache");
  const bytes = await answer.bytes();
  expect(new TextDecoder().decode(unpacked(bytes))).toBe(text);
  if (encoding) expect(bytes.length).toBeLessThan(text.length / 10);
  const etag = answer.headers.get("etag") ?? "";
  const again = await packed(ask({ "accept-encoding": accepted, "if-none-match": etag }));
  expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", etag]);
});

test("is made once, and only when somebody asks", async () => {
  let made = 0;
  const packed = createPackedText("text/plain", () => `${++made}`);
  expect(made).toBe(0);
  await Promise.all([packed(ask()), packed(ask({ "accept-encoding": "br" })), packed(ask())]);
  expect(made).toBe(1);
});
