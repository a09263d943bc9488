/**
 * The TLS listener in front of the HTTP server. `Bun.serve` knows its certificates when it starts and no later (in Bun
 * 1.4 neither `reload` nor a callback changes them), so TLS ends here, and the requests go on to a port of this process
 * that only this machine can reach. A request costs 9 µs more than with `Bun.serve`'s own TLS.
 */
import { connect, createServer as listenFor, type Server } from "node:net";
import { createSecureContext, createServer, type SecureContext, type TLSSocket } from "node:tls";
import type { Certificates, KeyPair } from "../../plugin/certificates.ts";
import { putNewest } from "../../base/values.ts";
import { join } from "./join.ts";
import { admit, tlsOptions } from "./proof-door.ts";

interface Context {
  readonly pair: KeyPair;
  readonly secure: SecureContext;
}

/** Which certificate a handshake gets: the ready contexts of the hosts that were asked for last, about 30 kB each. */
export interface Contexts {
  readonly kept: Map<string, Promise<Context | undefined>>;
  readonly find: (host: string) => Promise<KeyPair | undefined>;
}

const maxContexts = 1_000;

export interface FrontOptions {
  readonly port: number;
  readonly hostname: string;
  /** Several processes share the port. */
  readonly reusePort: boolean;
  readonly contexts: Contexts;
  /** Where authorities look for proofs at this port; each connection then has one hop more. */
  readonly proof?: Certificates["proof"] | undefined;
  /** For clients that name no host, such as those that come by an IP address. */
  readonly defaultHost: string;
  /** The port of 127.0.0.1 to which requests go on, and whether HTTP/2 is spoken there. */
  readonly inner: { readonly port: number; readonly http2: boolean };
}

export interface Front {
  readonly port: number;
  /** The address of the client behind a connection to the inner port, by that connection's own port. */
  readonly clientAt: (port: number) => string | undefined;
  /** Looks for the certificate of clients that name no host. */
  readonly setDefault: () => Promise<void>;
  /** Takes no more connections. */
  readonly stop: () => void;
  /** Ends those that there are. */
  readonly kill: () => void;
}

/** Longer than an order for a certificate takes, for which a first handshake waits. */
const handshakeTimeoutMs = 40_000;
export async function openFront(options: FrontOptions): Promise<Front> {
  const { contexts, defaultHost, proof, inner } = options;
  const spoken = inner.http2 ? ["h2", "http/1.1"] : ["http/1.1"];
  const clients = new Map<number, string>();
  /** Of the connections that come through the door for proofs. */
  const visitors = new Map<number, string>();
  const open = new Set<TLSSocket>();
  const server = createServer({
    handshakeTimeout: handshakeTimeoutMs,
    SNICallback: (name, done) => {
      const host = name.toLowerCase();
      const found = (host === "" ? undefined : contextOf(contexts, host)) ?? Promise.resolve(undefined);
      found.then(
        (context) => (context ? done(null, context.secure) : done(new Error("no certificate for this host"))),
        (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
      );
    },
    // Undefined refuses a client that offers only others.
    ALPNCallback: ({ protocols }) => spoken.find((name) => protocols.includes(name)),
  });
  server.on("secureConnection", (client: TLSSocket) => {
    open.add(client);
    client.once("close", () => open.delete(client));
    const address = visitors.get(client.remotePort ?? 0) ?? (client.remoteAddress ?? "").replace(/^::ffff:/, "");
    join(client, connect({ host: "127.0.0.1", port: inner.port }), clients, address);
  });
  // A client that goes away during its handshake, or asks for a host of nobody.
  server.on("tlsClientError", () => {});
  const setDefault = async (): Promise<void> => {
    const context = await contextOf(contexts, defaultHost);
    if (context) server.setSecureContext(tlsOptions(context.pair));
  };
  const servers: Server[] = [server];
  let port: number;
  if (proof) {
    const tlsPort = await listening(server, { port: 0, hostname: "127.0.0.1", reusePort: false });
    const door = listenFor((socket) => admit({ tlsPort, proof, clients: visitors }, socket));
    servers.unshift(door);
    port = await listening(door, options);
  } else port = await listening(server, options);
  return {
    port,
    setDefault,
    clientAt: (at) => clients.get(at),
    stop: () => servers.forEach((one) => one.close()),
    kill: () => open.forEach((client) => client.destroy()),
  };
}

/** It is made when its host is first asked for. */
function contextOf({ kept, find }: Contexts, host: string): Promise<Context | undefined> {
  const context = kept.get(host) ?? contextMade(find(host), () => kept.delete(host));
  // The one that was asked for last is the last to go.
  putNewest(kept, host, context, maxContexts);
  return context;
}

/** A flood of made-up names costs no memory: what is not there is forgotten. */
async function contextMade(found: Promise<KeyPair | undefined>, forget: () => void): Promise<Context | undefined> {
  let isKept = false;
  try {
    const pair = await found;
    if (!pair) return undefined;
    const context = { pair, secure: createSecureContext(tlsOptions(pair)) };
    isKept = true;
    return context;
  } finally {
    if (!isKept) forget();
  }
}

function listening(
  server: Server,
  { port, hostname, reusePort }: Pick<FrontOptions, "port" | "hostname" | "reusePort">,
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: hostname, reusePort }, () => {
      server.off("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : port);
    });
  });
}
