/** SQL about a record that is held: what holds of it, and what its numbers become. */
import type { Tx } from "platform";
import type { Database } from "../databases/database.ts";
import type { Table } from "../databases/schema.ts";
import { newArgs, dataSourceOf, filterConditions } from "../search/filter-store.ts";
import type { Filters } from "../search/filters.ts";

/** `a + b`, as texts. */
export type Addition = readonly [a: string, b: string];

/** Whether a record fulfils all filters, and the sums in their order. PostgreSQL adds decimals of any length exactly. */
export async function readHeld(
  tx: Tx,
  db: Database,
  { id, table }: { readonly id: string; readonly table: Table },
  filters: Filters,
  additions: readonly Addition[],
): Promise<{ readonly holds: boolean; readonly sums: readonly string[] }> {
  const args = newArgs();
  const holds = ["true", ...filterConditions(args, dataSourceOf(db, { table }), filters)].join(" and ");
  const numbers = (at: 0 | 1) => args.bind(`{${additions.map((one) => one[at]).join(",")}}`, "text");
  const text = `
    select (${holds}) is true as holds, array(
      select (a + b)::text from unnest(${numbers(0)}::numeric[], ${numbers(1)}::numeric[]) with ordinality n (a, b, at)
      order by at) as sums
    from records r
    where r.db_id = ${args.bind(db.id, "uuid")} and r.id = ${args.bind(id, "uuid")}
      and r.account_id = ${args.bind(db.accountId, "bigint")}`;
  const [row] = await tx.unsafe<{ holds: boolean; sums: string[] }[]>(text, args.values);
  return row ?? { holds: false, sums: [] };
}
