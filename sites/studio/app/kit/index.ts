/** What the pages of plugins import as "studio". */
import type { Component } from "svelte";
import type { Language } from "../text.svelte.ts";

/** A page of a built-in plugin, in the list of its `studio/pages.ts`. */
export interface StudioPage {
  /** Below /studio, e.g. `core/prompts/:id`; it comes before the page that is made from the API's description. */
  readonly path: string;
  readonly title: Readonly<Record<Language, string>>;
  /** Without it, everyone who is signed in may see the page. */
  readonly privilege?: string;
  readonly load: () => Promise<{ readonly default: Component<{ params: Readonly<Record<string, string>> }> }>;
}

export { default as Code } from "./Code.svelte";
export { default as Diff } from "./Diff.svelte";
export { default as Field } from "./Field.svelte";
export { faultsOf, type CodeLanguage, type CodeWord, type Fault } from "./code.ts";
