/** Which lists a search asks, and what it makes of their answers. Pure. */
import { isObject, type Caller, type Route } from "platform";
import type { FoundRecord } from "../../plugins/jsondb/api.ts";

export interface SearchResult {
  /** The list's path: `/core/prompts`. */
  readonly path: string;
  readonly id: string | number;
  readonly name: string;
  readonly code: string | null;
}

/** How many of each list, and of all. */
export const most = { ofList: 8, ofAll: 50 } as const;
/** A list that cannot search is read so far, and searched here. */
export const readMost = 200;

export interface SearchedList {
  readonly route: Route;
  /** Whether the API finds by `q`. */
  readonly searches: boolean;
}

/** Lists of what happened: its name is the name of what it happened to. */
const logs: ReadonlySet<string> = new Set(["/core/activity"]);

/** Every list of things with a page of their own that the caller may read. */
export function searchedLists(routes: readonly Route[], caller: Caller): SearchedList[] {
  const items = new Set(routes.filter(({ method }) => method === "GET").map(({ path }) => path));
  return routes.flatMap((route) => {
    const { method, path, spec } = route;
    const query = spec.query ?? {};
    if (method !== "GET" || path.includes(":") || path.includes("*") || !("limit" in query)) return [];
    if (logs.has(path) || !items.has(`${path}/:id`) || !mayRead(route, caller)) return [];
    return [{ route, searches: "q" in query }];
  });
}

export function mayRead({ spec }: Route, caller: Caller): boolean {
  return "privilege" in spec.access ? caller.privileges.has(spec.access.privilege) : "signedIn" in spec.access;
}

/** The rows of a list's answer; of a list that cannot search, those whose name or code has the words. */
export function foundIn({ route, searches }: SearchedList, body: string | null, words: string): SearchResult[] {
  const rows: unknown = JSON.parse(body ?? "[]");
  const found = (Array.isArray(rows) ? rows : []).flatMap((row) => foundOf(route.path, row));
  const wanted = words.toLowerCase();
  const fits = ({ name, code }: SearchResult) => `${name}\n${code ?? ""}`.toLowerCase().includes(wanted);
  return (searches ? found : found.filter(fits)).slice(0, most.ofList);
}

function foundOf(path: string, row: unknown): SearchResult[] {
  if (!isObject(row)) return [];
  const { id } = row;
  if (typeof id !== "string" && typeof id !== "number") return [];
  const text = (value: unknown) => (typeof value === "string" && value.trim() !== "" ? value : undefined);
  const code = text(row["code"]) ?? text(row["url_code"]) ?? null;
  const name = ["name", "title", "login", "source_type", "url", "path"].flatMap((field) => text(row[field]) ?? [])[0];
  return [{ path, id, name: (name ?? code ?? String(id)).slice(0, 255), code }];
}

/** A record of a database; its title alone says whether it begins with the words. */
export function recordResult({ db, id, title }: FoundRecord): SearchResult {
  return { path: `/core/dbs/${db}/records`, id, name: title, code: null };
}

/** What begins with the words comes before what only has them. */
export function ranked(found: readonly SearchResult[], words: string): SearchResult[] {
  const wanted = words.toLowerCase();
  const rank = ({ name, code }: SearchResult) => {
    const texts = [name, code ?? ""].map((text) => text.toLowerCase());
    return texts.includes(wanted) ? 0 : texts.some((text) => text.startsWith(wanted)) ? 1 : 2;
  };
  return found.toSorted((a, b) => rank(a) - rank(b)).slice(0, most.ofAll);
}
