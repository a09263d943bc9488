/** Makes the codes that address records from the records' names. */
import type { Tx } from "./db.ts";

/**
 * `base` (a `slugOf`), or `base` with the lowest number that is free in the account: `notes`, `notes-2`, `notes-3`. A
 * lock makes concurrent callers take turns, so nobody else gets the same code before this transaction ends.
 */
export async function freeCode(
  tx: Tx,
  {
    table,
    column = "code",
    accountId,
  }: { readonly table: string; readonly column?: string; readonly accountId: number },
  base: string,
): Promise<string> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`${table}.${column}/${accountId}/${base}`}, 0))`;
  const taken = await tx<{ code: string }[]>`
    select ${tx(column)} as code from ${tx(table)}
    where account_id = ${accountId} and (${tx(column)} = ${base} or ${tx(column)} ~ ${`^${base}-[0-9]+$`})`;
  const codes = new Set(taken.map(({ code }) => code));
  if (!codes.has(base)) return base;
  let number = 2;
  while (codes.has(`${base}-${number}`)) number += 1;
  return `${base}-${number}`;
}
