import { change, create, definePlugin, find, putAt, setting } from "platform";
import { accounts } from "../accounts/api.ts";
import { connectors, type Connectors } from "./api.ts";
import { callRoutes, connectorRoutes, trialRoutes } from "./routes.ts";
import { Connector } from "./connector.ts";
import { customConnector } from "./custom.ts";
import migration from "./migrations/001_connectors.sql" with { type: "text" };
import versions from "./migrations/002_version.sql" with { type: "text" };
import accountKeys from "./migrations/003_account_keys.sql" with { type: "text" };
import { createCalls } from "./service.ts";

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
  resources: [Connector],

  setup(ctx) {
    const calls = createCalls(ctx);
    calls.register(customConnector(ctx.fetch));
    const { kinds, forget } = calls;
    const around = { ...ctx, kinds, forget };
    const put: Connectors["put"] = async ({ accountId, userId }, connector) => {
      const at = { ...around, caller: { account: { id: accountId }, user: { id: userId } } };
      return putAt(connector, await find(Connector, ctx.sql, accountId, { code: connector.code }), {
        create: () => create(Connector, at, connector),
        update: (id) => change(Connector, at, { id }, connector),
      });
    };
    const publicLimit = ctx.limiter("connectors.public", { limit: ctx.config.publicLimit, windowSeconds: 60 });
    return {
      nameables: [{ model: "Core::Connector", noun: "connector", exists: calls.exists }],
      routes: [...connectorRoutes(around), ...callRoutes(calls, publicLimit), ...trialRoutes(around, calls)],
      service: { ...calls, put },
    };
  },
});
