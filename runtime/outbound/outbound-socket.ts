/**
 * Outbound connections for protocols other than HTTP (mail, databases), guarded like outbound.ts: the name is resolved
 * here, all its addresses are checked, and the socket connects to a checked one.
 *
 *     const connection = await connectOutside(outside, { host: "mail.example.com", port: 587, timeoutMs: 10_000 });
 *     library.use(connection.socket); // or (await connection.secure({})).socket
 */
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { isPublicAddress, literalAddress, plainHost } from "../net/addresses.ts";
import { checkedAddresses, OutboundFault, type OutboundOptions } from "./outbound.ts";

export interface ConnectTarget {
  readonly host: string;
  readonly port: number;
  /** Time limit for resolving and connecting. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface TlsOptions {
  /** The name that the certificate must contain; default: the host that was connected to. */
  readonly servername?: string | undefined;
  /** A certificate authority (PEM) instead of the public ones. */
  readonly ca?: string | undefined;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** A connected `Socket` of Node, for libraries that take one; authors of plugins need not have Node's types. */
export interface OutboundSocket {
  write(data: string | Uint8Array): boolean;
  destroy(error?: Error): unknown;
  on(event: "data", listener: (data: Uint8Array) => void): unknown;
  on(event: "close", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
}

export interface OutboundConnection {
  readonly socket: OutboundSocket;
  /** The address that was reached, and whether it is public or allowed only by OUTBOUND_ALLOW. */
  readonly address: string;
  readonly isPublic: boolean;
  /** Sends this and returns the first byte of the answer, for protocols that negotiate encryption. */
  ask(bytes: Uint8Array, signal?: AbortSignal): Promise<number>;
  /** Encrypts the connection and checks the certificate. The plain socket must not be used afterwards. */
  secure(options?: TlsOptions): Promise<OutboundConnection>;
}

/** Rejects with an OutboundFault, or with the reason of the caller's own signal. */
export type Connect = (target: ConnectTarget) => Promise<OutboundConnection>;

const standardTimeoutMs = 10_000;

/** As `Connect`. */
export async function connectOutside(
  outside: Pick<OutboundOptions, "allow" | "log" | "lookup" | "rehearses">,
  { host, port, timeoutMs = standardTimeoutMs, signal }: ConnectTarget,
): Promise<OutboundConnection> {
  // The URL parser normalises decimal, octal and hexadecimal addresses for http only, so parse the host as http.
  const target = URL.parse(`http://${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}/`);
  if (!target || /[\s/?#@\\]/.test(host) || target.port !== "") throw new OutboundFault("bad-url", "not a host name");
  target.port = String(port);
  return within(timeoutMs, signal, async (end) => {
    const addresses = await checkedAddresses(outside, target, end);
    return connectToOne(addresses, plainHost(target.hostname), port, end);
  });
}

async function connectToOne(addresses: readonly string[], host: string, port: number, signal: AbortSignal) {
  let last: unknown;
  for (const address of addresses) {
    try {
      const socket = await opened(connectTcp({ host: address, port }), "connect", signal);
      return connectionOf(socket, address, host);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      last = error;
    }
  }
  const fault = new OutboundFault("connect", `no connection to ${host}:${port} (${codeOf(last)})`, { cause: last });
  throw Object.assign(fault, { address: addresses.at(-1) });
}

function connectionOf(socket: Socket, address: string, host: string): OutboundConnection {
  // The socket's user listens too, but not always: an error event without a listener would end the process.
  socket.on("error", () => {});
  return {
    socket,
    address,
    isPublic: isPublicAddress(address),
    ask: (bytes, signal) =>
      within(standardTimeoutMs, signal, async (end) => {
        const answer = firstByte(socket, end);
        socket.write(bytes);
        return answer;
      }),
    secure: ({ servername, ca, timeoutMs = standardTimeoutMs, signal } = {}) =>
      within(timeoutMs, signal, async (end) => {
        const name = servername ?? host;
        const tls = connectTls({
          socket,
          host: name,
          ...(literalAddress(name) ? {} : { servername: name }),
          ...(ca === undefined ? {} : { ca }),
          rejectUnauthorized: true,
        });
        try {
          return connectionOf(await opened(tls, "secureConnect", end), address, host);
        } catch (cause) {
          socket.destroy();
          if (end.aborted) throw end.reason;
          throw new OutboundFault("tls", `no secure connection to ${host} (${codeOf(cause)})`, { cause });
        }
      }),
  };
}

async function opened<S extends Socket>(socket: S, event: "connect" | "secureConnect", signal: AbortSignal) {
  await first(socket, event, signal);
  return socket;
}

async function firstByte(socket: Socket, signal: AbortSignal): Promise<number> {
  const bytes = await first<Buffer>(socket, "data", signal).catch(() => {
    if (signal.aborted) throw signal.reason;
    throw new OutboundFault("closed", "the connection was closed before an answer");
  });
  if (bytes.length === 1) return bytes[0] ?? 0;
  socket.destroy();
  // Extra bytes would be mistaken for part of the encrypted stream.
  throw new OutboundFault("closed", "the answer is not one of this protocol");
}

/** Resolves with the event's argument. Destroys the socket if it ends first or the signal aborts. */
async function first<T>(socket: Socket, event: string, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const closed = () => reject(new Error("closed"));
  const aborted = () => reject(signal.reason);
  socket.once(event, resolve).once("error", reject).once("close", closed);
  signal.addEventListener("abort", aborted);
  try {
    signal.throwIfAborted();
    return await promise;
  } catch (error) {
    socket.on("error", () => {}).destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", aborted);
    socket.off(event, resolve).off("error", reject).off("close", closed);
  }
}

async function within<T>(timeoutMs: number, signal: AbortSignal | undefined, run: (end: AbortSignal) => Promise<T>) {
  const end = new AbortController();
  const fault = () => end.abort(new OutboundFault("timeout", `no connection within ${Math.round(timeoutMs)} ms`));
  const timer = setTimeout(fault, timeoutMs);
  try {
    return await run(signal ? AbortSignal.any([end.signal, signal]) : end.signal);
  } finally {
    clearTimeout(timer);
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "no address";
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}
