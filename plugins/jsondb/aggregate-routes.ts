import { invalid, jsonText, notFound, route, type BaseContext, type Route } from "platform";
import { readAggregate } from "./aggregate.ts";
import { aggregateRecords } from "./aggregate-store.ts";
import type { Database } from "./database.ts";
import { createTurns } from "./import-turns.ts";
import { databaseAt } from "./record-routes.ts";
import type { Databases } from "./store.ts";

const maxMs = 10_000;
const maxAtOnce = 3;

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction">;
  readonly databases: Databases;
}

/** Counts, sums, averages, least and largest values by group. `:id` of a database is an id or a code. */
export function aggregateRoutes({ ctx, databases }: Needed): Route[] {
  // Each holds a connection for as long as it lasts.
  const turns = createTurns(maxAtOnce);

  const aggregate = async (first: Database, params: URLSearchParams, timezone: string): Promise<string> => {
    let db: Database | undefined = first;
    for (let tries = 0; tries < 5 && db; tries++) {
      const current: Database = db;
      const asked = readAggregate(current, params);
      const row = await ctx.transaction((tx) => aggregateRecords(tx, current, asked, timezone, maxMs));
      if (row.planVersion === current.planVersion) return row.body;
      db = row.planVersion === null ? undefined : await databases.refresh(current);
    }
    if (!db) throw notFound("there is no such database");
    throw new Error("the schema changed faster than the records could be read");
  };

  return [
    route(
      "GET",
      "/core/dbs/:id/aggregate",
      {
        summary: "Count and sum records by group",
        description:
          "Records are chosen as by the search. Null and absent values are one group. What is no number is left out of sum and avg; sums are exact, and whole ones beyond 2^53 are strings. It may take 10 s.",
        access: { privilege: "dbs" },
        query: {
          group_by:
            "up to 3 fields; a time with a unit, e.g. `created_at:month` (day, month, year; days of the account's time zone)",
          sum: "fields, comma-separated",
          avg: "fields, comma-separated",
          min: "fields, comma-separated",
          max: "fields, comma-separated",
          count: "`true`; the count is always there",
          table_name: "required where the schema has tables",
          q: "phrase, as in the search",
          search_in: "fields for `q`",
          "filter[<field>]": "as in the search",
          sort: "-count (default), count, group or -group",
          limit: "1 to 1000 groups, default 100",
        },
        responses: {
          200: [
            { group: { city: "Łódź", "created_at:month": "2026-01" }, count: 2, sum: { age: 85 }, avg: { age: 42.5 } },
          ],
          400: {
            error: "table_name is required: available tables are orders, lines",
            available_tables: ["orders", "lines"],
          },
          422: { sum: ["`email` is a string: this needs numbers"] },
        },
      },
      async ({ account, params, query, request }) => {
        const db = await databaseAt(databases, account.id, params.id);
        readAggregate(db, query);
        const run = () => aggregate(db, query, account.timezone);
        return jsonText(200, await turns(run, request.signal).catch(refuseSlow));
      },
    ),
  ];
}

/** PostgreSQL ended the statement: the same request would take as long again. */
function refuseSlow(error: unknown): never {
  if (error instanceof Error && "code" in error && error.code === "57014")
    throw invalid({ base: [`it took longer than ${maxMs / 1000} s: narrow it by a filter or a table`] });
  throw error;
}
