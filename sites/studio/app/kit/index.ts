/** What the pages of plugins import as "studio". */
export type { StudioPage } from "./page.ts";

export { default as Code } from "./Code.svelte";
export { default as Diff } from "./Diff.svelte";
export { default as Field } from "./Field.svelte";
export { faultsOf, type CodeLanguage, type CodeWord, type Fault } from "./code.ts";
