import { definePlugin } from "platform";
import { accounts } from "../accounts/api.ts";
import { tokens } from "../tokens/api.ts";
import { prompts } from "./api.ts";
import { builtInPrompts } from "./built-in.ts";
import { outsidePrompts } from "./filters.ts";
import migration from "./migrations/001_prompts.sql" with { type: "text" };
import accountKeys from "./migrations/002_account_keys.sql" with { type: "text" };
import commonApi from "./prompts/common_api.md" with { type: "text" };
import promptsApi from "./prompts/prompts_api.md" with { type: "text" };
import { forModels } from "./for-models.ts";
import { Prompt } from "./prompt.ts";
import { createPreviews } from "./preview.ts";
import { previewRoutes } from "./preview-routes.ts";
import { createRenderer } from "./render.ts";
import { renderedRoutes } from "./rendered-routes.ts";
import { promptRoutes } from "./routes.ts";
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
    const sources = createSources({ ctx: base, builtIn });
    const ctx = { ...base, accounts: people, builtIn, forget: sources.forget };
    const render = createRenderer({ liquid: ctx.liquid, sources });
    const preview = createPreviews({ liquid: ctx.liquid, sources });

    return {
      routes: [
        ...previewRoutes({ ...ctx, preview }),
        ...renderedRoutes({ builtIn, render, tokens: issuer }),
        ...promptRoutes(ctx),
      ],
      service: forModels({ ...ctx, render }),
    };
  },
});
