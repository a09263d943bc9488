import { expect, test } from "bun:test";
import fc from "fast-check";
import { createServer } from "node:net";
import { connect } from "node:tls";
import { maxHelloBytes, readClientHello } from "./proof-door.ts";

/** What a client of this host and these protocols really sends first. */
function helloOf(servername: string, protocols: string[]): Promise<Buffer> {
  return new Promise((resolve) => {
    const server = createServer((socket) => {
      socket.once("data", (bytes) => {
        resolve(Buffer.from(bytes));
        socket.destroy();
        server.close();
      });
    });
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address ? address.port : 0;
      connect({ port, host: "127.0.0.1", servername, ALPNProtocols: protocols }).on("error", () => {});
    });
  });
}
const hello = helloOf("Shop.Example.org", ["h2", "http/1.1"]);

/** The same message in records of this many bytes. */
function inRecords(bytes: Buffer, size: number): Buffer {
  const message = bytes.subarray(5);
  const parts: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    parts.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(parts);
}

test("the host and the protocols are read", async () => {
  expect(readClientHello(await hello)).toEqual({ servername: "shop.example.org", protocols: ["h2", "http/1.1"] });
  const proof = await helloOf("x.example.com", ["acme-tls/1"]);
  expect(readClientHello(proof)).toEqual({ servername: "x.example.com", protocols: ["acme-tls/1"] });
});

test("a hello may arrive in any parts", async () => {
  const bytes = await hello;
  for (let length = 0; length < bytes.length; length++)
    expect(readClientHello(bytes.subarray(0, length))).toBeUndefined();
  for (const size of [1, 3, 100]) {
    const cut = inRecords(bytes, size);
    expect(readClientHello(cut)).toMatchObject({ servername: "shop.example.org" });
    expect(readClientHello(cut.subarray(0, -1))).toBeUndefined();
  }
});

test.each([
  ["HTTP", Buffer.from("GET / HTTP/1.1\r\n\r\n")],
  ["an alert", Buffer.from([21, 3, 1, 0, 2, 2, 40])],
  ["an empty record", Buffer.from([22, 3, 1, 0, 0, 22, 3, 1, 0, 0])],
  ["another message", Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])],
  ["one that is too long", Buffer.from([22, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff])],
  ["wrong lengths inside", Buffer.concat([Buffer.from([22, 3, 1, 0, 44, 1, 0, 0, 40]), Buffer.alloc(40, 0xff)])],
])("%s is no hello", (_, bytes) => {
  expect(readClientHello(bytes)).toBeNull();
});

test("nothing that a stranger sends is too much", async () => {
  const bytes = await hello;
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { maxLength: 8 }), (changes) => {
      const changed = Buffer.from(bytes);
      for (const [at, byte] of changes) changed[at] = byte;
      const found = readClientHello(changed);
      if (found) expect(found.protocols.length).toBeLessThan(maxHelloBytes);
    }),
  );
});
