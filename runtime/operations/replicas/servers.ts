/** To which servers the open connections of one address lead: a proxy, or a name of several hosts, leads to several. */
import type { PoolOptions } from "../../db/db.ts";

export type OnConnections = Required<Pick<PoolOptions, "onClose" | "onServer">>;

/** `forget` what is known of the server: it may be another one now, or one of several. */
export function createServers(forget: () => void) {
  const servers = new Map<number, string>();
  const areSeveral = () => new Set(servers.values()).size > 1;
  const on: OnConnections = {
    onServer(connection, server) {
      const wereSeveral = areSeveral();
      servers.set(connection, server);
      if (areSeveral() && !wereSeveral) forget();
    },
    onClose(connection) {
      servers.delete(connection);
      if (!areSeveral()) forget();
    },
  };
  return { on, areSeveral };
}
