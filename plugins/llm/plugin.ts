import { definePlugin } from "platform";
import { apps } from "../apps/api.ts";
import { connectors } from "../connectors/api.ts";
import { prompts } from "../prompts/api.ts";
import { chatRoutes } from "./chat-routes.ts";
import { modelConnector } from "./connector.ts";
import aiApp from "./prompts/ai_app.md" with { type: "text" };
import aiChat from "./prompts/ai_chat.md" with { type: "text" };
import aiTask from "./prompts/ai_task.agent.md" with { type: "text" };

/** The connector kind `core/llm`: language models by the protocols of OpenAI and Anthropic. behaviour B.9. */
export default definePlugin({
  name: "llm",
  needs: { apps, connectors, prompts },
  prompts: { "ai_app.md": aiApp, "ai_chat.md": aiChat, "ai_task.agent.md": aiTask },

  setup(ctx) {
    const { services, stopping } = ctx;
    services.connectors.register(modelConnector(ctx.fetch, services.prompts));
    // For each person: what a model says costs money.
    const limit = ctx.limiter("llm.chats", { limit: 30, windowSeconds: 60 });
    return { routes: chatRoutes({ ...services, limit, stopping }) };
  },
});
