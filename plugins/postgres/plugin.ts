import { definePlugin } from "platform";
import { connectors } from "../connectors/api.ts";
import { postgresConnector } from "./connector.ts";
import { createPools } from "./pools.ts";

/** The connector kind `core/postgres`: queries of another PostgreSQL database. behaviour B.9. */
export default definePlugin({
  name: "postgres",
  needs: { connectors },

  setup(ctx) {
    const pools = createPools(ctx.connect);
    ctx.services.connectors.register(postgresConnector(pools));
    return { stop: pools.stop };
  },
});
