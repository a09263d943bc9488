/** Views of a database; `:db_id` is an id or a code. behaviour B.7. */
import {
  answer,
  change,
  create,
  created,
  erase,
  expectedVersion,
  found,
  noContent,
  ok,
  pageOf,
  pageQuery,
  pageReply,
  refOf,
  route,
  shown,
  toApi,
  warned,
  type Route,
} from "platform";
import { hiddenAlways } from "../access/reach.ts";
import type { JsondbContext } from "../context.ts";
import { dbAccess, openAt, type Viewing } from "../databases/cache.ts";
import { pageOfViews } from "../databases/store.ts";
import { View, withoutFields, type ViewAt, type ViewRow } from "./view.ts";

export function viewRoutes(ctx: JsondbContext): Route[] {
  const at = async (input: Viewing & { readonly params: { readonly db_id: string } }): Promise<ViewAt> => ({
    ...ctx,
    caller: input.caller,
    db: await openAt(ctx, input, input.params.db_id),
  });
  const { one } = View.answers;
  return [
    route(
      "GET",
      "/core/dbs/:db_id/views",
      {
        summary: "List the views of a database",
        description:
          "The shared ones and one's own, by `position`. Fields that are hidden from the caller are left out of them.",
        access: dbAccess,
        query: pageQuery,
        answers: { 200: answer.list(one) },
        responses: { 200: [View.examples.one] },
      },
      async (input) => {
        const own = await at(input);
        const { db, caller, sql } = own;
        const rows = await pageOfViews<ViewRow>(sql, db, caller.user.id, View.read, pageOf(input.query));
        return pageReply(rows, (row) => withoutFields(toApi(View, row), hiddenAlways(db.reach)));
      },
    ),
    route(
      "POST",
      "/core/dbs/:db_id/views",
      {
        summary: "Make a view of a database",
        description:
          "One's own takes the level `read`, a `shared` one `manage`. Fields that the schema does not have are named in the header `Warning`.",
        access: dbAccess,
        body: { key: View.name, schema: View.bodies.create },
        request: View.examples.request,
        answers: { 201: one },
        responses: { 201: View.examples.made, 422: { filters: ["amount.above is no operator: they are gt, gte, …"] } },
      },
      async (input) => {
        const own = await at(input);
        const row = await create(View, own, input.body);
        return warned(created(...(await shown(View, own, row))), (await View.hints?.(own, row, input.body)) ?? []);
      },
    ),
    route(
      "GET",
      "/core/dbs/:db_id/views/:id",
      {
        summary: "Show a view",
        access: dbAccess,
        answers: { 200: one },
        responses: { 200: View.examples.one, 304: null },
      },
      async (input) => {
        const own = await at(input);
        return ok(...(await shown(View, own, await found(View, own, refOf(View, input.params.id)))));
      },
    ),
    route(
      "PATCH",
      "/core/dbs/:db_id/views/:id",
      {
        summary: "Change a view",
        access: dbAccess,
        ifMatch: true,
        body: { key: View.name, schema: View.bodies.change },
        request: View.change,
        answers: { 200: one },
        responses: { 200: View.examples.changed },
      },
      async (input) => {
        const own = await at(input);
        const expected = (id: string) => expectedVersion(input.request, id);
        const { after } = await change(View, own, refOf(View, input.params.id), input.body, expected);
        return warned(ok(...(await shown(View, own, after))), (await View.hints?.(own, after, input.body)) ?? []);
      },
    ),
    route(
      "DELETE",
      "/core/dbs/:db_id/views/:id",
      { summary: "Delete a view", access: dbAccess, ifMatch: true, responses: { 204: null } },
      async (input) => {
        const own = await at(input);
        await erase(View, own, refOf(View, input.params.id), (id) => expectedVersion(input.request, id));
        return noContent();
      },
    ),
  ];
}
