/**
 * The only way to other machines: a fetch that reaches only public addresses (and those that OUTBOUND_ALLOW names), in
 * bounded time and memory.
 *
 *     const options = { allow: parseAllow("10.1.0.0/16"), log };
 *     const answer = await fetchOutside(options, "https://example.com/hook", { method: "POST", body });
 *     answer.status; answer.text();
 *
 * The host is resolved here, all its addresses are checked, and the connection goes to a checked address. The name is
 * only in `Host` and for TLS (server name and certificate). There is no second lookup, with another answer.
 */
import { lookup as lookupHost } from "node:dns/promises";
import { host } from "#host";
import type { Host } from "../host/host.ts";
import { literalAddress, mayReach, plainHost, type Allow } from "../net/addresses.ts";
import type { Log } from "../system/log.ts";
import { readBody, TooLarge, textOf } from "./outbound-body.ts";

export type OutboundFaultKind =
  | "refused-address"
  | "dns"
  | "connect"
  | "tls"
  | "timeout"
  | "too-large"
  | "redirect"
  | "closed"
  | "bad-url";

/** Why there is no complete answer. `status` is set if an answer had begun, `address` if a connection was tried. */
export class OutboundFault extends Error {
  override name = "OutboundFault";
  status?: number;
  address?: string;
  readonly kind: OutboundFaultKind;

  constructor(kind: OutboundFaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export interface OutboundRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
  /** Time limit for everything: resolving, connecting, waiting and reading to the end. */
  timeoutMs?: number;
  /** Limit for the answer's body after decompression. */
  maxBytes?: number;
  /** A larger answer is a "too-large" fault, or is cut off with `truncated` set. Either way nothing more is read. */
  overflow?: "fail" | "truncate";
  /** "refuse" returns a 3xx unchanged; "same-origin" follows up to three within the origin. */
  redirect?: "refuse" | "same-origin";
  /** Is told the parts of the body as they arrive, decompressed, for answers that are of use before their end. */
  onPart?: (part: Uint8Array, answer: Pick<Response, "status" | "headers">) => void;
  signal?: AbortSignal;
}

export interface OutboundResponse {
  status: number;
  headers: Headers;
  body: Uint8Array;
  /** In the charset that the answer names. */
  text(): string;
  truncated: boolean;
  durationMs: number;
  /** The address that answered. */
  address: string;
}

/** Rejects with an OutboundFault, or with the reason of the caller's own signal. */
export type Fetch = (url: string | URL, request?: OutboundRequest) => Promise<OutboundResponse>;

/** Which addresses may be reached, and how. */
export interface OutboundOptions {
  /** OUTBOUND_ALLOW, parsed. */
  allow: Allow;
  log: Log;
  /** All addresses of a host name. */
  lookup?: (name: string) => Promise<string[]>;
  /** Sends the request to an address; the host's way by default. */
  connect?: Host["send"];
  /** A certificate authority to trust besides the public ones. */
  ca?: string;
  /** Whether nothing may leave. */
  rehearses?: () => boolean;
}

const defaults = { timeoutMs: 15_000, maxBytes: 5_000_000, maxRedirects: 3 };
// We decide how the connection is used and how long the body is; callers must not set these.
const ownHeaders = [
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "keep-alive",
  "upgrade",
  "expect",
  "te",
];

/** As `Fetch`. */
export async function fetchOutside(
  options: OutboundOptions,
  url: string | URL,
  request: OutboundRequest = {},
): Promise<OutboundResponse> {
  const startedAt = performance.now();
  const timeoutMs = request.timeoutMs ?? defaults.timeoutMs;
  const end = new AbortController();
  const timer = setTimeout(
    () => end.abort(new OutboundFault("timeout", `no complete answer within ${Math.round(timeoutMs)} ms`)),
    timeoutMs,
  );
  const signal = request.signal ? AbortSignal.any([end.signal, request.signal]) : end.signal;
  try {
    signal.throwIfAborted();
    const answer = await follow(options, parseTarget(url), request, signal);
    return { ...answer, durationMs: performance.now() - startedAt };
  } finally {
    clearTimeout(timer);
    // Ends whatever is still running, such as a body that was cut off.
    end.abort(new OutboundFault("closed", "the request is over"));
  }
}

/** Said once, at the start: the proxy sees addresses in place of names. */
export function warnOfProxy(log: Log): void {
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];
  if (names.some((name) => process.env[name] !== undefined))
    log.warn("the environment sets a proxy: outbound requests go through it, by address");
}

