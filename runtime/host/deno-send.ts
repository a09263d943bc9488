/**
 * Outbound requests by node:http and node:https. Deno's own fetch cannot ask one address for another name, gives no
 * error codes, and decompresses bodies.
 */
import { Agent, request as requestPlain, type IncomingMessage } from "node:http";
import { Agent as SecureAgent, request as requestSecure } from "node:https";
import type { AddressedRequest } from "./host.ts";

/** They separate idle connections by address, port and TLS server name, so keeping them alive is safe. */
const agent = new Agent({ keepAlive: true });
const secureAgent = new SecureAgent({ keepAlive: true });

export function send(url: URL, address: string, request: AddressedRequest): Promise<Response> {
  const { serverName, ca, body, signal, method, headers } = request;
  const secure = url.protocol === "https:";
  return new Promise((resolve, reject) => {
    const sent = (secure ? requestSecure : requestPlain)(
      {
        agent: secure ? secureAgent : agent,
        host: address,
        port: Number(url.port) || (secure ? 443 : 80),
        path: url.pathname + url.search,
        method,
        headers: Object.fromEntries(headers),
        ...(serverName === undefined ? {} : { servername: serverName }),
        ...(ca === undefined ? {} : { ca }),
      },
      (incoming) => resolve(responseOf(incoming, method, signal)),
    );
    // Not by its option `signal`: an abort must be told even if the socket never ends.
    const abort = () => {
      reject(signal.reason);
      sent.destroy();
    };
    signal.addEventListener("abort", abort, { once: true });
    sent.on("error", reject).end(body);
  });
}

function responseOf(incoming: IncomingMessage, method: string, signal: AbortSignal): Response {
  const status = incoming.statusCode ?? 500;
  const hasBody = method !== "HEAD" && ![101, 204, 205, 304].includes(status);
  if (!hasBody) incoming.resume();
  const headers = new Headers();
  for (let at = 0; at < incoming.rawHeaders.length; at += 2)
    headers.append(incoming.rawHeaders[at] ?? "", incoming.rawHeaders[at + 1] ?? "");
  return new Response(hasBody ? bodyOf(incoming, signal) : null, { status, headers });
}

function bodyOf(incoming: IncomingMessage, signal: AbortSignal): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array> = incoming[Symbol.asyncIterator]();
  const stop = () => void incoming.destroy(signal.reason instanceof Error ? signal.reason : undefined);
  signal.addEventListener("abort", stop, { once: true });
  return new ReadableStream({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: stop,
  });
}
