/**
 * Tells authorities that check whose host this is (TLS-ALPN-01, RFC 8737) from visitors, before either sees a
 * certificate: a host whose certificate is being renewed has two, and `node:tls` in Bun 1.4 chooses one before it says
 * which protocols the client speaks. Visitors go on to the TLS server, as they came.
 */
import { connect, createServer, type Server, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { createSecureContext, TLSSocket } from "node:tls";
import { tlsOptions, type KeyPair } from "../../plugin/certificates.ts";
import { maxHelloBytes, readClientHello } from "./client-hello.ts";
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

export function createProofDoor(options: ProofDoorOptions): Server {
  return createServer((socket) => {
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
  });
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
