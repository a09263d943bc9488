/** Which page an address of the Studio is, and the address of a page. */
import { studioPath } from "./resources/names.ts";
import type { Resource } from "./resources/resources.ts";

export const base = "/studio";

/** Answers to several requests in one: the browser may have asked already (shell.ts), so both say it alike. */
export const answersPath = (paths: readonly string[]) =>
  `/studio/-/answers.json?${new URLSearchParams(paths.map((path) => ["path", path]))}`;

/** A page of a plugin, as its path is declared: `crm/contacts/:id`. */
export interface PagePath {
  readonly path: string;
}

/** A page may say which item it belongs to: its first parameter is that item's, in the list `of`. */
export interface PageOf extends PagePath {
  readonly of?: string | undefined;
}

type ModuleApps = Readonly<Record<string, readonly { readonly url_code: string }[]>>;

/** What an item's page is about: the value of the parameter at the end of its path. */
export function recordOf({ path }: PagePath, params: Readonly<Record<string, string>>): string | undefined {
  const last = path.split("/").at(-1) ?? "";
  return last.startsWith(":") ? params[last.slice(1)] : undefined;
}

export type PageLocation<P extends PagePath> =
  | { readonly kind: "home" | "inbox" }
  | { readonly kind: "list" | "new"; readonly resource: Resource; readonly values: readonly string[] }
  | { readonly kind: "item"; readonly resource: Resource; readonly values: readonly string[] }
  | { readonly kind: "module"; readonly module: string }
  | { readonly kind: "app"; readonly module: string; readonly urlCode: string }
  | { readonly kind: "page"; readonly page: P; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: "missing" };

/** A plugin's page comes before the one that is made from the API's description; a literal part before a parameter. */
export function placeOf<P extends PagePath>(
  pathname: string,
  resources: readonly Resource[],
  pages: readonly P[],
  apps: ModuleApps = {},
): PageLocation<P> {
  const parts = pathname.slice(base.length).split("/").filter(Boolean).map(decoded);
  if (parts.length === 0) return { kind: "home" };
  const [module = "", word, urlCode] = parts;
  if (parts.length === 1 && module === "inbox") return { kind: "inbox" };
  const isApp = parts.length === 3 && module !== "core" && word === "apps" && urlCode !== undefined;
  // A page of a plugin may have this form too: `cms/:site/pages` for an app called `pages`.
  if (isApp && apps[module]?.some((app) => app.url_code === urlCode)) return { kind: "app", module, urlCode };
  const own = best(pages, (page) => page.path.split("/"), parts);
  if (own) return { kind: "page", page: own.found, params: own.params };
  const list = best(resources, partsOf, parts);
  if (list) return { kind: "list", resource: list.found, values: list.values };
  const above = parts.slice(0, -1);
  const creating = parts.at(-1) === "new" ? best(resources, partsOf, above) : undefined;
  if (creating?.found.create) return { kind: "new", resource: creating.found, values: creating.values };
  if (isApp) return { kind: "app", module, urlCode };
  if (parts.length === 1) return { kind: "module", module };
  const item = best(resources, partsOf, above);
  if (item) return { kind: "item", resource: item.found, values: [...item.values, parts.at(-1) ?? ""] };
  return { kind: "missing" };
}

/** The address of a list, or with one value more than its path has parameters, of one of its items. */
export function addressOf(resource: Pick<Resource, "path">, values: readonly string[]): string {
  let at = 0;
  const path = studioPath(resource.path).replace(/\{\w+\}/g, () => encodeURIComponent(values[at++] ?? ""));
  return [base + path, ...values.slice(at).map(encodeURIComponent)].join("/");
}

/** `schema` of the page `core/dbs/:db_id/schema` below one of `/core/dbs`; undefined for any other page. */
export function wordsBelow(pagePath: string, { path }: Pick<Resource, "path">): string | undefined {
  const [parts, above] = [pagePath.split("/"), [...partsOf({ path }), "{id}"]];
  const isParameter = (part: string | undefined) => part !== undefined && /^[:{]/.test(part);
  const isBelow = above.every((part, at) => part === parts[at] || (isParameter(part) && isParameter(parts[at])));
  const below = parts.slice(above.length);
  return isBelow && below.length > 0 && !below.some(isParameter) ? below.join("/") : undefined;
}

/** Where the page stands for an item of this list, if it can be a tab of it. */
export function addressIn(
  { path, of }: PageOf,
  resource: Pick<Resource, "path">,
  values: readonly string[],
): string | undefined {
  // One word after the parameter: what stands below that is no tab.
  if (of !== resource.path || !/^[^:]{1,99}:\w{1,99}\/[^:/]{1,99}$/.test(path)) return undefined;
  return `${base}/${path.replace(/:\w+/, () => encodeURIComponent(values[0] ?? ""))}`;
}

interface Matched<T> {
  readonly found: T;
  readonly values: readonly string[];
  readonly params: Readonly<Record<string, string>>;
}

function best<T>(
  candidates: readonly T[],
  pathOf: (one: T) => readonly string[],
  parts: readonly string[],
): Matched<T> | undefined {
  const fitting = candidates.flatMap((found) => {
    const match = matched(pathOf(found), parts);
    return match ? [{ found, ...match }] : [];
  });
  return fitting.toSorted((a, b) => a.values.length - b.values.length)[0];
}

function matched(path: readonly string[], parts: readonly string[]): Omit<Matched<unknown>, "found"> | undefined {
  if (path.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of path.entries()) {
    const value = parts[at] ?? "";
    const name = /^(?:\{(\w+)\}|:(\w+))$/.exec(part);
    if (name) params[name[1] ?? name[2] ?? ""] = value;
    else if (part !== value) return undefined;
  }
  return { params, values: Object.values(params) };
}

function partsOf({ path }: Pick<Resource, "path">): string[] {
  return studioPath(path).split("/").filter(Boolean);
}

/** A part that is no UTF-8 stays as it is. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
