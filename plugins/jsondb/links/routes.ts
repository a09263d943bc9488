import { tryOpen } from "../databases/database.ts";
import { answer, field, notFound, ok, parseExactly, route, Type, uuidOf, type Route } from "platform";
import { hiddenAlways, mayAll } from "../access/reach.ts";
import type { JsondbContext } from "../context.ts";
import { dbAccess, openAt } from "../databases/cache.ts";
import { printRaw } from "../records/print.ts";
import { FlatRecord, recordExample } from "../records/routes.ts";
import * as recordStore from "../records/store.ts";
import { linkingTo, linkLimits } from "./links.ts";
import * as linkStore from "./store.ts";
import { missingRecord } from "../records/record.ts";

const Linked = answer.object("LinkedRecords", {
  db_code: Type.String(),
  table_name: field.nullable(Type.String()),
  field: Type.String(),
  count: Type.Integer(),
  records: answer.list(FlatRecord),
});

/** Who links to a record. `:db_id` is an id or a code. behaviour B.7. */
export function linkedRoute(ctx: JsondbContext): Route {
  return route(
    "GET",
    "/core/dbs/:db_id/records/:id/linked",
    {
      summary: "The records that link to this one",
      description:
        "For each field that links to its database: how many records, of those that you may see, and the newest five of them.",
      access: dbAccess,
      apps: "the records of its own databases, for a viewer with `dbs`",
      answers: { 200: answer.list(Linked) },
      responses: {
        200: [
          {
            db_code: "orders",
            table_name: null,
            field: "customer",
            count: 1,
            records: [
              {
                id: "019a9c1e-0000-7000-8000-000000000005",
                created_at: recordExample.created_at,
                updated_at: recordExample.updated_at,
                customer: recordExample.id,
              },
            ],
          },
        ],
      },
    },
    async (input) => {
      const { account, caller, app, params } = input;
      const db = await openAt(ctx, input, params.db_id);
      const id = uuidOf(params.id, missingRecord);
      const tableName = await recordStore.tableNameOf(ctx.sql, db, id);
      if (tableName === undefined) throw notFound(missingRecord);
      const found: object[] = [];
      for (const { stored, table, field: name, link } of await linkingTo(ctx, account.id, db)) {
        const source = tryOpen(stored, { ...caller, app });
        if (!source || hiddenAlways(source.reach).has(name)) continue;
        if (link.table !== undefined && link.table !== tableName) continue;
        const place = { tableName: table.name, field: name, target: id, isWhole: mayAll(source, "read") };
        const { count, raws } = await ctx.read((sql) => linkStore.linked(sql, source, place, linkLimits.shown));
        found.push({
          db_code: source.code,
          table_name: table.name === "" ? null : table.name,
          field: name,
          count,
          records: raws.map((raw) => parseExactly(printRaw(raw, "flat"))),
        });
      }
      return ok(found);
    },
  );
}
