/** Requests of a handler to this server itself: finds the route, and gives the answer without what only the network needs. */
import { pathOf } from "./arrival.ts";
import type { Reply } from "./answers/reply.ts";
import type { Method, Route } from "./route.ts";
import { routeTable, type Endpoint } from "./route-table.ts";
import type { InnerAnswer } from "./subrequest.ts";
import { withWarnings } from "./refusals/warning.ts";

interface Found {
  readonly endpoint: Endpoint;
  readonly params: Record<string, string>;
}

/** A place in the addresses of one method: what may follow it. */
interface Place {
  readonly words: Map<string, Place>;
  anyWord: Place | undefined;
  endpoint: Endpoint | undefined;
}

/** As the network's router does: a word of its own goes before a parameter. Undefined where nothing answers. */
export function createFinder(routes: readonly Route[]): (request: Request) => Found | undefined {
  const byMethod = new Map<string, Place>();
  for (const endpoint of routeTable(routes)) {
    for (const path of endpoint.paths) addPath(byMethod, endpoint.method, path, endpoint);
  }
  return ({ method, url }) => {
    const [path = ""] = pathOf(url).split("?", 1);
    const start = byMethod.get(method);
    const given: string[] = [];
    const endpoint = start && endpointAt(start, path.split("/"), 1, given);
    if (!endpoint) return undefined;
    return { endpoint, params: Object.fromEntries(given.map((value, at) => [`p${at}`, value])) };
  };
}

/** As `finish` does it for the network. */
export async function innerAnswer(
  _request: Request,
  reply: Reply | Response,
  _requestId: string,
  _cors = false,
  hints: readonly string[] = [],
): Promise<InnerAnswer> {
  if (reply instanceof Response)
    return { status: reply.status, headers: Object.fromEntries(reply.headers), body: await reply.text() };
  const { status, body, headers } = reply;
  const warning = withWarnings(headers["warning"], hints);
  return { status, body: body ?? "", headers: warning === undefined ? headers : { ...headers, warning } };
}

function addPath(byMethod: Map<string, Place>, method: Method, path: string, endpoint: Endpoint): void {
  let place = byMethod.get(method) ?? newPlace();
  byMethod.set(method, place);
  for (const word of path.split("/").slice(1)) {
    const next: Place = (word.startsWith(":") ? place.anyWord : place.words.get(word)) ?? newPlace();
    if (word.startsWith(":")) place.anyWord = next;
    else place.words.set(word, next);
    place = next;
  }
  place.endpoint = endpoint;
}

function newPlace(): Place {
  return { words: new Map(), anyWord: undefined, endpoint: undefined };
}

/** `given` receives the parameters. */
function endpointAt(place: Place, words: readonly string[], at: number, given: string[]): Endpoint | undefined {
  const word = words[at];
  if (word === undefined) return place.endpoint;
  const own = place.words.get(word);
  const found = own && endpointAt(own, words, at + 1, given);
  if (found || !place.anyWord || word === "") return found;
  const value = decoded(word);
  if (value === undefined) return undefined;
  given.push(value);
  const other = endpointAt(place.anyWord, words, at + 1, given);
  if (!other) given.pop();
  return other;
}

function decoded(word: string): string | undefined {
  if (!word.includes("%")) return word;
  try {
    return decodeURIComponent(word);
  } catch {
    return undefined;
  }
}
