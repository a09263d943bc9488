import { answer, field, invalid, ok, parseExactly, route, Type, type Route } from "platform";
import type { JsondbContext } from "../context.ts";
import { dbAccess, find, openAt } from "../databases/cache.ts";
import { tryOpen, type Database } from "../databases/database.ts";
import { recordExample, ShownRecord } from "../records/routes.ts";
import { readList } from "../search/query.ts";
import { search } from "../search/store.ts";
import { levels, parseAccess } from "./access.ts";
import { levelOf } from "./reach.ts";

const Look = answer.object("AccessLook", {
  user_id: Type.Integer(),
  user_name: Type.String(),
  may: field.nullable(field.oneOf(levels)),
  count: Type.Integer(),
  total: Type.Integer(),
  records: answer.list(ShownRecord),
});

const shownRecords = 20;

/** How a person sees a database, by its `access` or by another one that is only tried. behaviour B.7. */
export function lookRoute(ctx: JsondbContext): Route {
  return route(
    "POST",
    "/core/dbs/:db_id/access/look",
    {
      summary: "See a database as another person would",
      description:
        "Stores nothing. Takes the level `manage`. `may` is null where nothing would be open; `records` are the newest twenty, without what would be hidden. `access` left out: the database's own.",
      access: dbAccess,
      body: {
        schema: Type.Object({
          user_id: Type.Integer({ description: "an active person of the account" }),
          access: Type.Optional(Type.Union([Type.Unsafe<readonly unknown[]>(Type.Array(Type.Unknown())), Type.Null()])),
        }),
      },
      request: { user_id: 1, access: [{ to: "user:1", may: "read", where: { age: { lt: 40 } } }] },
      answers: { 200: Look },
      responses: {
        200: { user_id: 1, user_name: "Ann", may: "read", count: 1, total: 3, records: [recordExample] },
        422: { user_id: ["is nobody of this account"] },
      },
    },
    async (input) => {
      const { account, params, body } = input;
      const db = await openAt(ctx, input, params.db_id, "manage");
      const [stored, person] = await Promise.all([find(ctx, account.id, db.id), ctx.accounts.access(body.user_id)]);
      if (!stored || !person?.active || person.account.id !== account.id)
        throw invalid({ user_id: ["is nobody of this account"] });
      const parsed = body.access === undefined ? { access: stored.access } : parseAccess(body.access, db.rules);
      if ("mistakes" in parsed) throw invalid({ access: parsed.mistakes });
      const { user, privileges } = person;
      const theirs = tryOpen({ ...stored, access: parsed.access }, { user, privileges, within: undefined });
      const [all, seen] = await Promise.all([page(ctx, db, 1), theirs && page(ctx, theirs, shownRecords)]);
      return ok({
        user_id: user.id,
        user_name: user.name,
        may: theirs ? levelOf(theirs) : null,
        count: seen?.total ?? 0,
        total: all.total ?? 0,
        records: seen?.records.map(parseExactly) ?? [],
      });
    },
  );
}

function page(ctx: JsondbContext, db: Database, limit: number) {
  const params = new URLSearchParams({ limit: `${limit}`, count: "true" });
  return search(ctx, db, (current) => ({ query: readList(current, params), cursor: undefined }), { form: "nested" });
}
