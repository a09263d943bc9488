import type { Config } from "../config.ts";
import type { Certificates } from "../https/certificates.ts";
import { openHttps, type Https } from "../https/https.ts";
import type { OwnCertificates } from "../https/own-certificates.ts";
import type { Log } from "../log.ts";
import type { Peer } from "./arrival.ts";
import type { Fetch } from "./http.ts";
import { listenOn } from "./listen-on.ts";

export interface Listener {
  readonly port: number;
  /** The port of https; undefined without it. */
  readonly httpsPort: number | undefined;
  readonly httpPort: number | undefined;
  readonly stop: () => Promise<void>;
}

interface Needed {
  readonly config: Config;
  readonly log: Log;
  readonly own: OwnCertificates;
  readonly certificates: Certificates | undefined;
  readonly createFetch: (peer: (request: Request) => Peer) => Fetch;
}

const graceMs = 7_000;
/** Larger than any body that a route accepts: routes have lower limits of their own and answer 413 in our form. */
const hardBodyLimit = Number.MAX_SAFE_INTEGER;

/** Listens on HOST:PORT. With `WORKERS` above 1, several processes share the port (SO_REUSEPORT). */
export async function listen({ config, log, own, certificates, createFetch }: Needed): Promise<Listener> {
  let https: Https | undefined;
  /** The inner server, of requests that came to it. */
  const throughFront = new WeakMap<Request, Bun.Server<undefined>>();
  const fetch = createFetch((request) => {
    const at = (throughFront.get(request) ?? server).requestIP(request);
    const client = at && throughFront.has(request) ? https?.clientAt(at.port) : undefined;
    return { address: client ?? at?.address ?? "", secure: client !== undefined };
  });
  const { port, host: hostname, workers } = config;
  const server = listenOn({ ...answering(fetch), port, hostname, reusePort: workers > 1 });
  const inner = config.https === "on" ? listenOn({ ...answering(fetch, throughFront), ...onlyHere }) : undefined;
  if (inner?.port) https = await openHttps({ config, log, own, certificates, innerPort: inner.port });
  const stop = async () => {
    const force = setTimeout(() => {
      https?.kill();
      void server.stop(true);
      void inner?.stop(true);
    }, graceMs);
    await Promise.all([https?.stop(), server.stop(), inner?.stop()]);
    clearTimeout(force);
  };
  return { port: server.port ?? config.port, httpsPort: https?.port, httpPort: https?.httpPort, stop };
}

const onlyHere = { port: 0, hostname: "127.0.0.1" };

/** The options of a server that answers by `fetch`; `through` gets this server, by request. */
function answering(fetch: Fetch, through?: WeakMap<Request, Bun.Server<undefined>>) {
  return {
    maxRequestBodySize: hardBodyLimit,
    idleTimeout: 60,
    fetch: (request: Request, server: Bun.Server<undefined>) => {
      through?.set(request, server);
      // Event streams and imports may be silent for longer than other requests.
      if (/\/(events|import)(\.json)?(\?|$)/.test(request.url)) server.timeout(request, 0);
      // A compilation may have to wait for its turn (child.ts).
      else if (request.method !== "GET" && /\/core\/apps\b/.test(request.url)) server.timeout(request, 200);
      return fetch(request);
    },
    error: () => Response.json({ error: "internal error" }, { status: 500 }),
  };
}
