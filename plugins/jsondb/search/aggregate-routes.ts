import * as databases from "../databases/cache.ts";
import { answer, jsonText, route, Type, warned, invalid, notFound, readBounds } from "platform";
import type { Route, Reader } from "platform";
import { Group, UnknownTable, unknownTable } from "../records/routes.ts";
import { dbAccess, openAt, viewerOf, type DatabaseContext } from "../databases/cache.ts";
import { endFilters } from "../links/filters.ts";
import type { EndFilter } from "./filters.ts";
import { filterParameters, namesParameter } from "./routes.ts";
import { readAggregate } from "./aggregate.ts";
import { fieldHints, namedFields } from "./query.ts";
import type { JsondbContext } from "../context.ts";
import { createAccountTurns } from "../turns.ts";
import { aggregateRecords } from "./aggregate-store.ts";
import type { Database } from "../databases/database.ts";

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
        access: dbAccess,
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
          most: Type.Integer({
            description: "where more records match, only their number is answered, without groups",
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
      async (input) => {
        const { params, query, request } = input;
        const db = await openAt(ctx, input, params.db_id);
        const narrowed = await endFilters(ctx, { db, viewer: viewerOf(input) }, query);
        const { query: asked, groups, measures } = readAggregate(db, narrowed.params);
        const named = [...namedFields(asked), ...[...groups, ...measures].map(({ field }) => field)];
        const hints = [...fieldHints(db, asked, named), ...narrowed.hints];
        return warned(jsonText(200, await aggregate(ctx, db, { ...narrowed, signal: request.signal })), hints);
      },
    ),
  ];
}

// Runs aggregates: few at a time, each with a time limit.

type Aggregating = Pick<DatabaseContext, "sql" | "read" | "databases">;

export interface AggregateCall {
  readonly params: URLSearchParams;
  readonly ends?: readonly EndFilter[];
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

// Each holds a connection until it ends. Two of one account.
const turns = createAccountTurns(3);

export async function aggregate(ctx: Aggregating, db: Database, call: AggregateCall, maxMs = 10_000): Promise<string> {
  readAggregate(db, call.params);
  try {
    return await turns(db.accountId, () => run(ctx, db, call, maxMs), call.signal);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === queryCanceled)
      throw invalid({ base: [`it takes longer than ${maxMs / 1000} s: narrow it by a filter or a table`] });
    throw error;
  }
}

async function run(ctx: Aggregating, first: Database, { params, ends }: AggregateCall, maxMs: number): Promise<string> {
  let db: Database | undefined = first;
  for (let tries = 0; tries < 5 && db; tries++) {
    const current: Database = db;
    const { query, ...asked } = readAggregate(current, params);
    const narrowed = { ...asked, query: { ...query, ends } };
    const read = (sql: Reader) => aggregateRecords(sql, current, narrowed, maxMs);
    // A replica may know of a change of the schema that the primary has not yet answered.
    const row = await (tries === 0 ? ctx.read(read) : read(ctx.sql));
    if (row.isCut)
      throw invalid({ limit: [`the groups have more than ${readBounds.answerBytes} bytes: ask for fewer of them`] });
    if (row.planVersion === current.planVersion) return row.body;
    db = row.planVersion === null ? undefined : await databases.refresh(ctx, current);
  }
  if (!db) throw notFound("there is no such database");
  throw new Error("the schema changed faster than the records could be read");
}

/** PostgreSQL ended the statement. */
const queryCanceled = "57014";
