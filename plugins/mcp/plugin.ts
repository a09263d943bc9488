import { definePlugin } from "platform";
import { tokens } from "../tokens/api.ts";
import { agentTools } from "./api.ts";
import type { Protocol } from "./protocol.ts";
import { llmsRoute, mcpRoutes } from "./routes.ts";
import { sessionOf, type SessionOf } from "./session.ts";
import { callTool, listTools } from "./tools/all.ts";

/** The API for agents, over the Model Context Protocol. */
export default definePlugin({
  name: "mcp",
  needs: { tokens },
  provides: agentTools,

  setup(ctx) {
    const shared = { ...ctx, tokens: ctx.services.tokens };
    const open: SessionOf = (connection) => sessionOf(shared, connection);
    let protocol: Promise<Protocol> | undefined;
    const load = async () => {
      const { createProtocol } = await import("./protocol.ts");
      return createProtocol(ctx);
    };
    return {
      routes: [
        ...mcpRoutes(open, async (request, message, session) =>
          (await (protocol ??= load()))(request, message, session),
        ),
        llmsRoute(ctx),
      ],
      service: {
        open: async ({ request, host, token, requestId }) => {
          const { caller } = await ctx.services.tokens.identify(host, { token, viaCookie: false });
          if (!caller) return undefined;
          const session = open({ request, caller, token, requestId });
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
