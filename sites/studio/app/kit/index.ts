/** What the pages of plugins import as "studio". */
export type { StudioPage } from "./page.ts";

export { default as Code } from "./Code.svelte";
export { default as Diff } from "./Diff.svelte";
export { default as Field } from "./Field.svelte";
export { faultsOf, type CodeLanguage, type CodeWord, type Fault } from "./code.ts";
export { addressOf, base } from "../address.ts";
export { ApiError, get, request } from "../api.ts";
export { curlOf, type Call } from "../curl.ts";
export { frame } from "../frame.svelte.ts";
export { nextCell, type Cell as GridCell } from "../grid.ts";
export { cut } from "../list.ts";
export { words } from "../names.ts";
export { router } from "../router.svelte.ts";
export { session } from "../session.svelte.ts";
export { filledIn, text, type Language } from "../text.svelte.ts";
export { toasts, type Later } from "../toasts.svelte.ts";
export { isMap, textOf } from "../values.ts";
export { default as ApiCall } from "./ApiCall.svelte";
export { default as Cell } from "./Cell.svelte";
export { default as ConfirmName } from "./ConfirmName.svelte";
export { default as Copy } from "./Copy.svelte";
export { default as Dialog } from "./Dialog.svelte";
export { default as Tabs } from "./Tabs.svelte";
