import type { StudioPage } from "studio";

/** The pages of AI: prompts with what is built in, models and agents; one prompt, and a built-in one. */
export const pages: StudioPage[] = [
  {
    path: "core/prompts",
    title: { en: "Prompts", pl: "Prompty", de: "Prompts" },
    privilege: "prompts",
    load: () => import("./Ai.svelte"),
  },
  { path: "ai/:part", title: { en: "AI", pl: "AI", de: "KI" }, load: () => import("./Ai.svelte") },
  {
    path: "core/prompts/:id",
    title: { en: "Prompt", pl: "Prompt", de: "Prompt" },
    privilege: "prompts",
    bar: "own",
    load: () => import("./Prompt.svelte"),
  },
  {
    path: "core/prompts/system/:code",
    title: { en: "Built-in prompt", pl: "Prompt wbudowany", de: "Eingebauter Prompt" },
    privilege: "prompts",
    load: () => import("./BuiltIn.svelte"),
  },
];
