/**
 * Many records from one body. Rows are checked as they arrive and kept aside in parts; when all have arrived they are
 * stored in one transaction. So neither a slow client nor one that goes away holds a connection, locks or half a job.
 */
import * as importStore from "./store.ts";
import * as databases from "../../databases/cache.ts";
import * as events from "../../records/events.ts";
import {
  conflict,
  forbidden,
  HttpError,
  notFound,
  parseExactly,
  printedLength,
  readBounds,
  unavailable,
  timeOfUuidv7,
  uuidv7,
  withSource,
  type Tx,
} from "platform";
import { sameSchema, type Database } from "../../databases/database.ts";
import { createChecker, type Outcome } from "./check.ts";
import { createAccountTurns } from "../../turns.ts";
import type { Row, RowFault } from "./rows.ts";
import type { RowReader } from "./reader.ts";
import { noDoubt, type Doubtful } from "./signs.ts";
import type { Part, PlacedRecord } from "./store.ts";
import { isTaken } from "../../databases/unique.ts";
import { claimNew, newClaims } from "../../records/keys.ts";
import type { Data } from "../../records/record.ts";
import type { Progress } from "../../tasks/store.ts";
import { ownFields } from "../../databases/columns.ts";
import type { JsondbContext } from "../../context.ts";
import { actorOf } from "../../records/events.ts";
import { written } from "../../records/writes.ts";
import { mayAll, type Viewer } from "../../access/reach.ts";
import { noTable } from "../../databases/schema.ts";
import { linkFields, linksOf, mustBeThere } from "../../links/links.ts";
import * as linkStore from "../../links/store.ts";
import { countOpen } from "../../access/reach-store.ts";

export interface ImportOptions {
  readonly reader: RowReader;
  /** Values are text, and each is converted to the type of its field. */
  readonly asText: boolean;
  /** The table of every row; undefined: each row names its own. */
  readonly tableName: string | undefined;
  /** Store the good rows even if others are bad. */
  readonly partial: boolean;
  /** Only check the rows, and store nothing. */
  readonly dry?: boolean;
  /** The task that keeps which records were made. */
  readonly taskId?: string;
  /** Who imports, and may link to what they may read; undefined links to everything. */
  readonly viewer: Viewer | undefined;
  /** The database as they may use it when the rows have arrived: that may take an hour. */
  readonly opened?: () => Promise<Database>;
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
  /** The columns of an export that describe the old records. */
  readonly leftOut: readonly string[];
  /** The columns that go nowhere, because no field has their name. */
  readonly unmatched: readonly string[];
  /** Names that the schema does not have, and that are stored all the same; the first of them. */
  readonly extra: readonly string[];
  /** Names of the record's own that stand in its data too. */
  readonly shadowed: readonly string[];
  /** Names that are worked out when read, and were not written. */
  readonly ignored: readonly string[];
  /** A dry run has not compared all values of unique fields with each other. */
  readonly isCut: boolean;
}

export const importLimits = {
  errors: 100,
  names: 1000,
  rowsPerPart: 1000,
  charactersPerPart: readBounds.pageBytes,
} as const;

// Storing holds a connection until it ends: one import of an account at a time, and of all accounts two.
const turns = createAccountTurns(2);

