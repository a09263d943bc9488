/** Updates that depend on the record as it is: conditions, and numbers that are added to its own. No HTTP, no SQL. */
import { exactly, HttpError, invalid, isNumber, notFound, type ExactNumber, type Tx } from "platform";
import type { RecordUpdate } from "../api.ts";
import { readHeld, type Addition } from "./amend-store.ts";
import type { Database } from "../databases/database.ts";
import { noTable, type Table } from "../databases/schema.ts";
import type { Data } from "./record.ts";
import { lock } from "./record-store.ts";
import type { Write } from "./writes.ts";
import { readFilters } from "../search/filters.ts";

/**
 * The write with the sums among its data. The record is held until the transaction ends, so whatever was read of it is
 * still true when it is written. 404, 412 if a condition does not hold, 422 for a field that is no number.
 */
export async function amended(
  tx: Tx,
  db: Database,
  id: string,
  write: Write,
  { conditions = [], increment = {} }: Pick<RecordUpdate, "conditions" | "increment">,
): Promise<Write> {
  const found = await lock(tx, db, id);
  if (!found) throw notFound();
  const table = db.schema.tables.get(found.tableName) ?? noTable;
  const added = Object.entries(increment).map(([name, amount]) => ({ name: name.normalize("NFC"), amount }));
  const additions = added.map(({ name, amount }): Addition => [
    numberIn(write.table, name, found.data),
    printed(amount),
  ]);
  const { holds, sums } = await readHeld(tx, db, { id, table }, readFilters(table, conditions), additions);
  if (!holds) throw new HttpError(412, { error: "the record does not match the conditions" });
  const amounts = added.map(({ name }, at) => [name, sumAs(write.table, name, sums[at] ?? "")] as const);
  // `fromEntries` makes a name like `__proto__` an own property.
  return { ...write, data: Object.fromEntries([...Object.entries(write.data), ...amounts]) };
}

/** As text. */
function numberIn({ fields }: Table, name: string, data: Readonly<Data>): string {
  const value = Object.hasOwn(data, name) ? data[name] : null;
  if (value === null) return "0";
  if (isNumber(value)) return printed(value);
  // Beyond 2^53 an integer is a string.
  if (fields.get(name)?.type === "integer" && typeof value === "string" && /^-?\d{1,19}$/.test(value)) return value;
  throw invalid({ [name]: ["is no number, so nothing can be added to it"] });
}

function sumAs({ fields }: Table, name: string, sum: string): unknown {
  const number = exactly(sum);
  if (!isNumber(number)) throw invalid({ [name]: ["would have too many digits"] });
  return fields.get(name)?.type === "integer" && !Number.isSafeInteger(number) ? String(number) : number;
}

function printed(number: number | ExactNumber): string {
  return String(number);
}
