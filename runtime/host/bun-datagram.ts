import { datagramSocket, noSignal, unixAddress, unixFamily } from "./unix-address.ts";

/** Sends a datagram to a Unix socket. Bun cannot, so the C library does. */
export async function sendDatagram(path: string, text: string): Promise<void> {
  if (process.platform !== "linux") return;
  try {
    // Imported only here: it fails where a program may not load libraries.
    const { dlopen, ptr } = await import("bun:ffi");
    const { symbols } = dlopen("libc.so.6", {
      socket: { args: ["int", "int", "int"], returns: "int" },
      sendto: { args: ["int", "ptr", "u64", "int", "ptr", "u32"], returns: "i64" },
      close: { args: ["int"], returns: "int" },
    });
    const socket = symbols.socket(unixFamily, datagramSocket, 0);
    if (socket < 0) return;
    const address = unixAddress(path);
    const message = Buffer.from(text);
    symbols.sendto(socket, ptr(message), message.length, noSignal, ptr(address), address.length);
    symbols.close(socket);
  } catch {
    // another C library: no systemd
  }
}
