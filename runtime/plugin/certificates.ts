/** Sources of certificates for https. */

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
