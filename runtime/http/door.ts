/** Hosts other than the API's: a plugin answers there before any route does. behaviour B.11. */
import type { Account } from "./auth.ts";
import type { Log } from "../system/log.ts";
import type { Reply } from "./answers/reply.ts";

export interface HostDoor {
  /**
   * The site at this host, or undefined. `host` is the Host header as `plainHost` returns it, with its port if it has one.
   * It is asked once for each request, and is synchronous.
   */
  find(host: string): SiteDoor | undefined;
}

export interface SiteDoor {
  readonly account: Account;
  /** Answers GET and HEAD. Null if nothing has this path; then a route that is served `onSites` may answer. */
  page(request: DoorRequest): Promise<Reply | Response | null>;
  /** The answer if neither has the path. */
  missing(request: DoorRequest): Promise<Reply | Response>;
}

export interface DoorRequest {
  readonly request: Request;
  readonly requestId: string;
  readonly log: Log;
}

/** A name of this machine or an IP address: what people type before they have a host name. */
export function isLocalHost(host: string): boolean {
  const name = host.replace(/:\d+$/, "");
  return name === "localhost" || name.startsWith("[") || /^\d+(\.\d+){3}$/.test(name);
}

/** The account's address; where nobody has named one, that of this machine which a request has found it by. */
export function addressOf({ baseUrl, isGuess }: Account, host: string): string {
  return isGuess && isLocalHost(host) ? `${new URL(baseUrl).protocol}//${host}` : baseUrl;
}
