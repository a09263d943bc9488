import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { checked, ConfigError, flag, integer, oneOf, readSettings, text } from "./settings.ts";
import type { ConfigOf, Environment, Settings } from "./settings.ts";
import { parseKeepRule } from "./prune-rule.ts";
import { parseCron } from "../times/due-times.ts";
import { parseBucketPlace, s3Settings } from "./bucket.ts";
import { parseAllow } from "../net/addresses.ts";
import { replicaAddresses } from "./replica-addresses.ts";
import { distance, nearest } from "../base/text.ts";
import { parseNetworks } from "../net/client-address.ts";

/** The runtime's own settings (behaviour B.2). docs/settings.md is generated from them. */
export const runtimeSettings = {
  port: integer("PORT", 3000, "Port to serve on; 0 takes a free one", { min: 0, max: 65535 }),
  host: text("HOST", "127.0.0.1", "Address to serve on; `0.0.0.0` for all"),
  baseUrl: checked(
    "BASE_URL",
    "",
    "Public address of the first account, e.g. `https://core.example.com`",
    parseBaseUrl,
  ),
  https: oneOf(
    "HTTPS",
    "off",
    "`on`: https at `BASE_URL` and at every site's domain, with certificates that are fetched and renewed by themselves",
    ["off", "on"],
  ),
  http2: oneOf(
    "HTTP2",
    "off",
    "`on`: browsers that come by https may speak HTTP/2 too, which is experimental in Bun 1.4",
    ["off", "on"],
  ),
  httpsPort: integer("HTTPS_PORT", 443, "Port for https; 0 takes a free one", { min: 0, max: 65535 }),
  httpPort: integer(
    "HTTP_PORT",
    80,
    "Port that leads to https, and where authorities check whose host this is; 0 = none",
    { min: 0, max: 65535 },
  ),
  httpsHost: text("HTTPS_HOST", "::", "Address of these two ports; `::` is all of them, of IPv4 too"),
  tlsDir: text("TLS_DIR", "", "Folder of own certificates: `NAME.crt` with its chain, beside `NAME.key`"),
  databaseUrl: checked("DATABASE_URL", "", "PostgreSQL 15 or later; empty = the embedded one", parsePrimaryUrl),
  databaseWaitSeconds: integer("DATABASE_WAIT_SECONDS", 30, "How long a start waits for `DATABASE_URL` to answer", {
    min: 0,
    max: 3600,
  }),
  databasePool: integer(
    "DATABASE_POOL",
    10,
    "Connections of a process that one plugin may use; two more serve the others",
    { min: 2, max: 200 },
  ),
  databaseCacheMegabytes: integer(
    "DATABASE_CACHE_MB",
    0,
    "Memory for pages of the embedded PostgreSQL, in MB; 0 = an eighth of the machine's, from 128 to 1024",
    { min: 0, max: 1_000_000 },
  ),
  databaseListenUrl: checked(
    "DATABASE_LISTEN_URL",
    "",
    "Address of the database itself, where `DATABASE_URL` leads to a pooler such as pgbouncer",
    parsePrimaryUrl,
  ),
  databaseReadUrl: checked(
    "DATABASE_READ_URL",
    "",
    "Replicas that answer reads, e.g. `postgres://core@db2,db3/core`, or several addresses with commas between them; no pooler",
    parseReadUrl,
  ),
  databaseReadWaitMs: integer(
    "DATABASE_READ_WAIT_MS",
    200,
    "How long a read waits for a replica to be up to date; then the primary answers",
    { min: 0, max: 10_000 },
  ),
  databasePrepare: flag("DATABASE_PREPARE", true, "`false` behind a pooler without prepared statements"),
  databaseConnectSeconds: integer(
    "DATABASE_CONNECT_SECONDS",
    5,
    "How long each host of `DATABASE_URL` may take to accept a connection",
    { min: 1, max: 300 },
  ),
  databaseAnswerSeconds: integer(
    "DATABASE_ANSWER_SECONDS",
    30,
    "How long a statement may take; the connection of one that is not answered by then is given up",
    { min: 1, max: 3600 },
  ),
  databaseQueueSeconds: integer("DATABASE_QUEUE_SECONDS", 10, "How long a statement may wait for a free connection", {
    min: 1,
    max: 300,
  }),
  databaseQueue: integer("DATABASE_QUEUE", 5000, "How many statements of one plugin may wait for one", {
    min: 1,
    max: 1_000_000,
  }),
  dataDir: checked("DATA_DIR", "./data", "Where the embedded PostgreSQL and the secret key are", (value) =>
    resolve(value),
  ),
  diskReserveBytes: integer(
    "DISK_RESERVE_BYTES",
    268_435_456,
    "What uploads, imports and the archive leave free on the disk of `DATA_DIR`: PostgreSQL stops when its disk is full",
    { min: 0, max: 100_000_000_000_000 },
  ),
  workers: integer("WORKERS", 1, "Server processes on the one port (Linux)", { min: 1, max: 64 }),
  rehearsal: oneOf(
    "REHEARSAL",
    "off",
    "`on`: only to look at a copy of the data: no jobs, crons, mails, webhooks, backups and orders of certificates",
    ["off", "on"],
  ),
  drainSeconds: integer(
    "DRAIN_SECONDS",
    0,
    "How long it serves on after SIGTERM while `/ready` says 503, for a load balancer to send requests elsewhere",
    { min: 0, max: 300 },
  ),
  trustedProxies: checked(
    "TRUSTED_PROXIES",
    "",
    "Networks whose `X-Forwarded-*` headers count, comma-separated",
    parseNetworks,
  ),
  pluginsDir: text("PLUGINS_DIR", "", "Folder of further plugins"),
  secretKey: checked(
    "SECRET_KEY",
    "",
    "At least 32 characters, the same on every server; empty = generated into `DATA_DIR`",
    parseSecretKey,
  ),
  backupDir: checked(
    "BACKUP_DIR",
    "",
    "Folder for scheduled backups, or `s3://BUCKET/PREFIX`, this installation's alone; empty = none",
    (value) => (value === "" || parseBucketPlace(value) ? value : resolve(value)),
  ),
  backupCron: checked("BACKUP_CRON", "30 3 * * *", "When they are made: five fields, in UTC", parseBackupCron),
  backupKey: checked(
    "BACKUP_KEY",
    "",
    "At least 32 characters that encrypt them; a backup cannot be read without it. Empty = not encrypted",
    parseSecretKey,
  ),
  backupKeep: checked(
    "BACKUP_KEEP",
    "7d 4w 6m",
    "How many daily, weekly and monthly ones to keep; `24h 7d 4w 6m`: also hourly ones",
    parseKeepRule,
  ),
  backupVerify: oneOf("BACKUP_VERIFY", "on", "`off`: they are not tried out by a restore into a scratch database", [
    "on",
    "off",
  ]),
  backupWal: oneOf(
    "BACKUP_WAL",
    "off",
    "`on`: every change of the embedded PostgreSQL goes to `BACKUP_DIR` within a minute, for `corestead restore --at TIME`",
    ["off", "on"],
  ),
  filesBucket: checked(
    "FILES_BUCKET",
    "",
    "`s3://BUCKET/PREFIX` for media files; empty = they are in `DATA_DIR`",
    (value) => {
      if (value !== "" && !parseBucketPlace(value)) throw new Error("must be like s3://my-bucket/files");
      return value;
    },
  ),
  ...s3Settings,
  outboundAllow: checked(
    "OUTBOUND_ALLOW",
    "",
    "Private networks and hosts that webhooks and connectors may reach, comma-separated",
    parseAllow,
  ),
  outboundCa: checked(
    "OUTBOUND_CA_FILE",
    "",
    "PEM file of an authority that requests to other machines trust besides the public ones",
    readPem,
  ),
  logLevel: oneOf("LOG_LEVEL", "info", "Least level to log", ["debug", "info", "warn", "error"]),
  logFormat: oneOf("LOG_FORMAT", "auto", "`json`, `text`, or `auto`: text on a terminal, else JSON", [
    "auto",
    "json",
    "text",
  ]),
  hstsSeconds: integer(
    "HSTS_SECONDS",
    0,
    "For how long browsers that came by https come by nothing else (Strict-Transport-Security); 0 = not said",
    { min: 0, max: 1e9 },
  ),
  maxBodyBytes: integer("MAX_BODY_BYTES", 10_000_000, "Largest request body in bytes", { min: 1_000, max: 1e9 }),
  maxImportBytes: integer("MAX_IMPORT_BYTES", 1_000_000_000, "Largest import in bytes", { min: 1_000, max: 1e12 }),
} as const;