type Answer = Omit<OutboundResponse, "durationMs">;

async function follow(
  options: OutboundOptions,
  first: URL,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<Answer> {
  let target = first;
  let { method = "GET", body } = request;
  for (let hops = 0; ; hops++) {
    const answer = await send(options, target, { ...request, method, body }, signal);
    const location = answer.headers.get("location");
    const isRedirect = [301, 302, 303, 307, 308].includes(answer.status) && location !== null;
    if (!isRedirect || request.redirect !== "same-origin") return answer;

    const next = URL.parse(location, target);
    if (next?.origin !== target.origin) throw redirectFault(answer, "the answer redirects to another origin");
    if (hops === defaults.maxRedirects) throw redirectFault(answer, `more than ${hops} redirects`);
    target = parseTarget(next);
    // As in browsers: 303, and 301 or 302 after a POST, request the new place with GET.
    if (answer.status === 303 || (method === "POST" && answer.status < 303)) {
      if (method !== "HEAD") method = "GET";
      body = undefined;
    }
  }
}

function redirectFault(answer: Answer, message: string): OutboundFault {
  return Object.assign(new OutboundFault("redirect", message), { status: answer.status, address: answer.address });
}

function parseTarget(url: string | URL): URL {
  const target = URL.parse(String(url));
  if (!target) throw new OutboundFault("bad-url", "not an absolute URL");
  if (target.protocol !== "http:" && target.protocol !== "https:") {
    throw new OutboundFault("bad-url", `only http and https, not ${target.protocol.slice(0, -1)}`);
  }
  if (target.username !== "" || target.password !== "") {
    throw new OutboundFault("bad-url", "a URL with a user name or password is refused: use the Authorization header");
  }
  return target;
}

type Send = Omit<OutboundRequest, "body"> & { method: string; body: OutboundRequest["body"] };

async function send(options: OutboundOptions, target: URL, request: Send, signal: AbortSignal): Promise<Answer> {
  const addresses = await checkedAddresses(options, target, signal);
  for (const [index, address] of addresses.entries()) {
    try {
      return await sendTo(options, target, address, request, signal);
    } catch (error) {
      const fault = signal.aborted ? signal.reason : asFault(error, target);
      if (!(fault instanceof OutboundFault)) throw fault;
      fault.address ??= address;
      // Nothing was sent if the connection failed, so another address may be tried.
      if (fault.kind !== "connect" || index === addresses.length - 1) throw fault;
    }
  }
  throw new OutboundFault("dns", `${target.hostname} has no address`);
}

/** The addresses of the target's host, IPv4 first. Throws if any of them may not be reached. */
export async function checkedAddresses(
  options: Pick<OutboundOptions, "allow" | "lookup" | "log" | "rehearses">,
  target: URL,
  signal: AbortSignal,
): Promise<string[]> {
  if (options.rehearses?.() === true)
    throw new OutboundFault("refused-address", "this is a rehearsal: nothing is sent to other machines");
  const name = plainHost(target.hostname);
  const literal = literalAddress(name);
  const addresses = literal ? [literal] : await resolve(options.lookup ?? lookupAll, name, signal);
  const port = target.port || (target.protocol === "https:" ? "443" : "80");
  // A private address among public ones is refused too: such a mixture is an attack or a mistake.
  const refused = addresses.find((address) => !mayReach(address, name, port, options.allow));
  if (refused !== undefined) {
    options.log.warn("outbound request refused", { host: name, port, address: refused });
    const fault = new OutboundFault("refused-address", `${name} is at ${refused}, which is not a public address`);
    throw Object.assign(fault, { address: refused });
  }
  return addresses.toSorted((a, b) => Number(a.includes(":")) - Number(b.includes(":"))).slice(0, 4);
}

async function resolve(lookup: (name: string) => Promise<string[]>, name: string, signal: AbortSignal) {
  const aborted = Promise.withResolvers<never>();
  const stop = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", stop);
  try {
    const addresses = await Promise.race([lookup(name), aborted.promise]);
    if (addresses.length > 0) return addresses;
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new OutboundFault("dns", `the name ${name} cannot be resolved`, { cause });
  } finally {
    signal.removeEventListener("abort", stop);
  }
  throw new OutboundFault("dns", `the name ${name} has no address`);
}

async function lookupAll(name: string): Promise<string[]> {
  return (await lookupHost(name, { all: true })).map(({ address }) => address);
}

async function sendTo(
  options: OutboundOptions,
  target: URL,
  address: string,
  request: Send,
  signal: AbortSignal,
): Promise<Answer> {
  const { connect = host.send, ca } = options;
  const name = plainHost(target.hostname);
  const port = target.port && `:${target.port}`;
  const response = await connect(target, address, {
    method: request.method,
    headers: requestHeaders(request, target.hostname.replace(/\.$/, "") + port),
    ...(request.body === undefined ? {} : { body: request.body }),
    signal,
    ...(literalAddress(name) ? {} : { serverName: name }),
    ...(ca ? { ca } : {}),
  });
  try {
    const { maxBytes = defaults.maxBytes, overflow, onPart } = request;
    const { bytes, truncated } = await readBody(response, maxBytes, {
      overflow,
      onPart: onPart && ((part) => onPart(part, response)),
    });
    const headers = new Headers(response.headers);
    // They described the compressed body, which we have decompressed.
    headers.delete("content-encoding");
    if (request.method !== "HEAD") headers.delete("content-length");
    const text = () => textOf(bytes, headers.get("content-type"));
    return { status: response.status, headers, body: bytes, text, truncated, address };
  } catch (error) {
    const fault = signal.aborted ? signal.reason : asFault(error, target);
    if (fault instanceof OutboundFault) fault.status = response.status;
    throw fault;
  }
}

function requestHeaders(request: Send, hostHeader: string): Headers {
  const headers = new Headers({ accept: "*/*", "user-agent": "Corestead" });
  try {
    for (const [name, value] of Object.entries(request.headers ?? {})) headers.set(name, value);
  } catch (cause) {
    throw new OutboundFault("bad-url", "a request header has a name or value that HTTP does not allow", { cause });
  }
  for (const name of ownHeaders) headers.delete(name);
  if (request.body === undefined) headers.delete("content-type");
  headers.set("accept-encoding", "gzip, br");
  headers.set("host", hostHeader);
  return headers;
}

const unreachable = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL", "ETIMEDOUT", "ENETDOWN"]);
const tlsCode = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO|HOSTNAME_MISMATCH|INVALID_CA)/;

/** Sorts the error codes of Bun and of Node into what a reader of a delivery log wants to know. */
function asFault(error: unknown, target: URL): unknown {
  if (error instanceof OutboundFault) return error;
  if (error instanceof TooLarge) return new OutboundFault("too-large", error.message);
  if (!(error instanceof Error)) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const where = target.host;
  const because = { cause: error };
  if (unreachable.has(code) || code === "ConnectionRefused" || code === "FailedToOpenSocket") {
    return new OutboundFault("connect", `no connection to ${where} (${code})`, because);
  }
  if (tlsCode.test(code)) return new OutboundFault("tls", `no secure connection to ${where} (${code})`, because);
  return new OutboundFault(
    "closed",
    `${where} closed the connection before the answer was complete (${code || error.message})`,
    because,
  );
}
