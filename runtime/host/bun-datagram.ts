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
    const socket = symbols.socket(unixFamily, datagram | closeOnExec, 0);
    if (socket < 0) return;
    const address = addressOf(path);
    const message = Buffer.from(text);
    symbols.sendto(socket, ptr(message), message.length, noSignal, ptr(address), address.length);
    symbols.close(socket);
  } catch {
    // another C library: no systemd
  }
}

const unixFamily = 1;
const datagram = 2;
const closeOnExec = 0o2000000;
const noSignal = 0x4000;

/** A `struct sockaddr_un`; a name that begins with @ is abstract: it begins with NUL and has none at its end. */
function addressOf(path: string): Buffer {
  const name = path.startsWith("@") ? `\0${path.slice(1)}` : `${path}\0`;
  return Buffer.concat([new Uint8Array(new Uint16Array([unixFamily]).buffer), Buffer.from(name)]);
}
