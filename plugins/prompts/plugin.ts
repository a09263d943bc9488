import { definePlugin } from "platform";
import { accounts } from "../accounts/api.ts";
import { tokens } from "../tokens/api.ts";
import { prompts } from "./api.ts";
import type { PromptsContext } from "./context.ts";
import { builtInPrompts } from "./built-in.ts";
import { forModels, outsidePrompts } from "./render.ts";
import migration from "./migrations/001_prompts.sql" with { type: "text" };
import accountKeys from "./migrations/002_account_keys.sql" with { type: "text" };
import commonApi from "./prompts/common_api.md" with { type: "text" };
import promptsApi from "./prompts/prompts_api.md" with { type: "text" };
import { Prompt } from "./prompt.ts";
import { previewRoutes } from "./preview-routes.ts";
import { promptRoutes, renderedRoutes } from "./routes.ts";
import { createSources } from "./sources.ts";

/** Prompt templates, their cascade and their versions. behaviour 2.1 and 4.1, B.5. */
export default definePlugin({
  name: "prompts",
  needs: { accounts, tokens },
  provides: prompts,
  migrations: [
    { name: "001_prompts", sql: migration },
    { name: "002_account_keys", sql: accountKeys },
  ],
  privileges: [{ name: "prompts", doc: "create and change prompts for AI", roles: ["manager", "user"] }],
  models: [
    {
      name: Prompt.model,
      privilege: Prompt.privilege,
      // Prompts of a person, team or department are only for their own people.
      confidential: ({ scope }) => scope !== "account",
      sample: Prompt.examples.one,
    },
  ],
  prompts: { "prompts_api.md": promptsApi, "common_api.md": commonApi },
  resources: [Prompt],
  activity: { prompt_versions: false },

  setup(base) {
    base.liquid.registerFilter("prompt_url", outsidePrompts);
    base.liquid.registerFilter("api_block", outsidePrompts);
    const { accounts: people, tokens: issuer } = base.services;
    const builtIn = builtInPrompts(base.plugins);
    const sources = createSources(base, builtIn);
    const ctx: PromptsContext = { ...base, accounts: people, tokens: issuer, builtIn, sources, forget: sources.forget };
    return {
      routes: [...previewRoutes(ctx), ...renderedRoutes(ctx), ...promptRoutes(ctx)],
      service: forModels(ctx),
    };
  },
});
