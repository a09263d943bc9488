/** Signature Version 4 of AWS, for S3. Pure. */
import { createHash, createHmac } from "node:crypto";

export interface Credentials {
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

export interface ToSign {
  readonly method: string;
  readonly host: string;
  /** As in the URL, with each segment encoded by `encodeKey`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Besides `host` and those that are added here; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly at: Date;
}

const algorithm = "AWS4-HMAC-SHA256";

/** The headers to send, with `authorization`. */
export function signed(request: ToSign, { region, accessKey, secretKey }: Credentials): Record<string, string> {
  const { method, host, path, query, body, at } = request;
  const time = `${at.toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
  const day = time.slice(0, 8);
  const contentHash = createHash("sha256").update(body).digest("hex");
  const headers = { ...request.headers, "x-amz-content-sha256": contentHash, "x-amz-date": time };
  const sorted = Object.entries({ ...headers, host }).toSorted(byName);
  const names = sorted.map(([name]) => name).join(";");
  const lines = sorted.map(([name, value]) => `${name}:${value.trim()}\n`).join("");
  const canonical = [method, path, queryText(query), lines, names, contentHash].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = [algorithm, time, scope, createHash("sha256").update(canonical).digest("hex")].join("\n");
  const key = [day, region, "s3", "aws4_request"].reduce<string | Buffer>(
    (made, part) => createHmac("sha256", made).update(part).digest(),
    `AWS4${secretKey}`,
  );
  const signature = createHmac("sha256", key).update(toSign).digest("hex");
  const authorization = `${algorithm} Credential=${accessKey}/${scope},SignedHeaders=${names},Signature=${signature}`;
  return { ...headers, authorization };
}

/** Sorted, as it is signed and as it is sent. */
export function queryText(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]): [string, string] => [encoded(name), encoded(value)])
    .toSorted(byName)
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

/** The path of a key: `a b/ż.txt` -> `a%20b/%C5%BC.txt`. */
export function encodeKey(key: string): string {
  return key.split("/").map(encoded).join("/");
}

/** All but letters, digits and `-._~`. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function byName([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
