/** Checks the settings themselves. Pure, except that it reads the files of settings. */
import { readFileSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { readConfig, runtimeSettings, type Config } from "../../settings/config.ts";
import { isLocalHost } from "../../http/door.ts";
import { nearest } from "../../base/text.ts";
import type { PluginFacts } from "../../plugin/plugin.ts";
import { ConfigError, type Environment } from "../../settings/settings.ts";
import { findingsOf, type Finding } from "../../plugin/finding.ts";

const settings = findingsOf("settings");

interface ConfigSource {
  readonly env: Environment;
  readonly plugins: readonly Pick<PluginFacts, "config">[];
  /** The folder of `.env`. */
  readonly folder: string;
}

/** The settings, or undefined if the server would not start with them. */
export function checkConfig({ env, plugins, folder }: ConfigSource): {
  config: Config | undefined;
  findings: Finding[];
} {
  const known = [runtimeSettings, ...plugins.map(({ config }) => config)].flatMap((declared) =>
    Object.values(declared).map((setting) => setting.env),
  );
  const findings = [...misspelt(env, known), ...strayLines(join(folder, ".env"), known)];
  try {
    const config = readConfig(env, plugins);
    findings.push(...contradictions(config));
    const given = known.filter((name) => env[name]?.trim());
    if (findings.length === 0) findings.push(settings.ok(`${given.length} of ${known.length} are set`));
    return { config, findings };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    findings.push(...error.mistakes.map((mistake) => settings.fail(mistake, "the server does not start until it is")));
    return { config: undefined, findings };
  }
}

/** Shorter names are near to those of other programs: HOST and HOME. */
const leastChars = 8;

/** Variables that look like a setting of ours and are none. */
export function misspelt(env: Environment, known: readonly string[]): Finding[] {
  const all = new Set(known);
  return Object.keys(env).flatMap((name) => {
    if (all.has(name) || name.length < leastChars || name.startsWith("npm_")) return [];
    const near = nearest(name, known).filter((other) => other.length >= leastChars);
    const [first] = near;
    if (first === undefined) return [];
    return [settings.warn(`${name} is no setting, and has no effect`, `did you mean ${near.join(" or ")}?`)];
  });
}

/** What else an .env may have: it is read by Bun, and by the programs that run beside the server. */
const notOurs = /^(BUN_|NODE_|TZ$|LANG$|LC_|PATH$|https?_proxy$|no_proxy$|HTTPS?_PROXY$|NO_PROXY$|SSL_CERT_)/;

/** Lines of a file that is there for our settings alone. */
function strayLines(file: string, known: readonly string[]): Finding[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return [];
  }
  const names = text.split("\n").flatMap(nameIn);
  const stray = names.filter((name) => !known.includes(name) && !notOurs.test(name));
  // A misspelt one was named already.
  const told = stray.filter((name) => name.length < leastChars || nearest(name, known).length === 0);
  const findings = told.map((name) =>
    settings.warn(
      `${file}: ${name} is no setting of this server`,
      "see the settings in `corestead help`, or remove it",
    ),
  );
  if (
    process.platform !== "win32" &&
    (statSync(file).mode & 0o004) !== 0 &&
    /(_KEY|PASSWORD|TOKEN|_URL|_EAB)\s*=/.test(text)
  )
    findings.push(settings.warn(`every user of this machine can read the secrets in ${file}`, `chmod 600 ${file}`));
  return findings;
}

/** `export NAME = value` -> `NAME` */
function nameIn(line: string): string[] {
  const [before = "", value] = line.split("=", 2);
  const name = before.trim().split(/\s/).at(-1) ?? "";
  return value === undefined || before.trimStart().startsWith("#") || name === "" ? [] : [name];
}

/** Settings that are each right, and do not go together. */
export function contradictions(config: Config): Finding[] {
  return rules
    .filter(({ when }) => when(config))
    .map(({ state = "warn", message, remedy }) => settings[state](message, remedy));
}