export async function importRecords(
  ctx: JsondbContext,
  db: Database,
  texts: AsyncIterable<string>,
  options: ImportOptions,
): Promise<ImportReport> {
  const importId = uuidv7();
  await ctx.room.mustHave();
  const parts = collectParts(importId, async (part, rows) => {
    await ctx.room.mustHave();
    await importStore.keep(ctx.sql, part, db.accountId, rows);
  });
  const report = { failed: 0, total: 0, refused: false, withoutTable: 0, errors: [] as RowFault[] };
  const shadowed = new Set<string>();
  const extra = new Set<string>();
  const checker = createChecker(ctx, db, options);
  const ended = (imported: number): ImportReport => {
    const { leftOut, unmatched = [] } = options.reader;
    const names = {
      leftOut: [...leftOut],
      unmatched: [...unmatched],
      extra: [...extra],
      shadowed: [...shadowed],
      ignored: [...checker.ignored],
    };
    return { ...report, ...names, imported, isCut: checker.isCut() };
  };
  const refuseRow = (faults: readonly RowFault[]) => {
    report.failed += 1;
    report.errors.push(...faults.slice(0, importLimits.errors - report.errors.length));
  };
  options.follow(() => ({ done: report.total, stored: 0, failed: report.failed, errors: report.errors }));
  const take = async ({ row, checked }: Outcome) => {
    report.total = "fault" in row ? row.fault.row : row.place.row;
    if ("faults" in checked) {
      options.reader.signs?.drop(report.total);
      refuseRow(checked.faults);
      noteExtra(db, checked.tableName, checked.data, extra);
      await options.refused(checked.faults);
      // If the rest of the body cannot be read, not even the good rows are stored.
      report.refused ||= !options.dry && (!options.partial || "last" in row);
    } else if (!report.refused) {
      if (checked.tableName === "") report.withoutTable += 1;
      const { record, tableName, data } = checked;
      for (const name of ownFields) if (Object.hasOwn(data, name)) shadowed.add(name);
      noteExtra(db, tableName, data, extra);
      if (options.dry) return;
      await parts.add(record, tableName, events.wanted(ctx, db, "create", { id: record.id, tableName, data }));
    }
  };
  try {
    for await (const row of rowsOf(texts, options.reader)) for (const one of await checker.take(row)) await take(one);
    for (const one of await checker.end()) await take(one);
    const doubtful = options.reader.signs?.doubtful() ?? noDoubt;
    for (const faults of doubtful.faults) {
      refuseRow(faults);
      await options.refused(faults);
    }
    report.failed += doubtful.count - doubtful.faults.length;
    report.refused ||= doubtful.count > 0 && !options.dry && !options.partial;
    if (report.refused) return ended(0);
    const kept = await parts.end();
    const now = (await options.opened?.()) ?? db;
    if (!sameSchema(now.rules, db.rules)) throw changedMeanwhile();
    const taken =
      kept.length === 0
        ? []
        : await turns(
            db.accountId,
            () => withSource("import", () => storeParts(ctx, now, kept, { ...options, doubtful })),
            options.signal,
          );
    for (const faults of taken) {
      refuseRow(faults);
      await options.refused(faults);
    }
    report.refused = taken.length > 0 && !options.partial;
    if (report.refused) return ended(0);
    return ended(report.total - report.failed);
  } finally {
    await parts.settled();
    await importStore.forget(ctx.sql, importId, db.accountId).catch((error: unknown) => {
      ctx.log.warn("the parts of an import were not deleted; they will be pruned", { error });
    });
  }
}

/**
 * One transaction. If the database has changed since the rows were checked, but its schema has not, it tries again.
 * Gives the faults of the rows whose values are taken: then nothing is stored, or with `partial` the others are.
 */
