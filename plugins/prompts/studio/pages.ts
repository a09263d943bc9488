import type { StudioPage } from "studio";

/** The pages of prompts: stored ones with what is built in, one of them, and a built-in one. */
export const pages: StudioPage[] = [
  {
    path: "core/prompts",
    title: { en: "Prompts", pl: "Prompty", de: "Prompts" },
    privilege: "prompts",
    load: () => import("./Prompts.svelte"),
  },
  {
    path: "core/prompts/:id",
    title: { en: "Prompt", pl: "Prompt", de: "Prompt" },
    privilege: "prompts",
    load: () => import("./Prompt.svelte"),
  },
  {
    path: "core/prompts/system",
    title: { en: "Built-in prompts", pl: "Prompty wbudowane", de: "Eingebaute Prompts" },
    privilege: "prompts",
    load: () => import("./BuiltIns.svelte"),
  },
  {
    path: "core/prompts/system/:code",
    title: { en: "Built-in prompt", pl: "Prompt wbudowany", de: "Eingebauter Prompt" },
    privilege: "prompts",
    load: () => import("./BuiltIn.svelte"),
  },
];
