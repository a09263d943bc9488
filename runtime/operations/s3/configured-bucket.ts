import type { Config } from "../../settings/config.ts";
import type { Log } from "../../system/log.ts";
import { plainHost } from "../../net/addresses.ts";
import { fetchOutside } from "../../outbound/outbound.ts";
import { bucketAt, type Bucket, type BucketOptions } from "./s3.ts";

export type S3Config = Pick<
  Config,
  "s3Endpoint" | "s3Region" | "s3AccessKey" | "s3SecretKey" | "s3Address" | "outboundCa"
>;

type Tuning = Pick<BucketOptions, "waits" | "readBytes">;

/** A bucket on the server of the settings S3_*. The operator names that server, so it may be in a private network. */
export function configuredBucket(config: S3Config, bucket: string, log: Log, more: Tuning = {}): Bucket {
  const { protocol, hostname, port } = new URL(config.s3Endpoint);
  const at = `:${port || (protocol === "https:" ? "443" : "80")}`;
  const host = plainHost(hostname);
  const allow = { networks: [], hosts: new Set([`${host}${at}`, `${bucket}.${host}${at}`]) };
  const ca = config.outboundCa === "" ? {} : { ca: config.outboundCa };
  return bucketAt({
    endpoint: config.s3Endpoint,
    address: config.s3Address,
    bucket,
    credentials: { region: config.s3Region, accessKey: config.s3AccessKey, secretKey: config.s3SecretKey },
    fetch: (url, request) => fetchOutside({ allow, log, ...ca }, url, request),
    ...more,
  });
}