async function storeParts(
  ctx: JsondbContext,
  first: Database,
  parts: readonly KeptPart[],
  {
    signal,
    partial,
    viewer,
    taskId,
    doubtful,
  }: Pick<ImportOptions, "signal" | "partial" | "viewer" | "taskId"> & LeftOut,
): Promise<readonly RowFault[][]> {
  let db: Database | undefined = first;
  for (let tries = 0; tries < 5; tries++) {
    const current: Database = db;
    const done = await ctx
      .transaction(async (tx) => {
        const faults: RowFault[][] = [];
        for (const part of parts) {
          if (signal.aborted) throw new HttpError(400, { error: "the client went away" });
          if (ctx.stopping.aborted) throw unavailable("the server is stopping, send the import again");
          await ctx.room.mustHave();
          faults.push(...(await storePart(ctx, { db: current, viewer, doubtful }, part, tx)));
        }
        if (faults.length > 0 && !partial) throw new Taken(faults);
        const importId = parts[0]?.importId;
        if (taskId && importId) await importStore.remember(tx, current.accountId, importId, taskId);
        return faults;
      })
      .catch((error: unknown) => {
        if (error instanceof Taken) return error;
        if (error === moved) return undefined;
        throw error;
      });
    if (done instanceof Taken) return done.faults;
    if (done) {
      written(ctx, current);
      return done;
    }
    db = await databases.refresh(ctx, first);
    if (!db) throw notFound("there is no such database");
    if (!sameSchema(db.schema, first.schema)) throw changedMeanwhile();
  }
  throw unavailable("the database changes too often, send the import again");
}

interface LeftOut {
  /** Of a row that must not be stored. */
  readonly doubtful: Doubtful;
}

/** The faults of the rows that are left out because their values are taken. */
async function storePart(
  ctx: JsondbContext,
  { db, viewer, doubtful }: { readonly db: Database; readonly viewer: Viewer | undefined } & LeftOut,
  part: KeptPart,
  tx: Tx,
): Promise<RowFault[][]> {
  const table = db.rules.tables.get(part.tableName) ?? noTable;
  const isLinked = linkFields(table).length > 0;
  const isKeyed = db.keySets.some((set) => set.table === part.tableName);
  const isPlain = doubtful.count === 0 && !part.wanted && !isLinked && !isKeyed && mayAll(db, "add");
  const all = isPlain ? [] : await keptRows(tx, db, part);
  const rows = all.filter(({ place }) => !doubtful.has(place.row));
  const left = all.flatMap(({ id, place }) => (doubtful.has(place.row) ? [id] : []));
  const claims = rows.flatMap(
    ({ id, json }) => newClaims(db, part.tableName, id, parseExactly(json) as Data), // the JSON of a checked row
  );
  const taken = Map.groupBy(await claimNew(tx, db, claims), ({ id }) => id);
  const without = [...taken.keys(), ...left];
  const stored = await importStore.store(tx, db, part, await actorOf(ctx, db, tx), without);
  if (stored !== part.rows - without.length) {
    await keptRows(tx, db, part);
    throw moved;
  }
  const others = rows.filter(({ id }) => !taken.has(id));
  if (!mayAll(db, "add")) await mustBeOpen(tx, db, others);
  if (isLinked) await linkRows(ctx, tx, { db, table, viewer }, others);
  if (part.wanted)
    for (const { id, json } of others) {
      const data = parseExactly(json) as Data; // the JSON of a checked row
      const createdAt = timeOfUuidv7(id);
      const record = { id, tableName: part.tableName, data, createdAt, updatedAt: createdAt };
      await events.tellWanted(ctx, db, "create", record, tx);
    }
  return rows.flatMap(({ id, place }) => {
    const fields = taken.get(id)?.map(({ set }) => set.field) ?? [];
    return fields.length === 0 ? [] : [fields.map((field) => ({ ...place, field, message: isTaken }))];
  });
}

function noteExtra({ rules }: Database, tableName: string | undefined, data: Data, names: Set<string>): void {
  if (tableName === undefined) return;
  const { fields } = rules.tables.get(tableName) ?? noTable;
  if (fields.size === 0 || names.size >= importLimits.names) return;
  for (const name of Object.keys(data)) if (!fields.has(name)) names.add(name);
}

async function keptRows(tx: Tx, db: Database, part: KeptPart) {
  const rows = await importStore.kept(tx, db.accountId, part);
  if (!rows) throw unavailable("PostgreSQL was restarted, send the import again");
  return rows;
}

const changedMeanwhile = () => conflict("the schema of the database changed meanwhile, send the import again");

/** Rolls the transaction back. */
class Taken extends Error {
  readonly faults: readonly RowFault[][];

