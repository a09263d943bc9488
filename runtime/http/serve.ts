import type { Config } from "../config.ts";
import type { Fetch } from "./http.ts";
import { ConfigError } from "../settings.ts";

export interface Listener {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

const graceMs = 7_000;
/** Larger than any body that a route accepts: routes have lower limits of their own and answer 413 in our form. */
const hardBodyLimit = Number.MAX_SAFE_INTEGER;

/** Listens on HOST:PORT. With `WORKERS` above 1, several processes share the port (SO_REUSEPORT). */
export function listen(config: Config, createFetch: (peer: (request: Request) => string) => Fetch): Listener {
  const fetch = createFetch((request) => server.requestIP(request)?.address ?? "");
  const server = listenOn({
    port: config.port,
    hostname: config.host,
    reusePort: config.workers > 1,
    maxRequestBodySize: hardBodyLimit,
    idleTimeout: 60,
    // Event streams and imports may be silent for longer than other requests.
    fetch: (request) => {
      if (/\/(events|import)(\.json)?(\?|$)/.test(request.url)) server.timeout(request, 0);
      // A compilation may have to wait for its turn (child.ts).
      else if (request.method !== "GET" && /\/core\/apps\b/.test(request.url)) server.timeout(request, 200);
      return fetch(request);
    },
    error: () => Response.json({ error: "internal error" }, { status: 500 }),
  });
  const stop = async () => {
    const force = setTimeout(() => void server.stop(true), graceMs);
    await server.stop();
    clearTimeout(force);
  };
  return { port: server.port ?? config.port, stop };
}

/** `Bun.serve`, but with a ConfigError that names the wrong setting instead of Bun's "Failed to start server". */
export function listenOn(options: Bun.Serve.Options<undefined>): Bun.Server<undefined> {
  try {
    return Bun.serve(options);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    const place = `${options.hostname}:${options.port}`;
    if (code === "EADDRINUSE") throw new ConfigError([`PORT: another program listens on ${place}`]);
    if (code === "EACCES") throw new ConfigError([`PORT: this user may not listen on ${place}, take 1024 or above`]);
    if (code === "EADDRNOTAVAIL") throw new ConfigError([`HOST: this machine has no address ${options.hostname}`]);
    throw new Error(`cannot listen on ${place}`, { cause });
  }
}
