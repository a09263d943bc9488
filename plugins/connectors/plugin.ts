import { definePlugin, putAt, setting } from "platform";
import { accounts } from "../accounts/api.ts";
import { connectors, type Connectors } from "./api.ts";
import { callRoutes } from "./call-routes.ts";
import { customConnector } from "./custom.ts";
import { createManaging } from "./manage.ts";
import migration from "./migrations/001_connectors.sql" with { type: "text" };
import { connectorRoutes } from "./routes.ts";
import { createCalling } from "./service.ts";
import { createConnectorStore } from "./store.ts";

/** Connectors: other services' HTTP methods behind a sealed secret. behaviour 4.3, B.9. */
export default definePlugin({
  name: "connectors",
  needs: { accounts },
  provides: connectors,
  config: {
    publicLimit: setting.integer(
      "CONNECTOR_PUBLIC_LIMIT",
      60,
      "Calls of a public connector method per minute and client address",
      {
        min: 1,
        max: 1_000_000,
      },
    ),
  },
  migrations: [{ name: "001_connectors", sql: migration }],

  setup(ctx) {
    const store = createConnectorStore(ctx.sql);
    const calling = createCalling({ ctx, store });
    calling.register(customConnector(ctx.fetch));
    const { kinds, forget } = calling;
    const managing = createManaging({ ctx, store, kinds, forget });
    const put: Connectors["put"] = async ({ accountId, userId }, connector) => {
      const author = { account: { id: accountId }, user: { id: userId } };
      return putAt(connector, await store.byCode(accountId, connector.code), {
        create: () => managing.create(author, connector),
        update: (id) => managing.update(author, id, connector),
      });
    };
    const publicLimit = ctx.limiter("connectors.public", { limit: ctx.config.publicLimit, windowSeconds: 60 });
    return {
      routes: [...connectorRoutes(store, managing), ...callRoutes(calling, publicLimit)],
      service: { ...calling, put },
    };
  },
});
