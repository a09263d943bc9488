import { host } from "#host";
import { codeOf } from "../base/values.ts";
import type { Listening, ListenOptions } from "../host/host.ts";
import { ConfigError } from "../settings/settings.ts";

/** Throws a ConfigError that names the wrong setting instead of the host's "Failed to start server". */
export function listenOn(options: ListenOptions, names = plainNames): Listening {
  try {
    return host.listen(options);
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
  const code = codeOf(cause);
  const place = `${at.hostname}:${at.port}`;
  if (code === "EADDRINUSE") return new ConfigError([`${names.port}: another program listens on ${place}`]);
  if (code === "EACCES")
    return new ConfigError([`${names.port}: this user may not listen on ${place}, take 1024 or above`]);
  if (code === "EADDRNOTAVAIL") return new ConfigError([`${names.host}: this machine has no address ${at.hostname}`]);
  return new Error(`cannot listen on ${place}`, { cause });
}
