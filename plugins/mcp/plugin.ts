import { definePlugin } from "platform";
import { tokens } from "../tokens/api.ts";
import { agentTools } from "./api.ts";
import type { Protocol } from "./protocol.ts";
import { llmsRoute, mcpRoutes } from "./routes.ts";
import { createSessions } from "./session.ts";
import { callTool, listTools } from "./tools/all.ts";

/** The API for agents, over the Model Context Protocol. */
export default definePlugin({
  name: "mcp",
  needs: { tokens },
  provides: agentTools,

  setup(ctx) {
    const sessionOf = createSessions({ ctx, tokens: ctx.services.tokens });
    let protocol: Promise<Protocol> | undefined;
    const load = async () => {
      const { createProtocol } = await import("./protocol.ts");
      return createProtocol(ctx);
    };
    return {
      routes: [
        ...mcpRoutes({
          sessionOf,
          protocol: async (request, message, session) => (await (protocol ??= load()))(request, message, session),
        }),
        llmsRoute(ctx),
      ],
      service: {
        open: async ({ request, host, token, requestId }) => {
          const { caller } = await ctx.services.tokens.identify(host, { token, viaCookie: false });
          if (!caller) return undefined;
          const session = sessionOf({ request, caller, token, requestId });
          return {
            caller,
            tools: () => listTools(session),
            call: (name, args) => callTool(name, args, session),
          };
        },
      },
    };
  },
});
