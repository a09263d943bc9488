/**
 * The TLS listener in front of the HTTP server. `Bun.serve` knows its certificates when it starts and no later (in Bun
 * 1.4 neither `reload` nor a callback changes them), so TLS ends here, and the requests go on to a port of this process
 * that only this machine can reach. A request costs 9 µs more than with `Bun.serve`'s own TLS.
 */
import { connect, type Socket } from "node:net";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { tlsOptions, type Contexts } from "./certificates.ts";

export interface FrontOptions {
  readonly port: number;
  readonly hostname: string;
  /** Several processes share the port. */
  readonly reusePort: boolean;
  readonly contexts: Contexts;
  /** For clients that name no host, such as those that come by an IP address. */
  readonly defaultHost: string;
  /** The port of 127.0.0.1 to which requests go on. */
  readonly innerPort: number;
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
/** What an authority offers that checks whose host this is. */
const proofProtocol = "acme-tls/1";

export async function openFront(options: FrontOptions): Promise<Front> {
  const { contexts, defaultHost, innerPort } = options;
  const clients = new Map<number, string>();
  const open = new Set<TLSSocket>();
  /** The hosts that an authority is looking at. */
  const proven = new Set<string>();
  const server: Server = createServer({
    handshakeTimeout: handshakeTimeoutMs,
    SNICallback: (name, done) => {
      const host = name.toLowerCase();
      const found = (host === "" ? undefined : contexts.get(host)) ?? Promise.resolve(undefined);
      found.then(
        (context) => {
          if (context?.pair.isProof) proven.add(host);
          else proven.delete(host);
          if (context) done(null, context.secure);
          else done(new Error("no certificate for this host"));
        },
        (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
      );
    },
    // The inner server speaks HTTP/1.1. Undefined refuses a client that offers only others.
    ALPNCallback: ({ servername, protocols }) => {
      const wanted = proven.has(servername.toLowerCase()) ? proofProtocol : "http/1.1";
      return protocols.find((name) => name === wanted);
    },
  });
  server.on("secureConnection", (client: TLSSocket) => {
    open.add(client);
    client.once("close", () => open.delete(client));
    // The authority has seen what it came for.
    if (client.alpnProtocol === proofProtocol) client.end();
    else join(client, connect({ host: "127.0.0.1", port: innerPort }), clients);
  });
  // A client that goes away during its handshake, or asks for a host of nobody.
  server.on("tlsClientError", () => {});
  const setDefault = async (): Promise<void> => {
    const context = await contexts.get(defaultHost);
    if (context && !context.pair.isProof) server.setSecureContext(tlsOptions(context.pair));
  };
  const port = await listening(server, options);
  return {
    port,
    setDefault,
    clientAt: (inner) => clients.get(inner),
    stop: () => void server.close(),
    kill: () => open.forEach((client) => client.destroy()),
  };
}

/** Passes bytes on in both directions until one side ends. */
function join(client: TLSSocket, inner: Socket, clients: Map<number, string>): void {
  const address = (client.remoteAddress ?? "").replace(/^::ffff:/, "");
  let innerPort: number | undefined;
  inner.once("connect", () => {
    innerPort = inner.localPort;
    // Before any byte of a request arrives there.
    if (innerPort !== undefined) clients.set(innerPort, address);
    client.pipe(inner);
    inner.pipe(client);
  });
  const end = () => {
    client.destroy();
    inner.destroy();
    if (innerPort !== undefined) clients.delete(innerPort);
  };
  for (const socket of [client, inner]) socket.once("error", end).once("close", end);
}

function listening(server: Server, { port, hostname, reusePort }: FrontOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: hostname, reusePort }, () => {
      server.off("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : port);
    });
  });
}
