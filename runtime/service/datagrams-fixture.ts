import { dlopen, ptr } from "bun:ffi";

/** A Unix socket for datagrams, which Bun does not have. */
export function datagrams(path: string) {
  const { symbols } = dlopen("libc.so.6", {
    socket: { args: ["int", "int", "int"], returns: "int" },
    bind: { args: ["int", "ptr", "u32"], returns: "int" },
    recv: { args: ["int", "ptr", "u64", "int"], returns: "i64" },
    close: { args: ["int"], returns: "int" },
  });
  const socket = symbols.socket(1, 2, 0);
  const name = path.startsWith("@") ? `\0${path.slice(1)}` : `${path}\0`;
  const address = Buffer.concat([Buffer.from([1, 0]), Buffer.from(name)]);
  if (symbols.bind(socket, ptr(address), address.length) !== 0) throw new Error(`${path} cannot be bound`);
  return {
    /** One that has arrived already; "" if none has. */
    next: () => {
      const buffer = Buffer.alloc(1000);
      const length = Number(symbols.recv(socket, ptr(buffer), buffer.length, 0x40));
      return length < 0 ? "" : buffer.toString("utf8", 0, length);
    },
    [Symbol.dispose]: () => void symbols.close(socket),
  };
}
