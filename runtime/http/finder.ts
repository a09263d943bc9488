/** Finds endpoints by address: for requests of handlers to this server itself, and for methods that a router does not know. */
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

/** A place in the addresses: what may follow it. */
interface Place {
  readonly words: Map<string, Place>;
  anyWord: Place | undefined;
  /** In the order in which they were declared. */
  readonly endpoints: Map<string, Endpoint>;
}

type Fits = (place: Place) => boolean;

/** As the network's router does: a word of its own goes before a parameter. Undefined where nothing answers. */
export function createFinder(endpoints: readonly Endpoint[]) {
  const root = newPlace();
  for (const endpoint of endpoints) for (const path of endpoint.paths) addPath(root, path, endpoint);
  const placeOf = (url: string, fits: Fits) => {
    const [path = ""] = pathOf(url).split("?", 1);
    const given: string[] = [];
    const place = placeAt(root, path.split("/"), 1, given, fits);
    return { place, given };
  };
  return {
    find(method: string, url: string): Found | undefined {
      const { place, given } = placeOf(url, ({ endpoints: own }) => own.has(method));
      const endpoint = place?.endpoints.get(method);
      return endpoint && { endpoint, params: Object.fromEntries(given.map((value, at) => [`p${at}`, value])) };
    },

    /** What answers other methods at this address. */
    others(url: string): Others | undefined {
      const { place } = placeOf(url, ({ endpoints: own }) => own.size > 0);
      if (!place) return undefined;
      const own = [...place.endpoints.values()];
      return {
        allowed: own.map(({ method }) => method),
        cors: own.some(({ cors }) => cors),
        always: together(own.map(({ always }) => always)),
      };
    },
  };
}

function addPath(root: Place, path: string, endpoint: Endpoint): void {
  let place = root;
  for (const word of path.split("/").slice(1)) {
    const next: Place = (word.startsWith(":") ? place.anyWord : place.words.get(word)) ?? newPlace();
    if (word.startsWith(":")) place.anyWord = next;
    else place.words.set(word, next);
    place = next;
  }
  place.endpoints.set(endpoint.method, endpoint);
}

function newPlace(): Place {
  return { words: new Map(), anyWord: undefined, endpoints: new Map() };
}

/** `given` receives the parameters. */
function placeAt(place: Place, words: readonly string[], at: number, given: string[], fits: Fits): Place | undefined {
  const word = words[at];
  if (word === undefined) return fits(place) ? place : undefined;
  const own = place.words.get(word);
  const found = own && placeAt(own, words, at + 1, given, fits);
  return found ?? placeOfAny(place, words, at, given, fits) ?? restOf(place, fits);
}

function placeOfAny({ anyWord }: Place, words: readonly string[], at: number, given: string[], fits: Fits) {
  const value = decoded(words[at] ?? "");
  if (!anyWord || !value) return undefined;
  given.push(value);
  const found = placeAt(anyWord, words, at + 1, given, fits);
  if (!found) given.pop();
  return found;
}

/** `/*`: whatever follows. */
function restOf({ words }: Place, fits: Fits): Place | undefined {
  const rest = words.get("*");
  return rest && fits(rest) ? rest : undefined;
}

function decoded(word: string): string | undefined {
  if (!word.includes("%")) return word;
  try {
    return decodeURIComponent(word);
  } catch {
    return undefined;
  }
}
