import { answer, jsonText, route, Type, warned, type Route } from "platform";
import { Group, UnknownTable, unknownTable } from "../records/routes.ts";
import { aggregate } from "./aggregate-run.ts";
import { databaseAt } from "../databases/cache.ts";
import { filterParameters, namesParameter } from "./routes.ts";
import { readAggregate } from "./aggregate.ts";
import { fieldHints, namedFields } from "./query.ts";
import type { JsondbContext } from "../context.ts";

/** Counts, sums, averages, minima and maxima by group. `:id` of a database is an id or a code. */
export function aggregateRoutes(ctx: JsondbContext): Route[] {
  return [
    route(
      "GET",
      "/core/dbs/:db_id/aggregate",
      {
        summary: "Count and sum records by group",
        description:
          "The parameters of the search choose the records. Null and missing values form one group. sum and avg ignore values that are not numbers; sums are exact, and whole sums beyond 2^53 are strings. The time limit is 10 s.",
        access: { privilege: "dbs" },
        query: {
          group_by: namesParameter(
            "up to 3 fields; a time with a unit, e.g. `created_at:month` (day, month, year; days of the account's time zone)",
          ),
          sum: namesParameter("fields"),
          avg: namesParameter("fields"),
          min: namesParameter("fields"),
          max: namesParameter("fields"),
          count: Type.Boolean({ description: "`true`; the count is always there" }),
          table_name: "required where the schema has tables",
          q: "phrase, as in the search",
          search_in: namesParameter("fields for `q`"),
          ...filterParameters,
          sort: "-count (default), count, group or -group",
          limit: Type.Integer({
            minimum: 1,
            maximum: 1000,
            default: 100,
            description: "1 to 1000 groups, default 100",
          }),
        },
        answers: { 200: answer.list(Group), 400: UnknownTable },
        responses: {
          200: [
            { group: { city: "Łódź", "created_at:month": "2026-01" }, count: 2, sum: { age: 85 }, avg: { age: 42.5 } },
          ],
          ...unknownTable,
          422: { sum: ["`email` is a string: this needs numbers"] },
        },
      },
      async ({ account, params, query, request }) => {
        const db = await databaseAt(ctx, account.id, params.db_id);
        const call = { params: query, signal: request.signal };
        const { query: asked, groups, measures } = readAggregate(db, query);
        const named = [...namedFields(asked), ...[...groups, ...measures].map(({ field }) => field)];
        return warned(jsonText(200, await aggregate(ctx, db, call)), fieldHints(db, asked, named));
      },
    ),
  ];
}
