import { credentialOf, definePlugin } from "platform";
import { accounts } from "../accounts/api.ts";
import { tokens } from "../tokens/api.ts";
import { prompts } from "./api.ts";
import { builtInPrompts } from "./built-in.ts";
import { outsidePrompts } from "./filters.ts";
import migration from "./migrations/001_prompts.sql" with { type: "text" };
import accountKeys from "./migrations/002_account_keys.sql" with { type: "text" };
import commonApi from "./prompts/common_api.md" with { type: "text" };
import promptsApi from "./prompts/prompts_api.md" with { type: "text" };
import { createForModels } from "./for-models.ts";
import { createGuard } from "./guard.ts";
import { createPreviews } from "./preview.ts";
import { previewRoutes } from "./preview-routes.ts";
import { createRenderer } from "./render.ts";
import { renderedRoutes } from "./rendered-routes.ts";
import { promptExample, promptRoutes } from "./routes.ts";
import { createSources } from "./sources.ts";
import { createPromptStore } from "./store.ts";
import { versionRoutes } from "./version-routes.ts";
import { createVersionStore } from "./version-store.ts";
import { createPromptWriter, type Author } from "./write.ts";

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
      name: "Core::Prompt",
      privilege: "prompts",
      // Prompts of a person, team or department are only for their own people.
      confidential: ({ scope }) => scope !== "account",
      sample: promptExample,
    },
  ],
  prompts: { "prompts_api.md": promptsApi, "common_api.md": commonApi },
  activity: { prompts: { model: "Core::Prompt" }, prompt_versions: false },

  setup(ctx) {
    ctx.liquid.registerFilter("prompt_url", outsidePrompts);
    ctx.liquid.registerFilter("api_block", outsidePrompts);
    const promptStore = createPromptStore(ctx.sql);
    const versionStore = createVersionStore(ctx.sql);
    const builtIn = builtInPrompts(ctx.plugins);
    const sources = createSources({ ctx, promptStore, versionStore, builtIn });
    const render = createRenderer({ liquid: ctx.liquid, sources });
    const guard = createGuard({ promptStore, accounts: ctx.services.accounts, builtIn });
    const promptWriter = createPromptWriter({ ctx, promptStore, versionStore, guard, forget: sources.forget });

    const authorOf = ({ request, caller }: { request: Request; caller: Author["caller"] }): Author => ({
      caller,
      token: credentialOf(request.headers)?.token ?? "",
    });

    const preview = createPreviews({ liquid: ctx.liquid, sources });
    const helping = { liquid: ctx.liquid, accounts: ctx.services.accounts, promptStore, builtIn, preview, authorOf };

    return {
      routes: [
        ...previewRoutes(helping),
        ...renderedRoutes({ builtIn, render, tokens: ctx.services.tokens }),
        ...promptRoutes({ promptStore, promptWriter, authorOf }),
        ...versionRoutes({ versionStore, promptWriter, authorOf }),
      ],
      service: createForModels({ accounts: ctx.services.accounts, promptStore, render }),
    };
  },
});