export type Config = ConfigOf<typeof runtimeSettings>;

/** Reads the runtime's settings. Throws one ConfigError that lists every mistake in them and in those of `plugins`. */
export function readConfig(env: Environment, plugins: readonly Configured[] = []): Config {
  checkSettings([{ config: runtimeSettings }, ...plugins], env);
  const config = readSettings(runtimeSettings, env);
  if (config.databaseReadUrl !== "" && config.databaseUrl === "")
    throw new ConfigError([
      "DATABASE_READ_URL needs DATABASE_URL, the primary: the embedded PostgreSQL has no replicas",
    ]);
  if (config.backupWal === "on" && config.databaseUrl !== "")
    throw new ConfigError([
      "BACKUP_WAL is for the embedded PostgreSQL: use the tools of the server of DATABASE_URL (pg_basebackup and archive_command, or its provider's)",
    ]);
  if (config.backupWal === "on" && config.backupDir === "")
    throw new ConfigError(["BACKUP_WAL=on needs BACKUP_DIR, where the changes are stored"]);
  if (config.https === "on" && !config.baseUrl.startsWith("https:"))
    throw new ConfigError(["HTTPS=on needs BASE_URL, the address of this server, e.g. https://core.example.com"]);
  const inBucket = ["BACKUP_DIR", "FILES_BUCKET"].find((name) => parseBucketPlace(env[name] ?? ""));
  if (inBucket === undefined) return config;
  const missing = [s3Settings.s3Endpoint, s3Settings.s3AccessKey, s3Settings.s3SecretKey].filter(
    ({ env: name }) => !env[name],
  );
  if (missing.length > 0)
    throw new ConfigError(missing.map(({ env: name }) => `${name} must be set for ${inBucket}=${env[inBucket]}`));
  return config;
}

