/** Finds endpoints by address: for requests of handlers to this server itself, and for methods that a router does not know. */
import { Memoirist } from "memoirist";
import { pathOf } from "./arrival.ts";
import type { Method } from "./route.ts";
import { together, type Endpoint } from "./route-table.ts";

interface Found {
  readonly endpoint: Endpoint;
  readonly params: Record<string, string>;
}

export interface Others {
  readonly allowed: readonly Method[];
  readonly cors: boolean;
  readonly always: Readonly<Record<string, string>>;
}

/** By the router that Elysia has, so that both find the same; it is built at the first question, after the start. */
export function createFinder(endpoints: readonly Endpoint[]) {
  const byMethod = new Memoirist<Endpoint>({ onParam: decodeURIComponent, lazy: true });
  const byAddress = new Memoirist<readonly Endpoint[]>({ lazy: true });
  const pairs = endpoints.flatMap((endpoint) => endpoint.paths.map((path) => ({ path, endpoint })));
  for (const { path, endpoint } of pairs) byMethod.add(endpoint.method, path, endpoint);
  for (const [path, all] of Map.groupBy(pairs, (pair) => pair.path))
    byAddress.add(
      "",
      path,
      all.map(({ endpoint }) => endpoint),
    );
  const addressOf = (url: string) => pathOf(url).split("?", 1)[0] ?? "";
  return {
    find(method: string, url: string): Found | undefined {
      try {
        const found = byMethod.find(method, addressOf(url));
        return found ? { endpoint: found.store, params: found.params } : undefined;
      } catch (error) {
        if (error instanceof URIError) return undefined;
        throw error;
      }
    },

    /** What answers other methods at this address. */
    others(url: string): Others | undefined {
      const own = byAddress.find("", addressOf(url))?.store;
      return (
        own && {
          allowed: own.map(({ method }) => method),
          cors: own.some(({ cors }) => cors),
          always: together(own.map(({ always }) => always)),
        }
      );
    },
  };
}
