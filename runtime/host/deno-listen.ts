/**
 * `Deno.serve`, with what Bun's server does by itself: it refuses requests that are no HTTP, limits their heads, resolves
 * dots in their addresses, and ends silent connections.
 */
import { deno, type NetAddress } from "./deno-api.ts";
import { endSilent } from "./deno-sockets.ts";
import type { Listening, ListenOptions } from "./host.ts";

/** Of a request's first line and headers. */
const maxHeadBytes = 16_384;
const usualIdleSeconds = 60;

export function listen({ port, hostname, reusePort = false, idleSeconds, fetch: answer }: ListenOptions): Listening {
  const end = new AbortController();
  const peers = new WeakMap<Request, NetAddress>();
  /** Seconds that a connection may be silent if not the usual, by the client's port. */
  const patience = new Map<number, number>();
  const options = { port, hostname, reusePort, signal: end.signal, onListen: () => {}, onError: failed };
  const server = deno.serve(options, (raw, { remoteAddr }) => {
    const request = checked(raw);
    if (request instanceof Response) return request;
    peers.set(request, remoteAddr);
    const seconds = idleSeconds?.(request);
    if (seconds !== undefined) patience.set(remoteAddr.port, seconds);
    else if (patience.size > 0) patience.delete(remoteAddr.port);
    return answer(request);
  });
  const silence = endSilent(server.addr.port, {
    allowedMs(client) {
      const seconds = patience.get(client) ?? usualIdleSeconds;
      return seconds === 0 ? Infinity : seconds * 1000;
    },
    present: (clients) => patience.forEach((_, client) => clients.has(client) || patience.delete(client)),
  });
  let ended = false;
  const stop = async (force = false): Promise<void> => {
    // After its end an abort throws where nobody can catch it.
    if (force && !ended) end.abort();
    else if (!ended) await server.shutdown();
    await server.finished;
    ended = true;
    silence.stop();
  };
  return {
    port: server.addr.port,
    peer: (request) => {
      const at = peers.get(request);
      return at && { address: at.hostname, port: at.port };
    },
    stop,
  };
}

function failed(): Response {
  return Response.json({ error: "internal error" }, { status: 500 });
}

/** In an address that has one of these, the path or the host may not be what it seems. */
const unusual = /\/\.|%2e|[\\ <>^|"]/i;

/** The request as `fetch` of Bun's server gets it, or the answer that Bun's server gives by itself. */
function checked(raw: Request): Request | Response {
  const { url, headers } = raw;
  let headBytes = url.length;
  for (const [name, value] of headers) headBytes += name.length + value.length + 4;
  if (headBytes > maxHeadBytes) return new Response(null, { status: 431 });
  const name = headers.get("host");
  // Deno puts the name into the address as it is.
  if (name === null || /[/?#@\\\s]/.test(name) || raw.method === "CONNECT") return new Response(null, { status: 400 });
  if (!unusual.test(url)) return raw;
  const plain = URL.parse(url)?.href;
  return plain === undefined ? new Response(null, { status: 400 }) : new Request(plain, raw);
}
