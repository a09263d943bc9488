/** A request as it arrives: where it comes from, which host it asks for, and its form for the router. */
import { plainHost } from "./auth.ts";
import { clientAddress, inNetworks } from "../net/client-address.ts";
import type { SiteDoor } from "./door.ts";
import type { HttpContext } from "./context.ts";
import { proxyMistakes, type ProxyMistake } from "./refusals/proxy-mistake.ts";

type Proxied = Pick<HttpContext, "peer" | "trustedProxies" | "baseUrl">;

export type Client = ReturnType<typeof clientOf>;

/** Where the request comes from. Only a trusted proxy's headers count. */
export function clientOf({ peer: peerOf, trustedProxies, baseUrl = "" }: Proxied, request: Request) {
  const { headers } = request;
  const proxied = trustedProxies.length > 0 && inNetworks(peerOf(request).address, trustedProxies);
  const host = (proxied && headers.get("x-forwarded-host")) || headers.get("host") || "";
  return {
    proxied,
    baseUrl,
    host: plainHost(host),
    // Looked up only for routes: a page from the cache costs little more than such a look.
    get peer() {
      return peerOf(request).address;
    },
    get ip() {
      return clientAddress(peerOf(request).address, headers.get("x-forwarded-for"), trustedProxies);
    },
    get secure() {
      return (proxied && headers.get("x-forwarded-proto") === "https") || peerOf(request).secure;
    },
  };
}

/** Facts about a request before its route is looked up. */
interface Arrival {
  readonly client: Client;
  readonly site?: SiteDoor;
  /** A handler of this server asks. `isCounted`: with the token of the request that it answers, which counts for both. */
  readonly inner?: { readonly isCounted: boolean };
}

const arrivals = new WeakMap<Request, Arrival>();

/** The request in a form that Elysia accepts, and with its arrival noted. */
export function routed(request: Request, arrival: Arrival): Request {
  const whole = withLongHost(request);
  arrivals.set(whole, arrival);
  return whole;
}

/** Lets `request` come from where `of` came from. */
export function arriveWith(request: Request, of: Request, isCounted: boolean): void {
  arrivals.set(request, { client: arrivalOf(of).client, inner: { isCounted } });
}

export function arrivalOf(request: Request): Arrival {
  const arrival = arrivals.get(request);
  if (!arrival) throw new Error("a request was routed that did not arrive");
  return arrival;
}

/** None for a request that was refused before it was routed. */
export function proxyMistakesOf(request: Request): readonly ProxyMistake[] {
  const client = arrivals.get(request)?.client;
  if (!client) return [];
  const { host, secure, proxied, baseUrl } = client;
  return proxyMistakes({ headers: request.headers, host, secure, proxied, baseUrl });
}

/**
 * Elysia looks for the path after the first eleven characters of the address. `http://x/` is shorter, and an HTTP/1.0
 * request may have only a path.
 */
function withLongHost(request: Request): Request {
  const { url } = request;
  if (url.indexOf("/", 8) >= 11 && !url.startsWith("/")) return request;
  return new Request(`http://short.host${url.startsWith("/") ? url : pathOf(url)}`, request);
}

/** The part of an address after its host. */
export function pathOf(url: string): string {
  return url.slice(url.indexOf("/", 8));
}
