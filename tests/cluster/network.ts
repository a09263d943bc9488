/**
 * A TCP port in front of several servers, as a proxy or a name of several hosts is: each connection leads to the next one.
 *
 *     const network = await startNetwork([5432, 5433]);
 *     network.swallow(); // packets are dropped, and nobody is told
 */
import { connect, createServer, type Socket } from "node:net";

export interface Network {
  readonly port: number;
  /** From now on nothing arrives, either way, and connections are not refused. */
  swallow(): void;
  /** New connections arrive again; those from before stay silent. */
  deliver(): void;
  stop(): Promise<void>;
}

export async function startNetwork(ports: readonly number[]): Promise<Network> {
  const open = new Set<Socket>();
  let isSwallowing = false;
  let turn = 0;
  const server = createServer((client) => {
    open.add(client.on("error", () => client.destroy()));
    if (isSwallowing) return;
    const behind = connect(ports[turn++ % ports.length] ?? 0, "127.0.0.1");
    open.add(behind);
    join(client, behind);
    join(behind, client);
  });
  const join = (from: Socket, to: Socket) => {
    let isLost = false;
    from.on("data", (bytes) => {
      isLost ||= isSwallowing;
      if (!isLost) to.write(bytes);
    });
    from.on("error", () => to.destroy());
    from.on("close", () => {
      open.delete(from);
      if (!isSwallowing) to.destroy();
    });
  };
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : 0,
    swallow: () => void (isSwallowing = true),
    deliver: () => void (isSwallowing = false),
    async stop() {
      const closed = new Promise((resolve) => void server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
