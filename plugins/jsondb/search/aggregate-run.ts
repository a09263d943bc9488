/** Runs aggregates: few at a time, each with a time limit. No HTTP, no SQL. */
import { createTurns, invalid, notFound, readBounds, type BaseContext, type Reader } from "platform";
import { readAggregate } from "./aggregate.ts";
import { aggregateRecords } from "./aggregate-store.ts";
import type { Database } from "../databases/database.ts";
import type { Databases } from "../databases/database-store.ts";

interface Needed {
  readonly ctx: Pick<BaseContext, "sql" | "read">;
  readonly databases: Databases;
  readonly maxMs?: number;
}

export interface AggregateCall {
  readonly params: URLSearchParams;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

export type Aggregates = ReturnType<typeof createAggregates>;

export function createAggregates({ ctx, databases, maxMs = 10_000 }: Needed) {
  // Each holds a connection until it ends.
  const turns = createTurns(3);

  const run = async (first: Database, { params }: AggregateCall): Promise<string> => {
    let db: Database | undefined = first;
    for (let tries = 0; tries < 5 && db; tries++) {
      const current: Database = db;
      const asked = readAggregate(current, params);
      const aggregate = (sql: Reader) => aggregateRecords(sql, current, asked, maxMs);
      // A replica may know of a change of the schema that the primary has not yet answered.
      const row = await (tries === 0 ? ctx.read(aggregate) : aggregate(ctx.sql));
      if (row.isCut)
        throw invalid({ limit: [`the groups have more than ${readBounds.answerBytes} bytes: ask for fewer of them`] });
      if (row.planVersion === current.planVersion) return row.body;
      db = row.planVersion === null ? undefined : await databases.refresh(current);
    }
    if (!db) throw notFound("there is no such database");
    throw new Error("the schema changed faster than the records could be read");
  };

  /** The JSON array. 422 if it takes too long, because the same request would take as long again. */
  return async (db: Database, call: AggregateCall): Promise<string> => {
    readAggregate(db, call.params);
    try {
      return await turns(() => run(db, call), call.signal);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === queryCanceled)
        throw invalid({ base: [`it takes longer than ${maxMs / 1000} s: narrow it by a filter or a table`] });
      throw error;
    }
  };
}

/** PostgreSQL ended the statement. */
const queryCanceled = "57014";
