/** Ports, names and the proxy in front. A server that runs is asked itself: only it knows what arrives. */
import { codeOf } from "../../base/values.ts";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import type { Config } from "../../settings/config.ts";
import { inNetworks } from "../../net/client-address.ts";
import { listenOn } from "../../http/listen-on.ts";
import { ConfigError } from "../../settings/settings.ts";
import { findingsOf, reasonOf, type Finding } from "../../plugin/finding.ts";
import { askServer, streamsEvents } from "./probe.ts";
import type { ProbeResult, ProbeOptions, Probe, ReceivedRequest } from "./probe.ts";

const ports = findingsOf("ports");
const dns = findingsOf("dns");
const proxy = findingsOf("proxy");

interface Port {
  readonly name: "PORT" | "HTTPS_PORT" | "HTTP_PORT";
  readonly port: number;
  readonly hostname: string;
  readonly hostName: "HOST" | "HTTPS_HOST";
}

export interface Ports {
  readonly findings: readonly Finding[];
  /** Whether a server of this installation answers on PORT of this machine. */
  readonly isServed: boolean;
}

export async function checkPorts(config: Config, probe: Probe): Promise<Ports> {
  const { https, host, httpsHost } = config;
  const plain: Port = { name: "PORT", port: config.port, hostname: host, hostName: "HOST" };
  const outer = { hostname: httpsHost, hostName: "HTTPS_HOST" } as const;
  const all: Port[] = [plain];
  if (https === "on") all.push({ ...outer, name: "HTTPS_PORT", port: config.httpsPort });
  if (https === "on") all.push({ ...outer, name: "HTTP_PORT", port: config.httpPort });
  const looked = await Promise.all(all.filter(({ port }) => port !== 0).map((port) => checkPort(port, config, probe)));
  return { findings: looked.map(({ finding }) => finding), isServed: looked.some(({ isOurs }) => isOurs) };
}

async function checkPort(at: Port, config: Config, probe: Probe): Promise<{ finding: Finding; isOurs: boolean }> {
  const { name, port, hostname } = at;
  const place = `${name} ${port}`;
  const answered = await askAt(at, config, probe);
  if (answered.isOurs) return { finding: ports.ok(`${place} is served by this server`), isOurs: true };
  if (answered.isAlike && probe.secrets)
    return {
      finding: ports.fail(
        `a Corestead with another secret key listens on ${hostname}:${port}`,
        `see the lines of key; if it is another installation, set another ${name}`,
      ),
      isOurs: false,
    };
  const not = (finding: Finding) => ({ finding, isOurs: false });
  const fault = tryToBind(at);
  if (!fault) return not(ports.ok(`${place} is free`));
  const [message = ""] = fault instanceof ConfigError ? fault.mistakes : [reasonOf(fault)];
  if (message.includes("another program"))
    return not(
      probe.secrets
        ? ports.fail(message, `see which with \`ss -ltnp 'sport = :${port}'\`, stop it, or set another ${name}`)
        : ports.warn(`${place} is taken; without the secret key nobody can tell by whom`, "put the secret key back"),
    );
  const remedy = message.includes("this user may not")
    ? "run the server as a service (`corestead service install`), or give it CAP_NET_BIND_SERVICE"
    : `set ${at.hostName} to an address of this machine`;
  return not(ports.fail(message, `${remedy} (${hostname}:${port})`));
}

/** Who answers at a port of this machine. */
async function askAt({ name, port, hostname }: Port, { baseUrl }: Config, probe: Probe) {
  const host = new URL(baseUrl || "http://localhost").hostname;
  const here = `${reachable(hostname)}:${port}`;
  if (name === "HTTP_PORT") {
    const answered = await askServer(probe, `http://${here}`, { host });
    const leads = answered.by === "another" && answered.location.startsWith(`https://${host}`);
    return { isOurs: leads, isAlike: false };
  }
  const asking: ProbeOptions = name === "HTTPS_PORT" ? { host, anyCertificate: true } : {};
  const answered = await askServer(probe, `${name === "HTTPS_PORT" ? "https" : "http"}://${here}`, asking);
  return { isOurs: answered.by === "us", isAlike: answered.by === "another" && answered.isAlike };
}

