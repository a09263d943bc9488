/** A page that a plugin adds: compiled into the Studio, or a module that is imported when it is opened. */
import type { Component } from "svelte";
import type { IconName } from "../icons.ts";

type Titles = Readonly<Record<"en" | "pl" | "de", string>>;

/** A page of a built-in plugin, in the list of its `studio/pages.ts`. */
export interface StudioPage {
  /** Below /studio, e.g. `core/prompts/:id`; it comes before the page that is made from the API's description. */
  readonly path: string;
  readonly title: Titles;
  /** Its picture in the menu. */
  readonly icon?: IconName;
  /** Without it, everyone who is signed in may see the page. */
  readonly privilege?: string;
  /** The view that apps may be injected into. */
  readonly view?: string | null;
  /** It brings the bar of the frame itself (`class="page-bar"`), as there is one only. */
  readonly bar?: "own";
  /** The list of the item that it belongs to, if its address does not say so: `/cms/sites` for `cms/:site/pages`. */
  readonly of?: string;
  /** It is shown before the API's description has come: nothing in it asks `session.resource` at once. */
  readonly early?: true;
  /** Its first requests at this address, sent while the page itself is still loading. */
  readonly first?: (params: Readonly<Record<string, string>>, query: URLSearchParams) => readonly string[];
  readonly load: () => Promise<{ readonly default: Component<{ params: Readonly<Record<string, string>> }> }>;
}

/** One of them; `title` in English, Polish and German. */
export function page(
  path: string,
  [en, pl, de]: readonly [en: string, pl: string, de: string],
  load: StudioPage["load"],
  more: Omit<StudioPage, "path" | "title" | "load"> = {},
): StudioPage {
  return { path, title: { en, pl, de }, load, ...more };
}

/** A page of a plugin from PLUGINS_DIR: `definePlugin({ studio })`. */
export interface ExternalPage {
  readonly path: string;
  readonly title: Titles;
  readonly privilege?: string;
  readonly view?: string | null;
  readonly icon?: string | null;
  /** The address of its module. */
  readonly module: string;
}

export type Page = StudioPage | ExternalPage;
