/** A `struct sockaddr_un`; a name that begins with @ is abstract: it begins with NUL and has none at its end. */
export function unixAddress(path: string): Buffer<ArrayBuffer> {
  const name = path.startsWith("@") ? `\0${path.slice(1)}` : `${path}\0`;
  return Buffer.concat([new Uint8Array(new Uint16Array([unixFamily]).buffer), Buffer.from(name)]);
}

export const unixFamily = 1;
/** SOCK_DGRAM with SOCK_CLOEXEC. */
export const datagramSocket = 2 | 0o2000000;
/** MSG_NOSIGNAL */
export const noSignal = 0x4000;
