import { host } from "#host";
import { openHttps, type Https, type HttpsContext } from "../https/https.ts";
import type { Peer } from "../../http/context.ts";
import type { Fetch } from "../../http/http.ts";
import type { Listening } from "../../host/host.ts";
import { listenOn } from "../../http/listen-on.ts";

export interface Listener {
  readonly port: number;
  /** The port of https; undefined without it. */
  readonly httpsPort: number | undefined;
  readonly httpPort: number | undefined;
  readonly stop: () => Promise<void>;
}

const graceMs = 7_000;

/**
 * Mounts the routes; the result listens on HOST:PORT. With `WORKERS` above 1, several processes share the port
 * (SO_REUSEPORT).
 */
export function mount(
  ctx: HttpsContext,
  fetchFor: (peer: (request: Request) => Peer) => Fetch,
): () => Promise<Listener> {
  let server: Listening | undefined;
  let inner: Listening | undefined;
  let https: Https | undefined;
  /** Requests that came to the inner server. */
  const throughFront = new WeakSet<Request>();
  const fetch = fetchFor((request) => {
    const isInner = throughFront.has(request);
    const at = (isInner ? inner : server)?.peer(request);
    const client = at && isInner ? https?.clientAt(at.port) : undefined;
    return { address: client ?? at?.address ?? "", secure: client !== undefined };
  });
  const fetchInner: Fetch = (request) => {
    throughFront.add(request);
    return fetch(request);
  };
  const stop = async () => {
    const force = setTimeout(() => {
      https?.kill();
      void server?.stop(true);
      void inner?.stop(true);
    }, graceMs);
    await Promise.all([https?.stop(), server?.stop(), inner?.stop()]);
    clearTimeout(force);
  };
  return async () => {
    const { config } = ctx;
    const { port, host: hostname, workers } = config;
    const outer = listenOn({ port, hostname, reusePort: workers > 1, idleSeconds, fetch });
    server = outer;
    const http2 = config.http2 === "on" && host.hasHttp2;
    if (config.https === "on") {
      inner = listenOn({ ...onlyHere, http2, idleSeconds, fetch: fetchInner });
      https = await openHttps(ctx, { port: inner.port, http2 });
    }
    return { port: outer.port, httpsPort: https?.port, httpPort: https?.httpPort, stop };
  };
}

const onlyHere = { port: 0, hostname: "127.0.0.1" };

/** One look for nearly every request. */
const mayBeSilent = /\/(?:events|import|chat|core\/(?:apps|dbs))\b/;

function idleSeconds({ method, url }: Request): number | undefined {
  if (!mayBeSilent.test(url)) return undefined;
  // Event streams and imports may be silent for longer than other requests.
  if (/\/(events|import)(\.json)?(\?|$)/.test(url)) return 0;
  // A model thinks before it answers.
  if (/\/chat(\.json)?(\?|$)/.test(url)) return 200;
  // A field that becomes unique is looked at in all records before the answer.
  if (method === "PATCH" && /\/core\/dbs\/[^/?]+(\/replace)?(\.json)?(\?|$)/.test(url)) return 0;
  // A compilation may have to wait for its turn (child.ts).
  return method !== "GET" && /\/core\/apps\b/.test(url) ? 200 : undefined;
}
