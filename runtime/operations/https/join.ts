/** Two connections as one. */
import type { Socket } from "node:net";

/**
 * Passes bytes on in both directions until one side ends; `inner` is still connecting. Until then `clients` holds the
 * client's address by the inner connection's own port, from before any byte of the client arrives there.
 */
export function join(client: Socket, inner: Socket, clients: Map<number, string>, address: string): void {
  let innerPort: number | undefined;
  inner.prependOnceListener("connect", () => {
    innerPort = inner.localPort;
    if (innerPort !== undefined) clients.set(innerPort, address);
  });
  inner.once("connect", () => {
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
