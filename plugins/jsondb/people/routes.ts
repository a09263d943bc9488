/** People whom records of a database name. behaviour B.7. */
import { answer, badRequest, ok, route, Type, type Route } from "platform";
import { hiddenAlways, may } from "../access/reach.ts";
import type { JsondbContext } from "../context.ts";
import { dbAccess, openAt } from "../databases/cache.ts";
import { peopleFields } from "../records/named.ts";
import { checked } from "../search/filters.ts";
import * as peopleStore from "./store.ts";

const most = { ids: 50, found: 20 } as const;
const Nameable = answer.object("Nameable", { id: Type.Integer(), name: Type.String() });

export function peopleRoute(ctx: JsondbContext): Route {
  return route(
    "GET",
    "/core/dbs/:db_id/people",
    {
      summary: "Find people for fields of the format `user`",
      description: `Of a database that shows you such a field: with \`ids\` the names of these people (at most ${most.ids}, also those who are no longer active), else up to ${most.found} active ones whose name or login holds \`q\`, for whoever may \`add\` records.`,
      access: dbAccess,
      apps: "names by `ids`, of people in its own databases, for a viewer with `dbs`",
      query: {
        q: Type.String({ maxLength: 100, description: "what is typed of a name or a login" }),
        ids: "ids with commas between them",
      },
      answers: { 200: answer.list(Nameable) },
      responses: { 200: [{ id: 2, name: "Anna" }] },
    },
    async (input) => {
      const db = await openAt(ctx, input, input.params.db_id);
      const hidden = hiddenAlways(db.reach);
      const isShown = [...db.rules.tables.values()].some((one) => peopleFields(one).some((name) => !hidden.has(name)));
      const ids = input.query.get("ids")?.split(",");
      if (ids && (ids.length > most.ids || !ids.every((id) => /^\d{1,15}$/.test(id))))
        throw badRequest(`\`ids\` takes at most ${most.ids} ids of people`);
      if (!isShown || (!ids && (input.app || !may(db, "add")))) return ok([]);
      if (ids) return ok(await peopleStore.byIds(ctx.sql, db.accountId, ids));
      const q = checked("q", input.query.get("q") ?? "", 100);
      const found = await peopleStore.like(ctx.sql, db.accountId, q, most.found);
      return ok(found.map(({ id, name }) => ({ id, name })));
    },
  );
}
