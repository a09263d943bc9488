import { definePlugin } from "platform";
import { connectors } from "../connectors/api.ts";
import { prompts } from "../prompts/api.ts";
import { modelConnector } from "./connector.ts";

/** The connector kind `core/llm`: language models by the protocols of OpenAI and Anthropic. behaviour B.9. */
export default definePlugin({
  name: "llm",
  needs: { connectors, prompts },

  setup(ctx) {
    const { connectors: calls, prompts: texts } = ctx.services;
    calls.register(modelConnector({ fetch: ctx.fetch, prompts: texts }));
    return {};
  },
});