  constructor(faults: readonly RowFault[][]) {
    super("values of unique fields are taken");
    this.faults = faults;
  }
}

/** 422 for links that lead to no record. */
async function linkRows(
  ctx: JsondbContext,
  tx: Tx,
  { db, table, viewer }: Parameters<typeof mustBeThere>[2],
  rows: readonly { readonly id: string; readonly json: string }[],
): Promise<void> {
  const all = rows.map(({ id, json }) => ({ id, data: parseExactly(json) as Data })); // the JSON of checked rows
  await mustBeThere(
    ctx,
    tx,
    { db, table, viewer },
    all.map(({ data }) => data),
  );
  const links = all.flatMap(({ id, data }) => linksOf(table, data).map((link) => ({ ...link, recordId: id })));
  const of = { accountId: db.accountId, dbId: db.id, tableName: table.name };
  if (links.length > 0) await linkStore.add(tx, of, links);
}

/** 403 if one of these new records is outside of what one may add. */
async function mustBeOpen(tx: Tx, db: Database, rows: readonly { readonly id: string; readonly json: string }[]) {
  const names = new Set(rows.flatMap(({ json }) => Object.keys(parseExactly(json) as Data))); // the JSON of a checked row
  const ids = rows.map(({ id }) => id);
  if ((await countOpen(tx, db, ids, names, "add")) < rows.length)
    throw forbidden("a record would be outside of what the `access` of the database lets you write");
}

interface KeptPart extends Part {
  /** How many there are. */
  readonly rows: number;
  /** Whether somebody follows the events of any of them. */
  readonly wanted: boolean;
}

/** Rolls the transaction back. */
const moved = new Error("the database has changed since rows were checked");

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

/** Collects the records of each table and keeps them in parts of bounded size. */
function collectParts(importId: string, keep: (part: Part, rows: readonly PlacedRecord[]) => Promise<void>) {
  const open = new Map<string, { all: PlacedRecord[]; wanted: boolean }>();
  const kept: KeptPart[] = [];
  /** While PostgreSQL keeps some parts the next rows are read. */
  let keeping = Promise.resolve();
  let rows = 0;
  let characters = 0;
  const flush = async () => {
    await keeping;
    const full = [...open].map(([tableName, { all, wanted }]) => {
      const part = { importId, number: kept.length, tableName, rows: all.length, wanted };
      kept.push(part);
      return { part, all };
    });
    keeping = (async () => {
      for (const { part, all } of full) await keep(part, all);
    })();
    keeping.catch(() => {}); // whoever waits for it is told
    open.clear();
    rows = 0;
    characters = 0;
  };
  return {
    async add(record: PlacedRecord, tableName: string, wanted: boolean): Promise<void> {
      const part = open.get(tableName) ?? { all: [], wanted: false };
      open.set(tableName, part);
      part.all.push(record);
      part.wanted ||= wanted;
      rows += 1;
      characters += printedLength(record.json);
      if (rows >= importLimits.rowsPerPart || characters >= importLimits.charactersPerPart) await flush();
    },
    async end(): Promise<readonly KeptPart[]> {
      await flush();
      await keeping;
      return kept;
    },
    /** When nothing of it is under way any more. */
    settled: () => keeping.catch(() => {}),
  };
}

/**
 * The same text in slices, with rests between: a fast client's text comes in one piece, and until its rows are read no
 * other request would be answered. Pure but for the clock.
 */
export async function* inSlices(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let since = performance.now();
  for await (const text of texts) {
    for (let at = 0; at < text.length; at += sliceLength) {
      yield text.slice(at, at + sliceLength);
      if (performance.now() - since < restAfterMs) continue;
      await new Promise((resolve) => setTimeout(resolve, 0));
      since = performance.now();
    }
  }
}

const sliceLength = 65_536;
const restAfterMs = 10;