interface Configured {
  readonly config: Settings;
}

interface NamedSource extends Configured {
  readonly name: string;
}

/** Throws one ConfigError that lists the mistakes in the settings of these plugins. */
export function checkSettings(plugins: readonly Configured[], env: Environment): void {
  const mistakes = new Set(plugins.flatMap(({ config }) => mistakesIn(config, env)));
  if (mistakes.size > 0) throw new ConfigError([...mistakes]);
}

/** A line for each variable whose name is nearly that of a setting: nothing reads it. */
export function settingHints(plugins: readonly Configured[], env: Environment): string[] {
  const all = [{ config: runtimeSettings }, ...plugins].flatMap(({ config }) => Object.values(config));
  const known = all.map(({ env: name }) => name).filter((name) => name.includes("_"));
  // Other programs have variables, too: HTTP_PROXY is no HTTP_PORT.
  const most = (name: string) => (name.length < 10 ? 1 : 2);
  return Object.keys(env)
    .filter((name) => !known.includes(name) && known.some((one) => distance(name, one) <= most(name)))
    .map((name) => `${name} is no setting: did you mean ${nearest(name, known).join(" or ")}?`);
}

/** Throws one ConfigError if two plugins, or a plugin and the runtime, have settings of the same name. */
export function checkSettingNames(builtIn: readonly NamedSource[], plugins: readonly NamedSource[]): void {
  const owners = new Map<string, string>();
  const known = [{ name: "Corestead", config: runtimeSettings }, ...builtIn];
  for (const { name, config } of known) for (const { env } of Object.values(config)) owners.set(env, name);
  const mistakes: string[] = [];
  for (const { name, config } of plugins) {
    for (const { env } of Object.values(config)) {
      const owner = owners.get(env);
      if (owner === undefined) owners.set(env, name);
      else
        mistakes.push(`${env} of plugin "${name}" is a setting of ${quoted(owner)} already: give yours another name`);
    }
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes);
}

function quoted(owner: string): string {
  return owner === "Corestead" ? owner : `"${owner}"`;
}

function mistakesIn(settings: Settings, env: Environment): readonly string[] {
  try {
    readSettings(settings, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
}

function readPem(file: string): string {
  if (file === "") return "";
  const pem = readFileSync(file, "utf8");
  if (!pem.includes("-----BEGIN CERTIFICATE-----")) throw new Error("is not a PEM file of certificates");
  return pem;
}

function parseBaseUrl(value: string): string {
  if (value === "") return "";
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.search || url.hash || url.username)
    throw new Error("must be an address like https://core.example.com, without a path");
  return url.origin;
}

function parseDatabaseUrl(value: string): string {
  if (value === "" || /^postgres(ql)?:\/\/./.test(value)) return value;
  throw new Error("must begin with postgres://");
}

/** With another one a server would find a standby, and take no writes. */
function parsePrimaryUrl(value: string): string {
  const wanted = new URLSearchParams(parseDatabaseUrl(value).split("?")[1]).get("target_session_attrs") ?? "primary";
  if (wanted === "primary" || wanted === "read-write") return value;
  throw new Error("must lead to the primary: its target_session_attrs may be primary or read-write");
}

function parseReadUrl(value: string): string {
  if (value !== "" && replicaAddresses(parseDatabaseUrl(value)).length === 0) throw new Error("must name a host");
  return value;
}

function parseBackupCron(value: string): string {
  try {
    parseCron(value, "UTC");
  } catch {
    throw new Error("must be five fields, such as 30 3 * * *");
  }
  return value;
}

function parseSecretKey(value: string): string {
  if (value === "" || value.length >= 32) return value;
  throw new Error("must have at least 32 characters");
}