/** The address at which a program of this machine reaches a server that listens there. */
function reachable(hostname: string): string {
  if (hostname === "0.0.0.0" || hostname === "::" || hostname === "") return "127.0.0.1";
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

function tryToBind({ name, port, hostname, hostName }: Port): Error | undefined {
  try {
    const names = { port: name, host: hostName };
    void listenOn({ port, hostname, fetch: () => new Response() }, names).stop(true);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

export interface Network {
  readonly config: Config;
  readonly probe: Probe;
  readonly isServed: boolean;
  /** The addresses of a name; default: those that this machine finds. */
  readonly addressesOf?: (name: string) => Promise<readonly string[]>;
}

/** Of a thousand domains the first ones are looked at: each is a question to DNS and to the server. */
const mostNames = 100;
const atOnce = 8;

/** Whether each name leads here: one line for all that do, and one for each that does not. */
export async function checkHosts(
  what: string,
  names: readonly string[],
  network: Network,
): Promise<readonly Finding[]> {
  const looked = [...new Set(names)].filter((name) => !isLocal(name)).slice(0, mostNames);
  const found: (Finding | undefined)[] = [];
  for (let at = 0; at < looked.length; at += atOnce)
    found.push(...(await Promise.all(looked.slice(at, at + atOnce).map((name) => checkHost(name, network)))));
  const wrong = found.filter((finding) => finding !== undefined);
  const right = found.length - wrong.length;
  const which = right === 1 ? (looked.find((_, at) => found[at] === undefined) ?? "") : `${right} ${what}`;
  return right === 0 ? wrong : [dns.ok(`${which} ${right === 1 ? "leads" : "lead"} to this server`), ...wrong];
}

/** The scheme and port are those of BASE_URL. */
async function checkHost(name: string, network: Network): Promise<Finding | undefined> {
  const { config, probe, isServed, addressesOf = systemAddresses } = network;
  let addresses: readonly string[];
  try {
    addresses = await addressesOf(name);
  } catch (error) {
    const remedy = "add an A or AAAA record with this machine's public address, and wait until DNS has it";
    return dns.fail(`${name} is not known in DNS (${codeOf(error) || reasonOf(error)})`, remedy);
  }
  const to = addresses.join(", ");
  const isHere = addresses.some(isOwnAddress);
  if (!isServed || !probe.secrets) {
    if (isHere) return undefined;
    return dns.warn(
      `${name} leads to ${to}, which is no address of this machine`,
      "start the server and ask again: it then sees whether a proxy or a router leads here from there",
    );
  }
  const base = new URL(config.baseUrl || `http://${name}:${config.port}`);
  base.hostname = name;
  return judgeHost(base, to, await askServer(probe, base.origin));
}

function judgeHost({ host, origin }: URL, to: string, answered: ProbeResult): Finding | undefined {
  if (answered.by === "us") {
    const { seen } = answered;
    if (seen.host === host) return undefined;
    return proxy.fail(`requests to ${host} arrive as requests to ${seen.host}`, hostRemedy(host, seen));
  }
  const at = `${host} leads to ${to}`;
  if (answered.by === "another") {
    const how = answered.location === "" ? `${answered.status}` : `${answered.status} to ${answered.location}`;
    return dns.fail(
      `${at}, where something else answers (${how})`,
      "lead the name, or the proxy there, to this server",
    );
  }
  if (/CERT|SELF_SIGNED|TLS|SSL|ALTNAME/i.test(answered.code))
    return dns.fail(
      `${at}, and ${origin} has no valid certificate: ${answered.reason}`,
      "see the lines of certificates and tls, or the proxy's own certificate",
    );
  return dns.warn(
    `${at}, where nobody answers this machine (${answered.reason})`,
    "open the port in the firewall; some routers do not let a machine reach its own public address: try from outside",
  );
}

/** Checks what a proxy does with requests to BASE_URL. Nothing if they do not arrive: checkHosts reports that. */
export async function checkProxy({ config, probe, isServed }: Network): Promise<readonly Finding[]> {
  const { baseUrl } = config;
  if (baseUrl === "" || !probe.secrets) return [];
  if (!isServed)
    return [proxy.warn("the server does not run: what a proxy passes on is not known", "start it and ask again")];
  const answered = await askServer(probe, baseUrl);
  if (answered.by !== "us") return [];
  const headers = judgeHeaders(answered.seen, config);
  const rest = await checkPassing(config, probe);
  const found = [...headers, ...rest];
  if (found.length > 0) return found;
  const how = isProxied(answered.seen, config) ? "the proxy passes on" : "without a proxy arrive";
  return [proxy.ok(`${how} the host, the client's address, large bodies and events at once`)];
}

function isProxied(seen: ReceivedRequest, { baseUrl, https }: Pick<Config, "baseUrl" | "https">): boolean {
  const named = [seen.forwardedFor, seen.forwardedHost, seen.forwardedProto].some((value) => value !== undefined);
  return named || (baseUrl.startsWith("https:") && https !== "on");
}

/** Pure. */
export function judgeHeaders(
  seen: ReceivedRequest,
  config: Pick<Config, "baseUrl" | "https" | "trustedProxies">,
): Finding[] {
  const { baseUrl, trustedProxies } = config;
  const { host, protocol } = new URL(baseUrl);
  const findings: Finding[] = [];
  if (seen.host !== host)
    findings.push(proxy.fail(`the header Host arrives as ${seen.host}, not ${host}`, hostRemedy(host, seen)));
  if (!isProxied(seen, config)) return findings;
  if (protocol === "https:" && seen.forwardedProto !== "https") {
    const how = seen.forwardedProto === undefined ? "is missing" : `says ${seen.forwardedProto}`;
    const remedy = "let the proxy say https (nginx: proxy_set_header X-Forwarded-Proto $scheme;)";
    findings.push(proxy.fail(`the header X-Forwarded-Proto ${how}`, remedy));
  }
  if (seen.forwardedFor === undefined) {
    const remedy = "let the proxy add it (nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;)";
    findings.push(proxy.fail("the header X-Forwarded-For is missing: every visitor seems to be the proxy", remedy));
  } else if (!isTrusted(seen, trustedProxies)) {
    const message = `the proxy at ${seen.ip} is not trusted: its headers do not count, and every visitor seems to be the proxy`;
    findings.push(proxy.warn(message, `add ${seen.ip} to TRUSTED_PROXIES`));
  }
  return findings;
}

/** The address of a trusted proxy's client is one that the proxy has told. */
function isTrusted({ ip, forwardedFor = "" }: ReceivedRequest, trusted: Config["trustedProxies"]): boolean {
  if (trusted.length === 0) return false;
  return inNetworks(ip, trusted) || forwardedFor.split(",").some((part) => part.trim() === ip);
}

function hostRemedy(host: string, { forwardedHost, ip }: ReceivedRequest): string {
  if (forwardedHost?.toLowerCase() === host) return `its X-Forwarded-Host does not count: add ${ip} to TRUSTED_PROXIES`;
  return "let the proxy pass Host on (nginx: proxy_set_header Host $http_host;)";
}

/** Larger bodies take too long to send for a check. */
const mostBytes = 16_000_000;

async function checkPassing({ baseUrl, maxBodyBytes }: Config, probe: Probe): Promise<Finding[]> {
  const bytes = Math.min(maxBodyBytes, mostBytes);
  const [large, streams] = await Promise.all([askServer(probe, baseUrl, { bytes }), streamsEvents(probe, baseUrl)]);
  const findings: Finding[] = [];
  if (large.by !== "us" || large.seen.bytes !== bytes) {
    const how = large.by === "another" ? `${large.status}` : large.by === "nobody" ? large.reason : "cut off";
    const remedy = "raise the proxy's limit (nginx: client_max_body_size 0; Corestead has limits of its own)";
    findings.push(proxy.fail(`bodies of ${bytes / 1_000_000} MB do not arrive (${how})`, remedy));
  }
  if (streams === undefined)
    findings.push(
      proxy.fail("live events do not arrive", "let the proxy pass text/event-stream on, without a time limit"),
    );
  else if (!streams)
    findings.push(
      proxy.fail("live events arrive late: the proxy collects them", "turn that off (nginx: proxy_buffering off;)"),
    );
  return findings;
}

/** A name of this machine, or an address: DNS has nothing to say about it. */
function isLocal(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || name.includes(":") || isIP(name) !== 0;
}

async function systemAddresses(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

function isOwnAddress(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((of) => (of ?? []).map((one) => one.address));
  return address.startsWith("127.") || own.includes(address);
}
