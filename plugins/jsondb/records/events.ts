/** The events of records: whether anybody waits for one, and what it carries. Their payload is flat (behaviour B.8). */
import { modelChanged, actorText, setting, type BaseContext, type ModelEvent, type Tx } from "platform";
import type { Database } from "../databases/database.ts";
import type { Data, RecordEventKind } from "./record.ts";
import type { StoredRecord } from "./store.ts";
import type { Accounts } from "../../accounts/api.ts";

/**
 * The part of a record that is known before its write. It has no times, which the write decides: a filter by a time
 * rules nothing out yet.
 */
export interface PartialRecord {
  readonly id: string;
  /** "" is the null table; undefined is not known before the write. */
  readonly tableName: string | undefined;
  /** The fields that are known; others may be there too. */
  readonly data: Data;
}

type Context = Pick<BaseContext, "wanted" | "changed">;

/** Asked before the write: false if nobody would take the event, whatever the rest of the record is. */
export function wanted(ctx: Context, db: Database, kind: RecordEventKind, partial: PartialRecord): boolean {
  return ctx.wanted(modelChanged, partialEventOf(db, kind, partial));
}

/** Writes the event, in the transaction of the change. */
export function tell(
  ctx: Context,
  db: Database,
  kind: RecordEventKind,
  record: StoredRecord,
  tx: Tx | undefined,
): Promise<void> {
  return ctx.changed(eventOf(db, kind, record), tx);
}

/** Writes the event if a subscriber matches. */
export async function tellWanted(
  ctx: Context,
  db: Database,
  kind: RecordEventKind,
  record: StoredRecord,
  tx: Tx,
): Promise<void> {
  const event = eventOf(db, kind, record);
  if (ctx.wanted(modelChanged, event)) await ctx.changed(event, tx);
}

/** The whole event: the record's own values stand above fields of the same name. */
export function eventOf(db: Database, kind: RecordEventKind, record: StoredRecord): ModelEvent {
  const { id, tableName, createdAt, updatedAt } = record;
  const own = { id, db_code: db.code, table_name: tableName === "" ? null : tableName };
  const times = { created_at: createdAt.toJSON(), updated_at: updatedAt.toJSON() };
  const { changed } = record;
  return { ...headOf(db, kind, id), data: { ...record.data, ...own, ...times }, ...(changed && { changed }) };
}

/** The event as far as it is known; undefined stands for a value that only the write decides. */
export function partialEventOf(db: Database, kind: RecordEventKind, partial: PartialRecord): ModelEvent {
  const { id, tableName } = partial;
  const own = { id, db_code: db.code, table_name: tableName === "" ? null : tableName };
  // A field of the data may be named like a time: it is not what the event will carry.
  const times = { created_at: undefined, updated_at: undefined };
  const data = { ...partial.data, ...own, ...times };
  return { ...headOf(db, kind, id), data, ...(kind === "update" && { changed: Object.keys(partial.data) }) };
}

function headOf(db: Database, kind: RecordEventKind, id: string) {
  return { accountId: db.accountId, sourceType: "Core::Record", kind, id };
}

// Whose records' changes are logged: each account says for which databases.

const none = () => false;

/** Only administrators change it: nobody else decides that what they do is not logged. */
export const accountSettings = {
  logged: setting.adminOnly(
    setting.checked(
      "activity_databases",
      "",
      "Codes of the databases whose records' changes are logged, separated by commas; `*` = all",
      loggedIn,
    ),
  ),
};

/** Throws if the text is no list of codes. */
export function loggedIn(text: string): (code: string) => boolean {
  const codes = text.split(",").flatMap((part) => part.trim() || []);
  if (codes.length === 0) return none;
  const wrong = codes.find((code) => code !== "*" && !/^[A-Za-z0-9._-]{1,200}$/.test(code));
  if (wrong !== undefined) throw new Error(`has "${wrong.slice(0, 50)}", which is no code of a database`);
  const all = new Set(codes);
  return (code) => all.has("*") || all.has(code);
}

/** The person or program behind a write, as JSON; undefined if the account does not log writes of this database. */
export async function actorOf(
  { accounts }: { readonly accounts: Pick<Accounts, "settingsOf"> },
  db: Database,
  tx?: Tx,
): Promise<string | undefined> {
  const { logged } = await accounts.settingsOf(db.accountId, accountSettings, tx);
  return logged === none || !logged(db.code) ? undefined : (actorText() ?? "{}");
}
