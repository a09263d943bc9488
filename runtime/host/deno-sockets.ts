/** What Deno cannot do with sockets, by the C library of Linux. */
import { readdirSync } from "node:fs";
import { setInterval } from "node:timers";
import { deno } from "./deno-api.ts";
import { datagramSocket, noSignal, unixAddress, unixFamily } from "./host.ts";

const libraryOfC = "libc.so.6";

export async function sendDatagram(path: string, text: string): Promise<void> {
  try {
    const { symbols } = deno.dlopen(libraryOfC, {
      socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
      sendto: { parameters: ["i32", "buffer", "usize", "i32", "buffer", "u32"], result: "isize" },
      close: { parameters: ["i32"], result: "i32" },
    });
    const socket = Number(symbols.socket(unixFamily, datagramSocket, 0));
    if (socket < 0) return;
    const address = unixAddress(path);
    const message = Buffer.from(text);
    symbols.sendto(socket, message, message.length, noSignal, address, address.length);
    symbols.close(socket);
  } catch {
    // another C library: no systemd
  }
}

const lookEveryMs = 2_000;

/**
 * Ends connections to a port of this process that are silent for longer than `allowedMs` says, by the client's port;
 * the kernel knows how long. `present` is told the ports of all clients. Nothing is ended on other systems than Linux.
 */
export function endSilent(
  port: number,
  { allowedMs, present }: { allowedMs: (client: number) => number; present: (clients: ReadonlySet<number>) => void },
): { stop: () => void } {
  const sockets = process.platform === "linux" ? openSockets() : undefined;
  if (!sockets) return { stop: () => {} };
  const timer = setInterval(() => {
    const clients = new Set<number>();
    for (const { fd, client, silentMs } of sockets.acceptedAt(port)) {
      clients.add(client);
      if (silentMs > allowedMs(client)) sockets.end(fd);
    }
    present(clients);
  }, lookEveryMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

interface Accepted {
  readonly fd: number;
  /** The port of the other end. */
  readonly client: number;
  readonly silentMs: number;
}

/** Of linux/tcp.h and sys/socket.h; the same on x64 and arm64. */
const tcp = { level: 6, info: 11, lastSent: 44, lastReceived: 52, infoBytes: 104 };
const bothWays = 2;
const internetFamilies = new Set([2, 10]);

/** Undefined where libraries cannot be loaded. Nothing else runs between looking at a socket and ending it. */
function openSockets() {
  const { symbols } = load() ?? {};
  if (!symbols) return undefined;
  const address = Buffer.alloc(128);
  const info = Buffer.alloc(tcp.infoBytes);
  const length = new Uint32Array(1);
  const lengthBytes = new Uint8Array(length.buffer);

  /** The port of one end; undefined if this is no connection of TCP. */
  const portOf = (ask: "getsockname" | "getpeername", fd: number): number | undefined => {
    length[0] = address.length;
    if (symbols[ask](fd, address, lengthBytes) !== 0) return undefined;
    return internetFamilies.has(address.readUInt16LE(0)) ? address.readUInt16BE(2) : undefined;
  };

  return {
    *acceptedAt(port: number): Generator<Accepted> {
      for (const fd of readdirSync("/proc/self/fd").map(Number)) {
        if (portOf("getsockname", fd) !== port) continue;
        const client = portOf("getpeername", fd);
        length[0] = info.length;
        if (client === undefined || symbols.getsockopt(fd, tcp.level, tcp.info, info, lengthBytes) !== 0) continue;
        const silentMs = Math.min(info.readUInt32LE(tcp.lastSent), info.readUInt32LE(tcp.lastReceived));
        yield { fd, client, silentMs };
      }
    },
    end: (fd: number) => void symbols.shutdown(fd, bothWays),
  };
}

function load() {
  try {
    return deno.dlopen(libraryOfC, {
      getsockname: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
      getpeername: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
      getsockopt: { parameters: ["i32", "i32", "i32", "buffer", "buffer"], result: "i32" },
      shutdown: { parameters: ["i32", "i32"], result: "i32" },
    });
  } catch {
    return undefined;
  }
}
