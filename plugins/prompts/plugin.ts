import { credentialOf, definePlugin } from "platform";
import { accounts } from "../accounts/api.ts";
import { tokens } from "../tokens/api.ts";
import { builtInPrompts } from "./built-in.ts";
import { outsidePrompts } from "./filters.ts";
import migration from "./migrations/001_prompts.sql" with { type: "text" };
import commonApi from "./prompts/common_api.md" with { type: "text" };
import promptsApi from "./prompts/prompts_api.md" with { type: "text" };
import { createRendering } from "./render.ts";
import { renderedRoutes } from "./rendered-routes.ts";
import { promptExample, promptRoutes } from "./routes.ts";
import { createPromptStore } from "./store.ts";
import { createWriting } from "./write.ts";

/** Prompt templates, their cascade and their versions. behaviour 2.1 and 4.1, B.5. */
export default definePlugin({
  name: "prompts",
  needs: { accounts, tokens },
  migrations: [{ name: "001_prompts", sql: migration }],
  privileges: [{ name: "prompts", doc: "keep prompts for AI", roles: ["manager", "user"] }],
  models: [
    {
      name: "Core::Prompt",
      privilege: "prompts",
      // Those of one person, team or department are shown to their own people.
      confidential: ({ scope }) => scope !== "account",
      sample: promptExample,
    },
  ],
  prompts: { "prompts_api.md": promptsApi, "common_api.md": commonApi },

  setup(ctx) {
    ctx.liquid.registerFilter("prompt_url", outsidePrompts);
    ctx.liquid.registerFilter("api_block", outsidePrompts);
    const store = createPromptStore(ctx.sql);
    const builtIn = builtInPrompts(ctx.plugins);
    const { render, forget } = createRendering({ ctx, store, builtIn });
    const writing = createWriting({ ctx, store, accounts: ctx.services.accounts, builtIn, forget });

    return {
      routes: [
        ...renderedRoutes({ builtIn, render, tokens: ctx.services.tokens }),
        ...promptRoutes({
          store,
          writing,
          authorOf: ({ request, caller }) => ({ caller, token: credentialOf(request.headers)?.token ?? "" }),
        }),
      ],
    };
  },
});
