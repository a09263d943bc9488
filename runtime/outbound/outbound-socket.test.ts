import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { setTimeout as sleep } from "node:timers/promises";
import { createLog } from "../system/log.ts";
import { OutboundFault } from "./outbound.ts";
import { certificate, privateHosts } from "../../tests/fixtures/outbound.ts";
import { parseAllow } from "../net/addresses.ts";
import { connectOutside, type Connect } from "./outbound-socket.ts";

const log = createLog("error", () => {});
const open = new Set<Socket>();
const servers: Server[] = [];
const said: string[] = [];
let port = 0;
let tlsPort = 0;

const keep = (socket: Socket) => void open.add(socket.on("error", () => {}));

async function listen(server: Server, host = "127.0.0.1", at = 0): Promise<number> {
  servers.push(server.on("connection", keep));
  await new Promise<void>((resolve) => void server.listen(at, host, resolve));
  return (server.address() as AddressInfo).port; // it listens on a port
}

beforeAll(async () => {
  port = await listen(createServer((socket) => socket.on("data", (data) => said.push(data.toString()))));
  tlsPort = await listen(createTlsServer(certificate, (socket) => void socket.on("error", () => {}).end("hello")));
});
afterAll(() => {
  for (const server of servers) server.close();
  for (const socket of open) socket.destroy();
});

const connectWith =
  (allow: string, lookup?: (host: string) => Promise<string[]>): Connect =>
  (to) =>
    connectOutside({ allow: parseAllow(allow), log, ...(lookup ? { lookup } : {}) }, to);
const connect = connectWith("127.0.0.0/8", async () => ["127.0.0.1"]);

async function faultOf(promise: Promise<unknown>): Promise<string> {
  const outcome = await promise.catch((error: unknown) => error);
  return outcome instanceof OutboundFault ? outcome.kind : "no fault";
}

test("a connection to an address that is allowed is a socket, and says where it leads", async () => {
  const connection = await connect({ host: "mail.example", port });
  expect([connection.address, connection.isPublic]).toEqual(["127.0.0.1", false]);
  connection.socket.write("hello");
  while (!said.includes("hello")) await sleep(5);
  connection.socket.destroy();
});

test("an address that is not public is refused, however it is written, and so is a name that leads to one", async () => {
  const closed = connectWith("");
  const hosts = [...privateHosts, "::1", "①②⑦.0.0.1"];
  for (const host of hosts) expect([host, await faultOf(closed({ host, port }))]).toEqual([host, "refused-address"]);
  for (const address of ["10.1.2.3", "::1", "::ffff:127.0.0.1"]) {
    const mixed = connectWith("", async () => ["93.184.216.34", address]);
    expect(await faultOf(mixed({ host: "mixed.example", port }))).toBe("refused-address");
  }
});

test.each(["a b", "a/b", "user@host", "host:25", "host?x", "", "[::1", "a\r\nb"])("%j is no host", async (host) => {
  expect(await faultOf(connect({ host, port }))).toBe("bad-url");
});

test("a name that changes its answer is asked once, and the checked address is the one that is reached", async () => {
  await listen(createServer(keep), "127.0.0.2", port);
  let asked = 0;
  const rebinding = connectWith("127.0.0.2", async () => [["127.0.0.2", "127.0.0.1"][asked++] ?? ""]);
  const connection = await rebinding({ host: "rebind.example", port });
  expect([connection.address, asked]).toEqual(["127.0.0.2", 1]);
  connection.socket.destroy();
  expect(await faultOf(rebinding({ host: "rebind.example", port }))).toBe("refused-address");
});

test("what does not answer is told as what it is, within its time", async () => {
  expect(await faultOf(connect({ host: "mail.example", port: 1 }))).toBe("connect");
  expect(await faultOf(connectWith("", () => Promise.reject(new Error("none")))({ host: "no.example", port }))).toBe(
    "dns",
  );
  const hanging = connectWith("", () => new Promise(() => {}));
  expect(await faultOf(hanging({ host: "slow.example", port, timeoutMs: 50 }))).toBe("timeout");
  const reason = new Error("given up");
  const signal = AbortSignal.abort(reason);
  expect(connect({ host: "mail.example", port, signal })).rejects.toBe(reason);
  expect((await connect({ host: "two.example", port }).catch(() => undefined))?.address).toBe("127.0.0.1");
});

describe("secure", () => {
  const ca = certificate.cert;
  const secured = async (host: string, options: { ca?: string; servername?: string }) =>
    (await connect({ host, port: tlsPort })).secure(options);

  test("checks the certificate against the name that was asked for", async () => {
    const ways: [host: string, options: { ca?: string; servername?: string }, good: boolean][] = [
      ["good.example", { ca }, true],
      ["other.example", { ca, servername: "good.example" }, true],
      ["127.0.0.1", { ca, servername: "good.example" }, true],
      ["other.example", { ca }, false],
      ["127.0.0.1", { ca }, false],
      ["good.example", {}, false],
      ["good.example", { ca, servername: "other.example" }, false],
    ];
    for (const [host, options, good] of ways) {
      const outcome = await secured(host, options).then(
        ({ socket }) => (socket.destroy(), "secure"),
        (error: unknown) => (error instanceof OutboundFault ? error.kind : error),
      );
      expect([host, options.servername, outcome]).toEqual([host, options.servername, good ? "secure" : "tls"]);
    }
  });

  test("ends within its time with what never answers", async () => {
    const connection = await connect({ host: "good.example", port });
    expect(await faultOf(connection.secure({ timeoutMs: 50 }))).toBe("timeout");
  });
});

test("ask gives one byte, and takes no more for an answer", async () => {
  const answers = ["S", "SX", ""];
  const at = await listen(createServer((socket) => socket.once("data", () => socket.end(answers.shift() ?? ""))));
  const ask = async () => (await connect({ host: "db.example", port: at })).ask(new Uint8Array([1]));
  expect(await ask()).toBe("S".charCodeAt(0));
  expect(await faultOf(ask())).toBe("closed");
  expect(await faultOf(ask())).toBe("closed");
});

test("a connection that breaks while nobody listens to it harms nothing", async () => {
  const resetting = await listen(createServer((socket) => void setTimeout(() => socket.resetAndDestroy(), 20)));
  const connection = await connect({ host: "mail.example", port: resetting });
  const closed = new Promise<void>((resolve) => void connection.socket.on("close", resolve));
  connection.socket.write("x".repeat(5_000_000));
  await closed;
});
