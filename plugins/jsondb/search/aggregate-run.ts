/** Runs aggregates: few at a time, each with a time limit. No HTTP, no SQL. */
import { invalid, notFound, readBounds, type Reader } from "platform";
import { createAccountTurns } from "../turns.ts";
import { readAggregate } from "./aggregate.ts";
import { aggregateRecords } from "./aggregate-store.ts";
import type { Database } from "../databases/database.ts";
import * as databases from "../databases/cache.ts";
import type { DatabaseContext } from "../databases/cache.ts";

type Aggregating = Pick<DatabaseContext, "sql" | "read" | "databases">;

export interface AggregateCall {
  readonly params: URLSearchParams;
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

async function run(ctx: Aggregating, first: Database, { params }: AggregateCall, maxMs: number): Promise<string> {
  let db: Database | undefined = first;
  for (let tries = 0; tries < 5 && db; tries++) {
    const current: Database = db;
    const asked = readAggregate(current, params);
    const read = (sql: Reader) => aggregateRecords(sql, current, asked, maxMs);
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
