/** Webhooks whose target is a flow, as triggers of that flow. */
import { found, invalid, isObject } from "platform";
import { triggersOf, type TriggerSource } from "../../flows/api.ts";
import type { Webhooks } from "../context.ts";
import { makerOf } from "./rights.ts";
import { Webhook } from "./webhook.ts";

const ofRecords = "Core::Record";

export function webhookTriggers(webhooks: Webhooks): TriggerSource {
  return triggersOf(Webhook, webhooks, {
    kinds: { record: ["db", "table", "on", "filter", "changed"], event: ["source_type", "on", "filter"] },
    of: (code) => ({ target_kind: "flow", target_code: code }),
    shown({ source_type, kind: on, filter, changed, disabled_reason: trouble }) {
      const { db_code: db, table_name: table = null, ...rest } = isObject(filter) ? filter : {};
      if (source_type !== ofRecords || typeof db !== "string")
        return { kind: "event", source_type, on, filter, trouble };
      const others = Object.keys(rest).length > 0 ? rest : null;
      return { kind: "record", db, table, on, filter: others, changed, trouble };
    },
    given(given, before) {
      if (given["kind"] === "event")
        return { source_type: given["source_type"], kind: given["on"], filter: given["filter"] };
      const { db, table, on, filter, changed } = before?.kind === "record" ? { ...before, ...given } : given;
      if (typeof db !== "string" || db === "") throw invalid({ db: ["can't be blank"] });
      const place = { db_code: db, ...(typeof table === "string" && table !== "" && { table_name: table }) };
      return { source_type: ofRecords, kind: on, filter: { ...place, ...(isObject(filter) && filter) }, changed };
    },
    async before(at, id) {
      const row = await found(Webhook, at, { id });
      return { maker: { id: row.createdById, able: await makerOf(at.rights, row) } };
    },
  });
}
