/** Leaves out entries about records of databases that a caller may not read, and of others the fields that they may not. */
import { isObject, type Caller } from "platform";
import type { RecordRef } from "../jsondb/api.ts";
import type { ActivityContext } from "./context.ts";
import type { ActivityFilter, ActivityRow } from "./store.ts";

const ofRecords = ["Core::Record", "Core::Comment"];

export function isOfRecord({ model }: { readonly model?: unknown }): boolean {
  return ofRecords.some((one) => one === model);
}

/** As many as there are, in their order. A text is also found in what is hidden: then nothing of the record is shown. */
export async function readable(
  ctx: Pick<ActivityContext, "later">,
  caller: Caller,
  rows: readonly ActivityRow[],
  { text }: Pick<ActivityFilter, "text">,
): Promise<readonly ActivityRow[]> {
  const { user, privileges, within } = caller;
  if ((user.role === "admin" && privileges.has("dbs") && !within) || !rows.some(isOfRecord)) return rows;
  const refs = rows.flatMap((row) => refOf(row) ?? []);
  const found = await ctx.later.databases.readable(caller, refs);
  const hiddenOf = new Map(found.map(({ db, id, hidden }) => [`${db} ${id}`, hidden]));
  return rows.flatMap((row) => {
    if (!isOfRecord(row)) return [row];
    const ref = refOf(row);
    const hidden = ref && hiddenOf.get(`${ref.db} ${ref.id}`);
    if (!hidden || (hidden.size > 0 && text !== undefined)) return [];
    if (hidden.size === 0 || row.changes === null) return [row];
    return [{ ...row, changes: Object.fromEntries(Object.entries(row.changes).filter(([name]) => !hidden.has(name))) }];
  });
}

/** A comment names its record when it is made and when it is deleted; of its changes nobody else is told. */
function refOf({ model, name, recordId, changes }: ActivityRow): RecordRef | undefined {
  if (model === "Core::Record") return name !== null && recordId !== null ? { db: name, id: recordId } : undefined;
  const [db, id] = [sideOf(changes?.["db_id"]), sideOf(changes?.["record_id"])];
  return model === "Core::Comment" && db !== undefined && id !== undefined ? { db, id } : undefined;
}

function sideOf(change: unknown): string | undefined {
  const value = isObject(change) ? (change["new"] ?? change["old"]) : undefined;
  return typeof value === "string" ? value : undefined;
}
