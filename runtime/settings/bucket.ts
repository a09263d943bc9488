/** Settings of an S3-compatible server: its address and how to reach it. */
import { checked, oneOf, text } from "./settings.ts";

export const s3Settings = {
  s3Endpoint: checked(
    "S3_ENDPOINT",
    "",
    "An S3-compatible server, e.g. `https://s3.eu-central-1.amazonaws.com`",
    parseEndpoint,
  ),
  s3Region: text("S3_REGION", "us-east-1", "Its region"),
  s3AccessKey: text("S3_ACCESS_KEY_ID", "", "The key to sign in with there"),
  s3SecretKey: text("S3_SECRET_ACCESS_KEY", "", "Its secret"),
  s3Address: oneOf("S3_ADDRESS", "path", "Where the bucket's name goes: into the `path`, or before the `host`", [
    "path",
    "host",
  ]),
} as const;

function parseEndpoint(value: string): string {
  if (value === "") return "";
  const url = URL.parse(value);
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.search || url.hash || url.username)
    throw new Error("must be an address like https://s3.example.com, without a path");
  return url.origin;
}

/** `s3://bucket/some/prefix` */
export interface BucketPlace {
  readonly bucket: string;
  /** Empty, or with a slash at its end. */
  readonly prefix: string;
}

/** Undefined if it is no such address. Throws an Error that says what is wrong with one. */
export function parseBucketPlace(value: string): BucketPlace | undefined {
  if (!value.startsWith("s3://")) return undefined;
  const [bucket = "", ...parts] = value.slice("s3://".length).split("/");
  if (!/^[a-z\d][a-z\d.-]{1,61}[a-z\d]$/.test(bucket))
    throw new Error("must name a bucket, as in s3://my-bucket/backups");
  const prefix = parts.filter((part) => part !== "").join("/");
  return { bucket, prefix: prefix === "" ? "" : `${prefix}/` };
}