interface Rule {
  readonly when: (config: Config) => boolean;
  readonly state?: "warn" | "fail";
  readonly message: string;
  readonly remedy: string;
}

const isHttps = ({ https }: Config) => https === "on";
const isPublicHttps = ({ baseUrl }: Config) => baseUrl.startsWith("https:");
const isLoopback = (host: string) => host === "localhost" || host.startsWith("127.") || host === "::1";

const rules: readonly Rule[] = [
  {
    when: ({ baseUrl }) => baseUrl === "",
    message: "BASE_URL is not set: links in mails and feeds lead to where the server listens",
    remedy: "set BASE_URL to the public address, e.g. https://core.example.com",
  },
  {
    when: (config) => config.baseUrl.startsWith("http:") && !isLocalHost(new URL(config.baseUrl).host),
    message: "BASE_URL has http: passwords and sessions cross the network as plain text",
    remedy: "serve https (HTTPS=on, or a proxy) and set BASE_URL to its address",
  },
  {
    when: (config) => isPublicHttps(config) && !isHttps(config) && config.trustedProxies.length === 0,
    message: "https comes from a proxy, and TRUSTED_PROXIES names none: every visitor seems to come from the proxy",
    remedy: "set TRUSTED_PROXIES to the proxy's network, e.g. 127.0.0.1, or HTTPS=on to serve https without a proxy",
  },
  {
    when: ({ trustedProxies }) => trustedProxies.some(([, bits]) => bits === 0),
    state: "fail",
    message: "TRUSTED_PROXIES names every address: any visitor can pretend to come from any other",
    remedy: "name the proxy's own network alone, e.g. 127.0.0.1",
  },
  {
    when: (config) => isPublicHttps(config) && !isLoopback(config.host),
    message: "HOST opens the plain port to other machines, beside https",
    remedy: "set HOST=127.0.0.1, unless the proxy runs on another machine of a private network",
  },
  {
    when: (config) => isHttps(config) && config.httpsPort !== 0 && publicPort(config.baseUrl) !== config.httpsPort,
    message: "BASE_URL names another port than HTTPS_PORT",
    remedy: "make them the same, unless a router leads the one to the other",
  },
  {
    when: (config) => isHttps(config) && twice([config.port, config.httpsPort, config.httpPort]),
    state: "fail",
    message: "two of PORT, HTTPS_PORT and HTTP_PORT are the same",
    remedy: "give each a port of its own",
  },
  {
    when: (config) => !isHttps(config) && config.tlsDir !== "",
    message: "TLS_DIR has no effect without HTTPS=on",
    remedy: "set HTTPS=on, or remove TLS_DIR",
  },
  {
    when: (config) => config.hstsSeconds > 0 && !isPublicHttps(config) && !isHttps(config),
    message: "HSTS_SECONDS has no effect without https",
    remedy: "set BASE_URL to the https address, or remove HSTS_SECONDS",
  },
  {
    when: ({ databaseUrl, databaseListenUrl }) => databaseListenUrl !== "" && databaseUrl === "",
    message: "DATABASE_LISTEN_URL has no effect without DATABASE_URL",
    remedy: "remove it, or set DATABASE_URL",
  },
  {
    when: ({ databaseUrl, databaseCacheMegabytes }) => databaseUrl !== "" && databaseCacheMegabytes !== 0,
    message: "DATABASE_CACHE_MB has no effect beside DATABASE_URL",
    remedy: "set shared_buffers on that server instead",
  },
  {
    when: ({ workers }) => workers > availableParallelism(),
    message: "WORKERS is larger than the number of processors",
    remedy: `set WORKERS to at most ${availableParallelism()}`,
  },
];

function publicPort(baseUrl: string): number {
  return Number(URL.parse(baseUrl)?.port || 443);
}

function twice(ports: readonly number[]): boolean {
  const taken = ports.filter((port) => port !== 0);
  return new Set(taken).size < taken.length;
}
