/** What the API has, found in its routes: lists whose things can be read one by one, of folder plugins too. */
import type { Caller, Route } from "platform";

export interface ApiResource {
  /** The last word of its path, `apps`; with the word before it if two have the same. */
  readonly name: string;
  /** `/core/apps`, `/core/dbs/:db_id/records` */
  readonly path: string;
  /** Whether it belongs to another thing, which `in` names. */
  readonly isInner: boolean;
  readonly list: Route;
  readonly get: Route;
  readonly create: Route | undefined;
  readonly update: Route | undefined;
  readonly remove: Route | undefined;
  readonly replace: Route | undefined;
}

export type ApiResources = ReadonlyMap<string, ApiResource>;

/** How people sign in is theirs alone. */
const personalNames = /^(?:api_tokens?|tokens?|sessions?|factors|passwords?|sign_in_providers)$/;
export const elsewhere =
  "tokens, sessions and how people sign in are not managed over /mcp: that is for a person in the Studio (Access tokens), or for the REST API (`guide` with api_tokens_api)";
export const isElsewhere = (name: string) => personalNames.test(name);
const personal: ReadonlySet<string | undefined> = new Set(["tokens", "sessions", "oidc", "factors", "passwords"]);

export function thingsOf(routes: readonly Route[]): ApiResources {
  const byKey = new Map(routes.map((route) => [keyOf(route.method, route.path), route]));
  const found = new Map<string, ApiResource>();
  for (const get of routes) {
    const path = /^(.*)\/:\w+$/.exec(get.path)?.[1];
    const list = path === undefined ? undefined : byKey.get(keyOf("GET", path));
    if (get.method !== "GET" || path === undefined || !list || personal.has(get.plugin)) continue;
    const parents = path.split("/").filter((word) => word.startsWith(":")).length;
    if (parents > 1) continue;
    const one = (method: string) => byKey.get(keyOf(method, get.path));
    const name = nameOf(path, found);
    found.set(name, {
      name,
      path,
      isInner: parents === 1,
      list,
      get,
      create: withBody(byKey.get(keyOf("POST", path))),
      update: withBody(one("PATCH")),
      remove: one("DELETE"),
      replace: withBody(byKey.get(keyOf("PATCH", `${get.path}/replace`))),
    });
  }
  return found;
}

/** A thing is `:id` in its own path, and has a longer name in the paths below it. */
function keyOf(method: string, path: string): string {
  return `${method} ${path.replaceAll(/:\w+/g, ":")}`;
}

/**
 * Whether the caller may use it, as far as their privileges say. Something else, such as a grant on a database, may take
 * a privilege's place, unless the token is narrowed: the route then decides.
 */
export function isOpen(route: Route | undefined, caller: Caller): route is Route {
  if (!route) return false;
  const { access } = route.spec;
  if (caller.readOnly && route.method !== "GET") return false;
  if (!("privilege" in access) || caller.privileges.has(access.privilege)) return true;
  const { narrowedTo } = caller;
  return access.or !== undefined && (narrowedTo.length === 0 || narrowedTo.includes(access.privilege));
}

/** Its address for one parent. */
export function pathIn(thing: ApiResource, parent: string | undefined): `/${string}` {
  const path = parent === undefined ? thing.path : thing.path.replace(/:\w+/, () => encodeURIComponent(parent));
  return `/${path.slice(1)}`;
}

function nameOf(path: string, taken: ApiResources): string {
  const words = path.split("/").filter((word) => word !== "" && !word.startsWith(":"));
  const last = words.at(-1) ?? path;
  return taken.has(last) ? words.slice(-2).join("_") : last;
}

/** Streams and forms are not for agents. */
function withBody(route: Route | undefined): Route | undefined {
  return route?.spec.body && route.spec.input === undefined ? route : undefined;
}
