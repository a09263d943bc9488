import type { Flows } from "./api.ts";
import type { FlowStore } from "./flow-store.ts";
import type { Managing } from "./manage.ts";

/** See `Flows.putFlow`. */
export function createPut(store: FlowStore, managing: Managing): Flows["putFlow"] {
  return async ({ accountId, userId }, flow) => {
    const author = { account: { id: accountId }, user: { id: userId }, privileges: null };
    const found = await store.byCode(accountId, flow.code);
    if (!found) return { id: (await managing.create(author, flow)).id, done: "made" };
    const { name, kind, fields, active } = flow;
    const pairs = [
      [name, found.name],
      [kind, found.kind],
      [fields, found.fields],
      [active, found.active],
    ];
    const isSame = pairs.every(([given, is]) => given === undefined || JSON.stringify(given) === JSON.stringify(is));
    if (!isSame) await managing.update(author, found.id, flow);
    return { id: found.id, done: isSame ? "unchanged" : "changed" };
  };
}
