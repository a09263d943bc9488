/** Writes of the keys of unique fields, beside those of the records. behaviour B.7.28. No SQL. */
import { invalid, unavailable, type Sql, type Tx } from "platform";
import type { Database } from "../databases/database.ts";
import { claimsOf, isTaken, type Claim, type KeySet } from "../databases/unique.ts";
import * as keysStore from "./keys-store.ts";
import type { Data } from "./record.ts";

const mostTries = 5;
const none: readonly never[] = [];

/** The unique fields of a table. */
function setsOf({ keySets }: Pick<Database, "keySets">, table: string): readonly KeySet[] {
  return keySets.length === 0 ? none : keySets.filter((set) => set.table === table);
}

/** The keys of a new record. */
export function newClaims(db: Pick<Database, "keySets">, table: string, id: string, data: Data): readonly Claim[] {
  const sets = setsOf(db, table);
  return sets.length === 0 ? none : claimsOf(sets, id, data);
}

/** Whether a patch may change a key of its record. */
export function touchesKeys(db: Pick<Database, "keySets">, table: string, patch: Data): boolean {
  return setsOf(db, table).some(({ field }) => Object.hasOwn(patch, field));
}

/** 422 for new records whose values others have, by the records' ids if `refuse` is left out. */
export async function claimNew(tx: Tx, db: Database, claims: readonly Claim[]): Promise<readonly Claim[]> {
  return claims.length === 0 ? none : claimAll(tx, db, claims, true);
}

/** The keys of a record as it becomes; `moved`: it comes from another table. 422 if another record has one. */
export async function claimChanged(
  tx: Tx,
  db: Database,
  {
    id,
    table,
    data,
    moved,
  }: { readonly id: string; readonly table: string; readonly data: Data; readonly moved: boolean },
): Promise<void> {
  if (db.keySets.length === 0) return;
  const sets = setsOf(db, table).filter(({ field }) => moved || Object.hasOwn(data, field));
  if (sets.length === 0 && !moved) return;
  const claims = claimsOf(sets, id, data);
  await keysStore.release(tx, db, id, moved ? undefined : sets, claims);
  if (claims.length > 0) refuseTaken(await claimAll(tx, db, claims, false));
}

/** The claims of values that others have. */
async function claimAll(tx: Tx, db: Database, claims: readonly Claim[], isNew: boolean): Promise<readonly Claim[]> {
  const ids = isNew ? claims.map(({ id }) => id) : [];
  let left = claims;
  for (let tries = 0; tries < mostTries; tries++) {
    left = await keysStore.claim(tx, db, left, isNew);
    if (left.length === 0 || (await keysStore.freeStale(tx, db, left, ids)) === 0) return left;
  }
  return left;
}

export function refuseTaken(taken: readonly Claim[]): void {
  if (taken.length > 0) throw invalid(Object.fromEntries(taken.map(({ set }) => [set.field, [isTaken]])));
}

/** `insert` writes keys too, in one statement: 422 if one is taken; if its holder has another value by now, again. */
export async function claiming<T>(
  sql: Sql,
  db: Database,
  claims: readonly Claim[],
  insert: () => Promise<T>,
): Promise<T> {
  if (claims.length === 0) return insert();
  for (let tries = 0; tries < mostTries; tries++) {
    try {
      return await insert();
    } catch (error) {
      if (!keysStore.isKeyTaken(error)) throw error;
      const taken = await sql.begin(async (tx) => {
        await keysStore.freeStale(tx, db, claims, []);
        return keysStore.held(tx, db, claims);
      });
      refuseTaken(taken);
    }
  }
  throw unavailable("others write the same values, try again");
}
