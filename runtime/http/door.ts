/** Hosts that are not the API's: what a plugin answers there comes before every route. behaviour B.11. */
import type { Account } from "./auth.ts";
import type { Log } from "../log.ts";
import type { Reply } from "./reply.ts";

export interface HostDoor {
  /**
   * The site at this host, or undefined. `host` is the Host header as `plainHost` returns it, with its port if it has one.
   * It is asked once for each request, and is synchronous.
   */
  find(host: string): SiteDoor | undefined;
}

export interface SiteDoor {
  readonly account: Account;
  /** Answers GET and HEAD; null = nothing has this path, so a route that is served `onSites` may answer. */
  page(request: DoorRequest): Promise<Reply | Response | null>;
  /** What neither has. */
  missing(request: DoorRequest): Promise<Reply | Response>;
}

export interface DoorRequest {
  readonly request: Request;
  readonly requestId: string;
  readonly log: Log;
}

/** A name of this machine or an address: what one types who has no host name yet. */
export function isLocalHost(host: string): boolean {
  const name = host.replace(/:\d+$/, "");
  return name === "localhost" || name.startsWith("[") || /^\d+(\.\d+){3}$/.test(name);
}
