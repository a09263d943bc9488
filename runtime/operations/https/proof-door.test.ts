import { expect, test } from "bun:test";
import { connect, createServer, type Server } from "node:net";
import { eventually } from "../../../tests/harness.ts";
import { admit } from "./proof-door.ts";

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}

test("who sends a hello byte by byte is passed on, in order and with the address, before it is whole", async () => {
  let arrived = "";
  const inner = createServer((socket) => void socket.on("data", (bytes) => (arrived += bytes.toString("hex"))));
  const clients = new Map<number, string>();
  const options = { tlsPort: await portOf(inner), proof: async () => undefined, clients };
  const door = createServer((socket) => admit(options, socket));
  const client = connect({ port: await portOf(door), host: "127.0.0.1", noDelay: true });
  // Records that each hold one byte of a hello of 1,000 bytes, of which the rest never comes.
  const sent = Buffer.concat(
    Array.from({ length: 40 }, (_, n) => Buffer.from([22, 3, 1, 0, 1, [1, 0, 3, 232][n] ?? 0])),
  );
  let at = 0;
  await eventually(() => {
    if (at < sent.length) client.write(sent.subarray(at, (at += 1)));
    return at === sent.length && arrived === sent.toString("hex");
  }, "all bytes at the inner server");
  expect([...clients.values()]).toEqual(["127.0.0.1"]);
  client.destroy();
  await eventually(() => clients.size === 0, "the end of the connection behind");
  door.close();
  inner.close();
});
