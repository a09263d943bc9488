import { definePlugin } from "platform";
import { tokens } from "../tokens/api.ts";
import { agentTools } from "./api.ts";
import { llmsRoute, mcpRoutes } from "./routes.ts";
import { serverOf } from "./server.ts";
import { createSessions } from "./session.ts";
import { callTool, listTools } from "./tools/all.ts";
import { createTransport } from "./transport.ts";

/** The API for agents, over the Model Context Protocol. */
export default definePlugin({
  name: "mcp",
  needs: { tokens },
  provides: agentTools,

  setup(ctx) {
    const sessionOf = createSessions({ ctx, tokens: ctx.services.tokens });
    return {
      routes: [
        ...mcpRoutes({
          sessionOf,
          serve: (session) => serverOf(session, ctx.liquid),
          transport: createTransport(ctx.log),
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
