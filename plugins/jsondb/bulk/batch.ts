/** Up to 1,000 creates, updates and deletes in one transaction: all or none. */
import { HttpError, invalid, isObject, isUuid, mistakes, readBounds, unknownNames, ValidationError } from "platform";
import type { Tx } from "platform";
import { tableForWrite, type Database } from "../databases/database.ts";
import { checkPatch, checkRecord, asNew, asStored, computedHints, type Data, type Faults } from "../records/record.ts";
import { namedThere } from "../records/named.ts";
import * as records from "../records/writes.ts";
import type { Viewer } from "../access/reach.ts";
import { upToDate } from "../databases/cache.ts";
import { noTable } from "../databases/schema.ts";
import { mayKnow } from "../records/rights.ts";

import * as bulkStore from "./store.ts";
import type { JsondbContext } from "../context.ts";

export type Operation =
  | { readonly op: "create"; readonly data: Data; readonly tableName: string | null | undefined }
  | (Seen & {
      readonly op: "update";
      readonly data: Data;
      readonly tableName: string | null | undefined;
      /** It stays in its table, which no `tableName` says. */
      readonly keepsTable: boolean;
    })
  | (Seen & { readonly op: "delete" });

/** A record that is there already. */
interface Seen {
  readonly id: string;
  /** The `updated_at` that the caller has seen, in milliseconds; undefined = any. */
  readonly expected: number | undefined;
}

const maxOperations = 1000;
const maxMistakes = 100;

/** The operations of a body. 422 with the place of every mistake, e.g. `operations[3].id`. */
export function readOperations(values: readonly unknown[], keepTables: boolean): Operation[] {
  const found = mistakes();
  if (values.length === 0) found.add("operations", "must have at least one operation");
  if (values.length > maxOperations) found.add("operations", `may have at most ${maxOperations} operations`);
  const operations = values.slice(0, maxOperations).flatMap((value, at) => {
    const wrong = (field: string, message: string): undefined => {
      found.add(`operations[${at}]${field}`, message);
    };
    const operation = readOperation(value, keepTables, wrong);
    return operation ? [operation] : [];
  });
  found.check();
  return operations;
}

/** Hints about fields of records that are not written. */
export function writtenHints({ rules: { tables } }: Database, operations: readonly Operation[]): string[] {
  if (![...tables.values()].some(({ computed }) => computed.length > 0)) return [];
  const hints = operations.flatMap((operation) => {
    if (operation.op === "delete") return [];
    // Of one that keeps its table it is not known which that is.
    const isAny = operation.op === "update" && operation.keepsTable;
    const table = tables.get(operation.tableName ?? "");
    return computedHints(isAny ? tables.values() : table ? [table] : [], Object.keys(operation.data));
  });
  return [...new Set(hints)];
}

/** Hints about fields that no operation has. */
export function operationHints(values: readonly unknown[]): string[] {
  const known = ["op", "id", "data", "table_name", "if_updated_at"];
  const names = values.flatMap((value) => (isObject(value) ? Object.keys(value) : []));
  return unknownNames(names, known, (name) => `an operation has no field "${name}"`);
}

function readOperation(
  value: unknown,
  keepTables: boolean,
  wrong: (field: string, message: string) => undefined,
): Operation | undefined {
  if (!isObject(value)) return wrong("", "must be an object");
  const { op, id, data, table_name: tableName, if_updated_at: seenAt } = value;
  if (op !== "create" && op !== "update" && op !== "delete")
    return wrong(".op", "must be one of create, update, delete");
  const hasId = typeof id === "string" && isUuid(id);
  if (op !== "create" && !hasId) return wrong(".id", "must be the id of a record");
  const expected = seenAt === undefined || seenAt === null ? undefined : instantOf(seenAt);
  if (expected !== undefined && op === "create") return wrong(".if_updated_at", "must be left out for a new record");
  if (Number.isNaN(expected))
    return wrong(".if_updated_at", "must be the record's `updated_at`, like 2026-01-31T10:00:00.000Z");
  const seen = { id: String(id).toLowerCase(), expected };
  if (op === "delete") return { op, ...seen };
  if (tableName !== undefined && tableName !== null && typeof tableName !== "string")
    return wrong(".table_name", "must be a string");
  const keepsTable = keepTables && tableName === undefined;
  if (op === "update" && data === undefined) return { op, ...seen, data: {}, tableName, keepsTable };
  if (!isObject(data)) return wrong(".data", "must be an object");
  return op === "create" ? { op, data, tableName } : { op, ...seen, data, tableName, keepsTable };
}

