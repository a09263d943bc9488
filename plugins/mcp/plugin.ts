import { definePlugin } from "platform";
import { tokens } from "../tokens/api.ts";
import { llmsRoute, mcpRoutes } from "./routes.ts";
import { serverOf } from "./server.ts";
import { createSessions } from "./session.ts";
import { createTransport } from "./transport.ts";

/** The API for agents, over the Model Context Protocol. */
export default definePlugin({
  name: "mcp",
  needs: { tokens },

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
    };
  },
});
