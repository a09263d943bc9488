import { page, type StudioPage } from "studio/page";

/** The pages of AI: prompts with what is built in, models and agents; one prompt, and a built-in one. */
export const pages: StudioPage[] = [
  page("core/prompts", ["Prompts", "Prompty", "Prompts"], () => import("./Ai.svelte"), { privilege: "prompts" }),
  page("ai/:part", ["AI", "AI", "KI"], () => import("./Ai.svelte")),
  page("core/prompts/:id", ["Prompt", "Prompt", "Prompt"], () => import("./Prompt.svelte"), {
    privilege: "prompts",
    bar: "own",
  }),
  page(
    "core/prompts/system/:code",
    ["Built-in prompt", "Prompt wbudowany", "Eingebauter Prompt"],
    () => import("./BuiltIn.svelte"),
    { privilege: "prompts" },
  ),
];
