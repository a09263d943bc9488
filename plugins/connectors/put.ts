import type { Connectors } from "./api.ts";
import type { Managing } from "./manage.ts";
import type { ConnectorStore } from "./store.ts";

/** See `Connectors.put`. */
export function createPut(store: ConnectorStore, managing: Managing): Connectors["put"] {
  return async ({ accountId, userId }, connector) => {
    const author = { account: { id: accountId }, user: { id: userId } };
    const found = await store.byCode(accountId, connector.code);
    if (!found) return { id: (await managing.create(author, connector)).id, done: "made" };
    const { name, kind, url, fields, active } = connector;
    const pairs = [
      [name, found.name],
      [kind, found.kind],
      [url, found.url],
      [fields, found.fields],
      [active, found.active],
    ];
    const isSame = pairs.every(([given, is]) => given === undefined || JSON.stringify(given) === JSON.stringify(is));
    if (!isSame) await managing.update(author, found.id, connector);
    return { id: found.id, done: isSame ? "unchanged" : "changed" };
  };
}
