/** The menu: modules with the lists of the API, the pages of plugins, and apps (`show_in_module`). */
import { addressOf, base } from "../address.ts";
import { icons, type IconName } from "../icons.ts";
import { iconOfList, modules, studioPath, unlisted } from "../resources/names.ts";
import type { Resource } from "../resources/resources.ts";

export interface PageEntry {
  readonly path: string;
}

export interface AppEntry {
  readonly id: string;
  readonly name: string;
  readonly url_code: string;
  readonly url: string;
}

export interface MenuItem<P extends PageEntry> {
  readonly address: string;
  readonly resource?: Resource;
  readonly page?: P;
  readonly app?: AppEntry;
}

export interface MenuGroup<P extends PageEntry> {
  /** A module: the first word of an address. */
  readonly name: string;
  readonly items: readonly MenuItem<P>[];
}

/** The modules that the Studio knows come first, in their order; then those that have a page or an app. */
export function menuOf<P extends PageEntry>(
  resources: readonly Resource[],
  pages: readonly P[],
  apps: Readonly<Record<string, readonly AppEntry[]>>,
): MenuGroup<P>[] {
  // A list whose items can neither be opened nor made only describes something.
  const top = resources.filter(
    ({ path, read, create }) => !path.includes("{") && !unlisted.has(path) && (read ?? create),
  );
  const taken = new Set(top.map(({ path }) => studioPath(path).slice(1)));
  const own = pages.filter(({ path }) => !path.includes(":") && !taken.has(path) && !isBelowList(path, taken));
  const moduleOfPath = ({ path }: PageEntry) => path.replace(/^\//, "").split("/")[0] ?? "";
  const known = new Set(modules.flatMap(({ paths }) => paths));
  const others = top.filter(({ path }) => !known.has(path));
  const found = [...others.map(moduleOfPath), ...own.map(moduleOfPath), ...Object.keys(apps)];
  const names = [...new Set([...modules.map(({ name }) => name), ...found])];
  const groups = names.map((name) => ({
    name,
    items: [
      ...(modules.find((one) => one.name === name)?.paths ?? []).flatMap((path) => {
        const resource = top.find((one) => one.path === path);
        return resource ? [{ resource, address: addressOf(resource, []) }] : [];
      }),
      ...others
        .filter((resource) => moduleOfPath(resource) === name)
        .map((resource) => ({ resource, address: addressOf(resource, []) })),
      ...own.filter((page) => moduleOfPath(page) === name).map((page) => ({ page, address: `${base}/${page.path}` })),
      ...(apps[name] ?? []).map((app) => ({ app, address: appAddress(name, app.url_code) })),
    ],
  }));
  return groups.filter(({ items }) => items.length > 0);
}

/** `/studio/crm` */
export function moduleAddress(module: string): string {
  return `${base}/${encodeURIComponent(module)}`;
}

/** `/studio/crm/apps/deals` */
export function appAddress(module: string, urlCode: string): string {
  return `${moduleAddress(module)}/apps/${encodeURIComponent(urlCode)}`;
}

/** What a plugin from PLUGINS_DIR names is one of `icon` of its pages. */
export function iconOf({ resource, page, app }: MenuItem<PageEntry & { readonly icon?: string | null }>): IconName {
  if (resource) return iconOfList(resource.path);
  const own = Object.keys(icons).find((name): name is IconName => name === page?.icon);
  return own ?? (app ? "app" : "file");
}

/** `core/prompts/new` belongs to a list that has its own place. */
function isBelowList(path: string, lists: ReadonlySet<string>): boolean {
  return [...lists].some((list) => path.startsWith(`${list}/`));
}
