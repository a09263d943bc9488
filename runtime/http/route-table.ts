import type { Method, Route } from "./route.ts";

/**
 * Routes of one method and one pattern. `.json` at the end of a path is optional (behaviour B.3), and `/:id` and
 * `/:id.md` are one pattern to the router, so the last parameter's ending picks the route.
 */
export interface Endpoint {
  readonly method: Method;
  /** For metrics and logs: the path as declared. */
  readonly name: string;
  /** The patterns to mount. Parameters are named by position, because the router needs one name for each place. */
  readonly paths: readonly string[];
  readonly cors: boolean;
  readonly always: Readonly<Record<string, string>>;
  readonly pick: (params: Record<string, string>) => { route: Route; params: Record<string, string> } | undefined;
}

interface Parsed {
  readonly pattern: string;
  readonly names: readonly string[];
  readonly ending: string;
}

export function routeTable(routes: readonly Route[]): Endpoint[] {
  const groups = new Map<string, { route: Route; parsed: Parsed }[]>();
  for (const route of routes) {
    const parsed = parse(route.path);
    const key = `${route.method} ${parsed.pattern}`;
    const group = groups.get(key) ?? [];
    const twin = group.find((other) => other.parsed.ending === parsed.ending);
    if (twin) throw new Error(twinRoutes(twin.route, route));
    groups.set(key, [...group, { route, parsed }]);
  }
  return [...groups.values()].map(endpointOf);
}

function twinRoutes(one: Route, other: Route): string {
  const at = `${other.method} ${other.path}`;
  if (other.plugin === undefined) return `two routes answer ${at}`;
  if (one.plugin === other.plugin) return `plugin "${other.plugin}" has two routes for ${at}`;
  return `plugin "${other.plugin}" answers ${at}, which is a route of "${one.plugin}"`;
}

function parse(path: string): Parsed {
  const names: string[] = [];
  let ending = "";
  const pattern = path.split("/").map((segment) => {
    if (!segment.startsWith(":")) return segment;
    const [name = "", extension] = segment.slice(1).split(".");
    if (extension) ending = `.${extension}`;
    return `:p${names.push(name) - 1}`;
  });
  return { pattern: pattern.join("/"), names, ending };
}

function endpointOf(group: readonly { route: Route; parsed: Parsed }[]): Endpoint {
  const [first] = group;
  if (!first) throw new Error("an endpoint has at least one route");
  const { pattern } = first.parsed;
  const endsInParameter = /\/:p\d+$/.test(pattern);
  const places = first.parsed.names.map((_, at) => `p${at}`);
  const byEnding = new Map(group.map((entry) => [entry.parsed.ending, entry]));

  const pick: Endpoint["pick"] = (raw) => {
    let entry = byEnding.get("");
    let cut = 0;
    if (endsInParameter) {
      const last = raw[places.at(-1) ?? ""] ?? "";
      const ending = /\.[a-z]+$/.exec(last)?.[0] ?? "";
      const special = ending === "" ? undefined : byEnding.get(ending);
      if (special) entry = special;
      if (special || ending === ".json") cut = ending.length;
    }
    if (!entry) return undefined;
    const { names } = entry.parsed;
    const params: Record<string, string> = {};
    for (let at = 0; at < names.length; at++) {
      const value = raw[places[at] ?? ""] ?? "";
      params[names[at] ?? ""] = cut > 0 && at === names.length - 1 ? value.slice(0, -cut) : value;
    }
    return { route: entry.route, params };
  };

  return {
    method: first.route.method,
    name: first.route.path,
    paths: endsInParameter || pattern.endsWith("/*") ? [pattern] : [pattern, `${pattern}.json`],
    cors: group.some(({ route }) => fromAnyOrigin(route.spec)),
    always: together(group.map(({ route }) => route.spec.always)),
    pick,
  };
}

/** Headers of several in one. */
export function together(all: readonly Route["spec"]["always"][]): Readonly<Record<string, string>> {
  return Object.fromEntries(all.flatMap((headers = {}) => Object.entries(headers)));
}

/** Whether pages of any origin may call it (without credentials): public ones, and an app's page in its sandbox. */
export function fromAnyOrigin({ cors, apps }: Route["spec"]): boolean {
  return cors === true || apps !== undefined;
}
