/**
 * Tells systemd how the service stands (sd_notify(3)): `await notifyService("READY=1")`. It is a datagram to a Unix
 * socket, which Bun cannot send, so the C library does. Without systemd nothing happens.
 */
export async function notifyService(state: string): Promise<void> {
  const path = process.env["NOTIFY_SOCKET"];
  if (process.platform !== "linux" || path === undefined || !/^[/@]/.test(path)) return;
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
    const message = Buffer.from(state);
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
