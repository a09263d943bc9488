import { ConfigError } from "../settings.ts";

/** `Bun.serve`, but with a ConfigError that names the wrong setting instead of Bun's "Failed to start server". */
export function listenOn(options: Bun.Serve.Options<undefined>, names = plainNames): Bun.Server<undefined> {
  try {
    return Bun.serve(options);
  } catch (cause) {
    throw listenFault(cause, options, names);
  }
}

/** The settings that say where it listens. */
interface PlaceNames {
  readonly port: string;
  readonly host: string;
}

const plainNames: PlaceNames = { port: "PORT", host: "HOST" };

export function listenFault(
  cause: unknown,
  at: { readonly hostname?: string | undefined; readonly port?: string | number | undefined },
  names: PlaceNames,
): Error {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const place = `${at.hostname}:${at.port}`;
  if (code === "EADDRINUSE") return new ConfigError([`${names.port}: another program listens on ${place}`]);
  if (code === "EACCES")
    return new ConfigError([`${names.port}: this user may not listen on ${place}, take 1024 or above`]);
  if (code === "EADDRNOTAVAIL") return new ConfigError([`${names.host}: this machine has no address ${at.hostname}`]);
  return new Error(`cannot listen on ${place}`, { cause });
}