/** In milliseconds; NaN for anything but a time with its offset. */
function instantOf(value: unknown): number {
  return typeof value === "string" && instant.test(value) ? Date.parse(value) : Number.NaN;
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

export function runBatch(
  ctx: JsondbContext,
  { db, viewer }: Batching,
  operations: readonly Operation[],
): Promise<string[]> {
  return upToDate(ctx, db, (current) => attempt(ctx, { db: current, viewer }, operations));
}

/** Where, and by whom. */
interface Batching {
  readonly db: Database;
  readonly viewer: Viewer;
}

/** The answer's text. Undefined if the schema has changed meanwhile. */
async function perform(
  ctx: JsondbContext,
  tx: Tx,
  { db, viewer }: Batching,
  operation: Operation,
  named: ReadonlySet<string>,
): Promise<string | undefined> {
  if (operation.op === "update" && operation.keepsTable) {
    const kept = await records.inItsTable(tx, db, operation.id, { data: operation.data, viewer });
    return (await records.merge(ctx, db, operation.id, { ...kept, named }, { form: "nested" }, tx))?.answer;
  }
  if (operation.op === "delete") {
    await records.remove(ctx, db, operation.id, { viewer }, tx);
    return JSON.stringify({ id: operation.id, deleted: true });
  }
  const write = { table: tableForWrite(db, operation.tableName), data: operation.data, viewer, named };
  if (operation.op === "create") {
    const made = await records.insert(ctx, db, write, tx);
    return made && records.createdText(tx, db, made);
  }
  return (await records.merge(ctx, db, operation.id, write, { form: "nested" }, tx))?.answer;
}

async function performAll(
  ctx: JsondbContext,
  tx: Tx,
  batching: Batching,
  operations: readonly Operation[],
): Promise<string[]> {
  const ids = operations.flatMap((operation) => (operation.op === "create" ? [] : [operation.id]));
  if (ids.length > 0) checkSeen(operations, await bulkStore.lockAll(tx, batching.db, ids));
  const data = operations.flatMap((one) => (one.op === "delete" ? [] : [one.data]));
  const { db, viewer } = batching;
  const named = await namedThere(ctx, tx, db.accountId, db.rules.tables.values(), data, viewer);
  const answers: string[] = [];
  let characters = 0;
  for (const [at, operation] of operations.entries()) {
    const answer = await perform(ctx, tx, batching, operation, named).catch((error: unknown) => {
      throw placed(error, at);
    });
    if (answer === undefined) throw moved;
    answers.push(answer);
    characters += answer.length;
    if (characters > readBounds.batchBytes) throw invalid({ operations: [tooLong] });
  }
  return answers;
}

async function attempt(
  ctx: JsondbContext,
  batching: Batching,
  operations: readonly Operation[],
): Promise<string[] | undefined> {
  checkOperations(batching.db, operations);
  try {
    return await ctx.transaction((tx) => performAll(ctx, tx, batching, operations));
  } catch (error) {
    if (error === moved) return undefined;
    throw error;
  }
}

const tooLong = `the changed records have more than ${readBounds.batchBytes} characters together: send fewer operations`;

/** Rolls the transaction back. */
const moved = new Error("the schema has changed");

/** 422 with every record that has changed since the caller saw it. One that is gone is found when it is to be changed. */
function checkSeen(operations: readonly Operation[], updated: ReadonlyMap<string, Date>): void {
  const found = mistakes();
  for (const [at, operation] of operations.entries()) {
    if (operation.op === "create" || operation.expected === undefined) continue;
    const now = updated.get(operation.id);
    if (now && now.getTime() !== operation.expected)
      found.add(`operations[${at}].if_updated_at`, `is not the record's \`updated_at\` any more: ${now.toJSON()}`);
  }
  found.check();
}

/** 422 with every mistake that can be seen without the records. */
function checkOperations(db: Database, operations: readonly Operation[]): void {
  const found = mistakes();
  let count = 0;
  for (const [at, operation] of operations.entries()) {
    // The table of an update that keeps it is known only with the record.
    if (operation.op === "delete" || count >= maxMistakes || (operation.op === "update" && operation.keepsTable))
      continue;
    for (const [place, messages] of Object.entries(faultsOf(db, operation) ?? {})) {
      for (const message of messages) found.add(placeOf(at, place), message);
      count += 1;
    }
  }
  found.check();
}

function faultsOf(db: Database, { op, tableName, data }: Exclude<Operation, { op: "delete" }>): Faults {
  try {
    const table = tableForWrite(db, tableName);
    mayKnow(db, op === "create" ? "add" : "edit", Object.keys(asStored(noTable, data)));
    return op === "create" ? checkRecord(table, asNew(db, table, data)) : checkPatch(table, asStored(table, data));
  } catch (error) {
    if (error instanceof ValidationError) return error.fields;
    throw error;
  }
}

function placeOf(at: number, field: string): string {
  return `operations[${at}]${field === "table_name" || field === "data" ? "" : ".data"}.${field}`;
}

function placed(error: unknown, at: number): unknown {
  if (error instanceof ValidationError) {
    const fields = Object.entries(error.fields).map(([field, messages]) => [placeOf(at, field), messages]);
    return invalid(Object.fromEntries(fields));
  }
  if (error instanceof HttpError && error.status === 404)
    return invalid({ [`operations[${at}].id`]: ["is not the id of a record of this database"] });
  return error;
}
