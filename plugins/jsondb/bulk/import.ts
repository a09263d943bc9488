/**
 * Many records from one body. Rows are checked as they arrive and kept aside in parts; when all have arrived they are
 * stored in one transaction. So neither a slow client nor one that goes away holds a connection, locks or half a job.
 */
import {
  conflict,
  HttpError,
  notFound,
  unavailable,
  timeOfUuidv7,
  uuidv7,
  ValidationError,
  type BaseContext,
  type Tx,
} from "platform";
import type { BulkStore, Part } from "./bulk-store.ts";
import { sameSchema, tableForWrite, type Database } from "../databases/database.ts";
import type { Row, RowFault, RowReader } from "./import-rows.ts";
import { dataFromText } from "./import-values.ts";
import type { RecordEvents } from "../records/record-events.ts";
import { checkRecord, type Data } from "../records/record.ts";
import type { ManyRecord, RecordStore } from "../records/record-store.ts";
import { newRecord, refuse } from "../records/new-record.ts";
import type { Databases } from "../databases/database-store.ts";
import { inSlices } from "./import-slices.ts";
import { createTurns } from "../turns.ts";
import type { Progress } from "../tasks/task-store.ts";

export interface ImportOptions {
  readonly reader: RowReader;
  /** Values are text, and each is converted to the type of its field. */
  readonly asText: boolean;
  /** The table of every row; undefined: each row names its own. */
  readonly tableName: string | undefined;
  /** Store the good rows even if others are bad. */
  readonly partial: boolean;
  /** Gets what tells how far the import is. */
  readonly follow: (progress: () => Progress) => void;
  /** Keeps mistakes in rows. */
  readonly refused: (faults: readonly RowFault[]) => Promise<void>;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

export interface ImportReport {
  readonly imported: number;
  /** Rows that were refused. */
  readonly failed: number;
  readonly total: number;
  /** The first mistakes in them. */
  readonly errors: readonly RowFault[];
  /** Nothing was stored because of those rows. */
  readonly refused: boolean;
  /** Rows that were stored without a table. */
  readonly withoutTable: number;
}

interface Needed {
  readonly ctx: Pick<BaseContext, "transaction" | "log" | "stopping">;
  readonly databases: Databases;
  readonly bulkStore: BulkStore;
  readonly recordStore: RecordStore;
  readonly events: RecordEvents;
  /** After the commit. */
  readonly written: (db: Database) => void;
}

export const importLimits = { errors: 100, rowsPerPart: 1000, charactersPerPart: 2_000_000 } as const;

export type Imports = ReturnType<typeof createImports>;

export function createImports({ ctx, databases, bulkStore, recordStore, events, written }: Needed) {
  // Storing holds a connection until it ends, so the imports of one process take turns.
  const turns = createTurns(1);

  return async (db: Database, texts: AsyncIterable<string>, options: ImportOptions): Promise<ImportReport> => {
    const importId = uuidv7();
    const parts = collectParts((part, number) => bulkStore.keep(importId, db.accountId, number, part));
    const report = { failed: 0, total: 0, refused: false, withoutTable: 0, errors: [] as RowFault[] };
    const refuseRow = (faults: readonly RowFault[]) => {
      report.failed += 1;
      report.errors.push(...faults.slice(0, importLimits.errors - report.errors.length));
    };
    options.follow(() => ({ done: report.total, stored: 0, failed: report.failed, errors: report.errors }));
    try {
      for await (const row of rowsOf(texts, options.reader)) {
        report.total = "fault" in row ? row.fault.row : row.place.row;
        const checked = checkRow(db, row, options);
        if ("faults" in checked) {
          refuseRow(checked.faults);
          await options.refused(checked.faults);
          // If the rest of the body cannot be read, not even the good rows are stored.
          report.refused ||= !options.partial || "last" in row;
        } else if (!report.refused) {
          if (checked.tableName === "") report.withoutTable += 1;
          const { record, tableName, data } = checked;
          await parts.add(record, tableName, events.wanted(db, "create", { id: record.id, tableName, data }));
        }
      }
      if (report.refused) return { ...report, imported: 0 };
      const count = await parts.end();
      if (count > 0) await turns(() => storeParts(db, importId, count, options.signal), options.signal);
      return { ...report, imported: report.total - report.failed };
    } finally {
      await bulkStore.forget(importId, db.accountId).catch((error: unknown) => {
        ctx.log.warn("the parts of an import were not deleted; they will be pruned", { error });
      });
    }
  };

  /**
   * One transaction. If the database has changed since the rows were checked, but its schema has not, it tries again.
   */
  async function storeParts(first: Database, importId: string, count: number, signal: AbortSignal): Promise<void> {
    let db: Database | undefined = first;
    for (let tries = 0; tries < 5; tries++) {
      const current: Database = db;
      const done = await ctx
        .transaction(async (tx) => {
          for (let number = 0; number < count; number++) {
            if (signal.aborted) throw new HttpError(400, { error: "the client went away" });
            if (ctx.stopping.aborted) throw unavailable("the server is stopping, send the import again");
            const part = await bulkStore.kept(tx, importId, first.accountId, number);
            if (!part) throw unavailable("PostgreSQL was restarted, send the import again");
            if (!(await storePart(current, part, tx))) throw moved;
          }
          return true;
        })
        .catch((error: unknown) => {
          if (error === moved) return false;
          throw error;
        });
      if (done) return written(current);
      db = await databases.refresh(first);
      if (!db) throw notFound("there is no such database");
      if (!sameSchema(db.schema, first.schema))
        throw conflict("the schema of the database changed meanwhile, send the import again");
    }
    throw unavailable("the database changes too often, send the import again");
  }

  async function storePart(db: Database, { tableName, body, wanted }: Part, tx: Tx): Promise<boolean> {
    const rows = body.split("\n").map((line): ManyRecord => {
      const id = line.slice(0, idLength);
      return { id, json: line.slice(idLength), createdAt: timeOfUuidv7(id) };
    });
    if (!(await recordStore.createMany(db, tableForWrite(db, tableName || null), rows, tx))) return false;
    if (!wanted) return true;
    for (const { id, json, createdAt } of rows) {
      const data: Data = JSON.parse(json);
      await events.tellWanted(db, "create", { id, tableName, data, createdAt, updatedAt: createdAt }, tx);
    }
    return true;
  }
}

/** Rolls the transaction back. */
const moved = new Error("the database has changed since rows were checked");

const idLength = 36;

interface CheckedRow {
  readonly record: ManyRecord;
  readonly tableName: string;
  readonly data: Data;
}

async function* rowsOf(texts: AsyncIterable<string>, reader: RowReader): AsyncGenerator<Row> {
  for await (const text of inSlices(texts)) {
    for (const row of reader.push(text)) {
      yield row;
      if ("last" in row) return;
    }
  }
  for (const row of reader.end()) {
    yield row;
    if ("last" in row) return;
  }
}

function checkRow(db: Database, row: Row, { asText, tableName }: ImportOptions): CheckedRow | { faults: RowFault[] } {
  if ("fault" in row) return { faults: [row.fault] };
  try {
    const table = tableForWrite(db, tableName ?? row.tableName);
    const data = asText ? dataFromText(table, row.data) : row.data;
    refuse(checkRecord(table, data));
    return { record: newRecord(table, data), tableName: table.name, data };
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const faults = Object.entries(error.fields).map(([field, messages]) => ({
      ...row.place,
      field,
      message: messages.join(", "),
    }));
    return { faults };
  }
}

/** Collects the records of each table and keeps them in parts of bounded size. */
function collectParts(keep: (part: Part, number: number) => Promise<void>) {
  const open = new Map<string, { lines: string[]; wanted: boolean }>();
  let rows = 0;
  let characters = 0;
  let count = 0;
  const flush = async () => {
    for (const [tableName, { lines, wanted }] of open)
      await keep({ tableName, body: lines.join("\n"), wanted }, count++);
    open.clear();
    rows = 0;
    characters = 0;
  };
  return {
    async add({ id, json }: ManyRecord, tableName: string, wanted: boolean): Promise<void> {
      const part = open.get(tableName) ?? { lines: [], wanted: false };
      open.set(tableName, part);
      // JSON text from `stringify` has no line breaks.
      part.lines.push(id + json);
      part.wanted ||= wanted;
      rows += 1;
      characters += json.length;
      if (rows >= importLimits.rowsPerPart || characters >= importLimits.charactersPerPart) await flush();
    },
    /** How many parts there are. */
    async end(): Promise<number> {
      await flush();
      return count;
    },
  };
}
