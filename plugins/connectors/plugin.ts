import { definePlugin, putAt, setting } from "platform";
import { accounts } from "../accounts/api.ts";
import { connectors, type Connectors } from "./api.ts";
import { callRoutes } from "./call-routes.ts";
import { customConnector } from "./custom.ts";
import migration from "./migrations/001_connectors.sql" with { type: "text" };
import versions from "./migrations/002_version.sql" with { type: "text" };
import accountKeys from "./migrations/003_account_keys.sql" with { type: "text" };
import { connectorRoutes } from "./routes.ts";
import { createCalls } from "./service.ts";
import { createConnectorStore } from "./store.ts";
import { trialRoutes } from "./trial-routes.ts";
import { createConnectorWriter } from "./writer.ts";

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
  migrations: [
    { name: "001_connectors", sql: migration },
    { name: "002_version", sql: versions },
    { name: "003_account_keys", sql: accountKeys },
  ],
  activity: { connectors: { model: "Core::Connector" } },

  setup(ctx) {
    const connectorStore = createConnectorStore(ctx.sql);
    const calls = createCalls({ ctx, connectorStore });
    calls.register(customConnector(ctx.fetch));
    const { kinds, forget } = calls;
    const connectorWriter = createConnectorWriter({ ctx, connectorStore, kinds, forget });
    const put: Connectors["put"] = async ({ accountId, userId }, connector) => {
      const author = { account: { id: accountId }, user: { id: userId } };
      return putAt(connector, await connectorStore.byCode(accountId, connector.code), {
        create: () => connectorWriter.create(author, connector),
        update: (id) => connectorWriter.update(author, id, connector),
      });
    };
    const publicLimit = ctx.limiter("connectors.public", { limit: ctx.config.publicLimit, windowSeconds: 60 });
    return {
      nameables: [{ model: "Core::Connector", noun: "connector", exists: calls.exists }],
      routes: [
        ...connectorRoutes({ names: ctx.names, connectorStore, connectorWriter, kinds }),
        ...callRoutes({ calls, publicLimit }),
        ...trialRoutes({ calls, connectorWriter }),
      ],
      service: { ...calls, put },
    };
  },
});
