/**
 * Tells authorities that check whose host this is (TLS-ALPN-01, RFC 8737) from visitors, before either sees a
 * certificate: a host whose certificate is being renewed has two, and `node:tls` in Bun 1.4 chooses one before it says
 * which protocols the client speaks. Visitors go on to the TLS server, as they came.
 */
import { connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { createSecureContext, TLSSocket } from "node:tls";
import type { KeyPair } from "../../plugin/certificates.ts";
import { join } from "./join.ts";

export interface ProofDoorOptions {
  /** Where visitors go, at 127.0.0.1. */
  readonly tlsPort: number;
  /** What an authority wants to see of this host now. */
  readonly proof: (host: string) => Promise<KeyPair | undefined>;
  /** The address of the visitor behind a connection to `tlsPort`, by that connection's own port. */
  readonly clients: Map<number, string>;
}

const proofProtocol = "acme-tls/1";
/** What has come is read anew with each of them: a client that sends byte by byte must not make that cost more than TLS. */
const mostChunks = 32;
const helloTimeoutMs = 10_000;
const proofTimeoutMs = 10_000;

export const tlsOptions = ({ chain, key }: KeyPair) => ({ cert: chain, key, minVersion: "TLSv1.2" }) as const;

/** Lets one connection in. */
export function admit(options: ProofDoorOptions, socket: Socket): void {
  const chunks: Buffer[] = [];
  const end = () => void socket.destroy();
  const timer = setTimeout(end, helloTimeoutMs);
  socket.once("error", end);
  socket.once("close", () => clearTimeout(timer));
  const read = (chunk: Buffer) => {
    chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const hello = readClientHello(bytes);
    if (hello === undefined && bytes.length < maxHelloBytes && chunks.length < mostChunks) return;
    clearTimeout(timer);
    socket.off("data", read);
    socket.pause();
    const isAuthority = hello?.protocols.length === 1 && hello.protocols[0] === proofProtocol;
    if (!isAuthority) return visit(socket, bytes, options);
    options
      .proof(hello.servername)
      .then((pair) => (pair ? showProof(socket, bytes, pair) : visit(socket, bytes, options)))
      .catch(end);
  };
  socket.on("data", read);
}

/** No hello, and an authority for which there is no proof, go on too: the TLS server refuses them in TLS's words. */
function visit(socket: Socket, bytes: Buffer, { tlsPort, clients }: ProofDoorOptions): void {
  const inner = connect({ host: "127.0.0.1", port: tlsPort });
  inner.once("connect", () => inner.write(bytes));
  join(socket, inner, clients, (socket.remoteAddress ?? "").replace(/^::ffff:/, ""));
}

function showProof(socket: Socket, bytes: Buffer, pair: KeyPair): void {
  const stream = new Duplex({
    read: () => void socket.resume(),
    write: (chunk, _encoding, done) => void socket.write(chunk, done),
    final: (done) => void socket.end(done),
  });
  stream.push(bytes);
  socket.on("data", (chunk) => void (stream.push(chunk) || socket.pause()));
  socket.once("end", () => stream.push(null));
  const secureContext = createSecureContext(tlsOptions(pair));
  const client = new TLSSocket(stream, { isServer: true, secureContext, ALPNProtocols: [proofProtocol] });
  const timer = setTimeout(() => socket.destroy(), proofTimeoutMs);
  socket.once("close", () => clearTimeout(timer));
  // The authority has seen what it came for.
  client.once("secure", () => client.end());
  client.once("error", () => socket.destroy());
}

/** What a client says first in TLS (RFC 8446 4.1.2), as far as it decides where its connection goes. */

export interface ClientHello {
  /** In lower case; empty if it names none (RFC 6066 3). */
  readonly servername: string;
  /** In its order of preference (RFC 7301 3.1). */
  readonly protocols: readonly string[];
}

/** Longer ones are of no browser and of no authority. */
export const maxHelloBytes = 16_384;

const [handshake, clientHello, serverName, hostName, applicationProtocols] = [22, 1, 0, 0, 16];

/** Undefined while bytes are missing, null if these are no hello. */
export function readClientHello(bytes: Uint8Array): ClientHello | null | undefined {
  const joined = joinRecords(bytes);
  if (!joined) return null;
  const message = new Reader(joined);
  if (message.left < 4) return undefined;
  if (message.number(1) !== clientHello) return null;
  const length = message.number(3);
  if (length > maxHelloBytes) return null;
  if (message.left < length) return undefined;
  try {
    return extensionsOf(new Reader(message.take(length)));
  } catch {
    return null;
  }
}

/** The message in the first records, which may be cut anywhere (RFC 8446 5.1); undefined if it is no handshake. */
function joinRecords(bytes: Uint8Array): Uint8Array | undefined {
  const parts: Uint8Array[] = [];
  let at = 0;
  while (at + 5 <= bytes.length) {
    const record = new Reader(bytes.subarray(at));
    if (record.number(1) !== handshake) return undefined;
    record.take(2);
    const length = record.number(2);
    if (length === 0) return undefined;
    parts.push(bytes.subarray(at + 5, at + 5 + length));
    at += 5 + length;
  }
  const isStrange = at < bytes.length && bytes[at] !== handshake;
  return isStrange ? undefined : Buffer.concat(parts);
}

/** Throws a RangeError where a length is wrong. */
function extensionsOf(hello: Reader): ClientHello {
  hello.take(2 + 32);
  hello.take(hello.number(1));
  hello.take(hello.number(2));
  hello.take(hello.number(1));
  let [servername, protocols]: [string, string[]] = ["", []];
  if (hello.left === 0) return { servername, protocols };
  const extensions = new Reader(hello.take(hello.number(2)));
  while (extensions.left > 0) {
    const type = extensions.number(2);
    const content = new Reader(extensions.take(extensions.number(2)));
    if (type === serverName) servername = nameOf(content);
    else if (type === applicationProtocols) protocols = protocolsOf(content);
  }
  return { servername, protocols };
}

function nameOf(content: Reader): string {
  const names = new Reader(content.take(content.number(2)));
  if (names.number(1) !== hostName) return "";
  return Buffer.from(names.take(names.number(2)))
    .toString("latin1")
    .toLowerCase();
}

function protocolsOf(content: Reader): string[] {
  const list = new Reader(content.take(content.number(2)));
  const found: string[] = [];
  while (list.left > 0) found.push(Buffer.from(list.take(list.number(1))).toString("latin1"));
  return found;
}

/** Reads numbers and bytes one after the other. */
class Reader {
  private at = 0;
  private readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  /** Of this many bytes, the highest first. */
  number(length: number): number {
    return this.take(length).reduce((sum, byte) => sum * 256 + byte, 0);
  }

  take(length: number): Uint8Array {
    if (length > this.left) throw new RangeError("the hello is cut off");
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}
