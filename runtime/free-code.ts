/** Codes that records are addressed by, made from their names. */
import type { Tx } from "./db.ts";

export interface CodePlace {
  readonly table: string;
  /** Left out = `code`. */
  readonly column?: string;
  readonly accountId: number;
}

/**
 * `base` (a `slugOf`), or with the least number that is free in the account: `notes`, `notes-2`, `notes-3`. Nobody else
 * is given it until this transaction ends: makers of one code take turns.
 */
export async function freeCode(
  tx: Tx,
  { table, column = "code", accountId }: CodePlace,
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
