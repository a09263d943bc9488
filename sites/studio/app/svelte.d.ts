/** Components are compiled by scripts/studio.ts; tsc sees their name only. */
declare module "*.svelte" {
  import type { Component } from "svelte";
  // The props are checked by nobody: what a component decides stands in .ts files.
  const component: Component<Record<string, unknown>>;
  export default component;
}

/** Its strokes: scripts/studio.ts makes them one path. */
declare module "*.svg" {
  const path: string;
  export default path;
}

declare module "studio:examples" {
  import type { Examples } from "./resources/examples.ts";
  export const examples: Examples;
}

declare module "studio:pages" {
  import type { StudioPage } from "./kit/page.ts";
  export const pages: readonly StudioPage[];
}

/** `document.createElement("studio-field")` of pages among the built-in plugins; elsewhere platform.d.ts says it. */
interface HTMLElementTagNameMap extends Pick<
  import("./author.ts").StudioElements,
  keyof import("./author.ts").StudioElements
> {}
