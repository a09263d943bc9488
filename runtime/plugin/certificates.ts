/** Which certificate a TLS handshake gets: the ready contexts of the hosts that were asked for last. */
import { createSecureContext, type SecureContext } from "node:tls";

/** A certificate as files have it. */
export interface KeyPair {
  /** PEM of the certificate, followed by those that sign it. */
  readonly chain: string;
  /** PEM of its private key. */
  readonly key: string;
}

/** Who knows certificates; at most one plugin does. Hosts are lower-case names without a port. */
export interface Certificates {
  /** Undefined if there is none and none can be had: the handshake is refused. It may take as long as a client waits. */
  find(host: string): Promise<KeyPair | undefined>;
  /** The certificate that an authority wants to see of this host now, and nobody else (TLS-ALPN-01, RFC 8737). */
  proof(host: string): Promise<KeyPair | undefined>;
  /** The text by which an authority recognises this server (HTTP-01, RFC 8555 8.3), or undefined. */
  challenge(token: string): Promise<string | undefined>;
  /** Calls `forget` whenever a host has another certificate than before. */
  onChange(forget: (host: string) => void): void;
}

export interface Context {
  readonly pair: KeyPair;
  readonly secure: SecureContext;
}

/** About 30 kB each. */
const maxContexts = 1_000;

export const tlsOptions = ({ chain, key }: KeyPair) => ({ cert: chain, key, minVersion: "TLSv1.2" }) as const;

export type Contexts = ReturnType<typeof createContexts>;

/** The contexts of hosts, made when they are first asked for. */
export function createContexts(find: (host: string) => Promise<KeyPair | undefined>) {
  const contexts = new Map<string, Promise<Context | undefined>>();

  const make = async (host: string): Promise<Context | undefined> => {
    let isKept = false;
    try {
      const pair = await find(host);
      if (!pair) return undefined;
      const context = { pair, secure: createSecureContext(tlsOptions(pair)) };
      isKept = true;
      return context;
    } finally {
      // A flood of made-up names costs no memory.
      if (!isKept) contexts.delete(host);
    }
  };

  return {
    get(host: string): Promise<Context | undefined> {
      const context = contexts.get(host) ?? make(host);
      // The one that was asked for last is the last to go.
      contexts.delete(host);
      contexts.set(host, context);
      if (contexts.size > maxContexts) for (const oldest of contexts.keys().take(1)) contexts.delete(oldest);
      return context;
    },
    forget: (host: string) => void contexts.delete(host),
    clear: () => contexts.clear(),
  };
}
