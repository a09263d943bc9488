/** Which flows name a database, a connector or a flow in their steps. */
import { isObject, type Use, type Uses } from "platform";
import { stepsIn } from "../program/takes.ts";
import { programOf } from "./flow-check.ts";
import type { FlowStore, Naming } from "./flow-store.ts";

const keyOf: Readonly<Record<string, string>> = {
  "Core::Db": "db",
  "Core::Connector": "connector",
  "Core::Flow": "flow",
};
/** Flows whose text has the name in quotes, and of which each program is read. */
const most = 1000;

export function flowUses(flowStore: Pick<FlowStore, "holding">): Uses {
  return {
    privilege: "flows",
    async find(accountId, { model, keys }, limit): Promise<readonly Use[]> {
      const key = keyOf[model];
      if (key === undefined) return [];
      const texts = keys.map((one) => JSON.stringify(one));
      const names = ({ fields }: Naming) =>
        [...stepsIn(programOf(fields), "program")].some(
          // Of a step that this version does not know only the keys can be compared.
          ({ step }: { step: unknown }) => isObject(step) && step["type"] === key && keys.includes(String(step[key])),
        );
      const found: Use[] = [];
      for (let offset: number | undefined = 0; offset !== undefined && found.length < limit;) {
        const { rows, next } = await flowStore.holding(accountId, texts, { limit: most - offset, offset });
        const naming = rows.filter(names);
        found.push(...naming.map(({ id, name }) => ({ kind: "flow", id, name, path: `/connect/flows/${id}.json` })));
        offset = next;
      }
      return found.slice(0, limit);
    },
  };
}
